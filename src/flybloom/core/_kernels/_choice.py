"""Which loops run: compiled ones, or their twins in numpy where compiling would take longer than the work.

A kernel is fast, but numba is imported and the kernel compiled, or loaded from numba's cache, before it does anything:
seconds, in which numpy scores hundreds of rows. So each file of kernels has an allowance that its twin may use up
first; what is beyond is compiled. Nothing but the time depends on it: twins give the same bits.

The environment variable ``FLYBLOOM_LOOPS`` decides otherwise: ``compiled`` never waits, ``plain`` never compiles.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any

from flybloom.core import _kernels
from flybloom.core._kernels import _plain

ALLOWANCE = {  # values that a twin may handle in a process: what takes it about a quarter of a second
    "connections": 2**22,  # connections
    "count": 2**24,  # counts of tables that are loaded
    "encode": 2**22,  # values of rows
    "linear": 2**23,  # weights of winners
    "one_row": 2**26,  # connections of rows that come a few at a time
    "rows": 2**28,  # rows that the kernel of single rows hashes before that of many, which takes longer to compile
    "score": 2**23,  # weights of winners
    "winners": 2**27,  # connections of rows
}
LEAST = 2**14  # values that any call counts as: handling none takes numpy as long
HAS_NUMBA = find_spec("numba") is not None
CHOICE = os.getenv("FLYBLOOM_LOOPS", "auto") if HAS_NUMBA else "plain"

_left = dict(ALLOWANCE)


def stays_plain(file: str, n_values: int) -> bool:
    """Return whether the twin of a file of kernels is to handle so many values; from the first no on it is no."""
    if CHOICE != "auto":
        return CHOICE == "plain"
    n_values = max(n_values, LEAST)
    if _left[file] < n_values:
        _left[file] = -1  # nothing is left for smaller work either: the kernel will be there
        return False
    _left[file] -= n_values
    return True


def loops(file: str, n_values: int) -> Any:
    """Return the file of loops that is to handle so many values: the kernels, or their twins of the same names."""
    return getattr(_plain if stays_plain(file, n_values) else _kernels, file)
