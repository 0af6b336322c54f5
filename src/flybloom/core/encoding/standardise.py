"""Standardisation and clipping; and centring by rounded means, which keeps integers integers: they hash faster."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from flybloom._internal.typing import Array, Features
from flybloom.core.encoding.step import Step, coarse_centers, coarse_scales, exactly, moments_of, stored_array
from flybloom.core.sketch import Sample

MAX_PLAIN_CENTER = 2.0**969  # less than half a step of the largest floats: what is within their range stays there
LEAST_SCALE = float(np.finfo(np.float64).tiny)  # one over a smaller one is beyond the largest float
TINY_SCALE = 2.0**-100  # any difference is many of these
FAR_PART = 200  # one of so many values may be far out, at either end
INFLATED = 8.0  # how many times the deviation of the others makes them outliers, not tails
GRAIN_OF_WEIGHTS = 2.0**-20  # of which sums of weights are multiples, if each is
SORTED_ROWS = 1024  # of the sample, in which outliers are looked for
LARGEST = 2**52  # of centres and of whole numbers: their differences are exact, in int64 and in float64
TYPES = (np.int16, np.int32)  # of differences, where they suffice


class Standardise(Step):
    """Centres, optionally scales, and clips columns, as float32."""

    kind = "standardise"

    def __init__(self, center: Array, scale: Array | None, clip: float = math.inf) -> None:
        self.center = center
        self.scale = scale
        self.clip = clip
        self._factor = None if scale is None else 1.0 / np.maximum(scale, LEAST_SCALE)
        self._large = np.flatnonzero(np.abs(center) > MAX_PLAIN_CENTER)

    @classmethod
    def fit(cls, sample: Sample, scaling: str, clip: float = math.inf, *, clips_new: bool = False) -> Self:
        """Return the step: no scale for "center", the largest deviation for "common", one for each column else.

        If values are clipped, outliers are excluded from the standard deviation. With `clips_new`, as detectors want,
        so is every value of a constant column but the one that it has.
        """
        center, deviations = moments_of(sample.rows, sample.weights)
        if scaling == "center":
            return cls(coarse_centers(center, coarse_scales(deviations)), None, clip)
        if scaling == "common":
            deviations = np.full_like(deviations, deviations.max(initial=0.0))
        elif clip < math.inf:
            is_apart, means, without = _clipped_moments(sample.first(SORTED_ROWS))
            is_inflated = is_apart & (deviations / INFLATED > without)
            center[is_inflated], deviations[is_inflated] = means[is_inflated], without[is_inflated]
        scale = coarse_scales(deviations)
        if clips_new and clip < math.inf:
            scale[deviations == 0] = TINY_SCALE
        return cls(coarse_centers(center, scale), scale, clip)

    def apply(self, rows: Features) -> Array:
        """Return the rows scaled."""
        with np.errstate(over="ignore"):  # what overflows is refused by the projection
            halves = rows[:, self._large].astype(np.float64) / 2 - self.center[self._large] / 2
            scaled = np.subtract(rows, self.center, dtype=np.float64)
            if self._factor is not None:
                scaled *= self._factor
                if self._large.size:  # a difference may be beyond the largest float, and yet not the quotient
                    scaled[:, self._large] = halves * self._factor[self._large] * 2
            result: Array = scaled.astype(np.float32)
        if self.clip < math.inf:
            limit = np.float32(self.clip)
            np.clip(result, -limit, limit, out=result)
        return result

    def between(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Return the bounds scaled: every operation keeps the order of values."""
        return self.apply(low), self.apply(high)

    def slopes(self, before: Array) -> Array:
        """Return them over the scale."""
        return before if self._factor is None else np.asarray(before * self._factor)

    def to_dict(self) -> dict[str, Any]:
        """Return where values are clipped, if they are, centre and scale."""
        clip = {} if self.clip == math.inf else {"clip": self.clip}
        return {**clip, "center": self.center, **({} if self.scale is None else {"scale": self.scale})}

    @classmethod
    def from_dict(cls, stored: dict[str, Any], n_inputs: int) -> Self:
        """Return the step, if there is one finite number for each column, and scales are positive."""
        center, scale = stored_array(stored, "center", np.float64, (n_inputs,)), None
        if "scale" in stored:
            scale = stored_array(stored, "scale", np.float64, (n_inputs,), float(np.nextafter(0, 1)))
        clip = stored.get("clip", math.inf)
        if type(clip) is not float or not clip > 0:
            msg = "clip is not a number above 0"
            raise ValueError(msg)
        return cls(center, scale, clip)

    def fields(self, names: tuple[str, ...] | None = None) -> dict[str, Any]:  # noqa: ARG002
        """Return centre and scale, under the names they have had since the first format of files."""
        fields = {"center_": exactly(self.center), "scale_": None if self.scale is None else exactly(self.scale)}
        return fields if self.clip == math.inf else {**fields, "clip_": self.clip}


def _clipped_moments(sample: Sample) -> tuple[Array, Array, Array]:
    """Return where outliers can be looked for, and mean and deviation of each column without them.

    Columns in which half of the values are equal are not changed: rare values are no outliers there.
    """
    values, weights = np.asarray(sample.rows, np.float64), sample.weights
    if (weights == weights[:1]).all() and not np.isnan(values).any():  # then it does not matter which row a value is of
        sorted_values = np.sort(values.T, axis=1).T
        upto = np.cumsum(weights, dtype=np.float64)[:, None]
    else:
        kind: Any = "stable" if (weights % GRAIN_OF_WEIGHTS).any() else None  # else sums are exact, in whatever order
        order = np.argsort(values.T, axis=1, kind=kind).T  # missing values come last
        sorted_values = np.take_along_axis(values, order, axis=0)
        upto = np.cumsum(np.where(np.isnan(sorted_values), 0.0, weights[order]), axis=0)
    far_low, far_high = _bounds(sorted_values, upto, FAR_PART)
    low, high = _bounds(sorted_values, upto, 4)
    return low < high, *moments_of(np.clip(values, far_low, far_high), weights)


def _bounds(values: Array, upto: Array, part: int) -> tuple[Array, Array]:
    """Return between what the values of each column are, but for one of `part` at either end; NaN without any."""
    total = upto[-1]
    low, high = (upto > total / part).argmax(axis=0), (total - upto <= total / part).argmax(axis=0)
    columns = np.arange(values.shape[1])
    return values[low, columns], values[high, columns]


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
