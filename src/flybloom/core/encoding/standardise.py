"""Columns less their means, over their deviations, and cut off where they are far out."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from flybloom._internal.typing import Array, Features, Weights
from flybloom.core.encoding.moments import ColumnMoments, column_moments
from flybloom.core.encoding.step import Plan, Step, exactly

MAX_PLAIN_CENTER = 2.0**969  # less than half a step of the largest floats: what is within their range stays there


class Standardise(Step):
    """Subtracts a centre from each column, divides by a scale if there is one, and clips; float32 comes out."""

    kind = "standardise"
    ARRAYS = frozenset({"center", "scale"})

    def __init__(self, center: Array, scale: Array | None, clip: float = math.inf) -> None:
        self.center = center
        self.scale = scale
        self.clip = clip
        self._factor = None if scale is None else 1.0 / scale
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

    def slopes(self, n_inputs: int) -> Array:
        """Return one over the scale."""
        return np.ones(n_inputs) if self._factor is None else self._factor

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


class StandardisePlan(Plan):
    """Takes centre and scale from the exact moments of the columns.

    Parameters
    ----------
    scaling : {"center", "common", "standard"}
        Whether there is no scale, the largest deviation for all columns, or the deviation of each.
    clip : float
        Where values are cut off, in units of the scale.
    """

    def __init__(self, scaling: str, clip: float = math.inf) -> None:
        self.scaling, self.clip = scaling, float(clip)

    def measure(self, rows: Features, labels: Any, weights: Weights) -> ColumnMoments:  # noqa: ARG002
        """Return the moments of the columns."""
        return column_moments(rows, weights)

    def fit(self, n_inputs: int, measured: ColumnMoments) -> Standardise:  # noqa: ARG002
        """Return the step."""
        if self.scaling == "center":
            return Standardise(measured.means(), None, self.clip)
        scale = measured.deviations()
        if self.scaling == "common":
            is_constant = measured.are_constant()
            scale[:] = scale[~is_constant].max() if not is_constant.all() else 1.0
        return Standardise(measured.means(), scale, self.clip)
