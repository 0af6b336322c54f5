"""Columns less their means, over their deviations, and cut off where they are far out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from flybloom._internal.typing import Array, Features, Weights
from flybloom.core.encoding.moments import ColumnMoments, column_moments
from flybloom.core.encoding.row_sample import RowSample, row_sample
from flybloom.core.encoding.step import Plan, Step, exactly

MAX_PLAIN_CENTER = 2.0**969  # less than half a step of the largest floats: what is within their range stays there
LEAST_SCALE = float(np.finfo(np.float64).tiny)  # one over a smaller one is beyond the largest float
FAR_PART = 200  # one of so many values may be far out, at either end
INFLATED = 8.0  # how many times the deviation of the others makes them outliers, not tails


class Standardise(Step):
    """Subtracts a centre from each column, divides by a scale if there is one, and clips; float32 comes out."""

    kind = "standardise"
    ARRAYS = frozenset({"center", "scale"})

    def __init__(self, center: Array, scale: Array | None, clip: float = math.inf) -> None:
        self.center = center
        self.scale = scale
        self.clip = clip
        self._factor = None if scale is None else 1.0 / np.maximum(scale, LEAST_SCALE)
        self._large = np.flatnonzero(np.abs(center) > MAX_PLAIN_CENTER)

    def apply(self, rows: Features) -> Array:
        """Return the rows scaled."""
        scaled = rows.astype(np.float64)
        with np.errstate(over="ignore"):  # what overflows is refused by the projection
            halves = scaled[:, self._large] / 2 - self.center[self._large] / 2
            scaled -= self.center
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

    def facts(self) -> dict[str, Any]:
        """Return where values are cut off, if they are."""
        return {} if self.clip == math.inf else {"clip": self.clip}

    def arrays(self) -> dict[str, Array]:
        """Return centre and scale."""
        return {"center": self.center} if self.scale is None else {"center": self.center, "scale": self.scale}

    @classmethod
    def from_parts(cls, facts: dict[str, Any], arrays: dict[str, Array], n_inputs: int) -> Self:
        """Return the step, if there is one finite number for each column, and scales are positive."""
        for name, values in arrays.items():
            if values.dtype != np.float64 or values.shape != (n_inputs,):
                msg = f"{name} is not one float64 for each feature"
                raise ValueError(msg)
            if not np.isfinite(values).all():
                msg = f"{name} holds values that are not finite"
                raise ValueError(msg)
        scale = arrays.get("scale")
        if "center" not in arrays or (scale is not None and not (scale > 0).all()):
            msg = "scale is not positive"
            raise ValueError(msg)
        clip = facts.get("clip", math.inf)
        if type(clip) is not float or not clip > 0:
            msg = "clip is not a number above 0"
            raise ValueError(msg)
        return cls(arrays["center"], scale, clip)

    def fields(self) -> dict[str, Any]:
        """Return centre and scale, under the names they have had since the first format of files."""
        fields = {"center_": exactly(self.center), "scale_": None if self.scale is None else exactly(self.scale)}
        return fields if self.clip == math.inf else {**fields, "clip_": self.clip}


@dataclass
class Spread:
    """What rows say of the spread of columns: exact moments, and a sample where outliers are looked for."""

    moments: ColumnMoments
    sample: RowSample | None

    @property
    def n_rows(self) -> int:
        """Number of rows, each as often as its weight says."""
        return self.moments.n_rows

    @property
    def has_gaps(self) -> bool:
        """Whether values are missing."""
        return self.moments.missing is not None and bool(self.moments.missing.any())

    def __add__(self, other: Spread) -> Spread:
        """Return the spread of both sets of rows together."""
        if self.sample is None or other.sample is None:
            return Spread(self.moments + other.moments, None)
        return Spread(self.moments + other.moments, self.sample + other.sample)


@dataclass(frozen=True)
class StandardisePlan(Plan):
    """Takes centre and scale from the exact moments of the columns.

    A few values that are very far out would make a scale at which all others look alike. Where values are clipped in
    units of the deviation of their column, such a column has the moments of a sample, cut off where the outliers begin.

    Parameters
    ----------
    scaling : {"center", "common", "standard"}
        Whether there is no scale, the largest deviation for all columns, or the deviation of each.
    clip : float
        Where values are cut off, in units of the scale.
    """

    scaling: str
    clip: float = math.inf

    def measure(self, rows: Features, labels: Any, weights: Weights) -> Spread:  # noqa: ARG002
        """Return the moments of the columns, and a sample of the rows if it is needed."""
        looks_for_outliers = self.scaling == "standard" and self.clip < math.inf
        return Spread(column_moments(rows, weights), row_sample(rows, weights) if looks_for_outliers else None)

    def fit(self, n_inputs: int, measured: Spread) -> Standardise:  # noqa: ARG002
        """Return the step."""
        moments = measured.moments
        if self.scaling == "center":
            return Standardise(moments.means(), None, self.clip)
        center, scale = moments.means(), moments.deviations()
        if self.scaling == "common":
            is_constant = moments.are_constant()
            scale[:] = scale[~is_constant].max() if not is_constant.all() else 1.0
        if measured.sample is not None:
            is_inflated, bulk = _inflated(scale, measured.sample)
            center[is_inflated], scale[is_inflated] = bulk.means()[is_inflated], bulk.deviations()[is_inflated]
        return Standardise(center, np.maximum(scale, LEAST_SCALE), self.clip)


def _inflated(scale: Array, sample: RowSample) -> tuple[Array, ColumnMoments]:
    """Return which deviations come from outliers, and the moments of a sample without these.

    Columns of which half of the values are one and the same are left alone: what is rare there is no outlier.
    """
    bulk = column_moments(np.clip(sample.rows, *sample.bounds(FAR_PART)), sample.weights)
    low, high = sample.bounds(4)
    return (low < high) & (scale / INFLATED > bulk.deviations()), bulk  # a product might be beyond the largest float
