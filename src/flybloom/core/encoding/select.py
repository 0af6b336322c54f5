"""Some of the columns: what tells nothing of the classes takes connections from what does."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Self

import numpy as np

from flybloom._internal.typing import Array, Features
from flybloom.core.encoding.step import Step


class Select(Step):
    """Keeps some columns, in ascending order.

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
    def fit(cls, n_inputs: int, columns: tuple[int, ...]) -> Self:
        """Return the step, if there are these columns."""
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

    def facts(self) -> dict[str, Any]:
        """Return the columns."""
        return {"columns": self.columns.tolist()}

    @classmethod
    def from_parts(cls, facts: dict[str, Any], arrays: dict[str, Array], n_inputs: int) -> Self:  # noqa: ARG003
        """Return the step, if its columns are some of those that there are."""
        columns = facts.get("columns")
        if not (isinstance(columns, list) and are_columns(columns) and columns[-1] < n_inputs):
            msg = "the columns that it selects are not ascending numbers of columns"
            raise ValueError(msg)
        return cls(tuple(columns), n_inputs)


def are_columns(numbers: Any) -> bool:
    """Return whether these are ascending whole numbers from 0 on, at least one."""
    return (
        len(numbers) > 0
        and all(type(number) is int and number >= 0 for number in numbers)
        and all(a < b for a, b in pairwise(numbers))
    )
