"""A step of an encoder: a pure function of a row, fitted once to a sample of the rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from flybloom._internal.typing import Array, Features


class Step(ABC):
    """A pure function of a row, fixed once.

    A new step is one file: a class that is fitted to a `Sample` of rows (a class method `fit`), applied, saved and
    compared. It becomes known by an entry in `encoder.STEPS`, and reachable by one in `encoding.Encoding`.
    """

    kind: ClassVar[str]
    keeps_sparse: ClassVar[bool] = False  # whether sparse rows may come, and stay sparse
    ARRAYS: ClassVar[frozenset[str]] = frozenset()  # names that `arrays` may use; no two steps share one

    @abstractmethod
    def apply(self, rows: Features) -> Features:
        """Return the rows as the next step, or the hash, sees them. Missing values (NaN) may come and go out."""

    def n_outputs(self, n_inputs: int) -> int:
        """Return how many columns come out where so many go in."""
        return n_inputs

    def facts(self) -> dict[str, Any]:
        """Return what JSON can hold of the step."""
        return {}

    def arrays(self) -> dict[str, Array]:
        """Return what it cannot."""
        return {}

    @classmethod
    @abstractmethod
    def from_parts(cls, facts: dict[str, Any], arrays: dict[str, Array], n_inputs: int) -> Self:
        """Return the step of these facts and arrays; ValueError where no step can have them."""

    def traced_back(self, shares: Array, *, signed: bool) -> Array:  # noqa: ARG002
        """Return what belongs to each column that goes in, of what belongs to each that comes out, row by row."""
        return shares

    def between(self, low: Array, high: Array) -> tuple[Array, Array]:  # noqa: ARG002
        """Return bounds of what comes out where each value that goes in is between its bounds, rounding included."""
        msg = (
            f"The step {self.kind!r} of the encoding has no bounds, so nothing can be certified. "
            "Expected standardise, bins, relevance, rotation or bias_columns."
        )
        raise ValueError(msg)

    def slopes(self, before: Array) -> Array:
        """Return how much each column that comes out changes at most, where those that go in change so much."""
        raise NotImplementedError

    def fields(self) -> dict[str, Any]:
        """Return what tells this step from others, as JSON: different steps have different fields."""
        return {self.kind: {**self.facts(), **{name: exactly(values) for name, values in self.arrays().items()}}}


def exactly(values: Array) -> list[str]:
    """Return floats as text that loses nothing."""
    return [float(value).hex() for value in np.asarray(values).ravel()]
