"""Similarity of classes: inner products of their filters."""

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel


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
