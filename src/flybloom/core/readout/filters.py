"""The paper's filters: from counts by class to novelty, as a linear read-out. Knows nothing of features.

The novelty of a row to a class is the mean weight of its winners in the filter of the class. A winner that never won
there weighs 1. So each adds what its weight lacks of 1, its familiarity, to a score that starts at minus the number of
winners: the score is minus the sum of the weights, and what has never won adds nothing.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from flybloom._internal.parallel import for_each_block
from flybloom._internal.typing import Array, CountTable, Winners
from flybloom.core import _kernels
from flybloom.core._kernels._choice import loops
from flybloom.core.readout.linear import (
    FrozenReadout,
    LinearReadout,
    ListedWeights,
    TableWeights,
    in_units,
    padded_zeros,
)
from flybloom.core.readout.weight_table import MAX_KEPT, UNIT, WeightTable, coarse, step_bits, table_by_class

MANY_CLASSES = 32  # lists are faster from here on: docs/benchmarks/growth.md
MAX_LISTED = 1 / 8  # share of counts that are not zero: bounds the memory of the lists
WORTH_LISTING = 2  # how often each component must be looked up, on average, to pay for making its list
SAMPLED = 64  # every how many components one is looked at to estimate that share


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
        bits = step_bits(decay, int(class_count.max(initial=0)), class_weights)
        self._counts = coarse(counts, bits)
        most = int(class_count.max(initial=0))
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

    def frozen(self, classes: Array, n_winners: int, temperature: float) -> FrozenReadout:
        """Return the read-out as files hold it."""
        return FrozenReadout(classes, self.in_units(), self._intercept(n_winners), UNIT, temperature, n_winners)

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
        intercept = self._intercept(n_winners)
        if n_classes >= MANY_CLASSES and n_lookups >= WORTH_LISTING * n_components:
            lists = self._listed(n_jobs)
            if lists is not None:
                return LinearReadout(lists, intercept, UNIT, seed)
        if n_lookups < n_components:
            return LinearReadout(LookedUpWeights(self._counts, self._table), intercept, UNIT, seed)
        return LinearReadout(TableWeights(self.in_units(padded_zeros(*self._counts.shape))), intercept, UNIT, seed)

    def _intercept(self, n_winners: int) -> Array:
        """Return what scores start at: minus the number of winners."""
        return np.full(self._counts.shape[1], -n_winners / UNIT)

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
