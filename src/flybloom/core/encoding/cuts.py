"""Cuts of columns: where the binary tests of random ferns may divide them; see `hashing/ferns.py`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from flybloom._internal.typing import Array, Features
from flybloom.core.encoding.bins import SoftBins
from flybloom.core.encoding.relevance import GRAIN, Relevance
from flybloom.core.encoding.step import Step, stored_array
from flybloom.core.sketch import Sample

if TYPE_CHECKING:
    from flybloom.core.encoding.encoder import Encoder

N_CUTS = 15  # of each column, at its quantiles
STEPS_OF_RANGE = 64  # cuts are multiples of a power of 2, of at most one over this of the largest


class Cuts(Step):
    """Cuts and chances of columns, from which ferns are drawn; the rows stay as they are.

    Parameters
    ----------
    stride : int
        How many encoded columns a column became; its own value is the last of them.
    cuts : ndarray of shape (n_columns, N_CUTS)
        Ascending, as float32.
    chances : ndarray of shape (n_columns,)
        How often columns are drawn, relative to each other, as whole numbers.
    """

    kind = "cuts"

    def __init__(self, stride: int, cuts: Array, chances: Array) -> None:
        self.stride, self.cuts, self.chances = stride, cuts, chances

    @classmethod
    def fit(cls, sample: Sample, encoder: Encoder) -> Self:
        """Return quantiles of encoded rows, halfway to the next larger value, and the relevance of the columns."""
        bins, relevance = encoder.step(SoftBins), encoder.step(Relevance)
        stride = 1 if bins is None else bins.n_places
        rows = np.asarray(sample.rows, np.float32)[:, stride - 1 :: stride]
        values = np.where(np.isnan(rows), np.float32(0), rows)
        weights = np.ones(values.shape[1]) if relevance is None else relevance.weights[stride - 1 :: stride]
        chances = np.rint(weights * GRAIN).astype(np.uint8)
        if not chances.any():
            chances[:] = 1
        cuts = np.zeros((values.shape[1], N_CUTS), np.float32)
        for column in np.flatnonzero(chances):
            cuts[column] = _quantiles(values[:, column], sample.weights)
        return cls(stride, cuts, chances)

    def apply(self, rows: Features) -> Features:
        """Return the rows."""
        return rows

    def between(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Return the bounds."""
        return low, high

    def slopes(self, before: Array) -> Array:
        """Return them."""
        return before

    def to_dict(self) -> dict[str, Any]:
        """Return stride, cuts and chances."""
        return {"stride": self.stride, "cuts": self.cuts, "chances": self.chances}

    @classmethod
    def from_dict(cls, stored: dict[str, Any], n_inputs: int) -> Self:
        """Return the step, if each column has its cuts and any can be drawn."""
        stride = stored.get("stride")
        if type(stride) is not int or not 1 <= stride <= n_inputs or n_inputs % stride:
            msg = "the stride of its cuts does not divide the number of columns"
            raise ValueError(msg)
        n = n_inputs // stride
        cuts = stored_array(stored, "cuts", np.float32, (n, N_CUTS))
        chances = stored_array(stored, "chances", np.uint8, (n,))
        if not chances.any():
            msg = "none of its cuts can be drawn"
            raise ValueError(msg)
        return cls(stride, cuts, chances)


def _quantiles(values: Array, weights: Array) -> Array:
    """Return where so many equal parts of the values end, rounded."""
    distinct, at = np.unique(values, return_inverse=True)
    counted = np.bincount(at.ravel(), weights).cumsum()  # whole numbers, or multiples of one power of 2
    places = np.searchsorted(counted, counted[-1] * (np.arange(1, N_CUTS + 1) / (N_CUTS + 1)))
    above = np.clip(places + 1, 0, distinct.size - 1)
    halfway = (distinct[np.maximum(above - 1, 0)].astype(np.float64) + distinct[above]) / 2
    largest = float(np.abs(halfway).max())
    step = math.ldexp(1.0, math.frexp(largest)[1]) / STEPS_OF_RANGE
    return np.asarray(np.rint(halfway / step) * step) + 0.0 if largest > 0 else halfway + 0.0  # never -0.0
