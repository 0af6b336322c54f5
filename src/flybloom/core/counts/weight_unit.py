"""Weights of rows: checked, and what they are counted in, which is whole rows or fractions of one.

Counts are integers, so weights must become integers before they are counted, each by itself: then rows add up
and can be taken away in any order. What a count stands for is fixed by the first rows, or beforehand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from flybloom._internal.typing import Array, Weights
from flybloom.exceptions import IncompatibleHashError

MAX_WEIGHT = 2**29
ONLY_ZEROS = "sample_weight must not be zero for every row. Got only zeros instead. Leave rows out, or weigh them."


def are_whole_weights(weights: Array) -> bool:
    """Return whether weights are integers in range."""
    if weights.dtype.kind not in "buif" or not np.isfinite(weights).all():
        return False
    return bool(((weights >= 0) & (weights <= MAX_WEIGHT)).all() and (weights.astype(np.int64) == weights).all())


def _one_for_each(sample_weight: Any, n_rows: int) -> Array:
    """Return weights as an array, one for each row; a single one is that of all."""
    weights = np.asarray(sample_weight)
    if weights.ndim == 0:
        weights = np.full(n_rows, weights)
    if weights.shape != (n_rows,):
        msg = (
            f"sample_weight must hold one weight for each of the {n_rows} rows. "
            f"Got an array of shape {weights.shape} instead."
        )
        raise ValueError(msg)
    return weights


def _first_bad_weight(weights: Array) -> Any:
    """Return the first weight that is not an integer in range."""
    for weight in weights.tolist():
        if not (isinstance(weight, int | float) and 0 <= weight <= MAX_WEIGHT and weight == int(weight)):
            return weight
    return weights.dtype.name


AUTO = "auto"
FRACTIONS = 2**10
"""Counts of one row where weights are fractions: a power of two, so that dividing by it rounds nothing."""


@dataclass(frozen=True)
class WeightUnit:
    """How weights become integers.

    Parameters
    ----------
    weight : float
        The weight that counts as one row.
    per_row : int
        How much such a row adds to the count of each of its winners: 1, or `FRACTIONS`.
    """

    weight: float = 1.0
    per_row: int = 1

    def counted(self, sample_weight: Any, n_rows: int) -> Weights:
        """Return weights as they are counted: the nearest integers, to even where two are as near."""
        if self.per_row == 1 and sample_weight is None:
            return np.ones(n_rows, np.int64)
        given = _one_for_each(1.0 if sample_weight is None else sample_weight, n_rows)
        if self.per_row == 1 and not are_whole_weights(given):
            msg = (
                "sample_weight must hold whole numbers from 0 to 2**29: a row of weight w counts as w copies. "
                f"Got {_first_bad_weight(given)!r} instead. Round or rescale the weights, or set weight_unit before "
                "the first rows are learned: then fractions count."
            )
            raise ValueError(msg)
        if not (given.dtype.kind in "buif" and np.isfinite(given).all() and (given >= 0).all()):
            bad = next((w for w in given.tolist() if not (isinstance(w, int | float) and 0 <= w < np.inf)), None)
            msg = f"sample_weight must hold finite numbers that are not negative. Got {bad!r} instead. Mend them."
            raise ValueError(msg)
        if not given.any():
            raise ValueError(ONLY_ZEROS)
        if self.per_row == 1:
            return np.asarray(given, np.int64)
        with np.errstate(over="ignore"):
            scaled = np.rint(given.astype(np.float64) / self.weight * self.per_row)
        if scaled.max(initial=0.0) > MAX_WEIGHT or not scaled.any():
            most = MAX_WEIGHT // self.per_row
            msg = (
                f"sample_weight must fit weight_unit_={self.weight:.6g}, the weight of one row: at most {most} times "
                f"as much, and not less than 1 / {2 * self.per_row} of it for all rows. Got weights from "
                f"{given.min():.6g} to {given.max():.6g} instead. Rescale them, or set weight_unit before the first "
                "rows are learned."
            )
            raise ValueError(msg)
        return np.asarray(scaled, np.int64)

    def rows(self, counts: Any) -> Any:
        """Return how many rows so many counts are: integers as they are, or fractions, exactly."""
        return counts if self.per_row == 1 else counts / self.per_row

    def per_count(self, decay: float) -> float:
        """Return the decay of one count, for that of one row; square roots are rounded alike everywhere."""
        if self.per_row == 1:
            return decay
        keeps = 1.0 - decay
        for _ in range(self.per_row.bit_length() - 1):
            keeps = math.sqrt(keeps)
        return 1.0 - keeps

    def require_same(self, other: WeightUnit, action: str) -> None:
        """Raise an error for counts that stand for something else."""
        if self != other:
            msg = (
                f"Cannot {action}: the two models count weights in different units. weight_unit_ differs ({self} and "
                f"{other}). Set the same weight_unit for both before they learn."
            )
            raise IncompatibleHashError(msg)

    def require_whole(self, action: str) -> None:
        """Refuse what needs to know which part of the counts is one row."""
        if self.per_row != 1:
            msg = (
                f"Cannot {action}: the model has learned fractional weights, and the weight of a single row is not "
                "known. Expected whole numbers as weights. Learn with these, or use folds (scikit-learn's "
                "cross_val_predict)."
            )
            raise ValueError(msg)

    def __str__(self) -> str:
        """Return the unit in words."""
        return "whole rows" if self.per_row == 1 else f"1/{self.per_row} of {self.weight!r}"


WHOLE_ROWS = WeightUnit()


def fractions_of(weight: float) -> WeightUnit:
    """Return the unit in which a weight counts as one row, and others as fractions of it."""
    return WeightUnit(float(weight), FRACTIONS)


def unit_for(wanted: float | str | None, sample_weight: Any = None) -> WeightUnit:
    """Return the unit that is asked for, or with "auto" the one that the first weights need.

    Integers are counted as they are. Where one is not, the mean of those above zero counts as one row. It is the
    same in every order of the rows.
    """
    if isinstance(wanted, int | float):
        return fractions_of(wanted)
    if wanted is None or sample_weight is None:
        return WHOLE_ROWS
    weights: Array = np.atleast_1d(np.asarray(sample_weight))
    if weights.dtype.kind != "f" or are_whole_weights(weights) or not (np.isfinite(weights) & (weights >= 0)).all():
        return WHOLE_ROWS  # which refuses what is no weight at all
    positive = weights[weights > 0].astype(np.float64)
    if not positive.size:
        return WHOLE_ROWS
    largest = float(positive.max())
    mean = math.fsum((positive / largest).tolist()) / positive.size * largest
    return fractions_of(mean) if mean > 0 else WHOLE_ROWS


def unit_from_facts(facts: dict[str, Any]) -> WeightUnit:
    """Return the unit of a file, which does not mention whole rows."""
    weight = facts.get("weight_unit")
    if weight is None:
        return WHOLE_ROWS
    if type(weight) is not float or not 0 < weight < np.inf:
        msg = "weight_unit is not a number above 0"
        raise ValueError(msg)
    return fractions_of(weight)
