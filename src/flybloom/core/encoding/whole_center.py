"""Centring by rounded means: integers stay integers, which are hashed faster."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from flybloom._internal.typing import Array, Features
from flybloom.core.encoding.spread import moments_of
from flybloom.core.encoding.step import Step, stored_array
from flybloom.core.sketch import Sample

LARGEST = 2**52  # of centres and of whole numbers: their differences are exact, in int64 and in float64
TYPES = (np.int16, np.int32)  # of differences, where they suffice


class WholeCenter(Step):
    """Subtracts an integer from each column: of integers integers come out, of floats float32."""

    kind = "whole_center"

    def __init__(self, center: Array) -> None:
        self.center = center
        self._range = (int(center.min(initial=0)), int(center.max(initial=0)))

    @classmethod
    def fit(cls, sample: Sample) -> Self:
        """Return the step; ValueError where means are too large to be rounded to an integer that is one."""
        center = np.rint(moments_of(sample.rows, sample.weights)[0])
        if np.abs(center).max(initial=0) > LARGEST:
            msg = (
                f"Means are rounded to whole numbers up to 2**52. Got {center[np.abs(center).argmax()]:g} instead. "
                "Scale the data, or use the encoding 'center'."
            )
            raise ValueError(msg)
        return cls(center.astype(np.int64))

    def apply(self, rows: Features) -> Features:
        """Return the rows minus the centres, in a type that holds every difference."""
        if rows.dtype.kind == "f":
            difference: Array = (rows.astype(np.float64) - self.center).astype(np.float32)
            return difference
        low, high = _range(rows)
        if max(-low, high) > LARGEST:
            msg = (
                f"Whole numbers are centred up to 2**52. Got values from {low} to {high} instead. "
                "Scale the data, or convert it to floats."
            )
            raise ValueError(msg)
        least, most = low - self._range[1], high - self._range[0]
        for dtype in TYPES:
            limits = np.iinfo(dtype)
            if limits.min <= min(least, low, *self._range) and max(most, high, *self._range) <= limits.max:
                return np.asarray(rows.astype(dtype) - self.center.astype(dtype))
        return np.asarray(rows.astype(np.int64) - self.center)

    def between(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Return the bounds centred: a difference keeps the order of values."""
        return self.apply(low), self.apply(high)

    def slopes(self, before: Array) -> Array:
        """Return them as they are."""
        return before

    def to_dict(self) -> dict[str, Any]:
        """Return the centres, as floats like those of other steps; they hold them exactly."""
        return {"whole_center": self.center.astype(np.float64)}

    @classmethod
    def from_dict(cls, stored: dict[str, Any], n_inputs: int) -> Self:
        """Return the step, if there is one integer for each column."""
        center = stored_array(stored, "whole_center", np.float64, (n_inputs,), -LARGEST, LARGEST)
        if (center != np.rint(center)).any():
            msg = "its whole-number centres are not whole"
            raise ValueError(msg)
        return cls(center.astype(np.int64))


def _range(rows: Features) -> tuple[int, int]:
    """Return the smallest and the greatest value, or what the type allows where that is little."""
    if rows.dtype.kind == "b" or not rows.size:
        return 0, 1
    if rows.dtype.itemsize <= 2:  # noqa: PLR2004 - bytes and 16 bits
        limits = np.iinfo(rows.dtype)
        return int(limits.min), int(limits.max)
    return int(rows.min()), int(rows.max())
