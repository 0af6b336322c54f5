"""Explanations: scores and counts traced back to the features, and the similarity of classes."""

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel


@kernel
def add_shares(
    rows: Array, winners: Array, codes: Array, connections: Array, signs: Array, weights: Array, out: Array
) -> None:
    """Divide the score of each row for its class ``codes[row]`` among the features, in ``out[row, feature]``.

    Each winner's part of the score, ``weights[j, class]``, goes to the features that lifted its sum, in proportion to
    how much they did; if none did, to all its features alike.
    """
    rho, s = winners.shape[1], connections.shape[1]
    for row in range(rows.shape[0]):
        for r in range(rho):
            j = winners[row, r]
            part = np.float64(weights[j, codes[row]])
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


@kernel
def add_products(weights: Array, out: Array) -> None:
    """Add the inner product of each pair of columns to ``out[i, k]``, component by component."""
    m, n_classes = weights.shape
    for j in range(m):
        for i in range(n_classes):
            weight = np.float64(weights[j, i])
            for k in range(i + 1):
                out[i, k] += weight * weights[j, k]
    for i in range(n_classes):
        for k in range(i):
            out[k, i] = out[i, k]
