"""Scoring with a weight for each class: the filter of a class is (1 - c)^(count * weight), from a table of its own.

The tables lie one after another. Class i finds the weight of a count at ``tables[starts[i] + min(count, lasts[i])]``.
Weights are multiples of a power of two, so that sums are exact in any order; see `core/readout/weight_table.py`.
"""

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel

LANES = 8  # decays side by side
OTHER, OWN, OTHER_IF_ALONE = 0, 1, 2  # tables of left-out rows: see `leave_one_out_novelty`


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
