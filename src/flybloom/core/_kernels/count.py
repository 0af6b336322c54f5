"""Learning: count how often each component won, per class."""

from typing import Any

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
def note_change(before: Any, after: Any, met: Array) -> None:
    """Keep up what `count_digits` wrote, for a count that changes; below 0 it has not been asked for."""
    if met[0] < 0:
        return
    met[0] += np.int64(after != 0) - np.int64(before != 0)
    while after > 0:
        met[1] += 1
        after >>= 1
    while before > 0:
        met[1] -= 1
        before >>= 1


@kernel
def add_in_place(winners: Array, codes: Array, weights: Array, counts: Array, rows: Array, met: Array) -> None:
    """Do what `add_counts` does to counts that are in use, and keep up the digits in ``met``."""
    for i in range(winners.shape[0]):
        rows[codes[i]] += weights[i]
        for r in range(winners.shape[1]):
            before = np.int64(counts[winners[i, r], codes[i]])
            counts[winners[i, r], codes[i]] = before + weights[i]
            note_change(before, before + weights[i], met)


@kernel
def take_counts(winners: Array, codes: Array, weights: Array, counts: Array, rows: Array, met: Array) -> bool:
    """Take rows away as `add_in_place` adds them, if they can be in the counts; return whether that was done.

    No count may fall below zero, and none may stay above the rows that remain of its class. Where one does, everything
    is put back before the call ends.
    """
    is_touched = np.zeros(rows.size, np.bool_)
    can_be = True
    met_before = met.copy()
    for i in range(winners.shape[0]):
        is_touched[codes[i]] = True
        rows[codes[i]] -= weights[i]
        for r in range(winners.shape[1]):
            before = np.int64(counts[winners[i, r], codes[i]])
            left = before - weights[i]
            counts[winners[i, r], codes[i]] = left
            note_change(before, left, met)
            if left < 0:
                can_be = False
    if can_be:
        touched = np.flatnonzero(is_touched)
        for u in range(counts.shape[0]):
            for code in touched:
                if counts[u, code] > rows[code]:
                    can_be = False
    if not can_be:
        met[:] = met_before
        for i in range(winners.shape[0]):
            rows[codes[i]] += weights[i]
            for r in range(winners.shape[1]):
                counts[winners[i, r], codes[i]] += weights[i]
    return can_be


@kernel
def exchange_counts(
    came: Array, came_codes: Array, came_weights: Array,
    went: Array, went_codes: Array, went_weights: Array,
    counts: Array, rows: Array, met: Array, bounds: Array,
) -> bool:  # fmt: skip
    """Add rows and take others away, as above, and move the bounds of the rows that are kept; all of it or nothing."""
    add_in_place(came, came_codes, came_weights, counts, rows, met)
    if not take_counts(went, went_codes, went_weights, counts, rows, met):
        add_in_place(came, came_codes, -came_weights, counts, rows, met)
        return False
    bounds[0] += went_codes.size
    bounds[1] += came_codes.size
    return True


@kernel
def count_digits(counts: Array, met: Array) -> None:
    """Write to ``met`` how many counts are not zero, and how many binary digits they have together."""
    n_met, n_digits = 0, 0
    for j in range(counts.shape[0]):
        for i in range(counts.shape[1]):
            value = np.int64(counts[j, i])
            n_met += value != 0
            while value > 0:
                n_digits += 1
                value >>= 1
    met[0], met[1] = n_met, n_digits
