"""Quadratic forms of hashes, which are ones for the winners of a row and zeros elsewhere."""

from __future__ import annotations

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel


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
    for i in range(winners.shape[0]):
        row, total = winners[i], out.dtype.type(0)
        for k in range(row.size):
            u, part = np.int64(row[k]), out.dtype.type(0)
            cells = triangle[u * (u + 1) // 2 :]
            for j in range(k):
                part += cells[row[j]]
            total += 2 * part + cells[u]
        out[i] = total
