"""Learning: count how often each component won, per class."""

import numpy as np

from flybloom._internal.typing import Array
from flybloom._kernels._jit import kernel


@kernel
def add_counts(winners: Array, codes: Array, weights: Array, counts: Array, rows: Array) -> None:
    """Add each row's weight to the cells ``counts[winner, code]`` and to ``rows[code]``, in place.

    Both in one call, because no signal can interrupt it: what is counted is counted whole.
    """
    for i in range(winners.shape[0]):
        rows[codes[i]] += weights[i]
        for r in range(winners.shape[1]):
            counts[winners[i, r], codes[i]] += weights[i]


@kernel
def take_counts(winners: Array, codes: Array, weights: Array, counts: Array, rows: Array) -> bool:
    """Take rows away as `add_counts` adds them, if they can be in the counts; return whether that was done.

    No count may fall below zero, and none may stay above the rows that remain of its class. Where one does, everything
    is put back before the call ends.
    """
    is_touched = np.zeros(rows.size, np.bool_)
    can_be = True
    for i in range(winners.shape[0]):
        is_touched[codes[i]] = True
        rows[codes[i]] -= weights[i]
        for r in range(winners.shape[1]):
            left = counts[winners[i, r], codes[i]] - weights[i]
            counts[winners[i, r], codes[i]] = left
            if left < 0:
                can_be = False
    if can_be:
        touched = np.flatnonzero(is_touched)
        for u in range(counts.shape[0]):
            for code in touched:
                if counts[u, code] > rows[code]:
                    can_be = False
    if not can_be:
        for i in range(winners.shape[0]):
            rows[codes[i]] += weights[i]
            for r in range(winners.shape[1]):
                counts[winners[i, r], codes[i]] += weights[i]
    return can_be
