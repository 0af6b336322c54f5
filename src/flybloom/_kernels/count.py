"""Learning: count how often each component won, per class."""

from flybloom._kernels._jit import kernel
from flybloom._typing import Array


@kernel
def add_counts(winners: Array, codes: Array, weights: Array, counts: Array) -> None:
    """Add each row's weight to the cells ``counts[winner, code]``, in place."""
    for i in range(winners.shape[0]):
        for r in range(winners.shape[1]):
            counts[winners[i, r], codes[i]] += weights[i]


@kernel
def add_counts_and_rows(winners: Array, codes: Array, weights: Array, counts: Array, rows: Array) -> None:
    """Do what `add_counts` does, and add each row's weight to ``rows[code]``."""
    for i in range(winners.shape[0]):
        rows[codes[i]] += weights[i]
        for r in range(winners.shape[1]):
            counts[winners[i, r], codes[i]] += weights[i]
