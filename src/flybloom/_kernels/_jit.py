"""How every kernel is compiled: serial, GIL released, typed on first call, cached on disk."""

import os
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numba

P = ParamSpec("P")
R = TypeVar("R")

CACHE_ON_DISK = os.getenv("FLYBLOOM_NUMBA_CACHE", "1") != "0"
JIT_IS_OFF = bool(vars(numba.config)["DISABLE_JIT"])


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` when first called, without a disk cache where none can be written."""
    try:
        return numba.njit(nogil=True, cache=CACHE_ON_DISK)(function)
    except RuntimeError:  # numba found no writable place for its cache
        return numba.njit(nogil=True)(function)
