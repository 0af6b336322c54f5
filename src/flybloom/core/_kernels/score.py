"""Scoring: from counts to novelty, and from novelty to a class."""

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel

MIX_0 = np.uint64(0xBF58476D1CE4E5B9)  # constants of the finaliser of SplitMix64 (Steele, Lea and Flood, 2014)
MIX_1 = np.uint64(0x94D049BB133111EB)
STEP = np.uint64(0x9E3779B97F4A7C15)


@kernel
def novelty(winners: Array, counts: Array, table: Array, out: Array) -> None:
    """Write f_i(x), the mean weight of the row's winners in the filter of class i, to ``out[row, i]``."""
    n_classes, rho, last = counts.shape[1], winners.shape[1], table.size - 1
    for row in range(winners.shape[0]):
        out[row, :] = 0.0
        for r in range(rho):
            j = winners[row, r]
            for i in range(n_classes):
                out[row, i] += table[min(counts[j, i], last)]
        for i in range(n_classes):
            out[row, i] /= rho


@kernel
def _mix(word: np.uint64) -> np.uint64:
    """Scramble a 64-bit word."""
    word = (word ^ (word >> np.uint64(30))) * MIX_0
    word = (word ^ (word >> np.uint64(27))) * MIX_1
    return word ^ (word >> np.uint64(31))


@kernel
def most_familiar(novelty: Array, winners: Array, seed: np.uint64, out: Array) -> None:
    """Write the class of least novelty to `out`; ties go to one of the tied, chosen by a hash of the winners.

    Novelties are sums of rho positive terms, so each is known to a relative error of rho / 2^53: what is
    closer than that is a tie.
    """
    n_classes, rho = novelty.shape[1], winners.shape[1]
    tolerance = 1.0 + rho * 2.0**-52
    for row in range(winners.shape[0]):
        least = novelty[row, 0]
        for i in range(1, n_classes):
            least = min(least, novelty[row, i])
        n_tied = 0
        for i in range(n_classes):
            n_tied += novelty[row, i] <= least * tolerance
        chosen = np.int64(0)
        if n_tied > 1:
            word = np.uint64(0)
            for r in range(rho):  # a sum: the order of the winners does not matter
                word += _mix(np.uint64(winners[row, r]) + STEP)
            word = _mix(_mix(word ^ seed) + STEP)
            chosen = np.int64(((word >> np.uint64(32)) * np.uint64(n_tied)) >> np.uint64(32))
        for i in range(n_classes):
            if novelty[row, i] <= least * tolerance:
                if chosen == 0:
                    out[row] = i
                    break
                chosen -= 1
