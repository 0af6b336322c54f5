"""Sums of targets: for each component, what the targets of the rows in which it won add up to, in integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from flybloom._internal.typing import Array, Weights, Winners
from flybloom.core import _kernels
from flybloom.core.counts.base import MAX_ROWS, Counter, Counts
from flybloom.core.counts.target_grid import TargetGrid
from flybloom.core.counts.weight_unit import WHOLE_ROWS, WeightUnit, unit_from_facts

FEW_ROWS = 400  # of which the spread says little of that of others
MAX_PRODUCT = 2**124  # of rows and squares: then no sum of targets is beyond 62 bits (Cauchy and Schwarz)


class Totals(NamedTuple):
    """What targets of all rows add up to, whichever components won."""

    n_rows: int  # weights included, in units
    sums: tuple[int, ...]  # of each output
    squares: tuple[int, ...]  # of each output, beyond 64 bits

    @staticmethod
    def of(targets: Array, weights: Weights) -> Totals:
        """Return those of some rows."""
        columns = [column.astype(np.int64) for column in targets.T]
        sums = [_weighted_sum(column, weights) for column in columns]
        squares = [_weighted_squares(column, weights) for column in columns]
        return Totals(int(weights.sum()), tuple(sums), tuple(squares))

    def plus(self, other: Totals, sign: int = 1) -> Totals:
        """Return those of both, or of the rows that are left."""
        sums = (a + sign * b for a, b in zip(self.sums, other.sums, strict=True))
        squares = (a + sign * b for a, b in zip(self.squares, other.squares, strict=True))
        return Totals(self.n_rows + sign * other.n_rows, tuple(sums), tuple(squares))

    def can_be(self) -> bool:
        """Return whether rows can have them: squares are never less than those of as many equal targets."""
        both = zip(self.sums, self.squares, strict=True)
        return self.n_rows >= 0 and all(self.n_rows * square >= total**2 and square >= 0 for total, square in both)

    def require_countable(self) -> None:
        """Raise an error for sums that could go beyond 64 bits, before anything changes."""
        if self.n_rows > MAX_ROWS or self.n_rows * max(self.squares, default=0) > MAX_PRODUCT:
            msg = "The targets are too many, or too large, for sums of 64 bits. Use smaller weights, or fewer rows."
            raise ValueError(msg)


class TargetBatch(NamedTuple):
    """What rows change, where they are few: their winners, not yet entered into a table."""

    winners: Winners
    targets: Array  # (n_rows, n_outputs), int64, times the weights
    totals: Totals


class TargetSums(Counts):
    """Sums of targets by component, and of all rows.

    Parameters
    ----------
    grid : TargetGrid or LabelColumns
        What one step of a sum is, for each output.
    totals : Totals
        Rows, and the sums of their targets and of the squares of these.
    table : ndarray of shape (n_components, n_outputs), int64
        Sums of the targets of the rows in which each component won.
    n_winners : int
        Winners of each row.
    unit : WeightUnit
        What one count stands for.
    scale : float or None
        The scale of the grid, where that was asked for before there were any targets.
    """

    kind = "targets"
    ARRAYS = frozenset({"targets"})
    fits_labels = True
    not_contained = (
        "These rows cannot all have been learned: without them, the sums would be of no rows that can be. "
        "Forget only rows that were learned, each with its target, once for each time it was learned."
    )
    no_grid: ClassVar[Any] = TargetGrid((), ())
    grid_type: ClassVar[Any] = TargetGrid

    def __init__(
        self,
        grid: Any,
        totals: Totals,
        table: Array,
        n_winners: int,
        unit: WeightUnit = WHOLE_ROWS,
        scale: float | None = None,
    ) -> None:
        self.grid, self.totals, self.table, self._scale = grid, totals, table, scale
        self.n_components, self.n_winners = table.shape[0], n_winners
        self.unit = unit

    @classmethod
    def empty(
        cls, n_components: int, n_winners: int, unit: WeightUnit = WHOLE_ROWS, scale: float | None = None
    ) -> Self:
        """Return sums of no rows, whose grid is not known."""
        return cls(cls.no_grid, Totals(0, (), ()), np.zeros((n_components, 0), np.int64), n_winners, unit, scale)

    def fixed_to(self, labels: Array | None, weights: Weights, encode: Callable[[], Array] | None) -> Self:
        """Return sums of no rows, of targets like those of a sample."""
        if labels is None:
            return self
        return self._empty(TargetGrid.of(labels, weights, self._scale, encode), self.unit)

    def labels_of(self, labels: Any, encode: Callable[[slice], Array]) -> Any:
        """Return targets as they are counted: steps, without their trend."""
        return self.grid.whole(labels, self.grid.offsets(encode, len(labels)))

    def require_labels(self, labels: Any, weights: Weights, **known: Any) -> None:  # noqa: ARG002
        """Refuse targets of other outputs, or far from those before; of few rows, the grid is found again."""
        self.grid.require_outputs(labels)
        if self.n_rows > FEW_ROWS * self.unit.per_row:
            self.grid.whole(labels)

    def emptied(self) -> Self:
        """Return sums of no rows."""
        return self._empty(self.grid, self.unit)

    @property
    def n_rows(self) -> int:
        """Number of rows, weights included, in units."""
        return self.totals.n_rows

    def counter(self, labels: Any, weights: Weights, *, sign: int = 1, is_few: bool | None = None) -> Counter:
        """Begin to count rows with these targets, as `labels_of` returns them."""
        targets: Array = labels
        totals = Totals.of(targets, weights)
        self.totals.plus(totals).require_countable()
        if sign < 0:
            self.require_contained(self.can_have(self.totals.plus(totals, -1)))
        if is_few is None:
            is_few = weights.size * self.n_winners < self.n_components
        if is_few:
            winners = np.empty((weights.size, self.n_winners), np.uint32)
            return Counter.of_batch(TargetBatch(winners, targets * weights[:, None], totals))
        sums = type(self)(self.grid, totals, np.zeros_like(self.table), self.n_winners, self.unit)

        def enter(block: slice, winners: Winners) -> None:
            _kernels.count.add_targets(winners, targets[block] * weights[block, None], sums.table)

        return Counter(sums, enter)

    def plus(self, delta: Self | TargetBatch, *, owned: bool = False) -> Self:
        """Return the sums with those of more rows."""
        self._require_kin(delta, "merge")
        totals = self.totals.plus(delta.totals)
        totals.require_countable()
        if isinstance(delta, TargetBatch):
            table = self.table.copy()
            _kernels.count.add_targets(delta.winners, delta.targets, table)
        elif owned:
            table = delta.table
            table += self.table
        else:
            table = self.table + delta.table
        return type(self)(self.grid, totals, table, self.n_winners, self.unit)

    def minus(self, delta: Self | TargetBatch) -> Self:
        """Return the sums without those of rows."""
        self._require_kin(delta, "subtract")
        totals = self.totals.plus(delta.totals, -1)
        if isinstance(delta, TargetBatch):
            table = self.table.copy()
            _kernels.count.add_targets(delta.winners, -delta.targets, table)
        else:
            table = self.table - delta.table
        self.require_contained(self.can_have(totals) and (totals.n_rows > 0 or not table.any()))
        return type(self)(self.grid, totals, table, self.n_winners, self.unit)

    def can_change_in_place(self, delta: TargetBatch, sign: int) -> bool:
        """Return whether the sums stay what they can be; what can never be counted is refused."""
        totals = self.totals.plus(delta.totals, sign)
        totals.require_countable()
        return totals.n_rows > 0

    def change_in_place(self, delta: Self | TargetBatch, sign: int) -> bool:
        """Count few rows without a copy of the table."""
        if not isinstance(delta, TargetBatch) or not self.can_change_in_place(delta, sign):
            return False
        if sign < 0:
            self.require_contained(self.take(delta))
            return True
        _kernels.count.add_targets(delta.winners, delta.targets, self.table)
        self.totals = self.totals.plus(delta.totals)
        return True

    def take(self, delta: TargetBatch) -> bool:
        """Take rows away in place; return whether they can have been counted, and change nothing otherwise."""
        totals = self.totals.plus(delta.totals, -1)
        if not self.can_have(totals):
            return False
        _kernels.count.add_targets(delta.winners, -delta.targets, self.table)
        self.totals = totals
        return True

    def can_have(self, totals: Totals) -> bool:
        """Return whether rows can have these totals."""
        return totals.can_be()

    def has_wins(self, won: Array) -> bool:
        """Return whether components that won so often can have these sums: each row has as many winners."""
        is_right = sum(won.tolist()) == self.n_winners * self.n_rows and not self.table[won == 0].any()
        return bool(is_right and (won >= 0).all())

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return grid and totals, and the table as files hold it: two's complement."""
        sums, squares = list(self.totals.sums), [str(square) for square in self.totals.squares]
        facts: dict[str, Any] = {
            "targets": self.grid.to_json(),
            "n_rows": self.n_rows,
            "sums": sums,
            "squares": squares,
        }
        if self.unit != WHOLE_ROWS:
            facts["weight_unit"] = self.unit.weight
        return facts, {"targets": np.ascontiguousarray(self.table).view(np.uint64)}

    @classmethod
    def from_parts(cls, n_components: int, n_winners: int, facts: dict[str, Any], arrays: dict[str, Array]) -> Self:
        """Return the sums, after adding everything up."""
        grid = cls.grid_type.from_json(facts.get("targets"))
        totals = _totals_of(facts, grid.n_columns)
        table = arrays.get("targets")
        if table is None or table.dtype != np.uint64 or table.shape != (n_components, grid.n_columns):
            msg = "the sums of targets are not one for each component and output"
            raise ValueError(msg)
        table = np.ascontiguousarray(table).view(np.int64)
        added = [sum(column.tolist()) for column in table.T]
        empty = cls.empty(n_components, n_winners)
        if (
            not empty.can_have(totals)
            or added != [n_winners * total for total in totals.sums]
            or not (totals.n_rows or not table.any())
        ):
            msg = "the sums of targets do not add up to those of all rows"
            raise ValueError(msg)
        return cls(grid, totals, table, n_winners, unit_from_facts(facts))

    def _empty(self, grid: Any, unit: WeightUnit) -> Self:
        """Return sums of no rows."""
        k = grid.n_columns
        table = np.zeros((self.n_components, k), np.int64)
        return type(self)(grid, Totals(0, (0,) * k, (0,) * k), table, self.n_winners, unit, self._scale)

    def _require_kin(self, delta: Self | TargetBatch, action: str) -> None:
        """Raise an error for sums of other steps."""
        if isinstance(delta, TargetSums):
            self.unit.require_same(delta.unit, action)
            self.grid.require_same(delta.grid, action)


def _weighted_sum(targets: Array, weights: Weights) -> int:
    """Return the exact sum of integers below 2**41, times weights below 2**40."""
    total = 0
    for digits in (targets >> 20, targets & (2**20 - 1)):  # each half times any weight is below 2**62
        total = (total << 20) + sum(_wide_sums(digits * weights))
    return total


def _wide_sums(values: Array) -> tuple[int, int]:
    """Return two numbers that add up to the sum of values of 63 bits, which may be beyond them."""
    return int((values >> 32).sum()) << 32, int((values & (2**32 - 1)).sum())


def _weighted_squares(targets: Array, weights: Weights) -> int:
    """Return the exact sum of the squares of integers, times weights."""
    sizes = np.abs(targets)
    if sizes.max(initial=0) < 2**31:
        squares = sizes * sizes
        return (_weighted_sum(squares >> 31, weights) << 31) + _weighted_sum(squares & (2**31 - 1), weights)
    return sum(w * t * t for t, w in zip(sizes.tolist(), weights.tolist(), strict=True))


def _totals_of(facts: dict[str, Any], n_outputs: int) -> Totals:
    """Return the totals of a file; ValueError where no rows can have them."""
    n_rows, sums, squares = facts.get("n_rows"), facts.get("sums"), facts.get("squares")
    if (
        type(n_rows) is int
        and all(isinstance(values, list) and len(values) == n_outputs for values in (sums, squares))
        and all(type(total) is int for total in sums)  # type: ignore[union-attr]
        and all(type(text) is str and text.isdecimal() and len(text) < 40 for text in squares)  # type: ignore[union-attr]  # noqa: PLR2004
    ):
        totals = Totals(n_rows, tuple(sums), tuple(map(int, squares)))  # type: ignore[arg-type]
        if totals.can_be() and n_rows <= MAX_ROWS and n_rows * max(totals.squares, default=0) <= MAX_PRODUCT:
            return totals
    msg = "the totals of its targets are not those of any rows"
    raise ValueError(msg)
