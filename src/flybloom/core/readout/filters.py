"""The paper's filters: from counts by class to novelty, as a linear read-out. Knows nothing of features.

The novelty of a row to a class is the mean weight of its winners in the filter of the class. A winner that never won
there weighs 1. So each adds what its weight lacks of 1, its familiarity, to a score that starts at minus the number of
winners: the score is minus the sum of the weights, and what has never won adds nothing.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from flybloom._internal.blas import one_blas_thread
from flybloom._internal.elementary import LOG_2, exponential, logarithm
from flybloom._internal.parallel import for_each_block
from flybloom._internal.typing import Array, Codes, CountTable, Winners
from flybloom.core import _kernels
from flybloom.core._kernels._choice import loops
from flybloom.core.counts.by_class import ClassCounts
from flybloom.core.readout.linear import (
    FrozenReadout,
    LinearReadout,
    ListedWeights,
    TableWeights,
    in_units,
    padded_zeros,
)

UNIT = 2.0**-30  # of the grid
SLOW = 16.0  # exponent from which a weight falls more slowly
STEPS = 15  # of the grid, for which it falls while its exponent doubles
VANISHED = 4096.0  # exponent from which it is zero
SLOW_STEPS = 120  # in all, while the exponent doubles 8 times: as many as e^-16 has
MAX_LENGTH = 2**20  # entries of a table; counts beyond are read in steps of a power of two
MAX_KEPT = 2**17  # entries of a table that is kept for the next call
MANY_CLASSES = 32  # lists are faster from here on: docs/benchmarks/growth.md
MAX_LISTED = 1 / 8  # share of counts that are not zero: bounds the memory of the lists
WORTH_LISTING = 2  # how often each component must be looked up, on average, to pay for making its list
SAMPLED = 64  # every how many components one is looked at to estimate that share
AUTO, FILTER, BAYES = "auto", "filter", "bayes"  # ways to read counts
MOST_DECAY = (
    0.6  # where counts are small; this and the next two were chosen by measurement, see docs/benchmarks/defaults.md
)
START = 32  # steps up where counts have a mean of 1: 2 ** 4 = 16
POWER = 11  # eighths: the power of the mean
LEAST_STEP = 37  # up to which the decay is the most there is
STEPS_OF_HALVING = 8  # between a decay and half of it
ROOTS = tuple(float.fromhex(text) for text in (
    "0x1.0000000000000p+0", "0x1.d5818dcfba487p-1", "0x1.ae89f995ad3adp-1", "0x1.8ace5422aa0dbp-1",
    "0x1.6a09e667f3bcdp-1", "0x1.4bfdad5362a27p-1", "0x1.306fe0a31b715p-1", "0x1.172b83c7d517bp-1",
))  # 2 ** (-k / 8), as everybody rounds them  # fmt: skip
MOST_COMPONENTS, MOST_CLASSES = 2048, 32  # that are looked at
LEAST_ROWS = 1000  # of which it can be told
FULL, ALIKE_IF_FULL, SAME = 0.95, 0.75, 0.99  # measured: docs/benchmarks/defaults.md


class WeightTable(NamedTuple):
    """Where each class finds the weight of a count: ``values[starts + min(count, lasts)]``."""

    values: Array  # (n,)
    starts: Array  # (n_classes,)
    lasts: Array  # (n_classes,): the last count that has an entry of its own


@lru_cache(maxsize=64)
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
    """Return the tables of classes of these weights, one after the other; a single one for all without weights.

    No count exceeds the rows of its class.
    """
    if weights is None:
        table = common_table(decay, int(class_count.max(initial=0)), bits)
        n = class_count.size
        return WeightTable(table, np.zeros(n, np.int64), np.full(n, table.size - 1))
    with np.errstate(over="ignore"):
        rates = rate_of(decay) * (weights * 2.0**bits)
    both = zip((class_count.astype(np.int64) >> bits).tolist(), rates.tolist(), strict=True)
    lasts = np.array([int(min(n, _length_until_zero(rate) - 1)) for n, rate in both], np.int64)
    starts = np.cumsum(lasts + 1) - (lasts + 1)
    values = np.empty(int((lasts + 1).sum()))
    for start, last, rate in zip(starts.tolist(), lasts.tolist(), rates, strict=True):  # bounds what is in memory
        values[start : start + last + 1] = weights_of(exponents_of(np.arange(last + 1), rate))
    return WeightTable(values, starts, lasts)


def _length_until_zero(rate: float) -> float:
    """Return how many entries a table needs up to its first zero."""
    return max(float(np.ceil(VANISHED / rate)), 1.0) + 1 if rate > 0 else float("inf")


def _table(decay: float, size: int, bits: int) -> Array:
    """Return the first weights of a decay, which nobody may change."""
    table = decay_table(decay, size, bits)
    table.flags.writeable = False
    return table


_kept_table = lru_cache(maxsize=8)(_table)


class LookedUpWeights(NamedTuple):
    """Weights that are looked up by count while they are added, where few rows are to be scored."""

    counts: CountTable
    table: WeightTable

    def sums(self, winners: Winners, intercept: Array, out: Array) -> None:
        """Look up the weights of the winners, and add them up."""
        n_weights = winners.size * intercept.size
        loops("score", n_weights).looked_up_sums(winners, self.counts, *self.table, intercept, out)


class Filters:
    """Filters of counts as they are now, which must not change meanwhile.

    Parameters
    ----------
    counts : array of shape (n_components, n_classes)
        How often each component won in each class.
    class_count : array of shape (n_classes,)
        Rows of each class; no count is larger.
    decay : float
        c in the paper, of one count.
    class_weights : array of shape (n_classes,) or None, default=None
        How much each class counts.
    """

    def __init__(
        self, counts: CountTable, class_count: Array, decay: float, class_weights: Array | None = None
    ) -> None:
        most = int(class_count.max(initial=0))
        bits = self._bits = step_bits(decay, most, class_weights)
        self._counts = counts >> bits if bits else counts
        if class_weights is None and most <= MAX_KEPT:
            self._table = _common_table(decay, 1 << most.bit_length(), class_count.size)
        else:
            self._table = _familiar(table_by_class(decay, class_count, class_weights, bits))

    def in_units(self, out: Array | None = None) -> Array:
        """Return one minus the filters in units, int32, in the first columns of `out` if given."""
        out = np.empty(self._counts.shape, np.int32) if out is None else out
        loops("score", out.size).look_up(self._counts, *self._table, out)
        return out

    def familiarity(self) -> Array:
        """Return one minus the filters, of shape (n_components, n_classes)."""
        return self.in_units() * UNIT

    def weights(self) -> Array:
        """Return the filters, of shape (n_components, n_classes)."""
        return 1.0 - self.familiarity()

    def novelty_of(self, counts: CountTable, codes: Codes) -> Array:
        """Return the novelty of rows to one class each, for the counts of their winners there."""
        values, starts, lasts = self._table
        familiar = values[starts[codes, None] + np.minimum(counts >> self._bits, lasts[codes, None])]
        sums = counts.shape[1] / UNIT - familiar.sum(axis=1, dtype=np.float64)
        return np.asarray(sums * UNIT / counts.shape[1])

    def frozen(self, classes: Array, n_winners: int, temperature: float) -> FrozenReadout:
        """Return the read-out as files hold it."""
        intercept = np.full(classes.size, -n_winners / UNIT)
        return FrozenReadout(classes, self.in_units(), intercept, UNIT, temperature, n_winners)

    def read_out(self, n_winners: int, seed: int, n_lookups: int = 0, n_jobs: int | None = None) -> LinearReadout:
        """Return what makes scores of winners: minus the sum of their weights.

        Parameters
        ----------
        n_winners : int
            Of each row.
        seed : int
            Of the choice between classes that tie.
        n_lookups : int, default=0
            Number of winners of all rows together: with many, the weights of all components are made first.
        n_jobs : int or None, default=None
            Number of threads that may make lists.
        """
        n_components, n_classes = self._counts.shape
        intercept = np.full(n_classes, -n_winners / UNIT)  # what scores start at
        if n_classes >= MANY_CLASSES and n_lookups >= WORTH_LISTING * n_components:
            lists = self._listed(n_jobs)
            if lists is not None:
                return LinearReadout(lists, intercept, UNIT, seed)
        if n_lookups < n_components:
            return LinearReadout(LookedUpWeights(self._counts, self._table), intercept, UNIT, seed)
        return LinearReadout(TableWeights(self.in_units(padded_zeros(*self._counts.shape))), intercept, UNIT, seed)

    def _listed(self, n_jobs: int | None) -> ListedWeights | None:
        """Return lists of what is not zero, or None where that is too much."""
        kernels, counts = _kernels.linear, self._counts
        n_components, n_classes = counts.shape
        lengths = np.zeros(n_components, np.int64)
        kernels.count_listed(counts, 0, n_components, SAMPLED, lengths)
        if lengths.sum() > MAX_LISTED * n_classes * -(-n_components // SAMPLED):
            return None

        def measure(block: slice) -> None:
            kernels.count_listed(counts, block.start, block.stop, 1, lengths)

        for_each_block(measure, n_components, n_classes, n_jobs)
        starts = np.zeros(n_components + 1, np.int64)
        np.cumsum(lengths, out=starts[1:])
        lists = ListedWeights(starts, np.empty(starts[-1], np.uint32), np.empty(starts[-1], np.int32))

        def fill(block: slice) -> None:
            kernels.fill_lists(counts, block.start, block.stop, *self._table, *lists)

        for_each_block(fill, n_components, n_classes, n_jobs)
        return lists


def _familiar(table: WeightTable) -> WeightTable:
    """Return a table of one minus the weights, in units."""
    return table._replace(values=in_units(1.0 - table.values, UNIT))


@lru_cache(maxsize=8)
def _common_table(decay: float, size: int, n_classes: int) -> WeightTable:
    """Return the same for classes that count alike, of sizes that calls share; who scores single rows waits for it."""
    return _familiar(table_by_class(decay, np.full(n_classes, size - 1), None))


def mean_count(class_count: Array, n_components: int, n_winners: int) -> float:
    """Return how often a component won in a class that has rows, in the mean over these.

    Rounded as the kernel does it that tells when a decay changes.
    """
    n_classes = max(int(np.count_nonzero(class_count)), 1)
    return float(sum(class_count.tolist())) * n_winners / (float(n_components) * n_classes)


def decay_of(decay: float | str, counts: ClassCounts, *, of_count: bool = False) -> float:
    """Return the decay of a row that these counts are read with: a number as it is, or what "auto" comes to.

    That of one count is the same, or where counts are fractions of rows, its share in it.
    """
    per_row = counts.unit.per_row
    if decay == AUTO:
        decay = auto_decay(mean_count(counts.class_count, counts.n_components, counts.n_winners) / per_row)
    return counts.unit.per_count(float(decay)) if of_count and per_row > 1 else float(decay)


def auto_decay(mean: float) -> float:
    """Return the decay for counts of a mean: 16 over its power of 11/8, at most 0.6.

    Parameters
    ----------
    mean : float
        Of all counts, zeros included.

    Returns
    -------
    float
        The decay, which goes in steps of an eighth of a factor 2.

    Examples
    --------
    >>> from flybloom.core.readout.filters import auto_decay
    >>> auto_decay(0.5)
    0.6
    >>> auto_decay(256.0)
    0.0078125
    """
    halved, step = divmod(decay_step(mean) - START, STEPS_OF_HALVING)
    return min(MOST_DECAY, math.ldexp(ROOTS[step], -halved))


def decay_step(mean: float) -> int:
    """Return the step that the decay of such counts is at; whole, so that a kernel can tell when it changes."""
    fraction, exponent = math.frexp(mean)
    n_above = len(ROOTS) - bisect_right(ROOTS[::-1], fraction)
    return max((STEPS_OF_HALVING * exponent - n_above) * POWER // STEPS_OF_HALVING, LEAST_STEP)


class Fullness(NamedTuple):
    """How full filters are, and how much they look alike."""

    full: float  # share of components and classes in which the component has won in the class
    alike: float  # cosine between what two classes know, the median over pairs
    same: float  # the same between their counts, without what is chance
    is_full: bool  # whether nearly every component has won in every class, so that their filters look alike
    is_alike: bool  # whether rows of all classes have the same winners, equally often


def fullness(counts: ClassCounts, decay: float) -> Fullness | None:
    """Return how full filters are, of counts that are read with a decay of one count; None where too little is known.

    Parameters
    ----------
    counts : ClassCounts
        The counts.
    decay : float
        What a count is read with.
    """
    known = np.flatnonzero(counts.class_count > 0)
    if known.size < 2 or counts.unit.rows(counts.n_rows) < LEAST_ROWS:  # noqa: PLR2004
        return None
    known = known[:: -(-known.size // MOST_CLASSES)]
    some = counts.table[:: -(-counts.n_components // MOST_COMPONENTS), known]
    counted = some.astype(np.float64)
    familiar = 1.0 - (1.0 - decay) ** counted
    # Where classes are the same, counts n are draws around a common mean: n (n - 1) is free of their noise.
    squares = (counted * (counted - counts.unit.per_row)).sum(axis=0)
    full, alike = float((some > 0).mean()), _median_cosine(familiar, (familiar**2).sum(axis=0))
    same = _median_cosine(counted, np.maximum(squares, 0.0))
    return Fullness(full, alike, same, full >= FULL and alike >= ALIKE_IF_FULL, same >= SAME)


@one_blas_thread()
def _median_cosine(columns: Array, squares: Array) -> float:
    """Return the median cosine between two columns of these squared lengths; 0 to one without length."""
    lengths = np.sqrt(np.outer(squares, squares))
    cosines = np.divide(columns.T @ columns, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return float(np.median(cosines[np.triu_indices(len(squares), 1)]))
