"""Skewed columns, straightened: their quantiles become those of a normal distribution.

In a long tail, most values lie close together and few are far apart. Bins of equal width put most of them into one, and
distances are those of the few.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from flybloom._internal.typing import Array, Features
from flybloom.core.encoding.columns import are_columns
from flybloom.core.encoding.step import Step, coarse_centers, coarse_scales, moments_of, stored_array
from flybloom.core.sketch import Sample

PROBABILITIES = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
SCORES = np.array(
    [-1.6448536269514726, -0.6744897501960817, 0.0, 0.6744897501960817, 1.6448536269514715]
)  # in full: logarithms are not the same on all machines
MIDDLE = len(SCORES) // 2
SKEWED = 1.0  # third moment of a column in standard deviations
LEAST_GAP = 2.0**-6  # between quantiles, in standard deviations
SORTED_ROWS = 1024  # of the sample


class Unskew(Step):
    """Maps quantiles of some columns to those of a normal distribution, linearly between and beyond them, as float32.

    Parameters
    ----------
    columns : ndarray of shape (n_skewed,)
        The columns.
    knots : ndarray of shape (5, n_skewed)
        Their quantiles at `PROBABILITIES`.
    """

    kind = "unskew"

    def __init__(self, columns: Array, knots: Array) -> None:
        self.columns, self.knots = columns, knots
        self.pieces = (np.diff(SCORES)[:, None] / np.diff(knots.astype(np.float64), axis=0)).astype(np.float32)
        self.low, self.high = knots[:-1].copy(), knots[1:].copy()
        self.low[0], self.high[-1] = -np.inf, np.inf
        self.of_middle = self._sums(knots[MIDDLE][None])[0]

    @classmethod
    def fit(cls, sample: Sample) -> Self:
        """Return the step for the skewed columns of standardised rows; quantiles are rounded."""
        few = sample.first(SORTED_ROWS)
        values, weights = np.asarray(few.rows, np.float64), few.weights
        means, deviations = moments_of(values, weights)
        scaled = (values - means) / np.where(deviations > 0, deviations, 1.0)
        cubes = moments_of(scaled * scaled * scaled, weights)[0]  # powers are not the same on all machines
        order = np.argsort(values, axis=0, kind="stable")  # missing values come last
        values = np.take_along_axis(values, order, axis=0)
        upto = np.cumsum(np.where(np.isnan(values), 0.0, weights[order]), axis=0)
        places = [(upto >= p * upto[-1]).argmax(axis=0) for p in PROBABILITIES]
        quantiles = np.take_along_axis(values, np.array(places), axis=0)
        columns = np.flatnonzero((np.abs(cubes) > SKEWED) & (quantiles[0] < quantiles[-1]))
        quantiles = quantiles[:, columns]
        gaps = coarse_scales(np.maximum(np.diff(quantiles, axis=0), LEAST_GAP))
        middle = coarse_centers(quantiles[MIDDLE], gaps.min(axis=0))
        ends = np.cumsum(gaps, axis=0)
        knots = middle + np.vstack([np.zeros(columns.size), ends]) - ends[MIDDLE - 1]
        return cls(columns, np.ascontiguousarray(knots, np.float32))

    def apply(self, rows: Features) -> Array:
        """Return the rows with the skewed columns straightened."""
        result = np.array(rows, np.float32)
        result[:, self.columns] = self._sums(result[:, self.columns]) - self.of_middle
        return result

    def between(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Return the bounds straightened: every piece keeps the order of values."""
        return self.apply(low), self.apply(high)

    def slopes(self, before: Array) -> Array:
        """Return them times the steepest piece of each column."""
        steepest = np.ones(before.size)
        steepest[self.columns] = self.pieces.max(axis=0)
        return np.asarray(before * steepest)

    def _sums(self, values: Array) -> Array:
        """Return the sums of pieces: each has one slope between two knots, and is even beyond."""
        total = np.zeros_like(values)
        for slope, low, high in zip(self.pieces, self.low, self.high, strict=True):
            total += slope * np.minimum(np.maximum(values, low), high)
        return total

    def to_dict(self) -> dict[str, Any]:
        """Return the columns and their quantiles."""
        return {"skewed": self.columns.tolist(), **({"skewed_quantiles": self.knots} if self.columns.size else {})}

    @classmethod
    def from_dict(cls, stored: dict[str, Any], n_inputs: int) -> Self:
        """Return the step, if its columns are some of those that there are, and quantiles ascend."""
        columns = stored.get("skewed")
        if columns == []:
            return cls(np.zeros(0, np.int64), np.zeros((len(PROBABILITIES), 0), np.float32))
        if not (isinstance(columns, list) and are_columns(columns) and columns[-1] < n_inputs):
            msg = "its skewed columns are not ascending numbers of columns"
            raise ValueError(msg)
        knots = stored_array(stored, "skewed_quantiles", np.float32, (len(PROBABILITIES), len(columns)))
        if not (np.diff(knots, axis=0) > 0).all():
            msg = "the quantiles of its skewed columns do not ascend"
            raise ValueError(msg)
        return cls(np.array(columns, np.int64), knots)
