"""Similarity of classes: inner products of their filters."""

from flybloom._kernels._jit import kernel
from flybloom._typing import Array


@kernel
def add_products(counts: Array, table: Array, out: Array) -> None:
    """Add the inner product of ``table[counts]`` of each pair of classes to ``out[i, k]``, component by component."""
    m, n_classes = counts.shape
    last = table.size - 1
    for j in range(m):
        for i in range(n_classes):
            weight = table[min(counts[j, i], last)]
            for k in range(i + 1):
                out[i, k] += weight * table[min(counts[j, k], last)]
    for i in range(n_classes):
        for k in range(i):
            out[k, i] = out[i, k]
