"""BLAS on one thread, where last bits matter.

They depend on how many threads BLAS has, which is a setting of the process: of two threads that each limit it for a
while, the one that ends first would end the limit of the other.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

_users: set[object] = set()  # one for each, and no number: an interrupt can come before it is lowered
_changing = Lock()
_usual: dict[Any, int] = {}  # how many threads the libraries have otherwise; empty while nobody limits them


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to the threads that call it, until the last of those who want that is done.

    Only libraries that are loaded know it: import scipy first.
    """
    user = object()
    try:
        with _changing:
            _users.add(user)
            for library in _libraries("scipy.linalg" in sys.modules):
                if library not in _usual:
                    _usual[library] = library.num_threads
                    library.set_num_threads(1)
        yield
    finally:
        _users.discard(user)
        with _changing:
            if not _users:
                _restore()


@lru_cache
def _libraries(has_scipy: bool) -> tuple[Any, ...]:  # noqa: ARG001 - which brings one of its own
    """Return the libraries that are loaded; it takes a millisecond to look for them."""
    from threadpoolctl import ThreadpoolController  # noqa: PLC0415 - those who only predict need none

    return tuple(ThreadpoolController().select(user_api="blas").lib_controllers)


def _restore() -> None:
    """Give the libraries their usual threads."""
    while _usual:
        library, n_threads = _usual.popitem()
        library.set_num_threads(n_threads)


def _after_fork_in_child() -> None:
    """Begin again: those who wanted one thread stayed behind."""
    _users.clear()
    _restore()
    _changing.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_changing.acquire, after_in_parent=_changing.release, after_in_child=_after_fork_in_child
    )
