"""Learning: count how often each component won, per class."""

from flybloom._internal.typing import Array
from flybloom._kernels._jit import kernel


@kernel
def add_counts(winners: Array, codes: Array, weights: Array, counts: Array) -> None:
    """Add each row's weight to the cells ``counts[winner, code]``, in place."""
    for i in range(winners.shape[0]):
        for r in range(winners.shape[1]):
            counts[winners[i, r], codes[i]] += weights[i]
