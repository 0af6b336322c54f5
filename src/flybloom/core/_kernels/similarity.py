"""Similarity of classes: inner products of their filters."""

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel


@kernel
def add_products(counts: Array, table: Array, starts: Array, lasts: Array, out: Array) -> None:
    """Add the inner product of the filters of each pair of classes to ``out[i, k]``, component by component.

    The weight of a count in class i is ``table[starts[i] + min(count, lasts[i])]``.
    """
    m, n_classes = counts.shape
    for j in range(m):
        for i in range(n_classes):
            weight = table[starts[i] + min(counts[j, i], lasts[i])]
            for k in range(i + 1):
                out[i, k] += weight * table[starts[k] + min(counts[j, k], lasts[k])]
    for i in range(n_classes):
        for k in range(i):
            out[k, i] = out[i, k]
