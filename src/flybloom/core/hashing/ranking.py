"""Winners by descending sum; hashing returns them in ascending order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flybloom._internal.sparse import issparse
from flybloom._internal.typing import Array, Features, Winners

if TYPE_CHECKING:
    from flybloom.core.hashing.projection import Projection

VALUES_AT_ONCE = 2**20  # of rows and their negatives


def ranked(projection: Projection, rows: Features, winners: Winners) -> Winners:
    """Return the winners of each row, the largest sum first, ties to the smaller component.

    `winners` are in ascending order. Their sums are added as hashing adds them.
    """
    result = np.empty_like(winners)
    step = max(1, VALUES_AT_ONCE // rows.shape[1])
    for begin in range(0, rows.shape[0], step):
        some = slice(begin, begin + step)
        sums = _sums(projection, rows[some].toarray() if issparse(rows) else rows[some], winners[some])
        result[some] = np.take_along_axis(winners[some], np.argsort(-sums, axis=1, kind="stable"), axis=1)
    return result


def _sums(projection: Projection, rows: Array, winners: Winners) -> Array:
    """Return the sum of each winner: of integers, or of float32 in the order of the connections."""
    rows = rows.astype(np.float32 if rows.dtype.kind == "f" else np.int64)
    values, (octet, lane) = np.concatenate([rows, -rows], axis=1), np.divmod(winners, 8)
    sums = np.zeros(winners.shape, rows.dtype)
    for k in range(projection.n_connections):
        places = projection.packed_connections[octet, k, lane].astype(np.intp)
        sums += np.take_along_axis(values, places, axis=1)
    return sums
