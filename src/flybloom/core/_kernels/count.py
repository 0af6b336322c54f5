"""Learning: count how often each component won, per class."""

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel


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
            left = np.int64(counts[winners[i, r], codes[i]]) - weights[i]
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
        add_counts(winners, codes, weights, counts, rows)
    return can_be


@kernel
def exchange_counts(
    came: Array, came_codes: Array, came_weights: Array,
    went: Array, went_codes: Array, went_weights: Array,
    counts: Array, rows: Array, bounds: Array,
) -> bool:  # fmt: skip
    """Add rows and take others away, as above, and move the bounds of the rows that are kept; all of it or nothing."""
    add_counts(came, came_codes, came_weights, counts, rows)
    if not take_counts(went, went_codes, went_weights, counts, rows):
        add_counts(came, came_codes, -came_weights, counts, rows)
        return False
    bounds[0] += went_codes.size
    bounds[1] += came_codes.size
    return True


@kernel
def add_targets(winners: Array, targets: Array, sums: Array) -> None:
    """Add the targets of each row to the sums of its winners: integers, so that rows may come in any order.

    Parameters
    ----------
    winners : (n, rho) array of unsigned integers
    targets : (n, n_outputs) array of int64
        Times the weight of the row; negative ones take away.
    sums : (m, n_outputs) array of int64
    """
    there = np.empty(targets.shape[1], np.int64)
    for i in range(winners.shape[0]):
        n = 0
        for k in range(targets.shape[1]):  # most labels are not those of a row
            there[n] = k
            n += targets[i, k] != 0
        for r in range(winners.shape[1]):
            w = winners[i, r]
            for j in range(n):
                sums[w, there[j]] += targets[i, there[j]]
