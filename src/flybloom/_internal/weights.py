"""Weights of rows as users pass them, checked; needs numpy alone, as those do who only predict."""

from __future__ import annotations

from typing import Any

import numpy as np

from flybloom._internal.typing import Array, Weights

MAX_WEIGHT = 2**29
ONLY_ZEROS = "sample_weight must not be zero for every row. Got only zeros instead. Leave the rows out, or weigh them."


def check_weights(sample_weight: Any, n_rows: int) -> Weights:
    """Return the weights as integers, one for each row."""
    if sample_weight is None:
        return np.ones(n_rows, np.int64)
    weights = _one_for_each(sample_weight, n_rows)
    if not are_whole_weights(weights):
        msg = (
            "sample_weight must hold whole numbers from 0 to 2**29, because a row of weight w counts as w copies. "
            f"Got {_first_bad_weight(weights)!r} instead. Round or rescale the weights, or set weight_unit before the "
            "first rows are learned: then fractions count."
        )
        raise ValueError(msg)
    if not weights.any():
        raise ValueError(ONLY_ZEROS)
    return np.asarray(weights, np.int64)


def check_weight_numbers(sample_weight: Any, n_rows: int) -> Array:
    """Return weights that may be fractions, one for each row."""
    weights = _one_for_each(sample_weight, n_rows)
    if not (weights.dtype.kind in "buif" and np.isfinite(weights).all() and (weights >= 0).all()):
        bad = next((w for w in weights.tolist() if not (isinstance(w, int | float) and 0 <= w < np.inf)), None)
        msg = f"sample_weight must hold finite numbers that are not negative. Got {bad!r} instead. Mend the weights."
        raise ValueError(msg)
    if not weights.any():
        raise ValueError(ONLY_ZEROS)
    return weights


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
