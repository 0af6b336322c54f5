"""A 64-bit hash of each row's content: equal rows have equal hashes, whatever the type that their values come in."""

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel

FIRST = np.uint64(0xBF58476D1CE4E5B9)
NEGATIVE_ZERO = np.uint64(1 << 63)
INFINITY = np.uint64(0x7FF0000000000000)
NAN = np.uint64(0x7FF8000000000000)


@kernel
def hash_rows(bits: Array, places: Array, out: Array) -> None:
    """Write to `out` the sum of the mixed bits of each value times the odd number of its column.

    `bits` are those of float64 values. Zeros add nothing, so that sparse rows need not be filled up; all NaN are one.
    """
    for i in range(bits.shape[0]):
        total = np.uint64(0)
        for f in range(bits.shape[1]):
            x = bits[i, f]
            if x == NEGATIVE_ZERO:
                x = np.uint64(0)
            if (x & ~NEGATIVE_ZERO) > INFINITY:
                x = NAN
            x = (x ^ (x >> np.uint64(32))) * FIRST
            x ^= x >> np.uint64(29)
            total += x * places[f]
        out[i] = total
