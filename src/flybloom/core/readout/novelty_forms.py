"""What novelty is read by, as files hold it: a weight for each component, or one for each pair of components.

Weights are integers of a unit, a power of two, and few enough digits long that a float64 holds every sum of them
over the winners of a row. So the order in which they are added does not matter, and all machines and runtimes that add
them get the same bits.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from flybloom._internal.typing import Array, Winners
from flybloom.core._kernels._choice import loops
from flybloom.core.readout.filters import UNIT
from flybloom.core.readout.linear import MOST_DIGITS

EXACT_DIGITS = 52  # of sums, with room for rounding
MASKED = 6  # one of so many components wins, or more: all of a line under a mask is then read faster than the winners


class FilterForm(NamedTuple):
    """Weights of components: novelty is their mean over the winners of a row."""

    weights: Array  # (n_components,), float64: multiples of 2^-30

    def novelty(self, winners: Winners) -> Array:
        """Return the novelty of rows."""
        return self.mean_of(self.weights[winners])

    @staticmethod
    def mean_of(weights: Array) -> Array:
        """Return the mean weight of the winners of each row; exact, because weights lie on a grid."""
        return np.asarray(weights.sum(axis=1) / weights.shape[1])

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return facts for JSON, and arrays."""
        return {}, {"weights": np.rint(self.weights / UNIT).astype(np.uint32)}


class LeverageForm(NamedTuple):
    """A symmetric matrix: novelty is the leverage that a row would have if it were learned, ``l / (1 + l)``."""

    triangle: Array  # (m (m + 1) / 2,), int32, in units: of u and v <= u at u (u + 1) / 2 + v
    unit: float

    def leverage(self, winners: Winners) -> Array:
        """Return l, the sum of the matrix over all pairs of the winners of each row, which are ascending."""
        sums, n_winners = np.empty(len(winners), np.int64), winners.shape[1]
        kernels = loops("leverage", winners.size * n_winners)
        are_many = n_winners * MASKED >= math.isqrt(2 * self.triangle.size)
        (kernels.masked_winner_forms if are_many else kernels.winner_forms)(winners, self.triangle, sums)
        return np.maximum(sums, 0) * self.unit

    def novelty(self, winners: Winners) -> Array:
        """Return the novelty of rows, whose winners are ascending."""
        leverage = self.leverage(winners)
        return np.asarray(leverage / (1.0 + leverage))

    def square(self, n_components: int) -> Array:
        """Return the whole matrix, in units."""
        square = np.empty((n_components, n_components), np.int32)
        for u in range(n_components):
            square[u, : u + 1] = square[: u + 1, u] = self.triangle[u * (u + 1) // 2 : (u + 1) * (u + 2) // 2]
        return square

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return facts for JSON, and arrays."""
        return {"unit": self.unit}, {"inverse": self.triangle}

    @staticmethod
    def of(lower: Array, n_winners: int) -> LeverageForm:
        """Return the form of a matrix of which the lower half is filled in, rounded so that sums of it are exact."""
        digits = min(MOST_DIGITS, EXACT_DIGITS - 2 * n_winners.bit_length())
        largest = max(float(np.abs(np.diag(lower)).max(initial=0.0)), 2.0**-900)  # no other entry is larger
        unit = float(2.0 ** (np.frexp(largest)[1] - digits))
        return LeverageForm(packed(lower, unit), unit)


NoveltyForm = FilterForm | LeverageForm


def packed(square: Array, unit: float) -> Array:
    """Return the triangle of a matrix of which the lower half is filled in, rounded to integers of a unit."""
    m = len(square)
    triangle = np.empty(m * (m + 1) // 2, np.int32)
    for u, row in enumerate(square):
        triangle[u * (u + 1) // 2 : (u + 1) * (u + 2) // 2] = np.rint(row[: u + 1] / unit)
    return triangle


class NoveltyReadout(NamedTuple):
    """All that scores and labels follow from."""

    form: NoveltyForm
    offset: float  # threshold on minus the novelty

    def read_out(self, seed: int) -> NoveltyForm:  # noqa: ARG002 - nothing ties
        """Return what makes novelty of winners."""
        return self.form

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return facts for JSON, and arrays."""
        facts, arrays = self.form.to_parts()
        return {"offset": self.offset, **facts}, arrays

    @staticmethod
    def from_parts(n_components: int, facts: dict[str, Any], arrays: dict[str, Array]) -> NoveltyReadout:
        """Return what a file holds; ValueError if it is invalid."""
        offset = facts.get("offset")
        if type(offset) is not float or not -1 <= offset <= 0:
            msg = "its threshold is not a number from -1 to 0"
            raise ValueError(msg)
        return NoveltyReadout(_form_from_parts(n_components, facts, arrays), offset)


def _form_from_parts(n_components: int, facts: dict[str, Any], arrays: dict[str, Array]) -> NoveltyForm:
    """Return what a file holds; ValueError if it is invalid."""
    if set(arrays) == {"weights"}:
        weights = arrays["weights"]
        if weights.dtype == np.uint32 and weights.shape == (n_components,) and weights.max(initial=0) <= 1 / UNIT:
            return FilterForm(weights * UNIT)
        msg = "its weights are not one from 0 to 1 for each component"
        raise ValueError(msg)
    triangle, unit = arrays.get("inverse"), facts.get("unit")
    if (
        set(arrays) != {"inverse"}
        or triangle is None
        or triangle.dtype != np.int32
        or triangle.shape != (n_components * (n_components + 1) // 2,)
    ):
        msg = "its weights are not one for each component, or each pair of components"
        raise ValueError(msg)
    if type(unit) is not float or not 0 < unit < np.inf or np.frexp(unit)[0] != 0.5:  # noqa: PLR2004
        msg = "its weights are not whole numbers of a power of two"
        raise ValueError(msg)
    return LeverageForm(triangle, unit)
