"""Models of a cross-validation from one table of counts: the whole minus the held-out rows.

The counts without some rows are all counts minus theirs, and the winners for a smaller rho are a prefix of the sorted
winners, so counts grow with rho. Independent of features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from flybloom._internal.parallel import for_each_block
from flybloom._internal.typing import Array, Codes, Novelty, Weights, Winners
from flybloom.core import _kernels
from flybloom.core.counts.by_class import ClassCounts
from flybloom.core.counts.columns import count_dtype
from flybloom.core.counts.weight_unit import WHOLE_ROWS, WeightUnit
from flybloom.core.readout.class_weight import ClassWeight, class_weights, left_out_weights
from flybloom.core.readout.complement_bayes import Bayes, left_out_scores, temperature_unit
from flybloom.core.readout.filters import LANES, WeightTable, coarse, decay_table, step_bits, table_of_decays
from flybloom.core.readout.linear import choose

Write: TypeAlias = Callable[[Winners, Array, Array], None]  # winners of some rows, the rows, where their novelties go

ROWS_AT_ONCE = 4096  # bounds the copy of winners that is counted
VALUES_PER_ROW = 4096  # rows in a block of scores: few, so that their novelties stay in the cache


class Split(NamedTuple):
    """One split: the rows to score, and the rows to remove from the model of all rows.

    Parameters
    ----------
    test : ndarray of int64
        The rows to score.
    removed : ndarray of int64
        The rows to remove.
    copies : ndarray of int64
        Multiplicity of each: its weight, or negative for rows that are repeated in training.
    class_count : ndarray of int64
        Training rows of each class, weights included.
    leaves_itself : bool
        Whether each row is removed only while it is scored: leave-one-out.
    """

    test: Array
    removed: Array
    copies: Weights
    class_count: Array
    leaves_itself: bool = False

    def weights(self, weights: Weights) -> Weights:
        """Return the training weight of each row."""
        weights = weights.copy()
        weights[self.removed] -= self.copies
        return weights


def fold_splits(pairs: Iterable[tuple[Array, Array]], codes: Codes, weights: Weights | None = None) -> list[Split]:
    """Return splits for pairs of training and test rows."""
    weights = _ones(codes) if weights is None else weights
    splits, rows = [], np.arange(codes.size)
    for some, others in pairs:
        train, test = rows[some], rows[others]  # which may be masks
        left = np.bincount(train, minlength=codes.size)
        removed = np.flatnonzero(left != 1)
        splits.append(Split(test, removed, ((1 - left) * weights)[removed], rows_by_class(codes, left * weights)))
    return splits


def leave_one_out(codes: Codes, weights: Weights | None = None) -> list[Split]:
    """Return the leave-one-out split."""
    nothing = np.empty(0, np.int64)
    return [Split(np.arange(codes.size), nothing, nothing, rows_by_class(codes, weights), leaves_itself=True)]


def rows_by_class(codes: Codes, weights: Weights | None) -> Array:
    """Return the rows of each class, weights included."""
    total = np.zeros(codes.max() + 1, np.int64)
    np.add.at(total, codes, 1 if weights is None else weights)
    return total


def most_rows(splits: list[Split], codes: Codes, weights: Weights | None = None) -> int:
    """Return the maximum number of rows per class in all rows and any training set."""
    return max(int(rows_by_class(codes, weights).max()), *(int(split.class_count.max()) for split in splits))


class HeldOutCounts:
    """Counts of the winners of all rows, from which splits can be subtracted.

    Parameters
    ----------
    winners : ndarray of shape (n, rho)
        The winners of each row by descending sum, for the largest rho.
    codes : ndarray of shape (n,)
        The class of each row.
    n_components : int
        m in the paper.
    most_rows : int
        Maximum number of rows per class; 16-bit counts suffice below 65 536.
    seed : int
        Seed of the choice between tied classes.
    n_jobs : int or None
        Number of threads.
    weights : ndarray of shape (n,) or None, default=None
        Weights of the rows.
    unit : WeightUnit
        Unit of the weights.
    readout : {"filter", "bayes"}, default="filter"
        How counts are read. By Bayes there is no decay, and for novelty stand minus the scores in units of the
        temperature.
    """

    def __init__(
        self,
        winners: Winners,
        codes: Codes,
        n_components: int,
        most_rows: int,
        seed: int,
        n_jobs: int | None,
        weights: Weights | None = None,
        unit: WeightUnit = WHOLE_ROWS,
        readout: str = "filter",
    ) -> None:
        self.winners, self.codes, self.unit, self.readout = winners, codes, unit, readout
        self.weights = _ones(codes) if weights is None else weights
        self.seed, self.n_jobs = seed, n_jobs
        self.n_winners = 0
        self.class_count = rows_by_class(codes, weights)
        is_small = most_rows < 2**16  # the less the counts need, the more of them stay in the cache
        dtype = np.uint16 if is_small else count_dtype(np.array([most_rows]))
        self.counts = np.zeros((n_components, self.class_count.size), dtype)
        self._ignored = np.zeros(self.class_count.size, np.int64)  # rows of each class are known anyway

    def grow(self, n_winners: int) -> None:
        """Add the winners up to rho."""
        self._add(np.arange(self.codes.size), self.weights, slice(self.n_winners, n_winners))
        self.n_winners = n_winners

    @contextmanager
    def without(self, split: Split) -> Iterator[None]:
        """Hold the counts of the training rows of a split, for a with statement."""
        columns = slice(0, self.n_winners)
        self._add(split.removed, -split.copies, columns)
        try:
            yield
        finally:
            self._add(split.removed, split.copies, columns)

    def predict(self, split: Split, decays: Sequence[float], class_weight: ClassWeight = None) -> Codes:
        """Return the class of each test row for each decay, of shape (n_decays, n_test); call inside `without`.

        A dict as `class_weight` has codes as keys; "balanced" follows from the training rows.
        """
        codes = np.empty((len(decays), split.test.size), np.int64)

        def decide(at: int, block: slice, winners: Winners, novelty: Novelty) -> None:
            codes[at, block] = choose(-novelty, winners, self.seed)

        self._score(split, decays, class_weight, decide)
        return codes

    def novelty(self, split: Split, decay: float, class_weight: ClassWeight = None) -> Novelty:
        """Return the novelty of each test row to each class, infinite if it has no rows; call inside `without`."""
        result = np.empty((split.test.size, self.class_count.size))

        def keep(_: int, block: slice, __: Winners, novelty: Novelty) -> None:
            result[block] = novelty

        self._score(split, [decay], class_weight, keep)
        return result

    def _score(
        self, split: Split, decays: Sequence[float], class_weight: ClassWeight, use: Callable[..., None]
    ) -> None:
        """Pass the novelty of each block of test rows to `use`, for each decay."""
        for some, write in self._writers(split, decays, class_weight):

            def work(block: slice, some: Sequence[int] = some, write: Write = write) -> None:
                rows = split.test[block]
                winners = np.ascontiguousarray(self.winners[rows, : self.n_winners])
                novelty = np.empty((len(some), rows.size, self.class_count.size))
                write(winners, rows, novelty)
                for at, of_decay in zip(some, novelty, strict=True):
                    use(at, block, winners, of_decay)

            for_each_block(work, split.test.size, VALUES_PER_ROW, self.n_jobs)

    def _writers(
        self, split: Split, decays: Sequence[float], class_weight: ClassWeight
    ) -> Iterator[tuple[Sequence[int], Write]]:
        """Yield groups of up to 8 decays with a function that scores test rows.

        With fractional weights, counts are read in steps, as in a model.
        """
        if self.readout == "bayes":
            yield range(len(decays)), self._bayes_writer(split, class_weight)
            return
        weights = class_weights(class_weight, np.arange(self.class_count.size), split.class_count)
        most, of_count = int(split.class_count.max()), [self.unit.per_count(decay) for decay in decays]
        bits = [0 if split.leaves_itself else step_bits(decay, most, weights) for decay in of_count]
        for own in sorted(set(bits)):
            together = [at for at, of_decay in enumerate(bits) if of_decay == own]
            for begin in range(0, len(together), LANES):
                some = together[begin : begin + LANES]
                yield some, self._filter_writer(split, [of_count[at] for at in some], class_weight, own)

    def _filter_writer(self, split: Split, decays: Sequence[float], class_weight: ClassWeight, bits: int) -> Write:
        """Return a function that scores test rows for up to 8 decays."""
        counts, class_count = coarse(self.counts, bits), split.class_count >> bits

        @cache
        def tables_without(weight: int) -> WeightTable:
            if class_weight is None:
                return _common_tables(decays, class_count, bits)
            known = np.arange(self.class_count.size)
            weights: Any = left_out_weights(class_weight, known, split.class_count, weight)
            return table_of_decays(decays, class_count, weights[: 3 if weight else 1] * float(1 << bits))

        def write(winners: Winners, rows: Array, out: Array) -> None:
            leaves, codes = self._leaves(split, rows), self.codes[rows]
            for weight in np.unique(leaves).tolist():  # class weights follow from what is left
                some = np.flatnonzero(leaves == weight)
                part = np.empty((out.shape[0], some.size, out.shape[2]))
                _kernels.leave_out.cross_validated_novelty(
                    winners[some], counts, codes[some], leaves[some], split.class_count, *tables_without(weight), part
                )
                out[:, some] = part

        return write

    def _bayes_writer(self, split: Split, class_weight: ClassWeight) -> Write:
        """Return a function that writes negative naive Bayes scores of test rows."""
        classes = np.arange(self.class_count.size)
        counts = ClassCounts(classes, split.class_count, self.counts, self.n_winners, self.unit)
        n_lookups = 0 if split.leaves_itself else split.test.size * self.n_winners
        read_out = Bayes(counts, class_weight).read_out(self.seed, n_lookups)
        unit = temperature_unit(self.n_winners)

        def write(winners: Winners, rows: Array, out: Array) -> None:
            left = np.repeat(split.class_count[None], rows.size, axis=0)
            if split.leaves_itself:
                codes, leaves = self.codes[rows], self._leaves(split, rows)
                left[np.arange(rows.size), codes] -= leaves
                scores = left_out_scores(counts, class_weight, winners, codes, leaves)
            else:
                scores = read_out.scores(winners)
            out[:] = np.where(left > 0, scores / -unit, np.inf)

        return write

    def _leaves(self, split: Split, rows: Array) -> Weights:
        """Return the weight of each row to leave out while it is scored."""
        return self.weights[rows] if split.leaves_itself else np.zeros(rows.size, np.int64)

    def _add(self, rows: Array, copies: Weights, columns: slice) -> None:
        """Count some of the winners of some rows."""
        for begin in range(0, rows.size, ROWS_AT_ONCE):
            chunk = rows[begin : begin + ROWS_AT_ONCE]
            winners = np.ascontiguousarray(self.winners[chunk, columns])
            _kernels.count.add_counts(
                winners, self.codes[chunk], copies[begin : begin + ROWS_AT_ONCE], self.counts, self._ignored
            )


def _ones(codes: Codes) -> Weights:
    """Return unit weights."""
    return np.ones(codes.size, np.int64)


def _common_tables(decays: Sequence[float], class_count: Array, bits: int) -> WeightTable:
    """Return weights by count, with a column for each of up to 8 decays."""
    columns = [decay_table(decay, int(class_count.max()) + 1, bits) for decay in decays]
    tables = np.zeros((max(column.size for column in columns), LANES))
    for lane, column in enumerate(columns):
        tables[: column.size, lane] = column
        tables[column.size :, lane] = column[-1]  # a table ends early where its weights no longer change
    shape = 3, class_count.size
    return WeightTable(tables, np.zeros(shape, np.int64), np.full(shape, len(tables) - 1))
