"""Scoring with many classes: lists of the classes in which a component has won, so that zeros cost next to nothing."""

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel

LANES = 16  # counts that are looked at together


@kernel
def count_listed(counts: Array, begin: int, end: int, step: int, out: Array) -> None:
    """Write to ``out[j]`` in how many classes component j has won, for every `step`-th component of a range."""
    for j in range(begin, end, step):
        n = 0
        for i in range(counts.shape[1]):
            n += counts[j, i] != 0
        out[j] = n


@kernel
def fill_lists(
    counts: Array, begin: int, end: int, values: Array, firsts: Array, lasts: Array,
    starts: Array, classes: Array, weights: Array,
) -> None:  # fmt: skip
    """Write the classes in which component j has won, and its weights there, from ``starts[j]`` on.

    The weight of a count in class i is ``values[firsts[i] + min(count, lasts[i])]``.
    """
    n_classes = counts.shape[1]
    for j in range(begin, end):
        at = starts[j]
        for first in range(0, n_classes, LANES):
            stop, won = min(first + LANES, n_classes), False
            for i in range(first, stop):
                won |= counts[j, i] != 0
            if won:
                for i in range(first, stop):
                    if counts[j, i] != 0:
                        classes[at], weights[at] = i, values[firsts[i] + min(counts[j, i], lasts[i])]
                        at += 1


@kernel
def listed_sums(winners: Array, starts: Array, classes: Array, weights: Array, intercept: Array, out: Array) -> None:
    """Write ``intercept[c] + sum of the weights for class c on the lists of the winners of row i`` to ``out[i, c]``."""
    for row in range(winners.shape[0]):
        out[row] = intercept
        for r in range(winners.shape[1]):
            j = winners[row, r]
            for at in range(starts[j], starts[j + 1]):
                out[row, classes[at]] += weights[at]
