"""Principal components.

Rows and rotation are integers of limited size, so products and sums are exact in float64 on any machine. The rotation
comes from an eigenvalue solver whose last bits may differ between machines, so it is computed once, rounded, and stored
in the model.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from flybloom._internal.blas import one_blas_thread
from flybloom._internal.typing import Array, Features
from flybloom.core.encoding.step import Step, stored_array
from flybloom.core.sketch import Sample

UNIT = 2**8  # whole numbers to one unit of a row
LARGEST = 2**12  # of a row: 16 units; beyond, values are cut off
GRAIN = 2**18  # whole numbers to one of the rotation; 2**12 * 2**18 * 2**22 columns stay below 2**53
ROUNDING = 1e-10  # of the largest variance: what is less may be nothing but rounding, and other on every machine
MAX_WEIGHT = 2**29  # LARGEST**2 * MAX_WEIGHT = 2**53: what a sum of products may hold exactly


class Rotation(Step):
    """Multiplies rows by a matrix of integers, one column for each component; float32 comes out."""

    kind = "rotation"

    def __init__(self, matrix: Array) -> None:
        self.matrix = matrix  # float32, of shape (columns, components), multiples of 1 / GRAIN
        self._factor = matrix.astype(np.float64) * GRAIN

    @classmethod
    def fit(cls, sample: Sample, n_components: int) -> Self:
        """Return the step: the components of largest variance first, the largest entry of each positive."""
        from scipy import linalg  # noqa: PLC0415 - those who only predict need none

        n_inputs = sample.rows.shape[1]
        n = min(n_components, n_inputs)
        with one_blas_thread():
            values, vectors = linalg.eigh(covariance(sample), subset_by_index=[n_inputs - n, n_inputs - 1])
        vectors = np.where(values > ROUNDING * values[-1], vectors, 0.0)[:, ::-1]  # of no variance, any would do
        largest = np.abs(vectors).argmax(axis=0)
        vectors = vectors * np.where(vectors[largest, np.arange(n)] < 0, -1.0, 1.0)
        return cls(np.ascontiguousarray(np.rint(vectors * GRAIN) / GRAIN + 0.0, np.float32))

    def apply(self, rows: Features) -> Array:
        """Return the components of rows."""
        rotated = whole(rows) @ self._factor  # exact
        rotated *= 1.0 / (UNIT * GRAIN)
        return rotated.astype(np.float32)

    def between(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Return the bounds of the components, each column at the end that its sign asks for; sums are exact here."""
        least, most, rising, falling = whole(low), whole(high), np.maximum(self._factor, 0), np.minimum(self._factor, 0)
        unit = 1.0 / (UNIT * GRAIN)
        ends = (least @ rising + most @ falling) * unit, (most @ rising + least @ falling) * unit
        return ends[0].astype(np.float32), ends[1].astype(np.float32)

    def n_outputs(self, n_inputs: int) -> int:  # noqa: ARG002
        """Return the number of components."""
        return int(self.matrix.shape[1])

    def to_dict(self) -> dict[str, Any]:
        """Return the matrix."""
        return {"rotation": self.matrix}

    @classmethod
    def from_dict(cls, stored: dict[str, Any], n_inputs: int) -> Self:
        """Return the step, if there is a matrix of numbers from -1 to 1."""
        matrix = stored_array(stored, "rotation", np.float32, (n_inputs, None), -1, 1)
        if matrix.shape[1] > n_inputs or (matrix * GRAIN != np.rint(matrix * GRAIN)).any():
            msg = "rotation has more components than there are columns, or numbers that are too fine"
            raise ValueError(msg)
        return cls(matrix)

    def traced_back(self, shares: Array, *, signed: bool) -> Array:
        """Return the share of each column: with signs as it is rotated, else by the squares of its entries."""
        if signed:
            return np.asarray(shares @ self.matrix.T)
        squares = self.matrix.astype(np.float64) ** 2
        return np.asarray(shares @ (squares / np.maximum(squares.sum(axis=0), 1e-300)).T)


def covariance(sample: Sample) -> Array:
    """Return the covariance of the columns, from sums of integers that are exact in any order."""
    rows, weights = whole(sample.rows), whole_weights(sample.weights)
    weighted = rows * weights[:, None]
    n = weights.sum()
    mean = weighted.sum(axis=0) / n
    return np.asarray(rows.T @ weighted / n - np.outer(mean, mean))


def whole_weights(weights: Array) -> Array:
    """Return weights as integers of limited sum: as they are if they are such, else in proportion."""
    if weights.sum() <= MAX_WEIGHT and (weights == np.rint(weights)).all():
        return weights
    return np.asarray(np.maximum(1.0, np.rint(weights * (MAX_WEIGHT / 2 / weights.sum()))))


def whole(rows: Features) -> Array:
    """Return rows as integers of limited size in float64; a missing value is 0, the mean."""
    scaled = np.asarray(rows, np.float64) * UNIT
    np.rint(scaled, out=scaled)
    np.clip(scaled, -LARGEST, LARGEST, out=scaled)
    return np.nan_to_num(scaled, copy=False, nan=0.0) if np.isnan(scaled).any() else scaled
