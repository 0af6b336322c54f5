"""Profiles: each has a table for every experiment here, and each table makes a plan."""

import pytest

from flybloom.paper import EXPERIMENTS, PROFILES, read_profile

NAMES = ("hyperparameters", "threads", "similarity", "noise", "agreement")


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", NAMES)
def test_every_profile_makes_a_plan(profile, name):
    """Of units with names of their own."""
    units = EXPERIMENTS[name].plan(read_profile(profile)[name], "folder")
    assert len({unit.key for unit in units}) == len(units) > 0


@pytest.mark.parametrize("name", NAMES)
def test_quick_is_the_smallest_and_needs_no_folder(name):
    """Nothing but Digits and synthetic rows."""
    quick, full = (read_profile(profile)[name] for profile in ("quick", "full"))
    assert quick.get("names", ["digits"]) == ["digits"]
    assert len(EXPERIMENTS[name].plan(quick, None)) < len(EXPERIMENTS[name].plan(full, None))
