"""Tables of the weights (1 - c)^n by count, for all classes together or for each by itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from flybloom._internal.typing import Array, CountTable
from flybloom.core import _kernels

MAX_LENGTH = 2**20  # entries of a table; counts beyond are read in steps of a power of two
FIRST_LENGTH = 2**11  # entries of a table that are tried before more; `size` may be more than memory holds
MAX_KEPT = 2**17  # entries of a table that is kept for the next call


class WeightTable(NamedTuple):
    """Where each class finds the weight of a count: ``values[starts + min(count, lasts)]``."""

    values: Array  # (n,), or (n, 8) for up to 8 decays
    starts: Array  # (n_classes,); (1, n_classes) or (3, n_classes) of held-out rows
    lasts: Array  # like `starts`: the last count that has an entry of its own

    def of(self, counts: CountTable) -> Array:
        """Return the weights of a table of counts, of shape (n_components, n_classes)."""
        weights: Array = self.values[self.starts + np.minimum(counts, self.lasts)]
        return weights

    def complement(self) -> WeightTable:
        """Return the table of one minus each weight."""
        return self._replace(values=1.0 - self.values)


def step_bits(decay: float, most: int, weights: Array | None = None) -> int:
    """Return how many low bits of counts up to `most` are to be left out, so that a table stays within bounds.

    Almost always none: weights vanish long before. Only a decay near zero together with millions of rows needs it,
    and there a step of counts changes a weight by less than one part in 2**20 / (most * decay).
    """
    if most <= MAX_LENGTH:
        return 0
    if weights is not None:
        decay *= min(1.0, float(weights.min(initial=1.0)))  # a class of small weight forgets more slowly
    bits = 0
    while min(most >> bits, _length_until_zero(decay, bits)) > MAX_LENGTH:
        bits += 1
    return bits


def coarse(counts: CountTable, bits: int) -> CountTable:
    """Return the counts without their low bits; the counts themselves where there are none to leave out."""
    return counts >> bits if bits else counts


def decay_table(decay: float, size: int, bits: int = 0) -> Array:
    """Return the weights of the counts 0, 1, 2, ..., `size` of them, or up to where they no longer change.

    They end at zero or, below a decay of a half, at the smallest number, which rounds back to itself.
    With `bits`, those of the counts 0, 2**bits, 2 * 2**bits, ...
    """
    keeps = 1.0 - _coarse_decay(float(decay), bits)
    n = min(size, FIRST_LENGTH)
    while True:
        table = np.full(n, keeps)
        table[0] = 1.0
        np.multiply.accumulate(table, out=table)  # one after the other: a library's power function differs by machine
        stays = np.flatnonzero(table[1:] == table[:-1])
        if stays.size or n == size:
            return table[: stays[0] + 1] if stays.size else table
        n = min(size, 2 * n)


def common_table(decay: float, most: int, bits: int = 0) -> Array:
    """Return the weight of every count up to `most`; small tables are kept, and made of sizes that calls share."""
    size = 1 << min((most >> bits).bit_length(), 62)  # a table ends long before
    return (_kept_table if size <= MAX_KEPT else _table)(float(decay), size, bits)


def table_by_class(decay: float, class_count: Array, weights: Array | None, bits: int = 0) -> WeightTable:
    """Return the table for class weights of any shape that ends in the number of classes; one for all without them."""
    rows = class_count.astype(np.int64) >> bits
    if weights is None:
        table = decay_table(decay, int(rows.max(initial=0)) + 1, bits)
        return WeightTable(table, np.zeros(rows.size, np.int64), np.full(rows.size, table.size - 1))
    bases = _kernels.class_weights.weighted_bases(float(decay), weights.ravel() * float(1 << bits))
    tables = _by_class(bases[:, None], rows, weights.shape)
    return tables._replace(values=tables.values[:, 0])


def table_of_decays(decays: Sequence[float], class_count: Array, weights: Array) -> WeightTable:
    """Return the tables of up to 8 decays, which lie side by side."""
    bases = np.zeros((weights.size, _kernels.class_weights.LANES))
    for lane, decay in enumerate(decays):
        bases[:, lane] = _kernels.class_weights.weighted_bases(float(decay), weights.ravel())
    return _by_class(bases, class_count, weights.shape)


def _by_class(bases: Array, class_count: Array, shape: tuple[int, ...]) -> WeightTable:
    """Return the tables for what one more count multiplies by; no count exceeds the rows of its class."""
    most = np.broadcast_to(class_count.astype(np.int64), shape).ravel()
    values, starts, lasts = _kernels.class_weights.tables_by_class(bases, most)
    return WeightTable(values, starts.reshape(shape), lasts.reshape(shape))


def _table(decay: float, size: int, bits: int) -> Array:
    """Return the first weights of a decay, which nobody may change."""
    table = decay_table(decay, size, bits)
    table.flags.writeable = False
    return table


_kept_table = lru_cache(maxsize=8)(_table)


def _coarse_decay(decay: float, bits: int) -> float:
    """Return the decay of 2**bits counts together."""
    keeps = 1.0 - decay
    for _ in range(bits):
        keeps *= keeps
    return 1.0 - keeps if bits else decay


def _length_until_zero(decay: float, bits: int) -> float:
    """Return about how many entries a table has before its weights are zero."""
    coarse_decay = _coarse_decay(decay, bits)
    return 746.0 / coarse_decay if coarse_decay > 0 else float("inf")
