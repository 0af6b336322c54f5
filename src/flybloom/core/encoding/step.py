"""Base class of encoder steps, and the coarse grid of what they are fitted to.

Fitted numbers are rounded, so that a few rows seldom change an encoder. Sums run over the rows in a fixed order, so
they do not depend on threads.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from flybloom._internal.typing import Array, Features, issparse

STEPS_OF_DOUBLING = 4  # scales are powers of 2 ** (1 / 4)
ROOTS = np.array([2.0 ** (step / STEPS_OF_DOUBLING) for step in range(STEPS_OF_DOUBLING)])
STEPS_OF_SCALE = 8  # centres are multiples of an eighth of a scale
MIN_EXPONENT, MAX_EXPONENT = -1021, 1020  # of scales, whose inverses are numbers too
COLUMNS_AT_ONCE = 256  # bounds the float64 copies


class Step(ABC):
    """A fitted function of a row.

    A new step is one file: a class that is fitted to a `Sample` of rows (a class method `fit`), applied, saved and
    compared. It becomes known by an entry in `encoder.STEPS`, and reachable by one in `encoding.Encoding`.
    """

    kind: ClassVar[str]
    keeps_sparse: ClassVar[bool] = False  # whether sparse rows may come, and stay sparse

    @abstractmethod
    def apply(self, rows: Features) -> Features:
        """Return the transformed rows, which may contain missing values (NaN)."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return arrays and JSON values for files."""

    @classmethod
    @abstractmethod
    def from_dict(cls, stored: dict[str, Any], n_inputs: int) -> Self:
        """Return the step of `to_dict`, among entries of others; ValueError if it is invalid."""

    def n_outputs(self, n_inputs: int) -> int:
        """Return the number of output columns."""
        return n_inputs

    def traced_back(self, shares: Array, *, signed: bool) -> Array:  # noqa: ARG002
        """Map values of output columns back to input columns."""
        return shares

    def between(self, low: Array, high: Array) -> tuple[Array, Array]:  # noqa: ARG002
        """Return bounds of the output for bounds of the input, rounding included."""
        msg = (
            f"The step {self.kind!r} of the encoding has no bounds, so nothing can be certified. "
            "Expected gradients, standardise, bins, relevance, rotation or bias_columns."
        )
        raise ValueError(msg)

    def slopes(self, before: Array) -> Array:
        """Return the maximum change of output columns for changes of input columns."""
        raise NotImplementedError

    def fields(self, names: tuple[str, ...] | None = None) -> dict[str, Any]:  # noqa: ARG002
        """Return JSON values that identify this step."""
        entries = self.to_dict().items()
        return {self.kind: {name: exactly(v) if isinstance(v, np.ndarray) else v for name, v in entries}}


def exactly(values: Array) -> list[str]:
    """Return floats as exact text."""
    return [float(value).hex() for value in np.asarray(values).ravel()]


def stored_array(
    stored: dict[str, Any],
    name: str,
    dtype: type,
    shape: tuple[int | None, ...],
    low: float = -math.inf,
    high: float = math.inf,
) -> Array:
    """Return an array of a file, if its values are finite and within bounds; None in a shape is any length above 0."""
    values = stored.get(name)
    if (
        not isinstance(values, np.ndarray)
        or values.dtype != dtype
        or values.ndim != len(shape)
        or any(n != (expected or max(n, 1)) for n, expected in zip(values.shape, shape, strict=True))
    ):
        msg = f"{name} is no {np.dtype(dtype)} array of the shape {shape}"
        raise ValueError(msg)
    if not (np.isfinite(values) & (values >= low) & (values <= high)).all():
        msg = f"{name} holds values that are not finite, or not from {low:g} to {high:g}"
        raise ValueError(msg)
    return values


def moments_of(rows: Features, weights: Array) -> tuple[Array, Array]:
    """Return mean and standard deviation of each column, without missing values; 0 for both where there is none."""
    n_columns = rows.shape[1]
    means, deviations = np.zeros(n_columns), np.zeros(n_columns)
    for begin in range(0, n_columns, COLUMNS_AT_ONCE):
        some = slice(begin, begin + COLUMNS_AT_ONCE)
        means[some], deviations[some] = _moments(np.asarray(rows[:, some], np.float64), weights[:, None])
    return means, deviations


def _moments(values: Array, weights: Array) -> tuple[Array, Array]:
    """Return the same of a few columns; all is done in units of their largest value, so that nothing overflows.

    The mean of equal values is that value, to the last bit.
    """
    is_missing = np.isnan(values)
    low, high = np.fmin.reduce(values, axis=0, initial=np.inf), np.fmax.reduce(values, axis=0, initial=-np.inf)
    if is_missing.any():
        values, weights = np.where(is_missing, 0.0, values), np.where(is_missing, 0.0, weights)
    n = np.maximum(np.add.reduce(np.broadcast_to(weights, values.shape), axis=0), 2.0**-1000)
    _, exponents = np.frexp(np.maximum(np.maximum(-low, high), 0.0))
    scaled = np.ldexp(values, -exponents)
    means = np.add.reduce(weights * scaled, axis=0) / n
    scaled -= means
    if is_missing.any():
        scaled[is_missing] = 0.0
    squares = np.add.reduce(weights * (scaled * scaled), axis=0) / n
    deviations = np.where(low < high, np.ldexp(np.sqrt(squares), exponents), 0.0)
    return np.where(low == high, low, np.ldexp(means, exponents)), deviations


def coarse_scales(deviations: Array) -> Array:
    """Return deviations rounded to powers of 2 ** (1 / 4); 1 where there is none."""
    is_spread = deviations > 0
    logs = np.log2(np.where(is_spread, deviations, 1.0))
    steps = np.clip(
        np.rint(logs * STEPS_OF_DOUBLING), MIN_EXPONENT * STEPS_OF_DOUBLING, MAX_EXPONENT * STEPS_OF_DOUBLING
    )
    whole, part = np.divmod(steps.astype(np.int64), STEPS_OF_DOUBLING)
    return np.asarray(np.ldexp(ROOTS[part], whole))


def coarse_centers(means: Array, scales: Array) -> Array:
    """Return means rounded to multiples of an eighth of the scale; as they are where that is finer than a float."""
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.rint(means / scales * STEPS_OF_SCALE)
        centers = steps * (scales / STEPS_OF_SCALE)
    return np.where(np.isfinite(centers), centers, means) + 0.0  # -0.0 is no other centre than 0.0


def without_missing(rows: Features) -> Features:
    """Return floats with 0 for NaN."""
    if issparse(rows):
        if np.isnan(rows.data).any():
            rows = rows.copy()
            rows.data[np.isnan(rows.data)] = 0
            rows.eliminate_zeros()
        return rows
    is_missing = np.isnan(rows)
    return np.where(is_missing, rows.dtype.type(0), rows) if is_missing.any() else rows
