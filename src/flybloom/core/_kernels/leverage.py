"""Quadratic forms of hashes, which are ones for the winners of a row and zeros elsewhere."""

from __future__ import annotations

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel


@kernel
def winner_forms(winners: Array, inverse: Array, out: Array) -> None:
    """Write h' P h of each row to `out`: the sum of P over all pairs of its winners.

    Parameters
    ----------
    winners : (n, rho) array of unsigned integers
        Ascending in each row.
    inverse : (m, m) array of float64
        P, of which the lower half in C's order is read.
    out : (n,) array of float64
    """
    for i in range(winners.shape[0]):
        row, total = winners[i], 0.0
        for k in range(row.size):
            cells, part = inverse[row[k]], 0.0
            for j in range(k):
                part += cells[row[j]]
            total += 2.0 * part + cells[row[k]]
        out[i] = total
