"""Base class of encoder steps."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from flybloom._internal.typing import Array, Features


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
            "Expected standardise, bins, relevance, rotation or bias_columns."
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
