"""Columns weighted by how much they tell about the labels, so that those which tell nothing do not drown the others."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from flybloom._internal.sparse import issparse
from flybloom._internal.typing import Array, Features, Weights
from flybloom.core.encoding.chance import most_by_chance
from flybloom.core.encoding.step import Plan, Step

LEVELS = 128  # whole numbers up to this stand for the values: the fourth powers of 2**35 rows fit into an int64
MAX_WEIGHT = 2**34  # of rows whose sums are kept as int64; beyond, as whole numbers of any size
GRAIN = 2**12  # weights are multiples of one over this, so that roots which differ in the last bit do not matter
ROWS_AT_ONCE = 4096
DEVIATIONS = 2  # by how many a share must exceed the mean of chance to count
BINNED_DEVIATIONS = 3  # the same of the mean over the bins of a column


class Relevance(Step):
    """Multiplies each column by a weight from 0 to 1. Sparse rows stay sparse."""

    kind = "relevance"
    keeps_sparse = True
    ARRAYS = frozenset({"relevance"})

    def __init__(self, weights: Array) -> None:
        self.weights = weights

    def apply(self, rows: Features) -> Features:
        """Return the rows with their columns weighted."""
        if issparse(rows):
            weighted = rows.astype(np.float32)
            weighted.data *= self.weights[weighted.indices]
            return weighted
        with np.errstate(over="ignore"):  # what overflows is refused by the projection
            return np.multiply(rows, self.weights, dtype=np.float32)

    def between(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Return the bounds weighted: no weight is negative."""
        return self.apply(low), self.apply(high)

    def slopes(self, before: Array) -> Array:
        """Return them weighted."""
        return np.asarray(before * self.weights.astype(np.float64))

    def arrays(self) -> dict[str, Array]:
        """Return the weights."""
        return {"relevance": self.weights}

    @classmethod
    def from_parts(cls, facts: dict[str, Any], arrays: dict[str, Array], n_inputs: int) -> Self:  # noqa: ARG003
        """Return the step, if there is one weight from 0 to 1 for each column."""
        weights = arrays.get("relevance")
        if weights is None or weights.dtype != np.float32 or weights.shape != (n_inputs,):
            msg = "relevance is not one float32 for each column"
            raise ValueError(msg)
        if not ((weights >= 0) & (weights <= 1)).all():
            msg = "relevance holds values that are not from 0 to 1"
            raise ValueError(msg)
        return cls(weights)


@dataclass
class ClassMoments:
    """Whole-number sums of columns by class: rows, values and squares; and the fourth powers of all rows.

    Those of parts of the data add up to those of the whole.
    """

    n_rows: int
    by_label: dict[Any, tuple[int, Array, Array]]
    fourth: Array
    per_row: int = 1  # how much weight is one row; it says how far chance goes

    def __add__(self, other: ClassMoments) -> ClassMoments:
        """Return the moments of both sets of rows together."""
        n_rows = self.n_rows + other.n_rows
        by_label = dict(self.by_label)
        for label, sums in other.by_label.items():
            known = by_label.get(label)
            by_label[label] = (
                sums
                if known is None
                else (known[0] + sums[0], _sum(known[1], sums[1], n_rows), _sum(known[2], sums[2], n_rows))
            )
        return ClassMoments(n_rows, by_label, _sum(self.fourth, other.fourth, n_rows))

    def shares(self) -> tuple[Array, Array]:
        """Return the share of the variance of each column, and of its square, that lies between classes."""
        n = self.n_rows
        kept = self._kept()
        total = [_exact_total([sums[i] for sums in kept]) for i in (1, 2)]
        shares = []
        for i, squares in ((1, total[1]), (2, self.fourth)):
            # of each class: (sum of x)^2 / rows; terms are sorted, so that the order of classes cannot matter
            terms = np.sort([sums[i].astype(float) * (sums[i].astype(float) / sums[0]) for sums in kept], axis=0)
            mean_part = total[i - 1].astype(float) * (total[i - 1].astype(float) / n)
            between = np.zeros_like(mean_part)
            for term in terms:
                between = between + term
            spread = squares.astype(float) - mean_part
            is_spread = spread > 1e-9 * np.maximum(mean_part, 1.0)
            shares.append(np.where(is_spread, (between - mean_part) / np.where(is_spread, spread, 1.0), 0.0))
        return shares[0], shares[1]

    def beyond_chance(self, n_bins: int, n_places: int) -> Array:
        """Return the larger share of each column, less what chance gives, and at least 0.

        The bins of a column tell together whether it is more than chance, because a single one tells little where rows
        are few; and each how much. Of many columns that tell nothing, some look as if they did. So where not even the
        strongest is beyond what the strongest of as many would have by chance, none tells a thing.
        """
        values, squares = self.shares()
        n = self.n_rows / self.per_row
        # of columns that tell nothing, n times the share has this mean, and twice it as variance
        spare = len(self._kept()) - 1
        share, chance = np.maximum(values, squares), spare / n
        if n_bins == 1:
            chance += DEVIATIONS * math.sqrt(2 * spare) / n
        if chance >= 1:
            return np.zeros_like(share)
        beyond = np.clip((share - chance) / (1 - chance), 0.0, 1.0)
        told, free, n_told = share, spare, 2 * share.size  # values and squares
        if n_bins > 1:
            free = spare * (n_bins - 1)  # the bins of a row add up to one
            least = (free + BINNED_DEVIATIONS * math.sqrt(2 * free)) / n
            told = np.add.accumulate(values.reshape(-1, n_places)[:, :n_bins], axis=1)[:, -1]  # one after the other
            n_told = told.size
            beyond[np.repeat(told <= least, n_places)] = 0.0
        if told.max(initial=0.0) * n <= most_by_chance(free, n_told):
            return np.zeros_like(share)
        return beyond

    def _kept(self) -> list[Any]:
        """Return the sums of classes that have rows."""
        return [sums for sums in self.by_label.values() if sums[0] > 0]


@dataclass(frozen=True)
class RelevancePlan(Plan):
    """Takes the weights from sums of the columns of each class.

    Parameters
    ----------
    power : float
        The power of the root of the share of variance that lies between classes.
    limit : float or None
        Values beyond are measured as this; None measures whether a value is there, for sparse rows.
    n_bins : int, default=1
        How many columns side by side are bins of one.
    n_places : int or None, default=None
        How many columns side by side belong to one: its bins, and perhaps itself beside them. None for bins alone.
    """

    power: float
    limit: float | None
    n_bins: int = 1
    n_places: int | None = None
    needs_labels = True

    def measure(self, rows: Features, labels: Any, weights: Weights) -> ClassMoments:
        """Return the sums of these rows, each value a whole number."""
        n_rows = int(weights.sum())
        classes, codes = np.unique(labels, return_inverse=True)
        d = rows.shape[1]
        dtype: Any = np.int64 if n_rows <= MAX_WEIGHT else object
        sums, squares = np.zeros((classes.size, d), dtype), np.zeros((classes.size, d), dtype)
        fourth, count = np.zeros(d, dtype), np.zeros(classes.size, np.int64)
        np.add.at(count, codes, weights)
        order = np.argsort(codes, kind="stable")
        for begin in range(0, len(order), ROWS_AT_ONCE):
            some = order[begin : begin + ROWS_AT_ONCE]
            if issparse(rows):
                from scipy import sparse  # noqa: PLC0415 - those who only predict need none

                members = sparse.csr_matrix(
                    (weights[some], (codes[some], np.arange(some.size))), (classes.size, some.size)
                )
                there = rows[some].astype(bool).astype(np.int64)
                counted = (members @ there).toarray()
                sums += counted
                squares += counted
                fourth += counted.sum(axis=0)
                continue
            q = self._whole(rows[some])
            weight = weights[some, None].astype(dtype)
            first, starts = np.unique(codes[some], return_index=True)
            q2 = q * q
            sums[first] += np.add.reduceat(weight * q, starts, axis=0)
            squares[first] += np.add.reduceat(weight * q2, starts, axis=0)
            fourth += (weight * (q2 * q2)).sum(axis=0)
        parts = zip(classes.tolist(), count.tolist(), sums, squares, strict=True)
        return ClassMoments(n_rows, {label: (n, x, x2) for label, n, x, x2 in parts}, fourth)

    def in_rows(self, measured: ClassMoments, per_row: int) -> ClassMoments:
        """Return the sums with the weight of one row."""
        return replace(measured, per_row=per_row)

    def _whole(self, rows: Array) -> Array:
        """Return the values as whole numbers of limited size; a missing one counts as 0, the mean."""
        if self.limit is None:
            return np.asarray(rows != 0, np.int64)
        scaled = rows * np.float32(LEVELS / self.limit)
        scaled = np.rint(np.clip(np.where(np.isnan(scaled), np.float32(0), scaled), -LEVELS, LEVELS))
        return np.asarray(scaled, np.int64)

    def fit(self, n_inputs: int, measured: ClassMoments) -> Relevance:
        """Return the step: the larger share to the power, the largest weight 1; all 1 where no column tells a thing."""
        n_places = self.n_bins if self.n_places is None else self.n_places
        weights = np.sqrt(measured.beyond_chance(self.n_bins, n_places)) ** self.power
        if not weights.max(initial=0.0) > 0:
            return Relevance(np.ones(n_inputs, np.float32))
        weights = np.rint(weights / weights.max() * GRAIN) / GRAIN
        return Relevance(weights.astype(np.float32))


def _sum(a: Array, b: Array, n_rows: int) -> Array:
    """Return the sum, in whole numbers of any size where there are too many rows for 64 bits."""
    return a + b if n_rows <= MAX_WEIGHT else a.astype(object) + b.astype(object)


def _exact_total(parts: list[Array]) -> Array:
    """Return the sum of whole numbers."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
