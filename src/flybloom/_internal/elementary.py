"""Logarithm and exponential from basic arithmetic.

Basic arithmetic is rounded correctly, so the bits are equal on every machine, unlike those of math libraries.
"""

from __future__ import annotations

import numpy as np

from flybloom._internal.typing import Array

LOG_2 = float.fromhex("0x1.62e42fefa39efp-1")
LOG_2_HIGH = float.fromhex("0x1.62e42fee00000p-1")  # its leading bits: a whole number times these is exact
LOG_2_LOW = float.fromhex("0x1.a39ef35793c76p-33")  # the rest
ROOT_OF_HALF = float.fromhex("0x1.6a09e667f3bcdp-1")
TERMS = 12  # of the series of the logarithm; the next would change the result by less than its last bit
POWERS = 14  # of the series of the exponential, likewise
LEAST_EXPONENT = -700.0  # below, the exponential is taken for 0


def logarithm(values: Array) -> Array:
    """Return the logarithm of numbers above 0, to about the last bit of a float64.

    With z = (x - 1) / (x + 1), log x is 2 (z + z^3 / 3 + z^5 / 5 + ...), which converges fast for x near 1.
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


def exponential(values: Array) -> Array:
    """Return e to the power of numbers up to 0, to about the last bit of a float64; 0 for very small ones.

    A power of two is factored out; the rest is 1 + x (1 + x / 2 (1 + x / 3 (...))).
    """
    is_large = np.asarray(values) >= LEAST_EXPONENT  # what is no number is not
    x = np.where(is_large, values, LEAST_EXPONENT)
    exponent = np.rint(x / LOG_2)
    x = (x - exponent * LOG_2_HIGH) - exponent * LOG_2_LOW
    series = np.ones(x.shape)
    for k in range(POWERS, 0, -1):
        series = 1.0 + x / k * series
    result: Array = np.where(is_large, np.ldexp(series, exponent.astype(np.int32)), 0.0)
    return result
