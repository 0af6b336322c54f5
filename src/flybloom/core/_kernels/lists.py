"""Scoring with many classes: lists of the classes in which a component has won, so that zeros cost next to nothing."""

import numpy as np

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
def fill_lists(counts: Array, begin: int, end: int, starts: Array, last: int, classes: Array, places: Array) -> None:
    """Write the classes in which component j has won from ``starts[j]`` on, and their places in the table of weights.

    The place is the count, or `last`, the end of the table, where the count is larger.
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
                        classes[at], places[at] = i, min(counts[j, i], last)
                        at += 1


@kernel
def listed_novelty(winners: Array, starts: Array, classes: Array, places: Array, table: Array, out: Array) -> None:
    """Write the mean weight of each row's winners in the filter of class i to ``out[row, i]``, added in their order.

    Every class gets a one for each winner; those on its list then get the sum with their weight instead.
    """
    n_classes, rho = out.shape[1], winners.shape[1]
    sums = np.empty(n_classes)
    for row in range(winners.shape[0]):
        out[row, :] = 0.0
        for r in range(rho):
            j = winners[row, r]
            begin, end = starts[j], starts[j + 1]
            for at in range(begin, end):
                sums[at - begin] = out[row, classes[at]] + table[places[at]]
            for i in range(n_classes):
                out[row, i] += 1.0
            for at in range(begin, end):
                out[row, classes[at]] = sums[at - begin]
        for i in range(n_classes):
            out[row, i] /= rho


@kernel
def least_novelty(
    winners: Array, starts: Array, classes: Array, places: Array, table: Array, counts: Array, out: Array
) -> None:
    """Write the novelty of the row to class i to ``out[row, i]`` if it may be the least or tie with it, else infinity.

    How far each sum falls short of rho is found from the lists alone, but rounded differently. With u = 2^-53, a sum of
    rho numbers up to 1 is known to rho^2 u, whatever the order. So of two classes that tie, or of which the one that
    should be less is not, shortfalls differ by no more than 6 rho^2 u: 2 for the sums, 2 for the shortfalls, and 2 for
    what counts as a tie, all but for terms of rho u. What lies within 16 rho^2 u of the largest shortfall is added up
    in the order of the winners.
    """
    n_classes, rho, last = out.shape[1], winners.shape[1], table.size - 1
    margin = rho * rho * 2.0**-49
    shortfalls = 1.0 - table
    candidates, sums = np.empty(n_classes, np.int64), np.empty(n_classes)
    for row in range(winners.shape[0]):
        out[row, :] = 0.0
        for r in range(rho):
            j = winners[row, r]
            for at in range(starts[j], starts[j + 1]):
                out[row, classes[at]] += shortfalls[places[at]]
        most = 0.0
        for i in range(n_classes):
            most = max(most, out[row, i])
        n = 0
        for i in range(n_classes):
            shortfall = out[row, i]
            if shortfall < most - margin:
                out[row, i] = np.inf
            elif shortfall == 0.0:
                out[row, i] = 1.0  # a sum of ones is exact
            else:
                candidates[n], sums[n] = i, 0.0
                n += 1
        for r in range(rho):
            j = winners[row, r]
            for k in range(n):
                sums[k] += table[min(counts[j, candidates[k]], last)]
        for k in range(n):
            out[row, candidates[k]] = sums[k] / rho
