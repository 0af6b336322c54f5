"""Learning: count how often each component won, per class."""

from flybloom._internal.typing import Array
from flybloom._kernels._jit import kernel


@kernel
def add_counts(winners: Array, codes: Array, weights: Array, counts: Array, rows: Array) -> None:
    """Add each row's weight to the cells ``counts[winner, code]`` and to ``rows[code]``, in place.

    Both in one call, because no signal can interrupt it: what is counted is counted whole.
    """
    for i in range(winners.shape[0]):
        rows[codes[i]] += weights[i]
        for r in range(winners.shape[1]):
            counts[winners[i, r], codes[i]] += weights[i]
