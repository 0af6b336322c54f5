"""A weight for each component and class: how it is stored, and how those of a row's winners are added up.

Sums of floats depend on the order, and winners may come in any. So weights are whole numbers of one unit, a power of
two, of at most 24 binary digits: a float32 holds each of them, and a float64 every sum of up to 2^29 of them, without
rounding. Whatever adds them in float64, in whatever order, gets the same bits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flybloom._internal.typing import Array, Winners
from flybloom.core._kernels._choice import loops
from flybloom.core.counts.label_json import classes_from_facts, labels_to_json

LANES = 16  # classes that are added up together: as many float32 as a cache line has
DIGITS = 24  # of a weight, as a float32 has


class LinearWeights(NamedTuple):
    """All that scores follow from, besides the winners of a row."""

    classes: Array  # sorted
    weights: Array  # (n_components, n_classes), float32, whole numbers of one unit
    intercept: Array  # (n_classes,), float64
    temperature: float  # what scores are divided by before the softmax

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return facts for JSON, and arrays."""
        facts = {"classes": labels_to_json(self.classes), "temperature": self.temperature}
        return facts, {"weights": np.ascontiguousarray(self.weights), "intercept": self.intercept}

    @staticmethod
    def from_parts(n_components: int, facts: dict[str, Any], arrays: dict[str, Array]) -> LinearWeights:
        """Return the weights that a file holds; ValueError where there can be none."""
        classes = classes_from_facts(facts)
        weights, intercept, temperature = arrays.get("weights"), arrays.get("intercept"), facts.get("temperature")
        if (
            set(arrays) != {"weights", "intercept"}
            or weights is None
            or intercept is None
            or weights.dtype != np.float32
            or weights.shape != (n_components, classes.size)
            or intercept.dtype != np.float64
            or intercept.shape != (classes.size,)
            or classes.size == 0
            or not (np.isfinite(weights).all() and np.isfinite(intercept).all())
        ):
            msg = "its weights are not one for each component and class"
            raise ValueError(msg)
        if type(temperature) is not float or not 0 < temperature < np.inf:
            msg = "its temperature is not a number above 0"
            raise ValueError(msg)
        return LinearWeights(classes, weights, intercept, temperature)


def rounded(weights: Array) -> Array:
    """Return float32 weights: the nearest multiples of the unit that gives the largest 24 binary digits."""
    weights = np.asarray(weights, np.float64)
    _, exponent = np.frexp(np.abs(weights).max(initial=0.0))
    unit = 2.0 ** (max(int(exponent), -100) - DIGITS)  # not so small that float32 would have no room below it
    return (np.rint(weights / unit) * unit).astype(np.float32)


def padded(weights: Array) -> Array:
    """Return float32 weights (m, n_classes) with zeros up to a multiple of 16 classes, on cache lines."""
    result = padded_zeros(*weights.shape)
    result[:, : weights.shape[1]] = weights
    return result


def padded_zeros(n_components: int, n_classes: int) -> Array:
    """Return room for so many float32 weights, with a multiple of 16 classes, on cache lines."""
    width = -(-n_classes // LANES) * LANES
    room = np.zeros(n_components * width + LANES, np.float32)
    skip = -room.ctypes.data % 64 // room.itemsize
    return room[skip : skip + n_components * width].reshape(n_components, width)


def linear_scores(winners: Winners, padded_weights: Array, intercept: Array) -> Array:
    """Return the intercept plus the weights of the winners of each row, for each class."""
    out = np.empty((len(winners), intercept.size))
    n_weights = winners.size * padded_weights.shape[1]
    loops("linear", n_weights).linear_scores(winners, padded_weights, intercept, out)
    return out
