"""Soft bins: each value as the heights of hat functions on even knots, of which at most two are above zero."""

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel


@kernel
def soft_bins(rows: Array, n_bins: int, limit: np.float32, scale: np.float32, means: Array, out: Array) -> None:
    """Write the hats of float32 `rows` to `out`, minus their means; a missing value becomes zeros.

    With `scale` above zero, the value itself, times it, comes after the hats of each column, and a column has one more
    place. ``out[i, f * n_places + b]`` is the hat of knot b of column f. Knots are even from -limit to limit; beyond,
    the outermost hats stay at one, and the value at the limit.
    """
    steps = np.float32(n_bins - 1) / (np.float32(2.0) * limit)
    last = n_bins - 2
    n_places = n_bins + 1 if scale > np.float32(0.0) else n_bins
    for i in range(rows.shape[0]):
        for f in range(rows.shape[1]):
            value = rows[i, f]
            begin, first = f * n_places, f * n_bins
            if np.isnan(value):
                for b in range(n_places):
                    out[i, begin + b] = np.float32(0.0)
                continue
            if value < -limit:
                value = -limit
            if value > limit:
                value = limit
            at = (value + limit) * steps
            left = int(at)
            if left > last:
                left = last
            share = at - np.float32(left)
            if share > np.float32(1.0):
                share = np.float32(1.0)
            for b in range(n_bins):
                out[i, begin + b] = -means[first + b]
            out[i, begin + left] = (np.float32(1.0) - share) - means[first + left]
            out[i, begin + left + 1] = share - means[first + left + 1]
            if n_places > n_bins:
                out[i, begin + n_bins] = value * scale


@kernel
def between_knots(low: Array, high: Array, n_bins: int, n_places: int, limit: np.float32) -> Array:
    """Return, for each place of each column, whether a knot there lies between two values; as `soft_bins` has them.

    Where a value is missing, none does; the last of `n_places`, if that is more than the hats, has no knot.
    """
    steps = np.float32(n_bins - 1) / (np.float32(2.0) * limit)
    out = np.zeros((low.shape[0], low.shape[1] * n_places), np.bool_)
    for i in range(low.shape[0]):
        for f in range(low.shape[1]):
            if np.isnan(low[i, f]) or np.isnan(high[i, f]):
                continue
            left = (min(max(low[i, f], -limit), limit) + limit) * steps
            right = (min(max(high[i, f], -limit), limit) + limit) * steps
            for b in range(n_bins):
                knot = np.float32(b)
                out[i, f * n_places + b] = left <= knot <= right
    return out
