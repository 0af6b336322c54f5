"""Counts by age: how often each component won, in one column, or in one for each step by which rows fade.

Ages follow from the positions of rows in the stream alone, so the size of blocks changes nothing. Without
`forget_after` there is one column, and order does not matter.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from flybloom._internal.typing import Array, Codes, CountTable, Weights, Winners
from flybloom.core import _kernels
from flybloom.core.counts.base import MAX_ROWS, Counter, Counts
from flybloom.core.counts.columns import (
    check_table,
    column_sums,
    count_dtype,
    narrowest,
    packed,
    require_countable,
    unpacked,
)
from flybloom.exceptions import IncompatibleHashError

STEPS = 8
"""In how many steps the effect of a row fades."""


class AgeCounts(Counts):
    """How often each component won, by age.

    Parameters
    ----------
    table : ndarray of shape (n_components, n_ages)
        One column, or eight, the newest age first.
    n_rows : int
        Rows learned and not forgotten; those that have faded are among them.
    clock : int
        Rows met so far, if there is `forget_after`; 0 without.
    epoch : int or None
        Rows after which what was learned grows one step older; None for never.
    n_winners : int
        Winners of each row.
    """

    kind = "ages"
    not_contained = (
        "Some of the rows were not learned, or already forgotten: their winners were counted less often than that. "
        "Nothing was forgotten. Pass only rows that were learned."
    )

    def __init__(self, table: CountTable, n_rows: int, clock: int, epoch: int | None, n_winners: int) -> None:
        self.table = table
        self.n_components = table.shape[0]
        self.n_winners = n_winners
        self.clock = clock
        self.epoch = epoch
        self._n_rows = n_rows

    @classmethod
    def empty(cls, n_components: int, n_winners: int, forget_after: int | None = None) -> Self:
        """Return counts of no rows, which fade after `forget_after` further ones."""
        epoch = None if forget_after is None else -(-int(forget_after) // STEPS)
        return cls(np.zeros((n_components, 1 if epoch is None else STEPS), np.int32), 0, 0, epoch, n_winners)

    def emptied(self) -> Self:
        """Return counts of no rows, at once."""
        return type(self)(np.zeros(self.table.shape, np.int32), 0, self.clock, self.epoch, self.n_winners)

    @property
    def n_rows(self) -> int:
        """Number of rows learned and not forgotten."""
        return self._n_rows

    @property
    def needs_positions(self) -> bool:
        """With `forget_after`, the age of a row follows from its position."""
        return self.epoch is not None

    @property
    def n_met(self) -> int:
        """Number of rows met so far."""
        return self.clock

    def at_end_of(self, n_rows: int) -> Self:
        """Return these counts as they will be after so many more rows, none of which is counted yet."""
        if self.epoch is None:
            return self
        return type(self)(self.aged(self.clock + n_rows), self.n_rows, self.clock + n_rows, self.epoch, self.n_winners)

    def following(self, before: Counts) -> Self:
        """Return these counts as part of a stream in which their rows come after others.

        The ages are then what they would have been, if the rows before end with an epoch; otherwise it is refused.
        """
        if self.epoch is None or not isinstance(before, AgeCounts):
            return self
        if before.clock % self.epoch:
            msg = (
                f"Cannot merge: with forget_after, the rows of the second model come after the {before.clock} of the "
                f"first, which must be a multiple of epoch_={self.epoch}, or ages would differ from those of one "
                "stream. Merge after that many rows, or learn the rows instead."
            )
            raise IncompatibleHashError(msg)
        return type(self)(self.table, self.n_rows, before.clock + self.clock, self.epoch, self.n_winners)

    def counter(self, labels: Any, weights: Weights, *, sign: int = 1) -> Counter:
        """Begin to count rows.

        `labels` are the positions of the rows in the stream; None for the next ones. With `forget_after`, rows before
        the clock are taken to belong to the time before it, later ones move it on.
        """
        n_rows = weights.size
        if self.epoch is None:
            return self._counter(np.zeros(n_rows, np.int64), weights, self.clock, int(weights.sum()))
        clock = self.clock
        if labels is None and sign > 0:
            labels = np.arange(clock, clock + n_rows)
            clock += n_rows
        ages = self.ages(self._positions(labels, n_rows, clock), clock)
        if sign < 0:
            n_rows = int((ages >= 0).sum())  # those that have faded are left alone
        return self._counter(ages, weights, clock, n_rows)

    def ages(self, positions: Array, clock: int) -> Codes:
        """Return how many epochs have begun since the rows at these positions; -1 where that makes them fade."""
        if self.epoch is None:
            return np.zeros(positions.size, np.int64)
        age = clock // self.epoch - positions.astype(np.int64) // self.epoch
        return np.where(age < STEPS, age, -1)

    def plus(self, delta: Self, *, owned: bool = False) -> Self:
        """Return the counts with those of more rows of the same stream."""
        n_rows = np.array([self.n_rows + delta.n_rows])
        require_countable(n_rows)
        dtype = count_dtype(n_rows)
        if delta.epoch != self.epoch:
            msg = f"Cannot merge: epoch_ differs ({self.epoch} and {delta.epoch}). Use the same forget_after for both."
            raise IncompatibleHashError(msg)
        clock = max(self.clock, delta.clock)
        table = delta.aged(clock).astype(dtype, copy=not owned)
        table += self.aged(clock)
        return type(self)(table, int(n_rows[0]), clock, self.epoch, self.n_winners)

    def minus(self, delta: Self) -> Self:
        """Return the counts without those of rows."""
        n_rows = self.n_rows - delta.n_rows
        if self.epoch is not None and delta.clock != self.clock:
            msg = (
                "Cannot subtract: with forget_after, ages follow from positions in the stream, and the two models "
                f"are at rows {self.clock} and {delta.clock} of theirs. Use forget with positions."
            )
            raise IncompatibleHashError(msg)
        table = self.table - delta.table
        self.require_contained(n_rows >= 0 and (table >= 0).all())
        dtype = count_dtype(np.array([n_rows]))
        clock = self.clock if n_rows else 0  # where nothing is left, a new stream begins
        return type(self)(table.astype(dtype, copy=False), n_rows, clock, self.epoch, self.n_winners)

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return rows, clock and epoch, and the table."""
        facts = {"n_rows": self.n_rows, "clock": self.clock, "epoch": self.epoch}
        return facts, {"counts": narrowest(self.table)}

    @classmethod
    def from_parts(cls, n_components: int, n_winners: int, facts: dict[str, Any], arrays: dict[str, Array]) -> Self:
        """Return the counts, after adding everything up."""
        n_rows, clock, epoch = (facts.get(name) for name in ("n_rows", "clock", "epoch"))
        for name, value in (("n_rows", n_rows), ("clock", clock)):
            if type(value) is not int or not 0 <= value <= MAX_ROWS:
                msg = f"{name} is not a number of rows"
                raise ValueError(msg)
        if epoch is not None and (type(epoch) is not int or not 1 <= epoch <= MAX_ROWS):
            msg = "epoch is not a number of rows"
            raise ValueError(msg)
        assert isinstance(n_rows, int)  # noqa: S101 - for mypy
        assert isinstance(clock, int)  # noqa: S101
        table = check_table(arrays.get("counts"), n_components, 1 if epoch is None else STEPS)
        sums = column_sums(table)
        rows = [total // n_winners for total in sums]  # of each age
        is_right = all(total % n_winners == 0 for total in sums)
        is_right &= sum(rows) == n_rows if epoch is None else sum(rows) <= n_rows <= clock
        is_right &= (table.max(axis=0, initial=0) <= np.array(rows, np.uint64)).all()
        if not is_right:
            msg = "the counts do not add up to the winners of all rows"
            raise ValueError(msg)
        return cls(np.ascontiguousarray(table, count_dtype(np.array([n_rows]))), n_rows, clock, epoch, n_winners)

    def __getstate__(self) -> dict[str, Any]:
        """Return what travels, in few bytes."""
        state = {"n_rows": self.n_rows, "clock": self.clock, "epoch": self.epoch, "n_winners": self.n_winners}
        return {**state, "table": packed(self.table)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpack what travelled."""
        self.__init__(**{**state, "table": unpacked(state["table"])})  # type: ignore[misc]

    def aged(self, clock: int) -> CountTable:
        """Return the table as it is when so many rows have been met."""
        n_epochs = 0 if self.epoch is None else clock // self.epoch - self.clock // self.epoch
        if n_epochs == 0:
            return self.table
        later = np.zeros_like(self.table)
        if n_epochs < STEPS:
            later[:, n_epochs:] = self.table[:, :-n_epochs]
        return later

    def _counter(self, ages: Codes, weights: Weights, clock: int, n_rows: int) -> Counter:
        """Begin to count rows at their ages; those that have faded are not even hashed."""
        is_kept = ages >= 0
        keep = None if is_kept.all() else is_kept
        ages, weights = ages[is_kept], weights[is_kept]
        table = np.zeros(self.table.shape, count_dtype(weights.sum(keepdims=True)))

        def enter(block: slice, winners: Winners) -> None:
            _kernels.count.add_counts(winners, ages[block], weights[block], table, np.zeros(STEPS, np.int64))

        return Counter(type(self)(table, n_rows, clock, self.epoch, self.n_winners), enter, keep)

    def _positions(self, given: Any, n_rows: int, clock: int) -> Array:
        """Return the positions of rows, one for each, all before the clock."""
        positions = np.full(0, -1) if given is None else np.asarray(given)
        if (
            positions.shape != (n_rows,)
            or positions.dtype.kind not in "ui"
            or (positions < 0).any()
            or (positions >= clock).any()
        ):
            msg = (
                f"With forget_after, forget needs the position of each of the {n_rows} rows: whole numbers from 0 to "
                f"{clock - 1}, how many rows had been learned before it. Got {given!r} instead."
            )
            raise ValueError(msg)
        return positions
