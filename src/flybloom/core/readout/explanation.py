"""What a model has learned: scores and classes traced back to features, and how similar classes are."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from flybloom._internal.typing import Array, Codes, CountTable, Winners
from flybloom.core import _kernels


def feature_shares(
    rows: Array, winners: Winners, codes: Codes, connections: Array, signs: Array, weights: Array
) -> Array:
    """Return the share of each feature in the sum of the weights of each row's winners for its class in `codes`.

    `rows` are as they are hashed, `weights` of shape (n_components, n_classes). The shares of a row add up to the sum,
    up to rounding.
    """
    shares = np.zeros(rows.shape)
    if winners.dtype == np.int8:  # the part of a product is divided among its two columns; a column is there twice
        parts = winners * weights[:, codes].T / 2
        for k in range(connections.shape[1]):
            np.add.at(shares.T, connections[:, k], parts.T)
        return shares
    _kernels.explain.add_shares(
        np.ascontiguousarray(rows, np.float64), winners, codes, connections, signs, weights, shares
    )
    return shares


def class_profiles(
    counts: CountTable, class_count: Array, parts: list[tuple[Array, Array]], n_features: int, *, contrast: bool
) -> Array:
    """Return for each class how much its winners draw on each feature, of shape (n_classes, n_features).

    `parts` are connections and signs of all components in order.

    A component counts with the share of the class's rows in which it won; with `contrast`, with what that share exceeds
    the mean over the classes that have rows.
    """
    share = counts / np.maximum(class_count, 1)
    if contrast:
        is_met = class_count > 0
        share[:, is_met] -= share[:, is_met].mean(axis=1, keepdims=True)
    profiles = np.zeros((counts.shape[1], n_features))
    begin = 0
    for connections, signs in parts:
        _kernels.explain.add_profiles(share[begin : begin + len(connections)], connections, signs, profiles)
        begin += len(connections)
    return profiles


def cosine_similarity(weights: Array) -> Array:
    """Return the cosine of each pair of columns: of the filters of classes, or of one minus them.

    `weights` has shape (n_components, n_classes). Most components never won in either of two classes. They add 1 to the
    inner product of two filters, so all cosines come near to 1; to that of their complements, what the two classes are
    familiar with, they add nothing. A class that knows nothing resembles none but itself.
    """
    products = np.zeros((weights.shape[1], weights.shape[1]))
    _kernels.explain.add_products(weights, products)
    norms = np.sqrt(np.diag(products))
    similarity = products / np.where(norms > 0, norms, 1.0)[:, None] / np.where(norms > 0, norms, 1.0)
    similarity = np.clip((similarity + similarity.T) / 2, 0.0, 1.0)
    np.fill_diagonal(similarity, 1.0)
    return similarity


def most_similar_pairs(similarity: Array, k: int) -> list[tuple[int, int, float]]:
    """Return the `k` most similar pairs of different classes, the most similar first, ties by position."""
    pairs = sorted(combinations(range(len(similarity)), 2), key=lambda pair: (-similarity[pair], pair))
    return [(i, j, float(similarity[i, j])) for i, j in pairs[:k]]
