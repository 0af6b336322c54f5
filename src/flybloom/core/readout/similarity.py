"""How much classes resemble each other, from what their counts weigh."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core import _kernels


def cosine_similarity(weights: Array) -> Array:
    """Return the cosine of each pair of columns: of the filters of classes, or of one minus them.

    `weights` has shape (n_components, n_classes). Most components never won in either of two classes. They add 1 to the
    inner product of two filters, so all cosines come near to 1; to that of their complements, what the two classes are
    familiar with, they add nothing. A class that knows nothing resembles none but itself.
    """
    products = np.zeros((weights.shape[1], weights.shape[1]))
    _kernels.similarity.add_products(weights, products)
    norms = np.sqrt(np.diag(products))
    similarity = products / np.where(norms > 0, norms, 1.0)[:, None] / np.where(norms > 0, norms, 1.0)
    similarity = np.clip((similarity + similarity.T) / 2, 0.0, 1.0)
    np.fill_diagonal(similarity, 1.0)
    return similarity


def most_similar_pairs(similarity: Array, k: int) -> list[tuple[int, int, float]]:
    """Return the `k` most similar pairs of different classes, the most similar first, ties by position."""
    pairs = sorted(combinations(range(len(similarity)), 2), key=lambda pair: (-similarity[pair], pair))
    return [(i, j, float(similarity[i, j])) for i, j in pairs[:k]]
