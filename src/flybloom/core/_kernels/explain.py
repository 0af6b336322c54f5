"""Explanations: scores and counts traced back to the features."""

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel


@kernel
def add_shares(
    rows: Array, winners: Array, codes: Array, connections: Array, signs: Array, counts: Array, table: Array,
    starts: Array, lasts: Array, out: Array,
) -> None:  # fmt: skip
    """Divide the score of each row for its class ``codes[row]`` among the features, in ``out[row, feature]``.

    Each winner's part of the score, its weight over rho, goes to the features that lifted its sum, in proportion to
    how much they did; if none did, to all its features alike. The weight of a count in class i is
    ``table[starts[i] + min(count, lasts[i])]``.
    """
    rho, s = winners.shape[1], connections.shape[1]
    for row in range(rows.shape[0]):
        start, last = starts[codes[row]], lasts[codes[row]]
        for r in range(rho):
            j = winners[row, r]
            part = table[start + min(counts[j, codes[row]], last)] / rho
            lift = 0.0
            for k in range(s):
                lift += max(rows[row, connections[j, k]] * signs[j, k], 0.0)
            for k in range(s):
                feature = connections[j, k]
                if lift > 0.0:
                    out[row, feature] += part * (max(rows[row, feature] * signs[j, k], 0.0) / lift)
                else:
                    out[row, feature] += part / s


@kernel
def add_profiles(values: Array, connections: Array, signs: Array, out: Array) -> None:
    """Add ``values[j, i]`` of component j in class i to its features, with their signs, in ``out[i, feature]``."""
    n_classes = values.shape[1]
    for j in range(connections.shape[0]):
        for k in range(connections.shape[1]):
            feature = connections[j, k]
            for i in range(n_classes):
                out[i, feature] += values[j, i] * signs[j, k]
