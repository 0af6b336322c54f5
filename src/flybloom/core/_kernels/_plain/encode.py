"""Soft bins: each value as the heights of hat functions on even knots, of which at most two are above zero."""

from __future__ import annotations

import numpy as np

from flybloom._internal.typing import Array


def soft_bins(rows: Array, n_bins: int, limit: np.float32, scale: np.float32, means: Array, out: Array) -> None:
    """Write the hats of float32 `rows` to `out`, minus their means; a missing value becomes zeros.

    With `scale` above zero, the value itself, times it, comes after the hats of each column.

    All in float32, each step rounded as the kernel of that name rounds it.
    """
    one = np.float32(1.0)
    steps = np.float32(n_bins - 1) / (np.float32(2.0) * limit)
    is_missing = np.isnan(rows)
    values = np.clip(np.where(is_missing, np.float32(0), rows), -limit, limit)
    at = (values + limit) * steps
    left = np.minimum(at.astype(np.int64), n_bins - 2)
    share = np.minimum(at - left.astype(np.float32), one)
    first = left + np.arange(0, rows.shape[1] * n_bins, n_bins)
    hats = np.tile(-means, (len(rows), 1))
    np.put_along_axis(hats, first, (one - share) - means[first], axis=1)
    np.put_along_axis(hats, first + 1, share - means[first + 1], axis=1)
    places = out.reshape(*rows.shape, out.shape[1] // rows.shape[1])  # said in full: there may be no rows
    places[..., :n_bins] = hats.reshape(*rows.shape, n_bins)
    if scale > 0:
        places[..., n_bins] = values * scale
    if is_missing.any():
        places[is_missing] = 0
