"""A 64-bit hash of each row's content: equal rows have equal hashes, whatever the type that their values come in."""

from __future__ import annotations

import numpy as np

from flybloom._internal.typing import Array

FIRST = np.uint64(0xBF58476D1CE4E5B9)
NEGATIVE_ZERO = np.uint64(1 << 63)
INFINITY = np.uint64(0x7FF0000000000000)
NAN = np.uint64(0x7FF8000000000000)


def hash_rows(bits: Array, places: Array, out: Array) -> None:
    """Write to `out` the sum of the mixed bits of each value times the odd number of its column."""
    out[:] = mixed_values(bits) @ places


def mixed_values(bits: Array) -> Array:
    """Return the bits of float64 values mixed; zeros stay zero, and all NaN are one."""
    x = np.where(bits == NEGATIVE_ZERO, np.uint64(0), bits)
    x = np.where((x & ~NEGATIVE_ZERO) > INFINITY, NAN, x)
    x = (x ^ (x >> np.uint64(32))) * FIRST
    return np.asarray(x ^ (x >> np.uint64(29)))
