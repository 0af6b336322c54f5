"""Sums of values and of products of two values, as integers.

The products of u and v <= u are at ``u (u + 1) / 2 + v`` of a triangle, as pairs of winners are.
"""

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel


@kernel
def add_rows(values: Array, codes: Array, weights: Array, sums: Array, rows: Array, triangle: Array) -> None:
    """Add few rows to sums of classes, numbers of rows and products: one call, which nothing interrupts."""
    n, m = values.shape
    for r in range(n):
        rows[codes[r]] += weights[r]
        for u in range(m):
            sums[codes[r], u] += weights[r] * np.int64(values[r, u])
    for u in range(m):
        begin = u * (u + 1) // 2
        for r in range(n):
            times = weights[r] * np.int64(values[r, u])
            if times != 0:
                for v in range(u + 1):
                    triangle[begin + v] += times * np.int64(values[r, v])


@kernel
def add_sums(values: Array, codes: Array, weights: Array, sums: Array) -> None:
    """Add rows to the sums of their classes."""
    for r in range(values.shape[0]):
        for u in range(values.shape[1]):
            sums[codes[r], u] += weights[r] * np.int64(values[r, u])


@kernel
def add_tile(tile: Array, first: int, triangle: Array) -> None:
    """Add some rows of a matrix of whole numbers in floats, from `first` on, to the triangle."""
    for i in range(tile.shape[0]):
        u = first + i
        begin = u * (u + 1) // 2
        for v in range(u + 1):
            triangle[begin + v] += np.int64(tile[i, v])
