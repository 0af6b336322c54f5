"""Constant columns beside the others, so that the hash sees how far a row is from the mean, not only where."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from flybloom._internal.typing import Array, Features
from flybloom.core.encoding.step import Step


class BiasColumns(Step):
    """Appends columns of ones to float32 rows: the hash alone sees directions; far rows outshine a constant."""

    kind = "bias_columns"

    def __init__(self, n: int) -> None:
        self.n = n

    @classmethod
    def fit(cls, n_inputs: int, share: float) -> Self:
        """Return the step for a share of the number of columns."""
        return cls(math.ceil(share * n_inputs))

    def apply(self, rows: Features) -> Array:
        """Return the rows with the columns of ones after them."""
        beside = np.empty((rows.shape[0], rows.shape[1] + self.n), np.float32)
        beside[:, : rows.shape[1]] = rows
        beside[:, rows.shape[1] :] = 1.0
        return beside

    def between(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Return the bounds with the same ones after them."""
        return self.apply(low), self.apply(high)

    def slopes(self, before: Array) -> Array:
        """Return them, and zeros for the columns that never change."""
        return np.concatenate([before, np.zeros(self.n)])

    def n_outputs(self, n_inputs: int) -> int:
        """Return the number of columns together."""
        return n_inputs + self.n

    def traced_back(self, shares: Array, *, signed: bool) -> Array:  # noqa: ARG002
        """Return what belongs to the columns themselves."""
        return shares[:, : -self.n]

    def facts(self) -> dict[str, Any]:
        """Return how many there are."""
        return {"n": self.n}

    @classmethod
    def from_parts(cls, facts: dict[str, Any], arrays: dict[str, Array], n_inputs: int) -> Self:  # noqa: ARG003
        """Return the step for a number of columns from 1 up to those there are."""
        n = facts.get("n")
        if type(n) is not int or not 1 <= n <= n_inputs:
            msg = f"the number of bias columns is not between 1 and the {n_inputs} features"
            raise ValueError(msg)
        return cls(n)
