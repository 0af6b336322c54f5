"""The short version of `scripts/attack`: every promise is tried for a moment, and none is broken."""

import pytest

from attack import (  # noqa: F401 - each adds its promises
    bombs,
    brute_force,
    files,
    graphs,
    interrupts,
    parties,
    processes,
    sameness,
    whole_models,
)
from attack.promises import PROMISES, attack

SECONDS = 1.5
SLOW = ("killed", "forked meanwhile")  # test_training.py has kills; a fork may come while numba loads a kernel
QUICK = [promise for promise in PROMISES if not any(word in promise.sentence for word in SLOW)]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of files that a signal left open
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("promise", QUICK, ids=lambda promise: promise.sentence)
def test_promises_hold(promise):
    """The first trials of a seed."""
    if promise.missing:
        pytest.skip(promise.missing)
    outcome = attack(promise, seed=0, seconds=SECONDS, most=100)
    assert outcome.trials
    assert not outcome.wrong, outcome.wrong
