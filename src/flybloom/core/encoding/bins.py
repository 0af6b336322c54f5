"""Soft bins.

The winners of a hash depend on the direction of a row and not on its length, which loses information with few columns.
With soft bins, all rows have about the same length. The column itself is added to keep the order of values.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from flybloom._internal.typing import Array, Features
from flybloom.core import _kernels
from flybloom.core._kernels._choice import loops
from flybloom.core.encoding.step import Step, moments_of, stored_array
from flybloom.core.sketch import Sample

MIN_BINS, MAX_BINS = 2, 1024
GRAIN = 64  # means are multiples of one over this


class SoftBins(Step):
    """Hat functions of each column on equidistant knots from -limit to limit, optionally centred, as float32.

    Missing values become zeros.

    Parameters
    ----------
    n_bins : int
        Number of bins per column.
    limit : float
        Position of the outermost knots.
    means : ndarray of shape (n_columns * n_bins,)
        The mean of each hat, or zeros.
    passthrough_scale : float, default=0.0
        Factor of the clipped column itself, appended to its bins; 0 to omit it.
    """

    kind = "bins"

    def __init__(self, n_bins: int, limit: float, means: Array, passthrough_scale: float = 0.0) -> None:
        self.n_bins, self.limit, self.means, self.passthrough_scale = n_bins, limit, means, passthrough_scale

    @classmethod
    def fit(
        cls, sample: Sample, n_bins: int, limit: float, passthrough_scale: float = 0.0, *, centred: bool = True
    ) -> Self:
        """Return the step, with the means of the hats; a missing value has none.

        Hats that are not `centred` stay as high as they are, as detectors want: rows in the middle of the others then
        share most of their direction, and rows far from them do not.
        """
        rows = np.ascontiguousarray(sample.rows, np.float32)
        whole = cls(n_bins, limit, np.zeros(rows.shape[1] * n_bins, np.float32), passthrough_scale)
        if not centred:
            return whole
        bins = cls(n_bins, limit, whole.means).apply(rows)
        is_missing = np.isnan(rows)
        if is_missing.any():
            bins[np.repeat(is_missing, n_bins, axis=1)] = np.nan
        means = np.rint(moments_of(bins, sample.weights)[0] * GRAIN) / GRAIN + 0.0
        return cls(n_bins, limit, means.astype(np.float32), passthrough_scale)

    @property
    def n_places(self) -> int:
        """How many columns each column becomes."""
        return places_of(self.n_bins, self.passthrough_scale)

    def apply(self, rows: Features) -> Array:
        """Return the bins of all columns, those of a column side by side."""
        rows = np.ascontiguousarray(rows, np.float32)
        out = np.empty((rows.shape[0], rows.shape[1] * self.n_places), np.float32)
        limit, scale = np.float32(self.limit), np.float32(self.passthrough_scale)
        loops("encode", rows.size).soft_bins(rows, self.n_bins, limit, scale, self.means, out)
        return out

    def n_outputs(self, n_inputs: int) -> int:
        """Return the number of bins of all columns, and of columns beside them."""
        return n_inputs * self.n_places

    def between(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Return the least and the largest height of each hat: at the ends, or at its knot if that is between them."""
        ends = self.apply(low), self.apply(high)
        least, most = np.minimum(*ends), np.maximum(*ends)
        knots = _kernels.encode.between_knots(
            np.ascontiguousarray(low, np.float32),
            np.ascontiguousarray(high, np.float32),
            self.n_bins,
            self.n_places,
            np.float32(self.limit),
        )
        peaks = np.zeros((low.shape[1], self.n_places), np.float32)
        peaks[:, : self.n_bins] = np.float32(1.0) - self.means.reshape(-1, self.n_bins)
        return least, np.where(knots, peaks.ravel(), most)

    def slopes(self, before: Array) -> Array:
        """Return how steep the hats make them, and the columns beside these."""
        slopes = np.full(self.n_places, (self.n_bins - 1) / (2.0 * self.limit))
        slopes[self.n_bins :] = self.passthrough_scale
        return np.asarray((before[:, None] * slopes).ravel())

    def to_dict(self) -> dict[str, Any]:
        """Return number, range and means of the bins, and what columns beside them are multiplied by."""
        scale = {"beside": self.passthrough_scale} if self.passthrough_scale else {}  # as files call it
        return {"bins": self.n_bins, "limit": self.limit, **scale, "bin_means": self.means}

    @classmethod
    def from_dict(cls, stored: dict[str, Any], n_inputs: int) -> Self:
        """Return the step, if there is one mean from 0 to 1 for each bin."""
        n_bins, limit, scale = stored.get("bins"), stored.get("limit"), stored.get("beside", 0.0)
        if type(n_bins) is not int or not MIN_BINS <= n_bins <= MAX_BINS:
            msg = "its bins have no number"
            raise ValueError(msg)
        if type(limit) is not float or not 0 < limit < np.inf or type(scale) is not float or not 0 <= scale < np.inf:
            msg = "its bins have no range, or what columns beside them are multiplied by is no number"
            raise ValueError(msg)
        return cls(n_bins, limit, stored_array(stored, "bin_means", np.float32, (n_inputs * n_bins,), 0, 1), scale)

    def traced_back(self, shares: Array, *, signed: bool) -> Array:
        """Return the share of each column: the sum over its bins; with signs, each as far as its knot is from 0."""
        by_place = shares.reshape(len(shares), shares.shape[1] // self.n_places, self.n_places)
        parts = np.ones(self.n_places)  # a column beside its bins counts as it is
        if signed:
            parts[: self.n_bins] = np.linspace(-1, 1, self.n_bins)
        return np.asarray((by_place * parts).sum(axis=2))


def places_of(n_bins: int, passthrough_scale: float) -> int:
    """Return how many columns a column becomes, with so many bins and perhaps itself beside them."""
    return n_bins + 1 if passthrough_scale > 0 else n_bins
