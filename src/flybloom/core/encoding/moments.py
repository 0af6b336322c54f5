"""The mean and the spread of each column, exact, so that no order of the rows can change them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from flybloom._internal.typing import Array, Weights
from flybloom.core import _kernels

UNIT_BITS = 1074  # a float64 is a whole number of 2**-1074
ROWS_AT_ONCE = 4096  # bounds the copy that is made of the rows
COLUMNS_AT_ONCE = 1024  # bounds the memory of the limbs
MAX_WEIGHT = 2**29  # what can be added up before the limbs need a carry


@dataclass
class ColumnMoments:
    """Whole-number sums of columns: of the weights, of the values and of their squares.

    Values count in units of 2**-1074, squares in units of 2**-2148, so nothing is ever rounded.
    Moments of parts of the data add up to those of the whole.
    """

    n_rows: int = 0
    sums: list[int] = field(default_factory=list)
    squares: list[int] = field(default_factory=list)
    missing: Array | None = None  # rows in which each column has no value; None where all have one

    def __add__(self, other: ColumnMoments) -> ColumnMoments:
        """Return the moments of both sets of rows together."""
        if not self.sums:
            return other
        return ColumnMoments(
            self.n_rows + other.n_rows,
            [a + b for a, b in zip(self.sums, other.sums, strict=True)],
            [a + b for a, b in zip(self.squares, other.squares, strict=True)],
            other.missing if self.missing is None else self.missing + (0 if other.missing is None else other.missing),
        )

    def counts(self) -> list[int]:
        """Return the number of values of each column, at least one."""
        if self.missing is None:
            return [self.n_rows] * len(self.sums)
        return [max(1, self.n_rows - int(n)) for n in self.missing]

    def means(self) -> Array:
        """Return the mean of each column, correctly rounded; 0 where it has no value."""
        return np.array([total / (n << UNIT_BITS) for total, n in zip(self.sums, self.counts(), strict=True)])

    def are_constant(self) -> Array:
        """Return which columns have no spread."""
        parts = zip(self.sums, self.squares, self.counts(), strict=True)
        return np.array([n * square == total * total for total, square, n in parts], bool)

    def deviations(self) -> Array:
        """Return the standard deviation of each column; 1 where a column is constant."""
        deviations = np.ones(len(self.sums))
        for at, (total, square, n) in enumerate(zip(self.sums, self.squares, self.counts(), strict=True)):
            scale = n * n << 2 * UNIT_BITS
            spread = n * square - total * total  # n * sum(x^2) - sum(x)^2 = n^2 * variance, in whole numbers
            try:
                variance = spread / scale
            except OverflowError:  # of a float, while the deviation is within its range
                deviations[at] = math.isqrt(spread // scale)
                continue
            if variance > 0:
                deviations[at] = math.sqrt(variance)
            elif spread > 0:  # below the least float, while the deviation is not
                deviations[at] = math.ldexp(math.isqrt((spread << 2 * UNIT_BITS) // scale), -UNIT_BITS)
        return deviations


def column_moments(X: Array, weights: Weights) -> ColumnMoments:
    """Add up the columns of `X` and their squares, each row as often as its weight says; without missing values."""
    total = ColumnMoments(int(weights.sum()))
    if X.dtype.kind == "f":
        is_missing = np.isnan(X)
        if is_missing.any():
            total.missing = weights @ is_missing
            X = np.where(is_missing, X.dtype.type(0), X)
    add_up = _sums_of_bytes if X.dtype.kind in "bui" and X.dtype.itemsize == 1 else _exact_sums
    for begin in range(0, X.shape[1], COLUMNS_AT_ONCE):
        sums, squares = add_up(X[:, begin : begin + COLUMNS_AT_ONCE], weights)
        total.sums += sums
        total.squares += squares
    return total


def _exact_sums(X: Array, weights: Weights) -> tuple[list[int], list[int]]:
    """Return the sums and the sums of squares of a few columns of any type."""
    kernels = _kernels.moments
    sums = np.zeros((X.shape[1], kernels.LIMBS), np.int64)
    squares = np.zeros((X.shape[1], kernels.SQUARE_LIMBS), np.int64)
    heaviest = max(1, int(weights.max(initial=1)))
    step = max(1, min(ROWS_AT_ONCE, MAX_WEIGHT // heaviest))
    room = MAX_WEIGHT
    for begin in range(0, len(X), step):
        rows = np.ascontiguousarray(X[begin : begin + step], np.float64)
        if room < step * heaviest:
            kernels.carry(sums)
            kernels.carry(squares)
            room = MAX_WEIGHT
        room -= step * heaviest
        kernels.add_moments(rows.view(np.int64), weights[begin : begin + step], sums, squares)
    return _whole_numbers(sums), _whole_numbers(squares)


def _sums_of_bytes(X: Array, weights: Weights) -> tuple[list[int], list[int]]:
    """Return the same for integers of one byte, which numpy adds up exactly and fast."""
    sums, squares = np.zeros(X.shape[1], np.int64), np.zeros(X.shape[1], np.int64)
    for begin in range(0, len(X), ROWS_AT_ONCE):
        rows = X[begin : begin + ROWS_AT_ONCE].astype(np.int64)
        weight = weights[begin : begin + ROWS_AT_ONCE]
        sums += weight @ rows
        squares += weight @ (rows * rows)
    return [int(x) << UNIT_BITS for x in sums], [int(x) << 2 * UNIT_BITS for x in squares]


def _whole_numbers(limbs: Array) -> list[int]:
    """Return the number that each row of limbs stands for, 32 bits to a limb."""
    numbers = [0] * len(limbs)
    rows, places = np.nonzero(limbs)
    for row, at in zip(rows.tolist(), places.tolist(), strict=True):
        numbers[row] += int(limbs[row, at]) << 32 * at
    return numbers
