"""Scoring with a weight for each class: the filter of a class is (1 - c)^(count * weight), from a table of its own.

The tables lie one after another. Class i finds the weight of a count at ``tables[starts[i] + min(count, lasts[i])]``.
Sums are added in the order of the winners, so weights of 1 give the bits that scoring without weights gives.
"""

import math

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel

LANES = 8  # decays side by side
FRACTION_BITS = 40  # of a weight; the next would change the power by less than one part in 10^12
OTHER, OWN, OTHER_IF_ALONE = 0, 1, 2  # tables of left-out rows: see `leave_one_out_novelty`


@kernel
def power(base: float, exponent: float) -> float:
    """`base` to the power of `exponent`, neither negative, from multiplications and square roots alone.

    Both are rounded correctly everywhere, so the bits are the same on every machine; a library's power function is not.
    """
    if base == 0.0:
        return 0.0
    result, square, whole = 1.0, base, np.floor(exponent)
    while whole >= 1.0:  # in floats, because an exponent may exceed every integer; halves are exact
        half = np.floor(whole / 2.0)
        if whole > 2.0 * half:
            result *= square
        square *= square
        whole = half
    root, fraction = base, exponent - np.floor(exponent)
    for _ in range(FRACTION_BITS):
        root = math.sqrt(root)
        fraction *= 2.0
        if fraction >= 1.0:
            fraction -= 1.0
            result *= root
    return result


@kernel
def weighted_bases(decay: float, weights: Array) -> Array:
    """What one more count multiplies the weight of a component by, (1 - decay)^weight for each of the weights."""
    bases = np.empty(weights.size)
    for i in range(weights.size):
        bases[i] = power(1.0 - decay, weights[i])
    return bases


@kernel
def tables_by_class(bases: Array, most: Array) -> tuple[Array, Array, Array]:
    """The tables of all classes, with where each begins and the last count of each.

    Parameters
    ----------
    bases : (n_tables, n_lanes) float64 array
        What one more count multiplies a weight by.
    most : (n_tables,) int64 array
        The largest count that will be looked up. A table ends before it where none of its weights changes any more.

    Returns
    -------
    tables : (n, n_lanes) float64 array
    starts, lasts : (n_tables,) int64 array
    """
    n_tables, n_lanes = bases.shape
    starts, lasts, total = np.empty(n_tables, np.int64), np.empty(n_tables, np.int64), 0
    weights = np.empty(n_lanes)
    for i in range(n_tables):
        weights[:] = 1.0
        last = 0
        while last < most[i]:
            changes = False
            for lane in range(n_lanes):
                weight = weights[lane] * bases[i, lane]
                changes |= weight != weights[lane]
                weights[lane] = weight
            if not changes:
                break
            last += 1
        starts[i], lasts[i] = total, last
        total += last + 1
    tables = np.empty((total, n_lanes))
    for i in range(n_tables):
        tables[starts[i], :] = 1.0
        for k in range(starts[i] + 1, starts[i] + lasts[i] + 1):
            for lane in range(n_lanes):
                tables[k, lane] = tables[k - 1, lane] * bases[i, lane]
    return tables, starts, lasts


@kernel
def novelty_by_class(winners: Array, counts: Array, table: Array, starts: Array, lasts: Array, out: Array) -> None:
    """Write f_i(x), the mean weight of the row's winners in the filter of class i, to ``out[row, i]``."""
    n_classes, rho = counts.shape[1], winners.shape[1]
    for row in range(winners.shape[0]):
        out[row, :] = 0.0
        for r in range(rho):
            j = winners[row, r]
            for i in range(n_classes):
                out[row, i] += table[starts[i] + min(counts[j, i], lasts[i])]
        for i in range(n_classes):
            out[row, i] /= rho


@kernel
def leave_one_out_novelty(
    winners: Array, codes: Array, counts: Array, class_count: Array, table: Array, starts: Array, lasts: Array,
    out: Array,
) -> None:  # fmt: skip
    """Write f_i(x) to ``out[row, i]`` as if the row, of class ``codes[row]``, had not been learned.

    Weights that follow from the number of rows change with it. So there are three tables for each class, found by
    ``starts[kind, i]``: one for rows of other classes, one for its own rows, and one for rows that are alone in another
    class, which is then no class any more.
    """
    n_classes, rho = counts.shape[1], winners.shape[1]
    for row in range(winners.shape[0]):
        own = codes[row]
        other = OTHER_IF_ALONE if class_count[own] == 1 else OTHER
        out[row, :] = 0.0
        for r in range(rho):
            j = winners[row, r]
            for i in range(n_classes):
                kind, count = other, counts[j, i]
                if i == own:
                    kind = OWN
                    if count > 0:
                        count -= 1
                out[row, i] += table[starts[kind, i] + min(count, lasts[kind, i])]
        for i in range(n_classes):
            out[row, i] /= rho


@kernel
def cross_validated_novelty_by_class(
    winners: Array, counts: Array, codes: Array, leaves: Array, class_count: Array, tables: Array, starts: Array,
    lasts: Array, out: Array,
) -> None:  # fmt: skip
    """Write the novelty of each row to each class, for each decay, to ``out[decay, row, class]``.

    Parameters
    ----------
    winners : (n, rho) uint32 array
    counts : (m, n_classes) integer array
    codes : (n,) int64 array
        Each row's own class.
    leaves : (n,) int64 array
        How much of each row's own counts is left out while it is scored: its weight if it is among the counted ones.
    class_count : (n_classes,) int64 array
        Rows that were counted of each class. A class without any is infinitely novel: it cannot be chosen.
    tables : (n, 8) float64 array
        Weights by count, one column for each decay.
    starts, lasts : (1, n_classes) int64 array, or (3, n_classes) if each row leaves itself
        See `leave_one_out_novelty`.
    out : (n_decays, n, n_classes) float64 array
    """
    n_decays, n_classes, rho = out.shape[0], counts.shape[1], winners.shape[1]
    sums = np.empty(LANES)
    for row in range(winners.shape[0]):
        own = codes[row] if leaves[row] > 0 else -1
        other = OTHER_IF_ALONE if own >= 0 and class_count[own] == leaves[row] else OTHER
        for i in range(n_classes):
            less = leaves[row] * int(own == i)
            kind = OWN if less else other
            start, last = starts[kind, i], lasts[kind, i]
            s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0  # named, so that they stay in registers
            for r in range(rho):
                at = start + min(np.int64(counts[winners[row, r], i]) - less, last)
                s0 += tables[at, 0]
                s1 += tables[at, 1]
                s2 += tables[at, 2]
                s3 += tables[at, 3]
                s4 += tables[at, 4]
                s5 += tables[at, 5]
                s6 += tables[at, 6]
                s7 += tables[at, 7]
            sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7] = s0, s1, s2, s3, s4, s5, s6, s7
            is_known = class_count[i] > less
            for decay in range(n_decays):
                out[decay, row, i] = sums[decay] / rho if is_known else np.inf
