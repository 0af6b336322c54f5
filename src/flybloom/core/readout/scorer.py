"""From winners to novelty and to a class, for one call: by the table of counts, or by lists where most of it is zero.

Both ways give the same bits; the lists are made for the call and hold nothing that the counts do not say.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flybloom._internal.parallel import for_each_block
from flybloom._internal.typing import Array, Codes, CountTable, Novelty, Winners
from flybloom.core import _kernels
from flybloom.core._kernels._choice import loops
from flybloom.core.readout.weight_table import WeightTable, coarse, common_table, step_bits, table_by_class

MANY_CLASSES = 32  # from here on lists are faster, as measured where 2 % of the counts are not zero: docs/growth.md
MAX_LISTED = 1 / 8  # share of counts that are not zero: bounds the memory of the lists
WORTH_LISTING = 2  # how often each component must be looked up, on average, to pay for making its list
SAMPLED = 64  # every how many components one is looked at to estimate that share
VALUES_AT_ONCE = 2**17  # novelties that a thread holds while it chooses classes


class Lists(NamedTuple):
    """For each component, the classes in which it has won, and where their weights are in the table."""

    starts: Array
    classes: Array
    places: Array


class Scorer:
    """Scores rows with the counts as they are now, which must not change meanwhile.

    Parameters
    ----------
    counts : array of shape (n_components, n_classes)
        How often each component won in each class.
    class_count : array of shape (n_classes,)
        Rows of each class; no count is larger.
    decay : float
        c in the paper.
    weights : array of shape (n_classes,) or None, default=None
        How much each class counts; lists are not made then.
    n_lookups : int, default=0
        Number of winners of all rows together: with many, lists may pay.
    n_jobs : int or None, default=None
        Number of threads that may make lists.
    """

    def __init__(
        self,
        counts: CountTable,
        class_count: Array,
        decay: float,
        weights: Array | None = None,
        n_lookups: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        most = int(class_count.max(initial=0))
        bits = step_bits(decay, most, weights)
        self._counts = coarse(counts, bits)
        self._lists: Lists | None = None
        self._by_class: WeightTable | None = None
        if weights is not None:
            self._by_class = table_by_class(decay, class_count, weights, bits)
            return
        self._table = common_table(decay, most, bits)
        if counts.shape[1] >= MANY_CLASSES and n_lookups >= WORTH_LISTING * counts.shape[0]:
            self._lists = listed(self._counts, self._table.size - 1, n_jobs)

    def novelty(self, winners: Winners, out: Novelty | None = None) -> Novelty:
        """Return f_i(x), the mean weight of each row's winners in the filter of each class, in `out` if given."""
        if out is None:
            out = np.empty((len(winners), self._counts.shape[1]))
        if self._by_class is not None:
            _kernels.class_weights.novelty_by_class(winners, self._counts, *self._by_class, out)
        elif self._lists is None:
            n_weights = winners.size * self._counts.shape[1]
            loops("score", n_weights).novelty(winners, self._counts, self._table, out)
        else:
            _kernels.lists.listed_novelty(winners, *self._lists, self._table, out)
        return out

    def scores(self, winners: Winners, out: Array | None = None) -> Array:
        """Return minus the novelty, in `out` if given."""
        novelty = self.novelty(winners, out)
        return np.negative(novelty, out=novelty)

    @property
    def temperature_unit(self) -> float:
        """What the temperature of probabilities is multiplied by: a novelty is a mean, whatever the winners."""
        return 1.0

    def most_familiar(self, winners: Winners, seed: int) -> Codes:
        """Return the class of least novelty of each row; ties are broken by a hash of the seed and the winners."""
        n_classes = self._counts.shape[1]
        codes = np.empty(len(winners), np.int64)
        n = max(1, VALUES_AT_ONCE // n_classes)
        novelty = np.empty((min(n, len(winners)), n_classes))
        for begin in range(0, len(winners), n):
            some = winners[begin : begin + n]
            out = novelty[: len(some)]
            if self._lists is None:
                self.novelty(some, out)
            else:
                _kernels.lists.least_novelty(some, *self._lists, self._table, self._counts, out)
            loops("score", some.size).most_familiar(out, some, np.uint64(seed), codes[begin : begin + n])
        return codes


def listed(counts: CountTable, last_place: int, n_jobs: int | None) -> Lists | None:
    """Return the lists of a table of counts, or None where too little of it is zero."""
    kernels = _kernels.lists
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
    lists = Lists(starts, np.empty(starts[-1], np.uint32), np.empty(starts[-1], np.uint32))

    def fill(block: slice) -> None:
        kernels.fill_lists(counts, block.start, block.stop, starts, last_place, lists.classes, lists.places)

    for_each_block(fill, n_components, n_classes, n_jobs)
    return lists
