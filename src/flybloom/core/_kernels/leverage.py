"""Quadratic forms of hashes, which are ones for the winners of a row and zeros elsewhere."""

from __future__ import annotations

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel

ROWS_AT_ONCE = 512  # whose winners are sorted together
MASKED_ROWS = 64  # the same where their winners are marked in masks, which stay in the cache


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
    starts = np.empty(_n_components(triangle) + 1, np.int64)
    rows, places = np.empty((2, ROWS_AT_ONCE * n_winners), np.int64)
    for first in range(0, n_rows, ROWS_AT_ONCE):  # a line of P serves all rows of which its component is a winner
        last = min(first + ROWS_AT_ONCE, n_rows)
        _list_by_component(winners, first, last, starts, rows, places)
        out[first:last] = 0
        begin = 0
        for u in range(starts.size - 1):
            cells = triangle[u * (u + 1) // 2 : (u + 1) * (u + 2) // 2]
            for at in range(begin, starts[u]):
                row, part = winners[rows[at]], out.dtype.type(0)
                for j in range(places[at]):
                    part += cells[row[j]]
                out[rows[at]] += 2 * part + cells[u]
            begin = starts[u]


@kernel
def masked_winner_forms(winners: Array, triangle: Array, out: Array) -> None:
    """Do what `winner_forms` does for integers, through all of a line of P that a mask leaves: for many winners."""
    n_rows, n_winners = winners.shape
    starts = np.empty(_n_components(triangle) + 1, np.int64)
    rows, places = np.empty((2, MASKED_ROWS * n_winners), np.int64)
    masks = np.empty((MASKED_ROWS, starts.size - 1), np.int32)
    for first in range(0, n_rows, MASKED_ROWS):
        last = min(first + MASKED_ROWS, n_rows)
        _list_by_component(winners, first, last, starts, rows, places)
        out[first:last] = 0
        masks[:] = 0
        for i in range(first, last):
            for k in range(n_winners):
                masks[i - first, winners[i, k]] = -1
        begin = 0
        for u in range(starts.size - 1):
            cells = triangle[u * (u + 1) // 2 : (u + 1) * (u + 2) // 2]
            for at in range(begin, starts[u]):
                mask, part = masks[rows[at] - first], np.int64(0)
                for v in range(u):
                    part += cells[v] & mask[v]
                out[rows[at]] += 2 * part + cells[u]
            begin = starts[u]


@kernel
def _n_components(triangle: Array) -> int:
    """Return how many lines a triangle has."""
    return int((np.sqrt(8.0 * triangle.size + 1.0) - 1.0) / 2.0 + 0.5)


@kernel
def _list_by_component(winners: Array, first: int, last: int, starts: Array, rows: Array, places: Array) -> None:
    """List the rows from `first` to `last` of which each component is a winner; those of u end at ``starts[u]``."""
    starts[:] = 0
    for i in range(first, last):
        for k in range(winners.shape[1]):
            starts[np.int64(winners[i, k]) + 1] += 1
    for u in range(starts.size - 1):
        starts[u + 1] += starts[u]
    for i in range(first, last):
        for k in range(winners.shape[1]):
            w = np.int64(winners[i, k])
            rows[starts[w]], places[starts[w]] = i, k
            starts[w] += 1  # in the end each start has moved on to the next one
