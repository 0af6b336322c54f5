"""Steps that select columns or append constant ones."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, Self

import numpy as np

from flybloom._internal.typing import Array, Features
from flybloom.core.encoding.step import Step
from flybloom.core.sketch import Sample


class Select(Step):
    """Selects columns, in ascending order.

    Parameters
    ----------
    columns : tuple of int
        Which.
    n_inputs : int
        Of how many.
    """

    kind = "select"

    def __init__(self, columns: tuple[int, ...], n_inputs: int) -> None:
        self.columns, self.n_inputs = np.array(columns), n_inputs

    @classmethod
    def fit(cls, sample: Sample, columns: tuple[int, ...]) -> Self:
        """Return the step, if there are these columns."""
        n_inputs = sample.rows.shape[1]
        if columns[-1] >= n_inputs:
            msg = (
                f"The 'columns' parameter of Encoding must be below the number of columns, {n_inputs}. "
                f"Got {columns[-1]} instead."
            )
            raise ValueError(msg)
        return cls(columns, n_inputs)

    def apply(self, rows: Features) -> Features:
        """Return these columns."""
        return np.ascontiguousarray(rows[:, self.columns])

    def n_outputs(self, n_inputs: int) -> int:  # noqa: ARG002
        """Return how many are kept."""
        return self.columns.size

    def traced_back(self, shares: Array, *, signed: bool) -> Array:  # noqa: ARG002
        """Return the shares of all columns: those that are left out have none."""
        traced = np.zeros((len(shares), self.n_inputs), shares.dtype)
        traced[:, self.columns] = shares
        return traced

    def between(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Return the bounds of these columns."""
        return self.apply(low), self.apply(high)

    def slopes(self, before: Array) -> Array:
        """Return those of these columns."""
        return np.asarray(before[self.columns])

    def to_dict(self) -> dict[str, Any]:
        """Return the columns."""
        return {"columns": self.columns.tolist()}

    @classmethod
    def from_dict(cls, stored: dict[str, Any], n_inputs: int) -> Self:
        """Return the step, if its columns are some of those that there are."""
        columns = stored.get("columns")
        if not (isinstance(columns, list) and are_columns(columns) and columns[-1] < n_inputs):
            msg = "the columns that it selects are not ascending numbers of columns"
            raise ValueError(msg)
        return cls(tuple(columns), n_inputs)


class BiasColumns(Step):
    """Appends columns of ones to float32 rows, so that the hash depends on distances."""

    kind = "bias_columns"

    def __init__(self, n: int) -> None:
        self.n = n

    @classmethod
    def fit(cls, sample: Sample, share: float) -> Self:
        """Return the step for a share of the number of columns."""
        return cls(math.ceil(share * sample.rows.shape[1]))

    def apply(self, rows: Features) -> Array:
        """Return the rows with the columns of ones after them."""
        result = np.ones((rows.shape[0], rows.shape[1] + self.n), np.float32)
        result[:, : rows.shape[1]] = rows
        return result

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

    def to_dict(self) -> dict[str, Any]:
        """Return their number."""
        return {"n": self.n}

    @classmethod
    def from_dict(cls, stored: dict[str, Any], n_inputs: int) -> Self:
        """Return the step for a number of columns from 1 up to those there are."""
        n = stored.get("n")
        if type(n) is not int or not 1 <= n <= n_inputs:
            msg = f"the number of bias columns is not between 1 and the {n_inputs} features"
            raise ValueError(msg)
        return cls(n)


def are_columns(numbers: Any) -> bool:
    """Return whether these are ascending integers from 0 on, at least one."""
    return (
        len(numbers) > 0
        and all(type(number) is int and number >= 0 for number in numbers)
        and all(a < b for a, b in pairwise(numbers))
    )
