"""Quadratic forms of hashes, which are ones for the winners of a row and zeros elsewhere."""

from __future__ import annotations

import numpy as np

from flybloom._internal.typing import Array


def winner_forms(winners: Array, triangle: Array, out: Array) -> None:
    """Write the sum of a symmetric matrix of integers, of which `triangle` is the lower half, over all pairs."""
    lower = np.tril_indices(winners.shape[1])
    twice = np.where(lower[0] == lower[1], 1, 2)
    for i, row in enumerate(winners.astype(np.int64)):
        u, v = row[lower[0]], row[lower[1]]
        out[i] = triangle[u * (u + 1) // 2 + v] @ twice
