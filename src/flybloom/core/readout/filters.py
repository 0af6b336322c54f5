"""Counts of winners per class, and the filters that follow from them; knows nothing of features.

A table of counts has shape (n_components, n_classes): what one winner means for all classes lies side by side.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from flybloom import _kernels
from flybloom._internal.typing import Array, Codes, Counts, Novelty, Weights, Winners
from flybloom.core.readout.class_weight import ClassTables, class_tables

MOST_KEPT = 2**17  # weights in a table that is kept for the next call


class Winnings(NamedTuple):
    """What rows count for, where there are few of them: their winners, not yet entered into a table."""

    winners: Winners
    codes: Codes
    weights: Weights


Change = Counts | Winnings


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
    _kernels.count.add_counts(winners, codes, weights, counts)


def rows_of_classes(codes: Codes, weights: Weights, n_classes: int) -> Array:
    """Return how many rows of each class there are, weights included."""
    rows = np.zeros(n_classes, np.int64)
    np.add.at(rows, codes, weights)
    return rows


def apply(change: Change, counts: Counts, sign: int = 1) -> None:
    """Add a change to the counts, in place, or take it away with the sign -1."""
    if isinstance(change, Winnings):
        add(change.winners, change.codes, sign * change.weights, counts)
    elif sign > 0:
        counts += change.astype(counts.dtype, copy=False)
    else:
        counts -= change.astype(counts.dtype, copy=False)


def contains(counts: Counts, change: Change, class_count: Array) -> bool:
    """Return whether a change can be taken away so that `class_count` rows remain.

    No count may fall below zero, and none may stay above the rows that remain of its class.
    """
    if not isinstance(change, Winnings):
        remaining = counts - change
        return bool((remaining >= 0).all() and (remaining <= class_count).all())
    n_classes = class_count.size
    cells = change.winners.astype(np.int64) * n_classes + change.codes[:, None]
    cells, where = np.unique(cells, return_inverse=True)
    removed = np.zeros(cells.size, np.int64)
    np.add.at(removed, where.ravel(), np.repeat(change.weights, change.winners.shape[1]))
    before = counts.ravel()[cells]
    most = class_count[cells % n_classes]
    if ((before < removed) | (before - removed > most)).any():
        return False
    touched = np.unique(change.codes)  # a cell above what remains must be one of those that are lowered
    return int((counts[:, touched] > class_count[touched]).sum()) == int((before > most).sum())


def weights_of(counts: Counts, decay: float, class_weights: Array | None = None) -> Array:
    """Return the paper's filters, (1 - decay)^count, in the shape of `counts`; or with the counts weighted by class."""
    return class_tables(decay, counts.max(axis=0, initial=0), class_weights).of(counts)


def table_of_weights(decay: float, class_count: Array) -> Array:
    """Return the weight of every count up to the rows of the largest class; what is beyond weighs as much as the last.

    Small tables are kept for the next call, and made of sizes that many calls share.
    """
    size = 1 << min(int(class_count.max(initial=0)).bit_length(), 62)  # a table ends long before
    return (_kept_table if size <= MOST_KEPT else _table)(float(decay), size)


def _table(decay: float, size: int) -> Array:
    """Return the first weights of a decay."""
    table: Array = _kernels.score.decay_table(decay, size)
    table.flags.writeable = False
    return table


_kept_table = lru_cache(maxsize=8)(_table)


def left_out_novelty(winners: Winners, codes: Codes, counts: Counts, class_count: Array, decay: float) -> Novelty:
    """Return the novelty of learned rows of these classes to each class, each row as if it had not been learned."""
    table = table_of_weights(decay, class_count)
    result = np.empty((len(winners), counts.shape[1]))
    _kernels.left_out.left_out_novelty(winners, codes, counts, table, result)
    return result


def left_out_novelty_by_class(
    winners: Winners, codes: Codes, counts: Counts, class_count: Array, tables: ClassTables
) -> Novelty:
    """Return the same where each class has weights of its own; `tables` are those of `left_out_weights`."""
    result = np.empty((len(winners), counts.shape[1]))
    _kernels.class_weights.left_out_novelty_by_class(winners, codes, counts, class_count, *tables, result)
    return result


def most_familiar(novelty: Novelty, winners: Winners, seed: int) -> Codes:
    """Return the class of least novelty of each row; ties are broken by a hash of the seed and the winners."""
    codes = np.empty(len(winners), np.int64)
    _kernels.score.most_familiar(novelty, winners, np.uint64(seed), codes)
    return codes
