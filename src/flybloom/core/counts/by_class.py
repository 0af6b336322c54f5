"""Counts by class: how often each component won among the rows of each class."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from flybloom._internal.typing import Array, Codes, CountTable, Weights, Winners
from flybloom.core import _kernels
from flybloom.core.counts.base import MAX_ROWS, Counter, Counts
from flybloom.core.counts.columns import (
    align_columns,
    check_table,
    codes_if_known,
    codes_of,
    column_sums,
    count_dtype,
    narrowest,
    packed,
    require_countable,
    unite,
    unknown_among,
    unpacked,
)
from flybloom.core.counts.label_json import classes_from_facts, labels_to_json
from flybloom.core.counts.weight_unit import WHOLE_ROWS, WeightUnit, unit_from_facts
from flybloom.exceptions import NeverLearnedError

MAX_NAMED = 5  # labels in a message


class WinnerBatch(NamedTuple):
    """What rows change, where they are few: their winners, not yet entered into a table."""

    classes: Array  # sorted
    class_count: Array
    codes: Codes
    weights: Weights
    winners: Winners


class ClassCounts(Counts):
    """How often each component won in each class, and how many rows each class has.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    class_count : ndarray of shape (n_classes,), int64
        Number of rows of each class, weights included.
    table : ndarray of shape (n_components, n_classes)
        How often each component won; no count is larger than the rows of its class.
    n_winners : int
        Winners of each row.
    unit : WeightUnit
        What one count stands for.
    """

    kind = "classes"
    not_contained = (
        "These rows cannot all have been learned: some of their winners were never counted for their class. "
        "Forget only rows that were learned, each with its label, once for each time it was learned."
    )
    drops_empty: ClassVar[bool] = True  # whether a class of which no row is left is no longer known

    def __init__(
        self, classes: Array, class_count: Array, table: CountTable, n_winners: int, unit: WeightUnit = WHOLE_ROWS
    ) -> None:
        self.classes = classes
        self.class_count = class_count
        self.table = table
        self.n_components = table.shape[0]
        self.n_winners = n_winners
        self.unit = unit

    @classmethod
    def empty(cls, n_components: int, n_winners: int, unit: WeightUnit = WHOLE_ROWS) -> Self:
        """Return counts of no rows."""
        return cls(np.empty(0), np.zeros(0, np.int64), np.zeros((n_components, 0), np.int32), n_winners, unit)

    def emptied(self) -> Self:
        """Return counts of no rows, with the classes that are known."""
        table = np.zeros((self.n_components, self.classes.size), np.int32)
        return type(self)(self.classes, np.zeros(self.classes.size, np.int64), table, self.n_winners, self.unit)

    @property
    def n_rows(self) -> int:
        """Number of rows of all classes."""
        return sum(self.class_count.tolist())

    def counter(
        self,
        labels: Any,
        weights: Weights,
        *,
        sign: int = 1,
        announced: Array | None = None,
        is_few: bool | None = None,
    ) -> Counter:
        """Begin to count rows of these classes; `announced` ones become known without any."""
        classes, codes = self.classes, codes_if_known(labels, self.classes)
        if codes is None:  # a row of weight 0 is not there, so its class need not be known, and does not become so
            counted = labels if weights.all() else labels[weights > 0]
            if sign < 0:
                require_known(counted, classes)
            else:
                classes = unite(classes, counted)
        if announced is not None:
            classes = unite(classes, announced)
        if codes is None or classes is not self.classes:
            codes = np.minimum(codes_of(labels, classes), classes.size - 1)
        class_count = np.zeros(classes.size, np.int64)
        np.add.at(class_count, codes, weights)
        if sign < 0:
            require_rows(class_count, self)
        if is_few is None:
            is_few = weights.size * self.n_winners < self.n_components * classes.size
        if is_few:
            winners = np.empty((codes.size, self.n_winners), np.uint32)
            return Counter.of_batch(WinnerBatch(classes, class_count, codes, weights, winners))
        table = np.zeros((self.n_components, classes.size), count_dtype(class_count))
        counts = type(self)(classes, class_count, table, self.n_winners, self.unit)
        rows = np.zeros(classes.size, np.int64)  # of each class, which are known anyway

        def enter(block: slice, winners: Winners) -> None:
            _kernels.count.add_counts(winners, codes[block], weights[block], table, rows)

        return Counter(counts, enter)

    def plus(self, delta: Self | WinnerBatch, *, owned: bool = False) -> Self:
        """Return the counts with those of more rows."""
        if isinstance(delta, ClassCounts):
            self.unit.require_same(delta.unit, "merge")
        if owned and self.classes.size == 0 and isinstance(delta, ClassCounts):
            return delta
        classes = unite(self.classes, delta.classes)
        class_count = align_columns(self.class_count, self.classes, classes, 0) + align_columns(
            delta.class_count, delta.classes, classes, 0
        )
        require_countable(class_count)
        dtype = count_dtype(class_count)
        if isinstance(delta, WinnerBatch):
            table = align_columns(self.table, self.classes, classes, 1).astype(dtype)
            codes = codes_of(delta.classes, classes)[delta.codes]
            _kernels.count.add_counts(delta.winners, codes, delta.weights, table, np.zeros(classes.size, np.int64))
            return type(self)(classes, class_count, table, self.n_winners, self.unit)
        table = align_columns(delta.table, delta.classes, classes, 1).astype(dtype, copy=not owned)
        if self.classes.size:
            table += align_columns(self.table, self.classes, classes, 1)
        return type(self)(classes, class_count, table, self.n_winners, self.unit)

    def minus(self, delta: Self | WinnerBatch) -> Self:
        """Return the counts without those of rows; a class of which none is left is no longer known."""
        if isinstance(delta, WinnerBatch):
            rows, table = delta.class_count, self.table.copy()  # the rows were looked at when counting began
            self.require_contained(
                _kernels.count.take_counts(delta.winners, delta.codes, delta.weights, table, self.class_count.copy())
            )
        else:
            self.unit.require_same(delta.unit, "subtract")
            rows, removed = self._aligned(delta)
            table = self.table - removed
            self.require_contained((table >= 0).all() and (table <= self.class_count - rows).all())
        class_count = self.class_count - rows
        keep = (class_count > 0) | (rows == 0) if self.drops_empty else np.ones(rows.size, bool)
        table = np.ascontiguousarray(table[:, keep], count_dtype(class_count))
        return type(self)(self.classes[keep], class_count[keep], table, self.n_winners, self.unit)

    def change_in_place(self, delta: Self | WinnerBatch, sign: int) -> bool:
        """Count few rows of known classes without a copy of the table."""
        if not isinstance(delta, WinnerBatch) or not self.can_change_in_place(delta, sign):
            return False
        if sign > 0:
            _kernels.count.add_counts(delta.winners, delta.codes, delta.weights, self.table, self.class_count)
        else:
            self.require_contained(self.take(delta))
        return True

    def exchange_at_once(self, came: Self | WinnerBatch, went: Self | WinnerBatch, bounds: Array) -> bool:
        """Enter few rows of known classes and take away others, by one call of a kernel."""
        if (
            not isinstance(came, WinnerBatch)
            or not isinstance(went, WinnerBatch)
            or not (self.can_change_in_place(came, 1) and self.can_change_in_place(went, -1))
        ):
            return False
        is_done = _kernels.count.exchange_counts(
            came.winners, came.codes, came.weights, went.winners, went.codes, went.weights,
            self.table, self.class_count, bounds,
        )  # fmt: skip
        self.require_contained(is_done)
        return True

    def take(self, delta: WinnerBatch) -> bool:
        """Take rows away in place; return whether they can have been counted, and change nothing otherwise."""
        return bool(_kernels.count.take_counts(delta.winners, delta.codes, delta.weights, self.table, self.class_count))

    def can_change_in_place(self, delta: WinnerBatch, sign: int) -> bool:
        """Return whether classes and types stay as they are; what can never be counted is refused."""
        if delta.classes is not self.classes:
            return False
        class_count = self.class_count + sign * delta.class_count
        if sign < 0 and not class_count.all():
            return False
        require_countable(class_count)
        return count_dtype(class_count) == self.table.dtype

    def has_wins(self, won: Array) -> bool:
        """Return whether each component won as often as this says."""
        return bool((self.table.sum(axis=1, dtype=np.int64) == won).all())

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return classes and their rows, and the table."""
        facts: dict[str, Any] = {"classes": labels_to_json(self.classes), "class_count": self.class_count.tolist()}
        if self.unit != WHOLE_ROWS:
            facts["weight_unit"] = self.unit.weight
        return facts, {"counts": narrowest(self.table)}

    @classmethod
    def from_parts(cls, n_components: int, n_winners: int, facts: dict[str, Any], arrays: dict[str, Array]) -> Self:
        """Return the counts, after adding everything up."""
        classes = classes_from_facts(facts)
        rows = facts.get("class_count")
        if not (
            isinstance(rows, list)
            and len(rows) == classes.size
            and all(type(n) is int and 0 <= n <= MAX_ROWS for n in rows)
        ):
            msg = "class_count is not one number of rows for each class"
            raise ValueError(msg)
        class_count = np.array(rows, np.int64)
        table = check_table(arrays.get("counts"), n_components, classes.size)
        if (table.max(axis=0, initial=0) > class_count.astype(np.uint64)).any():
            msg = "a component has won more often than a class has rows"
            raise ValueError(msg)
        if column_sums(table) != [n_winners * n for n in rows]:
            msg = "the counts do not add up to the winners of all rows"
            raise ValueError(msg)
        table = np.ascontiguousarray(table, count_dtype(class_count))
        return cls(classes, class_count, table, n_winners, unit_from_facts(facts))

    def __getstate__(self) -> dict[str, Any]:
        """Return what travels, in few bytes."""
        state = {"classes": self.classes, "class_count": self.class_count, "n_winners": self.n_winners}
        return {**state, "unit": self.unit, "table": packed(self.table)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpack what travelled."""
        table = unpacked(state["table"])
        self.__init__(state["classes"], state["class_count"], table, state["n_winners"], state["unit"])  # type: ignore[misc]

    def _aligned(self, other: Self) -> tuple[Array, CountTable]:
        """Return rows and table of counts that are to be taken away, with the classes of these; refuse too many."""
        require_known(other.classes[other.class_count > 0], self.classes)
        known = set(self.classes.tolist())
        is_known = np.array([label in known for label in other.classes.tolist()], bool)  # others were announced only
        classes, rows, table = other.classes[is_known], other.class_count[is_known], other.table[:, is_known]
        rows = align_columns(rows, classes, self.classes, 0)
        require_rows(rows, self)
        return rows, align_columns(table, classes, self.classes, 1)


def require_known(labels: Array, classes: Array) -> None:
    """Raise an error for labels that were never learned."""
    unknown = unknown_among(labels, classes)
    if unknown:
        msg = (
            f"Cannot forget rows of classes that were never learned: {', '.join(map(repr, unknown[:MAX_NAMED]))}"
            f"{' and more' if len(unknown) > MAX_NAMED else ''}. classes_ lists what was learned."
        )
        raise NeverLearnedError(msg)


def require_rows(rows: Array, known: Any) -> None:
    """Refuse to take away more rows of a class than were learned."""
    for at in np.flatnonzero(rows > known.class_count)[:1]:
        label = known.classes[at : at + 1].tolist()[0]
        asked, learned = known.unit.rows(rows[at]), known.unit.rows(known.class_count[at])
        msg = f"Cannot forget {asked} rows of class {label!r}: only {learned} were learned. Leave out the others."
        raise NeverLearnedError(msg)
