"""Quadratic forms of hashes, which are ones for the winners of a row and zeros elsewhere."""

from __future__ import annotations

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel

ROWS_AT_ONCE = 512  # whose winners are sorted together


@kernel
def winner_forms(winners: Array, triangle: Array, out: Array) -> None:
    """Write h' P h of each row to `out`: the sum of P over all pairs of its winners.

    Parameters
    ----------
    winners : (n, rho) array of unsigned integers
        Ascending in each row.
    triangle : (m (m + 1) / 2,) array of int32 or float64
        P, which is symmetric: of u and v <= u at ``u (u + 1) / 2 + v``.
    out : (n,) array of int64 or float64
    """
    n_rows, n_winners = winners.shape
    n_components = np.int64((np.sqrt(8.0 * triangle.size + 1.0) - 1.0) / 2.0 + 0.5)
    starts, rows = np.empty(n_components + 1, np.int64), np.empty(ROWS_AT_ONCE * n_winners, np.int64)
    places = np.empty(ROWS_AT_ONCE * n_winners, np.int64)
    for first in range(0, n_rows, ROWS_AT_ONCE):  # a line of P serves all rows of which its component is a winner
        last = min(first + ROWS_AT_ONCE, n_rows)
        starts[:] = 0
        for i in range(first, last):
            out[i] = 0
            for k in range(n_winners):
                starts[np.int64(winners[i, k]) + 1] += 1
        for u in range(n_components):
            starts[u + 1] += starts[u]
        for i in range(first, last):
            for k in range(n_winners):
                w = np.int64(winners[i, k])
                rows[starts[w]], places[starts[w]] = i, k
                starts[w] += 1
        begin = 0
        for u in range(n_components):  # each start has moved on to the next one
            cells = triangle[u * (u + 1) // 2 : (u + 1) * (u + 2) // 2]
            for at in range(begin, starts[u]):
                row, part = winners[rows[at]], out.dtype.type(0)
                for j in range(places[at]):
                    part += cells[row[j]]
                out[rows[at]] += 2 * part + cells[u]
            begin = starts[u]
