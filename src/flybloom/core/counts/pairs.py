"""Counts of pairs: how often two components won together, beside the counts by class.

The pairs are a triangle of whole numbers in one array: how often u and v won together, v <= u, is at
``u (u + 1) / 2 + v``; the diagonal says how often a component won at all.
"""

from __future__ import annotations

from threading import Lock
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs

from flybloom._internal.memory import available_memory
from flybloom._internal.parallel import threads
from flybloom._internal.typing import Array, Codes, Weights, Winners
from flybloom._internal.uninterrupted import uninterrupted
from flybloom.core import _kernels
from flybloom.core.counts.base import Counter, Counts
from flybloom.core.counts.by_class import ClassCounts, WinnerBatch
from flybloom.core.counts.columns import count_dtype, narrowest
from flybloom.core.counts.weight_unit import WeightUnit

MAX_COMPONENTS = 2**17  # of which the triangle takes 34 GB
ROWS_AT_ONCE = 1024  # rows of the triangle that are checked together


class PairBatch(NamedTuple):
    """What rows change, where they are few: their winners in ascending order, with what is counted by class."""

    by_class: WinnerBatch
    weights: Weights
    n_threads: int


class PairCounts(Counts):
    """How often two components won together, and how often each won in each class.

    Parameters
    ----------
    by_class : ClassCounts
        Counts by class, of the same rows.
    triangle : ndarray of shape (m (m + 1) / 2,)
        Pairs of winners; int32, or int64 where there are more rows than that holds.
    """

    kind = "pairs"
    ARRAYS = frozenset({"counts", "pairs"})

    def __init__(self, by_class: ClassCounts, triangle: Array) -> None:
        self.by_class = by_class
        self.triangle = triangle
        self.n_components = by_class.n_components
        self.n_winners = by_class.n_winners
        self.unit = by_class.unit
        self.edition = 0  # grows when the arrays change in place, so that what was derived from them is known to be old

    @classmethod
    def empty(cls, n_components: int, n_winners: int) -> Self:
        """Return counts of no rows; sizes whose triangle does not fit into memory are refused."""
        require_memory(n_components)
        return cls(ClassCounts.empty(n_components, n_winners), _triangle(n_components, np.int32))

    def in_unit(self, unit: WeightUnit) -> Self:
        """Return counts of no rows that count weights in a unit."""
        return type(self)(self.by_class.in_unit(unit), _triangle(self.n_components, np.int32))

    def emptied(self) -> Self:
        """Return counts of no rows, with the classes that are known."""
        return type(self)(self.by_class.emptied(), _triangle(self.n_components, np.int32))

    @property
    def classes(self) -> Array:
        """The labels, sorted."""
        return self.by_class.classes

    @property
    def class_count(self) -> Array:
        """Number of rows of each class, weights included."""
        return self.by_class.class_count

    @property
    def table(self) -> Array:
        """How often each component won in each class, of shape (n_components, n_classes)."""
        return self.by_class.table

    @property
    def n_rows(self) -> int:
        """Number of rows of all classes."""
        return self.by_class.n_rows

    def counter(self, labels: Any, weights: Weights, *, sign: int = 1, announced: Array | None = None) -> Counter:
        """Begin to count rows of these classes; `announced` ones become known without any."""
        classes, class_count, codes = self.by_class.place(labels, weights, sign=sign, announced=announced)
        if weights.size <= _kernels.pairs.rows_per_block(self.n_components, self.n_winners):
            return _PairBatchCounter(classes, class_count, codes, weights, self.n_winners)
        table = np.zeros((self.n_components, classes.size), count_dtype(class_count))
        return _PairCounter(ClassCounts(classes, class_count, table, self.n_winners, self.unit), codes, weights)

    def plus(self, delta: Self | PairBatch, *, owned: bool = False) -> Self:
        """Return the counts with those of more rows."""
        by_class = self.by_class.plus(delta.by_class, owned=owned)
        dtype = count_dtype(np.array([by_class.n_rows]))
        if isinstance(delta, PairBatch):
            triangle = self.triangle.astype(dtype)
            with threads(delta.n_threads) as run:
                winners = delta.by_class.winners
                _kernels.pairs.add_block(winners, delta.weights, triangle, delta.n_threads, run)
            return type(self)(by_class, triangle)
        triangle = delta.triangle.astype(dtype, copy=not owned)
        if self.n_rows:
            triangle += self.triangle
        return type(self)(by_class, triangle)

    def minus(self, delta: Self | PairBatch) -> Self:
        """Return the counts without those of rows."""
        by_class = self.by_class.minus(delta.by_class)
        if isinstance(delta, PairBatch):
            triangle = self.triangle.copy()
            with threads(delta.n_threads) as run:
                winners = delta.by_class.winners
                least = _kernels.pairs.add_block(winners, -delta.weights, triangle, delta.n_threads, run)
        else:
            triangle = self.triangle - delta.triangle
            least = int(triangle.min(initial=0))
        self.by_class.require_contained(least >= 0)
        return type(self)(by_class, triangle.astype(count_dtype(np.array([by_class.n_rows])), copy=False))

    def change_in_place(self, delta: Self | PairBatch, sign: int) -> bool:
        """Count few rows of known classes without a copy of the triangle."""
        if not isinstance(delta, PairBatch) or not self.by_class.can_change_in_place(delta.by_class, sign):
            return False
        if count_dtype(np.array([self.n_rows + sign * int(delta.weights.sum())])) != self.triangle.dtype:
            return False
        winners, weights, m = delta.by_class.winners, sign * delta.weights, self.n_components
        kernels, batch = _kernels.pairs, delta.by_class
        with threads(delta.n_threads) as run:
            calls = kernels.calls_for_block(winners, weights, m, delta.n_threads, run)
            undo = kernels.calls_for_block(winners, -weights, m, delta.n_threads, run) if sign < 0 else []

            def change() -> bool:
                if kernels.run_calls(calls, self.triangle, run) < 0 or (sign < 0 and not self.by_class.take(batch)):
                    kernels.run_calls(undo, self.triangle, run)
                    return False
                if sign > 0:
                    self.by_class.change_in_place(batch, 1)
                return True

            self.edition += 1  # before, so that what is derived meanwhile is never taken for new
            self.by_class.require_contained(uninterrupted(change))
        return True

    def square(self, dtype: Any = np.float64) -> Array:
        """Return the pairs as a matrix of which the lower half is filled in."""
        square = np.zeros((self.n_components, self.n_components), dtype)
        for u in range(self.n_components):
            square[u, : u + 1] = self.triangle[u * (u + 1) // 2 : (u + 1) * (u + 2) // 2]
        return square

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return classes and their rows, the table and the triangle."""
        facts, arrays = self.by_class.to_parts()
        return facts, {**arrays, "pairs": narrowest(self.triangle)}

    @classmethod
    def from_parts(cls, n_components: int, n_winners: int, facts: dict[str, Any], arrays: dict[str, Array]) -> Self:
        """Return the counts, after adding everything up."""
        by_class = ClassCounts.from_parts(n_components, n_winners, facts, arrays)
        triangle = arrays.get("pairs")
        if (
            triangle is None
            or triangle.dtype.kind != "u"
            or triangle.shape != (n_components * (n_components + 1) // 2,)
        ):
            msg = "pairs are not a whole number for each pair of components"
            raise ValueError(msg)
        won = by_class.table.sum(axis=1, dtype=np.int64)
        if not _adds_up(triangle, won, n_winners):
            msg = "the pairs do not add up to the winners of all rows"
            raise ValueError(msg)
        return cls(by_class, np.ascontiguousarray(triangle, count_dtype(np.array([by_class.n_rows]))))

    def __sizeof__(self) -> int:
        """Bytes in memory, by which a scheduler decides what to move."""
        return object.__sizeof__(self) + self.by_class.__sizeof__() + self.triangle.nbytes

    def __getstate__(self) -> dict[str, Any]:
        """Return what travels, in few bytes."""
        is_empty = self.n_rows == 0
        pairs = self.n_components if is_empty else narrowest(self.triangle)
        return {"by_class": self.by_class, "dtype": self.triangle.dtype, "pairs": pairs}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpack what travelled."""
        pairs = state["pairs"]
        triangle = _triangle(pairs, state["dtype"]) if isinstance(pairs, int) else pairs.astype(state["dtype"])
        self.__init__(state["by_class"], triangle)  # type: ignore[misc]


class _PairBatchCounter(Counter):
    """Keeps the winners of few rows, in ascending order."""

    def __init__(self, classes: Array, class_count: Array, codes: Codes, weights: Weights, n_winners: int) -> None:
        winners = np.empty((codes.size, n_winners), np.uint32)
        self._batch = WinnerBatch(classes, class_count, codes, weights, winners)

    def add(self, block: slice, winners: Winners) -> None:
        """Keep the winners of a block."""
        self._batch.winners[block] = winners

    def delta(self) -> PairBatch:
        """Return all of them."""
        return PairBatch(self._batch, self._batch.weights, effective_n_jobs(self.n_jobs))


class _PairCounter(Counter):
    """Counts many rows into a triangle of its own, as many at a time as are best."""

    def __init__(self, by_class: ClassCounts, codes: Codes, weights: Weights) -> None:
        self._codes, self._weights, self._n_filled = codes, weights, 0
        m, rho = by_class.n_components, by_class.n_winners
        self._counts = PairCounts(by_class, _triangle(m, count_dtype(by_class.class_count.sum(keepdims=True))))
        n = _kernels.pairs.rows_per_block(m, rho)
        self._winners, self._filled_weights = np.empty((n, rho), np.uint32), np.empty(n, np.int64)
        self._rows = np.zeros(by_class.classes.size, np.int64)
        self._lock = Lock()

    def add(self, block: slice, winners: Winners) -> None:
        """Take a block, and count when there are enough; which blocks come together does not matter."""
        weights, codes = self._weights[block], self._codes[block]
        with self._lock:
            _kernels.count.add_counts(winners, codes, weights, self._counts.table, self._rows)
            done = 0
            while done < len(winners):
                n = min(len(self._winners) - self._n_filled, len(winners) - done)
                into = slice(self._n_filled, self._n_filled + n)
                self._winners[into], self._filled_weights[into] = winners[done : done + n], weights[done : done + n]
                self._n_filled, done = self._n_filled + n, done + n
                if self._n_filled == len(self._winners):
                    self._count()

    def delta(self) -> PairCounts:
        """Return counts of these rows alone."""
        self._count()
        return self._counts

    def _count(self) -> None:
        """Count the pairs that are waiting, on all threads."""
        n_threads, waiting = effective_n_jobs(self.n_jobs), slice(0, self._n_filled)
        with threads(n_threads) as run:
            _kernels.pairs.add_block(
                self._winners[waiting], self._filled_weights[waiting], self._counts.triangle, n_threads, run
            )
        self._n_filled = 0


def n_bytes_of(n_components: int, n_rows: int = 0) -> int:
    """Return the bytes of the triangle of so many components."""
    return n_components * (n_components + 1) // 2 * (4 if n_rows < 2**31 else 8)


def require_memory(n_components: int) -> None:
    """Refuse sizes whose triangle does not fit into memory, before anything is allocated."""
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
