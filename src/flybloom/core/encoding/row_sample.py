"""A few rows that stand for all of them, whatever their order: those with the least fingerprints.

What is kept of all rows was kept of each part of them, so that samples of parts add up to that of the whole. Quantiles
of columns come from it, which no sums can tell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flybloom._internal.typing import Array, Weights
from flybloom.core.encoding.moments import ROWS_AT_ONCE

MOST_ROWS, LEAST_ROWS = 1024, 256  # of a sample
MAX_VALUES = 2**20  # of a sample that has more than the least rows
MISSING = np.uint64(1)  # stands for every NaN
NEGATIVE_ZERO = np.uint64(1 << 63)
ODD = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)  # of splitmix64


@dataclass
class RowSample:
    """Different rows, by ascending fingerprints, how often each came, and how many there may be."""

    fingerprints: Array
    rows: Array
    weights: Weights
    most: int

    def __add__(self, other: RowSample) -> RowSample:
        """Return the sample of both sets of rows together."""
        return _least(
            np.concatenate([self.fingerprints, other.fingerprints]),
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.weights, other.weights]),
            self.most,
        )

    def bounds(self, part: int) -> tuple[Array, Array]:
        """Return between what the values of each column are, but for one of so many at either end; NaN without any."""
        order = np.argsort(self.rows, axis=0, kind="stable")  # missing values come last
        values = np.take_along_axis(self.rows, order, axis=0)
        upto = np.cumsum(np.where(np.isnan(values), 0, self.weights[order]), axis=0)
        total = upto[-1]
        low, high = (upto > total // part).argmax(axis=0), (total - upto <= total // part).argmax(axis=0)
        columns = np.arange(values.shape[1])
        return values[low, columns], values[high, columns]


def row_sample(X: Array, weights: Weights, most: int | None = None) -> RowSample:
    """Return a sample of so many rows at most, by default 1024 of few columns; float64, and none of weight 0."""
    most = min(MOST_ROWS, max(LEAST_ROWS, MAX_VALUES // X.shape[1])) if most is None else most
    sample = _least(np.empty(0, np.uint64), np.empty((0, X.shape[1])), weights[:0], most)
    for begin in range(0, len(X), ROWS_AT_ONCE):
        weight = weights[begin : begin + ROWS_AT_ONCE]
        rows = np.ascontiguousarray(X[begin : begin + ROWS_AT_ONCE][weight > 0], np.float64)
        sample += _least(_fingerprints(rows), rows, weight[weight > 0], most)
    return sample


def _least(fingerprints: Array, rows: Array, weights: Weights, most: int) -> RowSample:
    """Return as many different rows as a sample has."""
    kept, first, which = np.unique(fingerprints, return_index=True, return_inverse=True)
    together = np.zeros(kept.size, np.int64)
    np.add.at(together, which, weights)
    return RowSample(kept[:most], rows[first[:most]], together[:most], most)


def _fingerprints(rows: Array) -> Array:
    """Return 64 bits for each row; equal rows have equal ones."""
    bits = rows.view(np.uint64).copy()
    bits[np.isnan(rows)] = MISSING
    bits[bits == NEGATIVE_ZERO] = 0
    bits ^= bits >> np.uint64(32)
    bits *= FIRST
    bits ^= bits >> np.uint64(32)
    places = _mixed(np.arange(1, rows.shape[1] + 1, dtype=np.uint64) * ODD) | np.uint64(1)
    return _mixed(bits @ places)


def _mixed(bits: Array) -> Array:
    """Return numbers that look unlike those that went in."""
    bits = (bits ^ (bits >> np.uint64(30))) * FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * SECOND
    return np.asarray(bits ^ (bits >> np.uint64(31)))
