"""Counts of winners per class, and the filters that follow from them; knows nothing of features.

A table of counts has shape (n_components, n_classes): what one winner means for all classes lies side by side.
"""

from __future__ import annotations

import numpy as np

from flybloom._kernels import left_out, score
from flybloom._kernels.count import add_counts
from flybloom._typing import Array, Codes, Counts, Novelty, Weights, Winners


def count_dtype(class_count: Array) -> type[np.signedinteger]:
    """Return the type for the counts of classes that have so many rows: no count can be larger than that."""
    return np.int32 if int(class_count.max(initial=0)) <= np.iinfo(np.int32).max else np.int64


def arranged(counts: Array, old: Array, new: Array, axis: int) -> Array:
    """Return counts for the sorted classes `new`, which contain the sorted classes `old`; zeros for the others."""
    if old.size == new.size:
        return counts
    shape = list(counts.shape)
    shape[axis] = new.size
    result = np.zeros(shape, counts.dtype)
    at: list[slice | Array] = [slice(None)] * counts.ndim
    at[axis] = np.searchsorted(new, old)
    result[tuple(at)] = counts
    return result


def add(winners: Winners, codes: Codes, weights: Weights, counts: Counts) -> None:
    """Count the winners of each row for its class, in place; negative weights take away."""
    add_counts(winners, codes, weights, counts)


def weights_of(counts: Counts, decay: float) -> Array:
    """Return the paper's filters, (1 - decay)^count, in the shape of `counts`."""
    table = score.decay_table(float(decay), int(counts.max(initial=0)) + 1)
    weights: Array = table[np.minimum(counts, table.size - 1)]
    return weights


def novelty(winners: Winners, counts: Counts, class_count: Array, decay: float) -> Novelty:
    """Return f_i(x), the mean weight of each row's winners in the filter of each class."""
    table = score.decay_table(float(decay), int(class_count.max(initial=0)) + 1)
    result = np.empty((len(winners), counts.shape[1]))
    score.novelty(winners, counts, table, result)
    return result


def left_out_novelty(winners: Winners, codes: Codes, counts: Counts, class_count: Array, decay: float) -> Novelty:
    """Return the same for learned rows of these classes, each as if it had not been learned."""
    table = score.decay_table(float(decay), int(class_count.max(initial=0)) + 1)
    result = np.empty((len(winners), counts.shape[1]))
    left_out.left_out_novelty(winners, codes, counts, table, result)
    return result


def most_familiar(novelty: Novelty, winners: Winners, seed: int) -> Codes:
    """Return the class of least novelty of each row; ties are broken by a hash of the seed and the winners."""
    codes = np.empty(len(winners), np.int64)
    score.most_familiar(novelty, winners, np.uint64(seed), codes)
    return codes
