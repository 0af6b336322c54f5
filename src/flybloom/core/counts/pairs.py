"""Counts of pairs: how often two components won together, beside the counts by class or the sums of targets.

The pairs are a triangle of integers in one array: how often u and v won together, v <= u, is at
``u (u + 1) / 2 + v``; the diagonal says how often a component won at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs

from flybloom._internal.memory import available_memory
from flybloom._internal.parallel import threads, uninterrupted
from flybloom._internal.typing import Array, Weights, Winners
from flybloom.core import _kernels
from flybloom.core.counts.base import Counter, Counts
from flybloom.core.counts.by_class import ClassCounts, WinnerBatch
from flybloom.core.counts.by_label import LabelSums
from flybloom.core.counts.by_target import TargetBatch, TargetSums
from flybloom.core.counts.columns import count_dtype, narrowest

MAX_COMPONENTS = 2**17  # of which the triangle takes 34 GB


class RightSide(NamedTuple):
    """The right-hand side of the equations, in rows."""

    sums: Array  # (n_components, n_columns), float64: of the rows in which a component won
    totals: Array  # (n_columns,), float64: of all rows
    spreads: Array  # (n_columns,), float64: sums of squares around the mean
    are_classes: bool  # whether columns are indicators of classes, of which one is 1 in each row


class PairBatch(NamedTuple):
    """What rows change, where they are few: their winners in ascending order, with what is counted beside pairs."""

    right: WinnerBatch | TargetBatch
    weights: Weights
    n_threads: int


class PairCounts(Counts):
    """How often two components won together, and what the right-hand side of the equations needs.

    Parameters
    ----------
    right : ClassCounts or TargetSums
        How often each component won in each class, or the sums of the targets of the rows in which it won.
    triangle : ndarray of shape (m (m + 1) / 2,)
        Pairs of winners; int32, or int64 where there are more rows than that holds.
    """

    kind = "pairs"
    right_type: ClassVar[type[ClassCounts | TargetSums]]
    right: Any  # of that type

    def __init__(self, right: ClassCounts | TargetSums, triangle: Array) -> None:
        self.right = right
        self.triangle = triangle
        self.n_components = right.n_components
        self.n_winners = right.n_winners
        self.unit = right.unit
        self.grid = self.right.grid
        self.edition = 0  # grows when the arrays change in place, so that what was derived from them is known to be old

    @classmethod
    def empty(cls, n_components: int, n_winners: int, **settings: Any) -> Self:
        """Return counts of no rows; sizes whose triangle does not fit into memory are refused."""
        require_memory(n_components)
        right = cls.right_type.empty(n_components, n_winners, **settings)
        return cls(right, _triangle(n_components, np.int32))

    def labels_of(self, labels: Any, encode: Callable[[slice], Array]) -> Any:
        """Return labels as the right-hand side counts them."""
        return self.right.labels_of(labels, encode)

    def fixed_to(self, labels: Array | None, weights: Weights, encode: Callable[[], Array] | None) -> Self:
        """Return counts of no rows that are ready for labels like those of a sample."""
        right = self.right.fixed_to(labels, weights, encode)
        return self if right is self.right else type(self)(right, _triangle(self.n_components, np.int32))

    def emptied(self) -> Self:
        """Return counts of no rows, with the classes that are known."""
        return type(self)(self.right.emptied(), _triangle(self.n_components, np.int32))

    @property
    def table(self) -> Array:
        """What was counted of each component beside its pairs, of shape (n_components, n_columns)."""
        table: Array = self.right.table
        return table

    @property
    def n_rows(self) -> int:
        """Number of rows, weights included, in units."""
        return int(self.right.n_rows)

    @property
    def has_won(self) -> Array:
        """Whether each component has ever won."""
        return np.asarray(self.won > 0)

    @property
    def sums(self) -> Array:
        """How often each component won, of shape (n_components,)."""
        return self.won

    @property
    def squares(self) -> Array:
        """The same: a component that won has the value 1, and others have 0."""
        return self.won

    @property
    def won(self) -> Array:
        """How often each component won, of shape (n_components,): the diagonal."""
        u = np.arange(self.n_components, dtype=np.int64)
        diagonal: Array = self.triangle[u * (u + 3) // 2]
        return diagonal

    def counter(self, labels: Any, weights: Weights, *, sign: int = 1, **known: Any) -> Counter:
        """Begin to count rows; what is known beside them is for the right-hand side."""
        is_few = weights.size <= _kernels.pairs.rows_per_block(self.n_components, self.n_winners)
        right = self.right.counter(labels, weights, sign=sign, is_few=is_few, **known)
        return _PairBatchCounter(right, weights) if is_few else _PairCounter(type(self), right, weights)

    def plus(self, delta: Self | PairBatch, *, owned: bool = False) -> Self:
        """Return the counts with those of more rows."""
        right = self.right.plus(delta.right, owned=owned)
        dtype = count_dtype(np.array([right.n_rows]))
        if isinstance(delta, PairBatch):
            triangle = self.triangle.astype(dtype)
            with threads(delta.n_threads) as run:
                _kernels.pairs.add_block(delta.right.winners, delta.weights, triangle, delta.n_threads, run)
            return type(self)(right, triangle)
        triangle = delta.triangle.astype(dtype, copy=not owned)
        if self.n_rows:
            triangle += self.triangle
        return type(self)(right, triangle)

    def minus(self, delta: Self | PairBatch) -> Self:
        """Return the counts without those of rows."""
        right = self.right.minus(delta.right)
        if isinstance(delta, PairBatch):
            triangle = self.triangle.copy()
            with threads(delta.n_threads) as run:
                winners = delta.right.winners
                least = _kernels.pairs.add_block(winners, -delta.weights, triangle, delta.n_threads, run)
        else:
            triangle = self.triangle - delta.triangle
            least = int(triangle.min(initial=0))
        self.right.require_contained(least >= 0)
        return type(self)(right, triangle.astype(count_dtype(np.array([right.n_rows])), copy=False))

    def change_in_place(self, delta: Self | PairBatch, sign: int) -> bool:
        """Count few rows of known classes without a copy of the triangle."""
        if not isinstance(delta, PairBatch) or not self.right.can_change_in_place(delta.right, sign):
            return False
        if count_dtype(np.array([self.n_rows + sign * int(delta.weights.sum())])) != self.triangle.dtype:
            return False
        winners, weights, m = delta.right.winners, sign * delta.weights, self.n_components
        kernels, batch = _kernels.pairs, delta.right
        with threads(delta.n_threads) as run:
            calls = kernels.calls_for_block(winners, weights, m, delta.n_threads, run)
            undo = kernels.calls_for_block(winners, -weights, m, delta.n_threads, run) if sign < 0 else []

            def change() -> bool:
                if kernels.run_calls(calls, self.triangle, run) < 0 or (sign < 0 and not self.right.take(batch)):
                    kernels.run_calls(undo, self.triangle, run)
                    return False
                if sign > 0:
                    self.right.change_in_place(batch, 1)
                return True

            self.edition += 1  # before, so that what is derived meanwhile is never taken for new
            self.right.require_contained(uninterrupted(change))
        return True

    def square(self, dtype: Any = np.float64) -> Array:
        """Return the pairs as a matrix of which the lower half is filled in."""
        square = np.zeros((self.n_components, self.n_components), dtype)
        for u in range(self.n_components):
            square[u, : u + 1] = self.triangle[u * (u + 1) // 2 : (u + 1) * (u + 2) // 2]
        return square

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return what the right-hand side holds, and the triangle."""
        facts, arrays = self.right.to_parts()
        return facts, {**arrays, "pairs": narrowest(self.triangle)}

    @classmethod
    def from_parts(cls, n_components: int, n_winners: int, facts: dict[str, Any], arrays: dict[str, Array]) -> Self:
        """Return the counts, after adding everything up."""
        right = cls.right_type.from_parts(n_components, n_winners, facts, arrays)
        triangle = arrays.get("pairs")
        if (
            triangle is None
            or triangle.dtype.kind != "u"
            or triangle.shape != (n_components * (n_components + 1) // 2,)
        ):
            msg = "pairs are not a whole number for each pair of components"
            raise ValueError(msg)
        counts = cls(right, np.ascontiguousarray(triangle, count_dtype(np.array([right.n_rows]))))
        is_right = triangle.max(initial=0) <= right.n_rows and right.has_wins(counts.won)
        if not is_right or not _adds_up(triangle, counts.won, n_winners):
            msg = "the pairs do not add up to the winners of all rows"
            raise ValueError(msg)
        return counts

    def __getstate__(self) -> dict[str, Any]:
        """Return what travels, in few bytes."""
        is_empty = self.n_rows == 0
        pairs = self.n_components if is_empty else narrowest(self.triangle)
        return {"right": self.right, "dtype": self.triangle.dtype, "pairs": pairs}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpack what travelled."""
        pairs = state["pairs"]
        triangle = _triangle(pairs, state["dtype"]) if isinstance(pairs, int) else pairs.astype(state["dtype"])
        self.__init__(state["right"], triangle)  # type: ignore[misc]


class PairsByClass(PairCounts):
    """Pairs, and how often each component won in each class: for a right-hand side of classes."""

    ARRAYS = frozenset({"pairs"}) | ClassCounts.ARRAYS
    right_type = ClassCounts
    right: ClassCounts

    @classmethod
    def counting(cls, n_winners: int) -> type[Counts]:
        """Return this kind, or that of values."""
        from flybloom.core.counts.values import ValueSums  # noqa: PLC0415 - it has the same right-hand side

        return cls if n_winners else ValueSums

    @property
    def classes(self) -> Array:
        """The labels, sorted."""
        return self.right.classes

    @property
    def class_count(self) -> Array:
        """Number of rows of each class, weights included."""
        return self.right.class_count

    def right_side(self) -> RightSide:
        """Return the indicators of the classes."""
        rows = self.unit.rows(self.class_count.astype(np.float64))
        return RightSide(self.unit.rows(self.table), rows, rows - rows**2 / max(rows.sum(), 1.0), are_classes=True)


class PairsAlone(PairCounts):
    """Pairs of rows without labels: to the counts beside them, all rows are of one class."""

    ARRAYS = frozenset({"pairs"}) | ClassCounts.ARRAYS
    right_type = ClassCounts
    right: ClassCounts

    def require_labels(self, labels: Any, weights: Weights, **known: Any) -> None:
        """Nothing to refuse: no label is looked at."""

    def counter(self, labels: Any, weights: Weights, *, sign: int = 1, **known: Any) -> Counter:  # noqa: ARG002
        """Begin to count rows."""
        return super().counter(np.zeros(weights.size, np.int64), weights, sign=sign, **known)


class PairsByTarget(PairCounts):
    """Pairs, and sums of targets by component: for a right-hand side of numbers."""

    kind = "target pairs"
    ARRAYS = frozenset({"pairs"}) | TargetSums.ARRAYS
    fits_labels = True
    right_type = TargetSums
    right: TargetSums

    def require_labels(self, labels: Any, weights: Weights, **known: Any) -> None:
        """Raise an error for targets that cannot be added up beside those before."""
        self.right.require_labels(labels, weights, **known)

    def right_side(self) -> RightSide:
        """Return the targets minus their origins, over their scales."""
        totals, n_rows = self.right.totals, max(self.n_rows, 1)
        squares = zip(totals.sums, totals.squares, strict=True)
        spreads = [n_rows * square - total**2 for total, square in squares]  # whole numbers: the division rounds once
        steps = self.grid.steps
        return RightSide(
            self.unit.rows(self.right.table / steps),
            self.unit.rows(np.array(totals.sums, np.float64) / steps),
            np.array([spread / (n_rows * self.unit.per_row * steps**2) for spread in spreads]),
            are_classes=False,
        )


class PairsByLabel(PairsByTarget):
    """Pairs, and counts of the labels of several outputs: for a right-hand side of zeros and ones."""

    kind = "label pairs"
    right_type = LabelSums
    right: LabelSums

    def knows(self, labels: Any) -> bool:
        """Return whether all labels have a column."""
        return self.right.knows(labels)


class _PairBatchCounter(Counter):
    """Keeps the winners of few rows, in ascending order."""

    def __init__(self, right: Counter, weights: Weights) -> None:
        super().__init__(right.delta(), right.add)
        self._weights = weights

    def delta(self) -> PairBatch:
        """Return all of them."""
        return PairBatch(self._delta, self._weights, effective_n_jobs(self.n_jobs))


class _PairCounter(Counter):
    """Counts many rows into a triangle of its own, as many at a time as are best."""

    def __init__(self, kind: type[PairCounts], right: Counter, weights: Weights) -> None:
        counted = right.delta()  # still of no rows
        m, rho = counted.n_components, counted.n_winners
        super().__init__(kind(counted, _triangle(m, count_dtype(weights.sum(keepdims=True)))), self._fill)
        self._right, self._weights, self._n_filled = right, weights, 0
        n = _kernels.pairs.rows_per_block(m, rho)
        self._winners, self._filled_weights = np.empty((n, rho), np.uint32), np.empty(n, np.int64)

    def delta(self) -> PairCounts:
        """Return counts of these rows alone."""
        self._count()
        return self._delta  # type: ignore[no-any-return]

    def _fill(self, block: slice, winners: Winners) -> None:
        """Take a block, and count when there are enough; which blocks come together does not matter."""
        self._right.add(block, winners)
        weights, done = self._weights[block], 0
        while done < len(winners):
            n = min(len(self._winners) - self._n_filled, len(winners) - done)
            into = slice(self._n_filled, self._n_filled + n)
            self._winners[into], self._filled_weights[into] = winners[done : done + n], weights[done : done + n]
            self._n_filled, done = self._n_filled + n, done + n
            if self._n_filled == len(self._winners):
                self._count()

    def _count(self) -> None:
        """Count the pairs that are waiting, on all threads."""
        n_threads, waiting = effective_n_jobs(self.n_jobs), slice(0, self._n_filled)
        with threads(n_threads) as run:
            _kernels.pairs.add_block(
                self._winners[waiting], self._filled_weights[waiting], self._delta.triangle, n_threads, run
            )
        self._n_filled = 0


def n_bytes_of(n_components: int, n_rows: int = 0) -> int:
    """Return the bytes of the triangle of so many components."""
    return n_components * (n_components + 1) // 2 * (4 if n_rows < 2**31 else 8)


def require_memory(n_components: int) -> None:
    """Raise an error for sizes whose triangle does not fit into memory, before anything is allocated."""
    needed, available = n_bytes_of(n_components), available_memory()
    if n_components > MAX_COMPONENTS or (available is not None and needed > available):
        room = "" if available is None else f", and {available / 2**30:.3g} GiB are available"
        msg = (
            f"Pairs of n_components_={n_components} need {needed / 2**30:.3g} GiB{room}. At most "
            f"{MAX_COMPONENTS} components have pairs. Lower n_components, or use FlyBloomClassifier."
        )
        raise MemoryError(msg)


def _triangle(n_components: int, dtype: Any) -> Array:
    """Return a triangle of zeros."""
    return np.zeros(n_components * (n_components + 1) // 2, dtype)


def _adds_up(triangle: Array, won: Array, n_winners: int) -> bool:
    """Return whether each component won together with so many others as often as it won at all.

    `won` says how often each won. The diagonal must say the same, no pair more, and all pairs of a component together
    rho times as much, because rho win whenever it does.
    """
    together = np.zeros(won.size, np.int64)
    for u in range(won.size):
        row = triangle[u * (u + 1) // 2 : (u + 1) * (u + 2) // 2].astype(np.int64)
        if row[u] != won[u] or (row < 0).any() or (row > np.minimum(won[: u + 1], won[u])).any():
            return False
        together[: u + 1] += row
        together[u] += int(row[:u].sum())
    return bool((together == n_winners * won).all())
