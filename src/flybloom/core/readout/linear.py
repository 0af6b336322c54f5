"""The read-out of filters, Bayes and ridge alike: each winner adds a weight to the score of each class.

Sums of floats depend on the order, and winners may come in any. So weights are int32, integers of one unit, which
is a power of two, and intercepts are integers of it as well: a float64 holds every sum of up to 2^22 of them
without rounding. Whatever adds them in float64, in whatever order, gets the same bits, and classes that tie do so
exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from flybloom._internal.typing import Array, Codes, Values, Winners
from flybloom.core import _kernels
from flybloom.core._kernels._choice import loops
from flybloom.core.counts.label_json import classes_from_facts, labels_to_json
from flybloom.core.counts.target_grid import TargetGrid

LANES = 16  # classes that are added up together: as many int32 as a cache line has
DIGITS = 24  # of a weight that is rounded: files hold these as float32
MOST_DIGITS = 30  # of a weight
INTERCEPT_DIGITS = 40  # of an intercept, so that sums with it have room in a float64
OFFSET = 128  # added to values, so that their sum is not negative
VALUES_AT_ONCE = 2**17  # scores that a thread holds while it chooses classes


class Weights(Protocol):
    """Weights of components, however they are stored."""

    def sums(self, winners: Winners, intercept: Array, out: Array) -> None:
        """Write the intercept plus the weights of the winners of each row to `out`, in units."""


class TableWeights(NamedTuple):
    """A table, whose rows lie on cache lines."""

    padded: Array  # (n_components, width), int32, in units: the classes, and zeros

    @staticmethod
    def of(weights: Array) -> TableWeights:
        """Return the table of weights in units, of shape (n_components, n_classes)."""
        padded = padded_zeros(*weights.shape)
        padded[:, : weights.shape[1]] = weights
        return TableWeights(padded)

    def sums(self, winners: Winners, intercept: Array, out: Array) -> None:
        """Add up rows of the table; or all, times the values of the components."""
        if winners.dtype == np.int8:
            out[:] = weighted(winners, self.padded[:, : intercept.size].astype(np.float64)) + intercept
            return
        loops("linear", winners.size * self.padded.shape[1]).linear_sums(winners, self.padded, intercept, out)


class ListedWeights(NamedTuple):
    """Lists of the classes for which a component has a weight that is not zero, where these are few."""

    starts: Array  # (n_components + 1,), of the lists in what follows
    classes: Array
    weights: Array  # int32

    def sums(self, winners: Winners, intercept: Array, out: Array) -> None:
        """Add up what is on the lists."""
        _kernels.linear.listed_sums(winners, *self, intercept, out)


class DerivedWeights(NamedTuple):
    """Weights that are derived when they are asked for, where few rows are to be scored.

    Parameters
    ----------
    derive : callable
        From components to their weights.
    """

    derive: Callable[[Array], Array]

    def sums(self, winners: Winners, intercept: Array, out: Array) -> None:
        """Derive those of the winners."""
        weights = self.derive(winners.ravel())
        np.sum(weights.reshape(*winners.shape, weights.shape[1]), axis=1, dtype=np.float64, out=out)
        out += intercept


class LinearReadout(NamedTuple):
    """What makes scores and labels of winners.

    Parameters
    ----------
    weights : Weights
        What each component adds to the score of each class, in units.
    intercept : ndarray of shape (n_classes,), float64
        What is added to the sums, in units: integers.
    unit : float
        A power of two.
    seed : int
        Of the choice between classes that tie.
    """

    weights: Weights
    intercept: Array
    unit: float
    seed: int

    def scores(self, winners: Winners, out: Array | None = None) -> Array:
        """Return how much each row belongs to each class, in `out` if given; winners may come in any order."""
        if out is None:
            out = np.empty((len(winners), self.intercept.size))
        self.weights.sums(winners, self.intercept, out)
        out *= self.unit
        return out

    def labels(self, winners: Winners) -> Codes:
        """Return the class of the largest score of each row; see `choose`."""
        n_classes = self.intercept.size
        n = max(1, VALUES_AT_ONCE // max(n_classes, 1))
        if len(winners) <= n:
            return choose(self.scores(winners), winners, self.seed)
        codes = np.empty(len(winners), np.int64)
        scores = np.empty((n, n_classes))
        for begin in range(0, len(winners), n):
            some = winners[begin : begin + n]
            codes[begin : begin + n] = choose(self.scores(some, scores[: len(some)]), some, self.seed)
        return codes


class FrozenReadout(NamedTuple):
    """A read-out as files hold it, with what else scores are turned into answers by."""

    classes: Array  # sorted
    weights: Array  # (n_components, n_classes), int32, in units
    intercept: Array  # (n_classes,), float64, in units: whole numbers
    unit: float  # a power of two
    temperature: float  # what scores are divided by before the softmax
    divisor: int = 1  # what sums are divided by to be scores: filters have means over winners

    def read_out(self, seed: int) -> LinearReadout:
        """Return what makes scores and labels of winners."""
        return LinearReadout(TableWeights.of(self.weights), self.intercept, self.unit, seed)

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return facts for JSON, and arrays: weights of sums as float32, which has room for their 24 digits.

        Those of filters are in units; they are not negative.
        """
        facts = {"classes": labels_to_json(self.classes), "temperature": self.temperature}
        if self.divisor == 1:
            return facts, weights_to_arrays(self.weights, self.intercept, self.unit)
        facts |= {"unit": self.unit, "divisor": self.divisor}
        return facts, {"weights": self.weights.astype(np.uint32), "intercept": self.intercept}

    @staticmethod
    def from_parts(n_components: int, facts: dict[str, Any], arrays: dict[str, Array]) -> FrozenReadout:
        """Return what a file holds; ValueError if it is invalid."""
        classes, unit, divisor = classes_from_facts(facts), facts.get("unit"), facts.get("divisor", 1)
        temperature = facts.get("temperature")
        if type(temperature) is not float or not 0 < temperature < np.inf:
            msg = "its temperature is not a number above 0"
            raise ValueError(msg)
        if unit is None:
            return FrozenReadout(
                classes, *weights_from_arrays(n_components, classes.size, arrays), temperature, divisor
            )
        weights, intercept = _checked_weights(n_components, classes.size, arrays, np.uint32)
        if (
            type(unit) is not float
            or not 0 < unit < np.inf
            or np.frexp(unit)[0] != 0.5  # noqa: PLR2004
            or weights.max() > 2**MOST_DIGITS
            or (np.rint(intercept) != intercept).any()
            or type(divisor) is not int
            or divisor < 1
        ):
            msg = "its weights are not whole numbers of a power of two"
            raise ValueError(msg)
        return FrozenReadout(classes, weights.astype(np.int32), intercept, unit, temperature, divisor)


def weights_to_arrays(weights: Array, intercept: Array, unit: float) -> dict[str, Array]:
    """Return weights as files hold them: as float32, which has room for their 24 digits."""
    return {
        "weights": np.ascontiguousarray((weights * unit).astype(np.float32)),
        "intercept": intercept * unit,
    }


def weights_from_arrays(n_components: int, n_columns: int, arrays: dict[str, Array]) -> tuple[Array, Array, float]:
    """Return weights, intercept and unit of a file; ValueError if it is invalid."""
    weights, intercept = _checked_weights(n_components, n_columns, arrays, np.float32)
    unit = unit_for(weights, intercept, MOST_DIGITS)
    return in_units(weights, unit), np.rint(intercept / unit), unit


def _checked_weights(n_components: int, n_columns: int, arrays: dict[str, Array], dtype: Any) -> tuple[Array, Array]:
    """Return weights and intercept of a file as they are there; ValueError if it is invalid."""
    weights, intercept = arrays.get("weights"), arrays.get("intercept")
    if (
        set(arrays) != {"weights", "intercept"}
        or weights is None
        or intercept is None
        or weights.dtype != dtype
        or weights.shape != (n_components, n_columns)
        or intercept.dtype != np.float64
        or intercept.shape != (n_columns,)
        or n_columns == 0
        or not (np.isfinite(weights).all() and np.isfinite(intercept).all())
    ):
        msg = "its weights are not one for each component and class"
        raise ValueError(msg)
    return weights, intercept


def choose(scores: Array, winners: Winners | Values, seed: int) -> Codes:
    """Return the class of the largest score of each row; ties are broken by a hash of the seed and the winners.

    For values, by one of their sum.
    """
    codes = np.empty(len(winners), np.int64)
    if winners.dtype == np.int8:
        winners = (winners.sum(axis=1, keepdims=True, dtype=np.int64) + OFFSET * winners.shape[1]).astype(np.uint32)
    loops("score", winners.size).choose(scores, winners, np.uint64(seed), codes)
    return codes


def weighted(hashed: Winners | Values, weights: Array) -> Array:
    """Return for each row the sum of the weights of its winners, or of all weights times the values of components.

    Weights have shape (n_components, ...). Sums of whole numbers are exact.
    """
    has_values = hashed.dtype == np.int8
    sums = np.empty((len(hashed), *weights.shape[1:]))
    step = max(1, VALUES_AT_ONCE // (hashed.shape[1] * (1 if has_values else sums[:1].size)))
    for begin in range(0, len(hashed), step):
        some = hashed[begin : begin + step]
        sums[begin : begin + step] = some.astype(np.float64) @ weights if has_values else weights[some].sum(axis=1)
    return sums


def unit_for(weights: Array, intercept: Array, digits: int = DIGITS) -> float:
    """Return the unit that gives the largest weight so many digits; a larger one where an intercept needs the room."""
    least = 2.0**-101  # so that float32 has room below it
    sizes = (np.abs(values).max(initial=least) for values in (weights, intercept))
    of_weights, of_intercept = (int(np.frexp(size)[1]) for size in sizes)
    return float(2.0 ** max(of_weights - digits, of_intercept - INTERCEPT_DIGITS))


def in_units(weights: Array, unit: float) -> Array:
    """Return weights in units, rounded to int32."""
    return np.rint(np.asarray(weights, np.float64) / unit).astype(np.int32, order="C")


def padded_zeros(n_components: int, n_classes: int) -> Array:
    """Return room for so many int32 weights, with a multiple of 16 classes, on cache lines."""
    width = -(-n_classes // LANES) * LANES
    room = np.zeros(n_components * width + LANES, np.int32)
    skip = -room.ctypes.data % 64 // room.itemsize
    return room[skip : skip + n_components * width].reshape(n_components, width)


class FrozenOutputs(NamedTuple):
    """Weights, and what sums of them stand for."""

    weights: Array  # (n_components, n_columns), int32, in units
    intercept: Array  # (n_columns,), float64, in units: whole numbers
    unit: float  # a power of two
    grid: TargetGrid

    def read_out(self, seed: int) -> LinearReadout:
        """Return what makes scores of winners."""
        return LinearReadout(TableWeights.of(self.weights), self.intercept, self.unit, seed)

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return facts for JSON, and arrays."""
        return {"targets": self.grid.to_json()}, weights_to_arrays(self.weights, self.intercept, self.unit)

    @staticmethod
    def from_parts(n_components: int, facts: dict[str, Any], arrays: dict[str, Array]) -> FrozenOutputs:
        """Return what a file holds; ValueError if it is invalid."""
        grid = TargetGrid.from_json(facts.get("targets"))
        return FrozenOutputs(*weights_from_arrays(n_components, grid.n_outputs, arrays), grid)
