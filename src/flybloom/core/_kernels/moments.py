"""Sums of floats and of their squares, without any rounding.

A float64 is a whole number of 53 bits times a power of two. It is added, shifted to its place, to a long
row of 32-bit limbs, each kept in an int64 that has room for many additions. Such sums do not depend on
the order, and those of two blocks add up to those of the whole.

The bits of a value start at position ``max(exponent, 1) - 1``; position 0 is worth 2**-1074, for squares 2**-2148.
"""

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel

LIMBS = 68  # 2046 + 53 bits
SQUARE_LIMBS = 132  # twice as many
FRACTION = np.int64((1 << 52) - 1)
LIMB = np.int64(0xFFFFFFFF)


@kernel
def _add(limbs: Array, piece: np.int64, position: np.int64, weight: np.int64) -> None:
    """Add ``weight * piece * 2**position``, for a piece of up to 62 bits that is not negative."""
    at, shift = position >> 5, position & 31
    low = (piece & LIMB) << shift
    high = (piece >> 32) << shift
    limbs[at] += weight * (low & LIMB)
    limbs[at + 1] += weight * ((low >> 32) + (high & LIMB))
    limbs[at + 2] += weight * (high >> 32)


@kernel
def add_moments(bits: Array, weights: Array, sums: Array, squares: Array) -> None:
    """Add the rows, float64 shown as int64 `bits`, to the limbs of each column's sum and sum of squares.

    ``weights.sum() * 2**34`` must not exceed what an int64 holds; see `carry`.
    """
    for i in range(bits.shape[0]):
        weight = weights[i]
        if weight == 0:
            continue
        for f in range(bits.shape[1]):
            exponent = (bits[i, f] >> 52) & 0x7FF
            whole = bits[i, f] & FRACTION
            if exponent > 0:
                whole += FRACTION + 1
                exponent -= 1
            if whole == 0:
                continue
            _add(sums[f], whole, exponent, weight if bits[i, f] >= 0 else -weight)
            # (a * 2^27 + b)^2, in pieces that an int64 holds
            a, b = whole >> 27, whole & 0x7FFFFFF
            _add(squares[f], a * a, 2 * exponent + 54, weight)
            if b != 0:
                _add(squares[f], a * b, 2 * exponent + 28, weight)
                _add(squares[f], b * b, 2 * exponent, weight)


@kernel
def carry(limbs: Array) -> None:
    """Bring all limbs but the last into [0, 2**32), so that there is room for further additions."""
    for f in range(limbs.shape[0]):
        for at in range(limbs.shape[1] - 1):
            limbs[f, at + 1] += limbs[f, at] >> 32
            limbs[f, at] &= LIMB
