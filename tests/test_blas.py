"""BLAS on one thread, whoever else wants it."""

import os
import signal
from threading import Event, Thread

import numpy as np
import pytest
import scipy.linalg  # noqa: F401 - has a library of its own
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_info, threadpool_limits

from flybloom import FlyRidgeClassifier
from flybloom._internal.blas import one_blas_thread


def n_threads():
    """How many threads each library has."""
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.fixture(autouse=True)
def _three_threads():
    """Several threads, whatever the machine and its environment."""
    with threadpool_limits(3, "blas"):
        yield


def test_the_last_one_who_wants_one_thread_ends_the_limit():
    """Not the first, whose block was entered while there was no limit yet."""
    usual, first, second = n_threads(), one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(n_threads()) == {1}
    second.__exit__(None, None, None)
    assert n_threads() == usual


def test_an_error_ends_the_limit():
    """As does its end."""
    usual = n_threads()
    with pytest.raises(KeyboardInterrupt), one_blas_thread():
        raise KeyboardInterrupt
    assert n_threads() == usual


def test_the_temperature_does_not_depend_on_threads():
    """With so many components that BLAS divides the work."""
    X, y = load_digits(return_X_y=True)
    found = [FlyRidgeClassifier(1024, random_state=1, n_jobs=n_jobs).fit(X[:1000], y[:1000]) for n_jobs in (1, 2)]
    assert found[0].temperature_ == found[1].temperature_
    assert_array_equal(found[0].predict_proba(X), found[1].predict_proba(X))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_is_not_limited_by_threads_that_stayed_behind():
    """And can use BLAS."""
    usual, is_inside, is_over = n_threads(), Event(), Event()

    def stay():
        with one_blas_thread():
            is_inside.set()
            is_over.wait()

    thread = Thread(target=stay)
    thread.start()
    is_inside.wait()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.alarm(30)
            square = np.ones((300, 300))
            code = 0 if n_threads() == usual and (square @ square == 300).all() else 3
        finally:
            os._exit(code)
    is_over.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
