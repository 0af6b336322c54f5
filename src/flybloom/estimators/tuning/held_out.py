"""Models of a cross-validation from the counts of all rows: the whole minus the held-out rows.

What scores test rows are the read-outs that models have. Independent of features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

import numpy as np

from flybloom._internal.parallel import for_each_block
from flybloom._internal.typing import Array, Codes, Novelty, Weights, Winners
from flybloom.core.counts.by_class import ClassCounts
from flybloom.core.counts.weight_unit import WHOLE_ROWS, WeightUnit
from flybloom.core.readout.class_weight import ClassWeight, class_weights
from flybloom.core.readout.complement_bayes import Bayes, left_out_scores, temperature_unit
from flybloom.core.readout.filters import BAYES, FILTER, Filters
from flybloom.core.readout.leave_one_out import LeaveOneOut
from flybloom.core.readout.linear import LinearReadout, choose

ROWS_AT_ONCE = 4096  # bounds the copy of winners that is counted
VALUES_PER_ROW = 4096  # rows in a block of scores: few, so that their novelties stay in the cache

Read: TypeAlias = Callable[[slice, Winners], Novelty]  # of a block of test rows, and their winners


class Split(NamedTuple):
    """One split: the rows to score, and those that the model learns.

    Parameters
    ----------
    test : ndarray of int64
        The rows to score.
    weights : ndarray of shape (n,), int64
        How often the model learns each of all rows, weights included.
    leaves_itself : bool
        Whether the model learns all rows but the one that is scored: leave-one-out.
    """

    test: Array
    weights: Weights
    leaves_itself: bool = False


def fold_splits(pairs: Iterable[tuple[Array, Array]], weights: Weights) -> list[Split]:
    """Return splits for pairs of training and test rows, which may be masks."""
    rows = np.arange(weights.size)
    return [Split(rows[test], np.bincount(rows[train], minlength=rows.size) * weights) for train, test in pairs]


def leave_one_out(weights: Weights) -> list[Split]:
    """Return the leave-one-out split."""
    return [Split(np.arange(weights.size), weights, leaves_itself=True)]


class Hashed(NamedTuple):
    """Rows as counts see them.

    Parameters
    ----------
    winners : ndarray of shape (n, n_winners)
        The winners of each row.
    codes : ndarray of shape (n,)
        The class of each row.
    weights : ndarray of shape (n,)
        How much each counts.
    n_components : int
        m in the paper.
    unit : WeightUnit
        Unit of the weights.
    """

    winners: Winners
    codes: Codes
    weights: Weights
    n_components: int
    unit: WeightUnit = WHOLE_ROWS

    @property
    def n_winners(self) -> int:
        """Number of winners of each row, rho in the paper."""
        return int(self.winners.shape[1])

    def counts(self) -> ClassCounts:
        """Return the counts of all rows."""
        empty = ClassCounts.empty(self.n_components, self.n_winners, self.unit)
        return self._changed(empty, np.arange(self.codes.size), self.weights, 1)

    def without(self, counts: ClassCounts, split: Split) -> ClassCounts:
        """Return the counts of the training rows of a split, from those of all rows."""
        less = self.weights - split.weights
        counts = self._changed(counts, np.flatnonzero(less < 0), -less, 1)  # rows that are drawn several times
        return self._changed(counts, np.flatnonzero(less > 0), less, -1)

    def _changed(self, counts: ClassCounts, rows: Array, weights: Weights, sign: int) -> ClassCounts:
        """Return counts with some rows, or without them."""
        if not rows.size:
            return counts
        counter = counts.counter(self.codes[rows], weights[rows], sign=sign)
        for begin in range(0, rows.size, ROWS_AT_ONCE):
            block = slice(begin, begin + ROWS_AT_ONCE)
            counter.add(block, self.winners[rows[block]])
        delta = counter.delta()
        return counts.plus(delta, owned=True) if sign > 0 else counts.minus(delta)


class Held(NamedTuple):
    """The test rows of a split, to be scored with counts of its training rows.

    Parameters
    ----------
    hashed : Hashed
        All rows.
    split : Split
        Which of them are scored.
    counts : ClassCounts
        Of the training rows.
    class_weight : "balanced", dict or None
        Class weights by code; "balanced" follows from the training rows.
    readout : {"filter", "bayes"}
        How counts are read. By Bayes there is no decay, and for novelty stand minus the scores in units of the
        temperature.
    seed : int
        Of the choice between tied classes.
    n_jobs : int or None
        Number of threads.
    """

    hashed: Hashed
    split: Split
    counts: ClassCounts
    class_weight: ClassWeight = None
    readout: str = FILTER
    seed: int = 0
    n_jobs: int | None = None

    def predict(self, decay: float) -> Codes:
        """Return the class of each test row."""
        codes = np.empty(self.split.test.size, np.int64)

        def decide(block: slice, winners: Winners, novelty: Novelty) -> None:
            codes[block] = choose(-novelty, winners, self.seed)

        self._for_each_block(decay, decide)
        return self.counts.classes[codes]

    def novelty(self, decay: float, n_classes: int) -> Novelty:
        """Return the novelty of each test row to each class, infinite if it has no rows."""
        result = np.full((self.split.test.size, n_classes), np.inf)

        def keep(block: slice, _: Winners, novelty: Novelty) -> None:
            result[block, self.counts.classes] = novelty

        self._for_each_block(decay, keep)
        return result

    @property
    def codes(self) -> Codes:
        """The classes of the test rows."""
        return self.hashed.codes[self.split.test]

    @property
    def weights(self) -> Weights:
        """The weights of the test rows."""
        return self.hashed.weights[self.split.test]

    def _for_each_block(self, decay: float, use: Callable[[slice, Winners, Novelty], None]) -> None:
        """Pass winners and novelty of each block of test rows to `use`."""
        read = self._left_out(decay) if self.split.leaves_itself else self._held_out(decay)

        def work(block: slice) -> None:
            winners = self.hashed.winners[self.split.test[block]]
            use(block, winners, read(block, winners))

        for_each_block(work, self.split.test.size, VALUES_PER_ROW, self.n_jobs)

    def _held_out(self, decay: float) -> Read:
        """Return what scores rows that were not counted."""
        counts, rho, n_lookups = self.counts, self.hashed.n_winners, self._n_lookups
        read_out: LinearReadout
        if self.readout == BAYES:
            read_out, divisor = Bayes(counts, self.class_weight).read_out(0, n_lookups), temperature_unit(rho)
        else:
            weights = class_weights(self.class_weight, counts.classes, counts.class_count)
            filters = Filters(counts.table, counts.class_count, counts.unit.per_count(decay), weights)
            read_out, divisor = filters.read_out(rho, 0, n_lookups), float(rho)
        return lambda _, winners: read_out.scores(winners) / -divisor

    def _left_out(self, decay: float) -> Read:
        """Return what scores rows as if each had not been counted; a class without others is infinitely novel."""
        counts, codes, weights = self.counts, self.codes, self.weights
        n_left = counts.class_count[codes] - weights
        rows = LeaveOneOut(counts, decay, self.class_weight, self._n_lookups) if self.readout == FILTER else None
        unit = temperature_unit(self.hashed.n_winners)

        def read(block: slice, winners: Winners) -> Novelty:
            own, leaves = codes[block], weights[block]
            if rows is None:
                novelty = left_out_scores(counts, self.class_weight, winners, own, leaves) / -unit
            else:
                novelty = rows.novelty(winners, own, leaves)
            alone = np.flatnonzero(n_left[block] <= 0)
            novelty[alone, own[alone]] = np.inf
            return novelty

        return read

    @property
    def _n_lookups(self) -> int:
        """Number of winners of all test rows."""
        return self.split.test.size * self.hashed.n_winners
