"""Novelty to a filter that recovers: what was learned long ago weighs less."""

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel


@kernel
def recovered_novelty(winners: Array, ages: Array, counts: Array, tables: Array, out: Array) -> None:
    """Write the mean weight of each row's winners to ``out[row]``; a weight is a product over the ages.

    Parameters
    ----------
    winners : (n, rho) uint32 array
    ages : (n,) int64 array
        Age at which each row itself was learned and is to be left out; -1 leaves nothing out.
    counts : (m, n_ages) array
        How often each component won at each age.
    tables : (n_ages, size) float64 array
        What a number of wins at an age multiplies the weight by; the last entry serves for all larger numbers.
    out : (n,) float64 array
    """
    n_ages, rho, last = counts.shape[1], winners.shape[1], tables.shape[1] - 1
    for row in range(winners.shape[0]):
        total = 0.0
        for r in range(rho):
            j = winners[row, r]
            weight = 1.0
            for age in range(n_ages):
                count = counts[j, age]
                if age == ages[row] and count > 0:
                    count -= 1
                weight *= tables[age, min(count, last)]
            total += weight
        out[row] = total / rho
