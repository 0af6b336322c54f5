"""The fast Walsh-Hadamard transform of rows."""

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel

CHUNK = 4096  # values that stay in the first-level cache while all distances within them are done
SHORT = 16  # pairs at distances below this one are done within vectors


@kernel
def _short_distances(values: Array) -> None:
    """Do the pairs at distances 1, 2, 4 and 8, each 16 neighbours as a square of 4 by 4.

    Rows of the square first, then its columns. Loops that count from zero over reshaped arrays and slices need no
    check for negative indices, and become vectors.
    """
    squares = values.reshape(values.size // SHORT, 4, 4)
    for i in range(squares.shape[0]):
        for r in range(4):
            a, b, c, d = squares[i, r, 0], squares[i, r, 1], squares[i, r, 2], squares[i, r, 3]
            squares[i, r, 0] = (a + b) + (c + d)
            squares[i, r, 1] = (a - b) + (c - d)
            squares[i, r, 2] = (a + b) - (c + d)
            squares[i, r, 3] = (a - b) - (c - d)
        for j in range(4):
            a, b, c, d = squares[i, 0, j], squares[i, 1, j], squares[i, 2, j], squares[i, 3, j]
            squares[i, 0, j] = (a + b) + (c + d)
            squares[i, 1, j] = (a - b) + (c - d)
            squares[i, 2, j] = (a + b) - (c + d)
            squares[i, 3, j] = (a - b) - (c - d)


@kernel
def _distances_from(step: int, values: Array) -> None:
    """Do the pairs at the distances step, 2 step, ... two distances at a time, which halves the traffic."""
    size = values.size
    while 2 * step < size:
        for left in range(0, size, 4 * step):
            first, second = values[left : left + step], values[left + step : left + 2 * step]
            third, fourth = values[left + 2 * step : left + 3 * step], values[left + 3 * step : left + 4 * step]
            for j in range(step):
                a, b, c, d = first[j], second[j], third[j], fourth[j]
                first[j] = (a + b) + (c + d)
                second[j] = (a - b) + (c - d)
                third[j] = (a + b) - (c + d)
                fourth[j] = (a - b) - (c - d)
        step *= 4
    if step < size:
        first, second = values[:step], values[step:]
        for j in range(step):
            a, b = first[j], second[j]
            first[j] = a + b
            second[j] = a - b


@kernel
def butterflies(values: Array) -> None:
    """Transform in place: a, b become a + b, a - b for all pairs at distance 1, then 2, then 4, and so on.

    The length of `values` is a power of two.
    """
    chunk = min(CHUNK, values.size)
    for begin in range(0, values.size, chunk):
        part = values[begin : begin + chunk]
        if chunk >= SHORT:
            _short_distances(part)
        _distances_from(SHORT if chunk >= SHORT else 1, part)
    _distances_from(chunk, values)


@kernel
def transform(rows: Array, before: Array, after: Array, size: int, out: Array) -> None:
    """Write the transform of each row to `out`: times `before`, zeros up to `size`, butterflies, times `after`.

    `size` is a power of two; `out` may be narrower.
    """
    d, width = rows.shape[1], out.shape[1]
    values = np.empty(size, rows.dtype)
    for i in range(rows.shape[0]):
        for j in range(d):
            values[j] = rows[i, j] * before[j]
        values[d:] = 0
        butterflies(values)
        for j in range(width):
            out[i, j] = values[j] * after[j]
