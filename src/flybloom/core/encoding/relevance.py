"""Columns weighted by their relevance to the labels, so that uninformative ones do not outweigh the others."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from flybloom._internal.elementary import LOG_2
from flybloom._internal.typing import Array, Features, issparse
from flybloom.core.encoding.step import Step, stored_array
from flybloom.core.sketch import Sample

LEVELS = 128  # whole numbers up to this stand for the values, so that sums over the rows are exact
GRAIN = 32  # weights are multiples of one over this
COLUMNS_AT_ONCE = 256  # bounds the float64 copies
DEVIATIONS = 2  # by how many a share must exceed the mean of chance to count
BINNED_DEVIATIONS = 3  # the same of the mean over the bins of a column


class Relevance(Step):
    """Multiplies columns by weights from 0 to 1; sparse rows stay sparse."""

    kind = "relevance"
    keeps_sparse = True

    def __init__(self, weights: Array) -> None:
        self.weights = weights

    @classmethod
    def fit(
        cls,
        sample: Sample,
        power: float,
        limit: float | None,
        n_bins: int = 1,
        n_places: int | None = None,
        least_of_targets: float = 0.0,
    ) -> Self:
        """Fit the weights: the relevant shares to a power, with maximum 1; all 1 if no column is informative.

        Where rows have targets, no weight is less than `least_of_targets`.

        See `relevant_shares` for the other parameters.
        """
        n_places = n_bins if n_places is None else n_places
        shares = [relevant_shares(one, limit, n_bins, n_places) for one in sample.by_output()]
        weights = np.sqrt(np.max(shares, axis=0)) ** power
        if not weights.max(initial=0.0) > 0:
            return cls(np.ones(weights.size, np.float32))
        coarse = np.rint(weights / weights.max() * GRAIN) / GRAIN
        coarse = np.where((coarse == 0) & (weights > 0), 1 / GRAIN, coarse)
        if sample.labels is not None and sample.labels.ndim > 1:
            coarse = np.maximum(coarse, least_of_targets)
        return cls(coarse.astype(np.float32))

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

    def to_dict(self) -> dict[str, Any]:
        """Return the weights."""
        return {"relevance": self.weights}

    @classmethod
    def from_dict(cls, stored: dict[str, Any], n_inputs: int) -> Self:
        """Return the step, if there is one weight from 0 to 1 for each column."""
        return cls(stored_array(stored, "relevance", np.float32, (n_inputs,), 0, 1))


def most_by_chance(free: int, n_sums: int) -> float:
    """Return an approximate upper bound of the maximum of several chi-squared variables.

    Of 100 or 500 independent ones, one does in every seventh or fourth case. The logarithm is that of the next power of
    two, which everybody rounds alike.
    """
    log = n_sums.bit_length() * LOG_2
    return free + 2 * math.sqrt(free * log) + log


def relevant_shares(sample: Sample, limit: float | None, n_bins: int, n_places: int) -> Array:
    """Return the share of each column's variance, or of its square's, that lies between classes, beyond chance.

    Where rows have targets, ranges of these are the classes.

    All bins of a column are tested together. If not even the most relevant column exceeds the expected maximum under
    chance, all shares are 0.

    Parameters
    ----------
    sample : Sample
        Rows with labels.
    limit : float or None
        Values beyond are measured as this; None measures whether a value is there, for sparse rows.
    n_bins : int
        How many columns side by side are bins of one.
    n_places : int
        How many columns side by side belong to one: its bins, and perhaps itself beside them.

    Returns
    -------
    ndarray of shape (n_columns,)
        From 0 to 1.
    """
    (values, squares), n_classes = _shares_between(sample, limit)
    n, spare = sample.n_measured, n_classes - 1
    # of uninformative columns, n times the share has this mean, and twice it as variance
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
        told = np.add.accumulate(values.reshape(-1, n_places)[:, :n_bins], axis=1)[:, -1]
        n_told = told.size
        beyond[np.repeat(told <= least, n_places)] = 0.0
    if told.max(initial=0.0) * n <= most_by_chance(free, n_told):
        return np.zeros_like(share)
    return beyond


def _shares_between(sample: Sample, limit: float | None) -> tuple[tuple[Array, Array], int]:
    """Return the shares of variance between classes, of the columns and of their squares, and the number of classes."""
    n_classes, codes = sample.class_codes()
    members = np.bincount(codes, sample.weights, minlength=n_classes)
    first, second, fourth = _class_sums(sample, codes, n_classes, limit)
    n = members.sum()
    shares = []
    for sums, total_squares in ((first, second.sum(axis=0)), (second, fourth)):
        between = (sums * (sums / members[:, None])).sum(axis=0)
        mean_part = sums.sum(axis=0) ** 2 / n
        spread = total_squares - mean_part
        is_spread = spread > 1e-9 * np.maximum(mean_part, 1.0)
        shares.append(np.where(is_spread, (between - mean_part) / np.where(is_spread, spread, 1.0), 0.0))
    return (shares[0], shares[1]), int((members > 0).sum())


def _class_sums(sample: Sample, codes: Array, n_classes: int, limit: float | None) -> tuple[Array, Array, Array]:
    """Return sums of values and of squares by class, and of fourth powers; values are integers of limited size."""
    rows, weights = sample.rows, sample.weights
    if issparse(rows):
        from scipy import sparse  # noqa: PLC0415 - those who only predict need none

        of_class = sparse.csr_matrix((weights, (codes, np.arange(codes.size))), (n_classes, codes.size))
        there = (of_class @ rows.astype(bool).astype(np.float64)).toarray()
        return there, there, there.sum(axis=0)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(n_classes))
    n_columns = rows.shape[1]
    first, second, fourth = np.empty((n_classes, n_columns)), np.empty((n_classes, n_columns)), np.empty(n_columns)
    for begin in range(0, n_columns, COLUMNS_AT_ONCE):
        some = slice(begin, begin + COLUMNS_AT_ONCE)
        values, weight = _whole(rows[:, some], limit)[order], weights[order, None]
        squares = values * values
        first[:, some] = np.add.reduceat(weight * values, starts, axis=0)
        second[:, some] = np.add.reduceat(weight * squares, starts, axis=0)
        fourth[some] = np.add.reduce(weight * (squares * squares), axis=0)
    return first, second, fourth


def _whole(rows: Array, limit: float | None) -> Array:
    """Return the values as integers of limited size; a missing one counts as 0, the mean."""
    if limit is None:
        return np.asarray(rows != 0, np.float64)
    scaled = np.asarray(rows, np.float32) * np.float32(LEVELS / limit)
    scaled = np.rint(np.clip(np.where(np.isnan(scaled), np.float32(0), scaled), -LEVELS, LEVELS))
    return np.asarray(scaled, np.float64)
