"""Fixtures: small data, seeded; and the folder of real data sets, where there is one."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from sklearn.datasets import load_digits

settings.register_profile("new", deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("project", settings.get_profile("new"), derandomize=True)  # the same each time
settings.load_profile("project")  # scripts/attack and scripts/release draw new examples: --hypothesis-profile=new

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a shell; processes would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)


collect_ignore = [
    "toy_kind.py"
]  # imported by the laws; collected as well, it would register a second class of its name


@pytest.fixture
def rng():
    """A generator; FLYBLOOM_TEST_SEED sweeps it."""
    return np.random.default_rng(int(os.environ.get("FLYBLOOM_TEST_SEED", "0")))


@pytest.fixture(scope="session")
def digits():
    """Rows and labels of Digits."""
    return load_digits(return_X_y=True)


@pytest.fixture(scope="session")
def data_folder():
    """The folder of real data sets; tests that need it are skipped without it."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("FLYBLOOM_DATA", default))
    if not folder.is_dir():
        pytest.skip("no folder of data sets: set FLYBLOOM_DATA")
    return folder
