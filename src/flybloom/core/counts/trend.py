"""A trend that is taken out of targets before they are added up: a sum of functions of single columns.

It is ridge regression on the columns as the encoder hands them to the hash, fitted to a sample of the rows. Winners are
good at what columns do together, and coarse about what a single one does. Columns and coefficients are integers,
so what is taken out of a target does not depend on how it is computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flybloom._internal.typing import Array

COLUMN_STEPS, MAX_COLUMN = 2**8, 2**12  # in one unit of a column, and as many as count
TARGET_STEPS, MAX_TARGET = 2**8, 2**13  # the same of a deviation of targets
COEFFICIENT_STEPS = 2**12  # in one deviation of targets for each unit of a column
MAX_WEIGHT = 2**12  # of a row, so that all sums are exact
MAX_COLUMNS, MAX_COEFFICIENTS = 512, 2**16  # beyond which there is no trend
MAX_COEFFICIENT = 2**31  # so that products are exact
PENALTIES = tuple(4.0**k for k in range(-8, 5))  # multiples of the mean eigenvalue that are tried


@dataclass(frozen=True)
class Trend:
    """What is expected of targets from single columns.

    Parameters
    ----------
    coefficients : tuple of tuple of int
        For each column, those of all outputs, in steps.
    """

    coefficients: tuple[tuple[int, ...], ...]

    @staticmethod
    def of(encoded: Array, targets: Array, weights: Array) -> Trend | None:
        """Return the trend of targets, in deviations around an origin, or None where there are too many columns."""
        if encoded.shape[1] > MAX_COLUMNS or encoded.shape[1] * targets.shape[1] > MAX_COEFFICIENTS:
            return None
        columns = _whole(encoded)
        wanted = np.clip(np.rint(targets * TARGET_STEPS), -MAX_TARGET, MAX_TARGET)
        shares = np.minimum(weights, MAX_WEIGHT).astype(np.float64)
        n_rows = shares.sum()
        weighted = columns * shares[:, None]
        sums, target_sums = weighted.sum(axis=0), shares @ wanted  # all of it whole numbers that float64 holds
        left = weighted.T @ columns - np.outer(sums, sums) / n_rows
        right = weighted.T @ wanted - np.outer(sums, target_sums) / n_rows
        total = shares @ wanted**2 - target_sums**2 / n_rows
        found = _solved(left, right, total, n_rows)
        unit = COEFFICIENT_STEPS * COLUMN_STEPS / TARGET_STEPS
        return Trend(tuple(map(tuple, np.rint(found * unit).astype(np.int64).tolist())))

    def offsets(self, encoded: Array) -> Array:
        """Return what is expected of rows, in deviations: exact products, whatever the order of their sums."""
        return _whole(encoded) @ np.array(self.coefficients, np.float64) / (COLUMN_STEPS * COEFFICIENT_STEPS)

    @staticmethod
    def from_json(stored: Any, n_outputs: int) -> Trend | None:
        """Return the trend of a file, or None if it has none; ValueError if it is invalid."""
        if stored is None:
            return None
        if not isinstance(stored, list) or not all(
            isinstance(row, list)
            and len(row) == n_outputs
            and all(type(value) is int and abs(value) <= MAX_COEFFICIENT for value in row)
            for row in stored
        ):
            msg = "the trend of its targets is not a whole number for each column and output"
            raise ValueError(msg)
        return Trend(tuple(map(tuple, stored)))


def _whole(encoded: Array) -> Array:
    """Return columns as integers, missing values as 0."""
    scaled = np.rint(np.nan_to_num(np.asarray(encoded, np.float64)) * COLUMN_STEPS)
    return np.clip(scaled, -MAX_COLUMN, MAX_COLUMN)


def _solved(left: Array, right: Array, total: Array, n_rows: float) -> Array:
    """Return the coefficients, for each output with the penalty of least generalised cross-validation."""
    from scipy import linalg  # noqa: PLC0415 - those who only predict need none

    values, vectors = linalg.eigh(left, check_finite=False)
    values = np.maximum(values, 0.0)
    mean = values.mean()
    if mean == 0.0:
        return np.zeros_like(right)
    turned = vectors.T @ right
    shifts = mean * np.array(PENALTIES)
    inverse = 1.0 / (values[:, None] + shifts)
    freedom = (values[:, None] * inverse).sum(axis=0) + 1.0
    coefficients = np.empty_like(right)
    for k in range(right.shape[1]):
        squares = turned[:, k] ** 2
        rss = total[k] - squares @ inverse - shifts * (squares @ inverse**2)
        criterion = np.full(shifts.size, np.inf)
        np.divide(np.maximum(rss, 0.0), (n_rows - freedom) ** 2, out=criterion, where=freedom < n_rows / 2)
        best = int(criterion.argmin()) if np.isfinite(criterion).any() else shifts.size - 1
        coefficients[:, k] = np.clip(vectors @ (turned[:, k] * inverse[:, best]), -MAX_TARGET, MAX_TARGET)
    return coefficients
