"""Tables of the weights (1 - c)^n by count, for all classes together or for each by itself.

Weights are multiples of 2^-30. So an int32 holds each of them in units of the grid, a float64 holds every sum of up to
2^23 of them, and the order in which they are added does not matter.

On a grid powers vanish: with c = 0.5 after 31 wins, and classes in which all winners of a row have won more often would
tie. So from e^-16 on a weight falls more slowly, by 15 steps of the grid each time that its exponent doubles, and it is
zero from e^-4096 on. That is less than 2^-23 above the power, and classes still differ in how often components won.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from flybloom._internal.elementary import LOG_2, exponential, logarithm
from flybloom._internal.typing import Array, CountTable

UNIT = 2.0**-30  # of the grid
SLOW = 16.0  # exponent from which a weight falls more slowly
STEPS = 15  # of the grid, for which it falls while its exponent doubles
VANISHED = 4096.0  # exponent from which it is zero
SLOW_STEPS = 120  # in all, while the exponent doubles 8 times: as many as e^-16 has
MAX_LENGTH = 2**20  # entries of a table; counts beyond are read in steps of a power of two
MAX_KEPT = 2**17  # entries of a table that is kept for the next call
LANES = 8  # decays side by side


class WeightTable(NamedTuple):
    """Where each class finds the weight of a count: ``values[starts + min(count, lasts)]``."""

    values: Array  # (n,), or (n, 8) for up to 8 decays
    starts: Array  # (n_classes,); (1, n_classes) or (3, n_classes) of held-out rows
    lasts: Array  # like `starts`: the last count that has an entry of its own


def rate_of(decay: float) -> float:
    """Return what one count adds to the exponent of a weight; infinite for a decay of 1."""
    return float(-logarithm(np.array(1.0 - decay))) if decay < 1 else np.inf


def exponents_of(counts: Array, rate: Array | float) -> Array:
    """Return counts times what each adds, which is 0 for none whatever it adds."""
    with np.errstate(invalid="ignore", over="ignore"):
        exponents: Array = np.where(counts == 0, 0.0, counts * rate)
    return exponents


def weights_of(exponents: Array) -> Array:
    """Return e to the power of minus the exponents, from 0 on, as multiples of 2^-30; see above."""
    far = np.clip(exponents, SLOW, VANISHED)
    slow = SLOW_STEPS - np.rint(logarithm(far / SLOW) / LOG_2 * STEPS)
    weights: Array = np.where(exponents < SLOW, np.rint(exponential(-exponents) / UNIT), slow) * UNIT
    return weights


def step_bits(decay: float, most: int, weights: Array | None = None) -> int:
    """Return how many low bits of counts up to `most` are to be left out, so that a table stays within bounds.

    Almost always none: weights vanish long before. Only a decay near zero together with millions of rows needs it,
    and there a step of counts changes a weight by less than one part in 2**20 / (most * decay).
    """
    if most <= MAX_LENGTH:
        return 0
    rate = rate_of(decay) * (1.0 if weights is None else min(1.0, float(weights.min(initial=1.0))))
    bits = 0
    while min(most >> bits, _length_until_zero(rate * 2.0**bits)) > MAX_LENGTH:
        bits += 1
    return bits


def coarse(counts: CountTable, bits: int) -> CountTable:
    """Return the counts without their low bits; the counts themselves where there are none to leave out."""
    return counts >> bits if bits else counts


def decay_table(decay: float, size: int, bits: int = 0) -> Array:
    """Return the weights of the counts 0, 1, 2, ..., `size` of them, or up to the first that is zero.

    With `bits`, those of the counts 0, 2**bits, 2 * 2**bits, ...
    """
    rate = rate_of(decay) * 2.0**bits
    return weights_of(exponents_of(np.arange(int(min(size, _length_until_zero(rate)))), rate))


def common_table(decay: float, most: int, bits: int = 0) -> Array:
    """Return the weight of every count up to `most`; small tables are kept, and made of sizes that calls share."""
    size = 1 << min((most >> bits).bit_length(), 62)  # a table ends long before
    return (_kept_table if size <= MAX_KEPT else _table)(float(decay), size, bits)


def table_by_class(decay: float, class_count: Array, weights: Array | None, bits: int = 0) -> WeightTable:
    """Return the table for class weights of any shape that ends in the number of classes; one for all without them."""
    if weights is None:
        table = common_table(decay, int(class_count.max(initial=0)), bits)
        n = class_count.size
        return WeightTable(table, np.zeros(n, np.int64), np.full(n, table.size - 1))
    rates = _rates(decay, weights.ravel() * 2.0**bits)
    tables = _by_class(rates[:, None], class_count.astype(np.int64) >> bits, weights.shape)
    return tables._replace(values=np.ascontiguousarray(tables.values[:, 0]))


def table_of_decays(decays: Sequence[float], class_count: Array, weights: Array) -> WeightTable:
    """Return the tables of up to 8 decays, which lie side by side."""
    rates = np.full((weights.size, LANES), np.inf)
    for lane, decay in enumerate(decays):
        rates[:, lane] = _rates(decay, weights.ravel())
    return _by_class(rates, class_count.astype(np.int64), weights.shape)


def _rates(decay: float, weights: Array) -> Array:
    """Return what one count adds to the exponents of classes of these weights."""
    with np.errstate(over="ignore"):
        rates: Array = rate_of(decay) * weights
    return rates


def _by_class(rates: Array, class_count: Array, shape: tuple[int, ...]) -> WeightTable:
    """Return the tables for what one more count adds; no count exceeds the rows of its class."""
    most = np.broadcast_to(class_count, shape).ravel()
    least = rates.min(axis=1)
    lasts = np.array(
        [int(min(n, _length_until_zero(rate) - 1)) for n, rate in zip(most.tolist(), least.tolist(), strict=True)],
        np.int64,
    )
    starts = np.cumsum(lasts + 1) - (lasts + 1)
    values = np.empty((int((lasts + 1).sum()), rates.shape[1]))
    for start, last, rate in zip(starts.tolist(), lasts.tolist(), rates, strict=True):  # bounds what is in memory
        values[start : start + last + 1] = weights_of(exponents_of(np.arange(last + 1)[:, None], rate))
    return WeightTable(values, starts.reshape(shape), lasts.reshape(shape))


def _length_until_zero(rate: float) -> float:
    """Return how many entries a table needs up to its first zero."""
    return max(float(np.ceil(VANISHED / rate)), 1.0) + 1 if rate > 0 else float("inf")


def _table(decay: float, size: int, bits: int) -> Array:
    """Return the first weights of a decay, which nobody may change."""
    table = decay_table(decay, size, bits)
    table.flags.writeable = False
    return table


_kept_table = lru_cache(maxsize=8)(_table)
