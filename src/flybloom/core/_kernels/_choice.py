"""Which loops run: compiled ones, or their twins in numpy where compiling would take longer than the work.

A kernel is fast, but numba is imported and the kernel compiled, or loaded from numba's cache, before it does anything:
seconds, in which numpy scores hundreds of rows. So each file of kernels has an allowance that its twin may use up
first; what is beyond is compiled. Where numba has begun already, which is most of what loading takes, kernels that its
cache has are taken at once: a new process then predicts 30 000 rows of Digits in 2.1 s instead of 2.8. Nothing but the
time depends on it: twins give the same bits.

The environment variable ``FLYBLOOM_LOOPS`` decides otherwise: ``compiled`` never waits, ``plain`` never compiles.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import Any

from flybloom.core import _kernels
from flybloom.core._kernels import _plain

ALLOWANCE = {  # values that a twin may handle in a process: what takes it about a quarter of a second
    "connections": 2**22,  # connections
    "content_hash": 2**23,  # values of rows
    "encode": 2**22,  # values of rows
    "ferns": 2**23,  # tests of rows
    "fill": 2**23,  # values of matrices
    "gradients": 2**22,  # values of directions of pixels
    "leverage": 2**24,  # pairs of winners
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
_at_hand: dict[str, bool] = {}  # of files of kernels that were looked for in numba's cache


def stays_plain(allowance: str, n_values: int, *files: str) -> bool:
    """Return whether twins are to handle so many values; from the first no on it is no.

    Parameters
    ----------
    allowance : str
        Of which the values are taken.
    n_values : int
        How many there are.
    *files : str
        The files of kernels of which one would handle them; by default that of the allowance's name.
    """
    if CHOICE != "auto":
        return CHOICE == "plain"
    n_values = max(n_values, LEAST)
    if _left[allowance] < n_values or any(_is_at_hand(file) for file in files or (allowance,)):
        _left[allowance] = -1  # nothing is left for smaller work either: the kernel will be there
        return False
    _left[allowance] -= n_values
    return True


def _is_at_hand(file: str) -> bool:
    """Return whether numba has begun, and its cache had kernels of a file then: they load in hundredths of a second."""
    if file not in _at_hand:
        jit = sys.modules.get(f"{_kernels.__name__}._jit")
        if jit is None or not hasattr(jit, "has_begun") or not jit.has_begun():  # another thread may be importing it
            return False
        _at_hand[file] = jit.are_cached(getattr(_kernels, file).__name__)
    return _at_hand[file]


def loops(file: str, n_values: int) -> Any:
    """Return what is to handle so many values: a file of kernels, or their twins of the same names."""
    return _plain if stays_plain(file, n_values) else getattr(_kernels, file)
