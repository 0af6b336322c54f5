"""The natural logarithm from additions, multiplications and divisions alone.

These are rounded correctly everywhere, so the bits are the same on every machine; a library's logarithm is not.
"""

from __future__ import annotations

import numpy as np

from flybloom._internal.typing import Array

LOG_2 = float.fromhex("0x1.62e42fefa39efp-1")
ROOT_OF_HALF = float.fromhex("0x1.6a09e667f3bcdp-1")
TERMS = 12  # of the series; the next would change the result by less than its last bit


def logarithm(values: Array) -> Array:
    """Return the logarithm of numbers above 0, to about the last bit of a float64.

    With z = (x - 1) / (x + 1), log x is 2 (z + z^3 / 3 + z^5 / 5 + ...), which ends soon for x near 1.
    """
    x, exponent = np.frexp(np.asarray(values, np.float64))
    is_small = x < ROOT_OF_HALF
    x = np.where(is_small, 2.0 * x, x)  # from the root of a half to the root of two
    z = (x - 1.0) / (x + 1.0)
    square = z * z
    series = np.full(z.shape, 1.0 / (2 * TERMS - 1))
    for k in range(TERMS - 2, -1, -1):
        series *= square
        series += 1.0 / (2 * k + 1)
    result: Array = (exponent - is_small) * LOG_2 + 2.0 * z * series
    return result
