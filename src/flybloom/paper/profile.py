"""Profiles: sizes of the experiments, from TOML files."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

PROFILES = ("quick", "standard", "full")
CAUTION = "The profile quick is too small to judge the paper by: it only shows that everything works."


def read_profile(name: str) -> dict[str, dict[str, Any]]:
    """Return the settings of each experiment.

    Parameters
    ----------
    name : str
        "quick", "standard", "full", or the path of a TOML file with a table for each experiment.

    Returns
    -------
    dict
        Experiment -> settings.

    Examples
    --------
    >>> from flybloom.paper import read_profile
    >>> sorted(read_profile("quick"))[:3]
    ['agreement', 'hyperparameters', 'noise']
    """
    if name in PROFILES:
        text = resources.files("flybloom.paper.profiles").joinpath(f"{name}.toml").read_text(encoding="utf-8")
    elif Path(name).is_file():
        text = Path(name).read_text(encoding="utf-8")
    else:
        msg = f"A profile must be {', '.join(PROFILES)}, or a TOML file. Got {name!r} instead."
        raise ValueError(msg)
    try:
        profile = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        msg = f"The profile {name} is not TOML: {error}. Write a table for each experiment, as in the profile quick."
        raise ValueError(msg) from None
    if not all(isinstance(table, dict) for table in profile.values()):
        msg = (
            f"The profile {name} must hold nothing but tables, one for each experiment. Got {sorted(profile)} instead."
        )
        raise ValueError(msg)
    return profile


def caution(name: str) -> str | None:
    """Return a caution about the results of a profile, or None.

    Parameters
    ----------
    name : str
        As in `read_profile`.

    Returns
    -------
    str or None
        A sentence for whoever reads them.
    """
    return CAUTION if name == "quick" else None
