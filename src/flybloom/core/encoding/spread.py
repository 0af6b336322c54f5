"""Means and standard deviations of a sample, and rounding to coarse grids.

Fitted numbers are rounded to a coarse grid, so that a few rows seldom change an encoder. Sums run over the rows in a
fixed order, so they do not depend on threads.
"""

from __future__ import annotations

import numpy as np

from flybloom._internal.typing import Array, Features

STEPS_OF_DOUBLING = 4  # scales are powers of 2 ** (1 / 4)
ROOTS = np.array([2.0 ** (step / STEPS_OF_DOUBLING) for step in range(STEPS_OF_DOUBLING)])
STEPS_OF_SCALE = 8  # centres are multiples of an eighth of a scale
MIN_EXPONENT, MAX_EXPONENT = -1021, 1020  # of scales, whose inverses are numbers too
COLUMNS_AT_ONCE = 256  # bounds the float64 copies


def moments_of(rows: Features, weights: Array) -> tuple[Array, Array]:
    """Return mean and standard deviation of each column, without missing values; 0 for both where there is none."""
    n_columns = rows.shape[1]
    means, deviations = np.zeros(n_columns), np.zeros(n_columns)
    for begin in range(0, n_columns, COLUMNS_AT_ONCE):
        some = slice(begin, begin + COLUMNS_AT_ONCE)
        means[some], deviations[some] = _moments(np.asarray(rows[:, some], np.float64), weights[:, None])
    return means, deviations


def _moments(values: Array, weights: Array) -> tuple[Array, Array]:
    """Return the same of a few columns; all is done in units of their largest value, so that nothing overflows."""
    is_missing = np.isnan(values)
    low, high = np.fmin.reduce(values, axis=0, initial=np.inf), np.fmax.reduce(values, axis=0, initial=-np.inf)
    if is_missing.any():
        values, weights = np.where(is_missing, 0.0, values), np.where(is_missing, 0.0, weights)
    n = np.maximum(np.add.reduce(np.broadcast_to(weights, values.shape), axis=0), 2.0**-1000)
    _, exponents = np.frexp(np.maximum(np.maximum(-low, high), 0.0))
    scaled = np.ldexp(values, -exponents)
    means = np.add.reduce(weights * scaled, axis=0) / n
    scaled -= means
    if is_missing.any():
        scaled[is_missing] = 0.0
    squares = np.add.reduce(weights * (scaled * scaled), axis=0) / n
    deviations = np.where(low < high, np.ldexp(np.sqrt(squares), exponents), 0.0)
    return np.ldexp(means, exponents), deviations


def coarse_scales(deviations: Array) -> Array:
    """Return deviations rounded to powers of 2 ** (1 / 4); 1 where there is none."""
    is_spread = deviations > 0
    logs = np.log2(np.where(is_spread, deviations, 1.0))
    steps = np.clip(
        np.rint(logs * STEPS_OF_DOUBLING), MIN_EXPONENT * STEPS_OF_DOUBLING, MAX_EXPONENT * STEPS_OF_DOUBLING
    )
    whole, part = np.divmod(steps.astype(np.int64), STEPS_OF_DOUBLING)
    return np.asarray(np.ldexp(ROOTS[part], whole))


def coarse_centers(means: Array, scales: Array) -> Array:
    """Return means rounded to multiples of an eighth of the scale; as they are where that is finer than a float."""
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.rint(means / scales * STEPS_OF_SCALE)
        centers = steps * (scales / STEPS_OF_SCALE)
    return np.where(np.isfinite(centers), centers, means)
