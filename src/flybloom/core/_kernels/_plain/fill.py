"""Missing values from the others of their row, in numpy; the twin of what predicts in `_kernels/fill.py`.

The kernel looks at the missing columns alone. Here all columns take part, those that are there as rows and columns of
the unit matrix, which changes no bit of the others.
"""

from __future__ import annotations

import numpy as np

from flybloom._internal.elementary import LOG_2, exponential, logarithm
from flybloom._internal.typing import Array

LARGEST = 8.0  # as the kernel has it
LEAST_PIVOT = 2.0**-40
VALUES_AT_ONCE = 2**20  # of all matrices together


def fill_missing(rows: Array, means: Array, precisions: Array, chances: Array, out: Array) -> None:
    """Write float32 `rows` to `out`, each missing value as all normals expect it, by how likely each of them is."""
    out[:] = rows
    incomplete = np.flatnonzero(np.isnan(rows).any(axis=1))
    n_normals, d = means.shape
    step = max(1, VALUES_AT_ONCE // (n_normals * d * d))
    for begin in range(0, incomplete.size, step):
        places = incomplete[begin : begin + step]
        some = rows[places]
        is_missing = np.isnan(some)
        expected, sizes = _expected(some, is_missing, means.astype(np.float64), precisions.astype(np.float64))
        scores = chances - 0.5 * sizes
        likely = exponential(scores - scores.max(axis=1, keepdims=True))
        total, values = np.zeros(len(some)), np.zeros(some.shape)
        for k in range(n_normals):
            total += likely[:, k]
        for k in range(n_normals):
            values += (likely[:, k] / total)[:, None] * expected[:, k]
        filled = np.clip(values, -LARGEST, LARGEST).astype(np.float32)
        out[places] = np.where(is_missing, filled, some)


def _expected(rows: Array, is_missing: Array, means: Array, precisions: Array) -> tuple[Array, Array]:
    """Return for each row and normal what is expected, and how unlikely what is there is."""
    d = means.shape[1]
    apart = np.where(is_missing[:, None], 0.0, rows[:, None].astype(np.float64) - means)
    pull = np.zeros(apart.shape)
    for j in range(d):
        pull += precisions[:, j] * apart[:, :, j, None]
    size = np.zeros(apart.shape[:2])
    for j in range(d):
        size += apart[:, :, j] * pull[:, :, j]
    both = (is_missing[:, :, None] & is_missing[:, None, :])[:, None]
    inverses, log_determinants = _inverted(np.where(both, precisions, np.eye(d)))
    pull = np.where(is_missing[:, None], pull, 0.0)
    shift = np.zeros(apart.shape)
    for j in range(d):
        shift += inverses[:, :, :, j] * pull[:, :, j, None]
    for j in range(d):
        size -= pull[:, :, j] * shift[:, :, j]
    return means - shift, size + log_determinants


def _inverted(matrices: Array) -> tuple[Array, Array]:
    """Return the inverses of symmetric positive matrices, of shape (..., d, d), and the logarithms of determinants."""
    inverse = matrices.copy()
    mantissa, exponent = np.ones(matrices.shape[:-2]), np.zeros(matrices.shape[:-2], np.int64)
    for p in range(matrices.shape[-1]):
        pivot = np.maximum(inverse[..., p, p], LEAST_PIVOT)
        mantissa, more = np.frexp(mantissa * pivot)
        exponent += more
        row, factor = inverse[..., p, :].copy(), inverse[..., :, p] / pivot[..., None]
        inverse -= factor[..., :, None] * row[..., None, :]
        inverse[..., :, p] = -factor
        inverse[..., p, :] = row / pivot[..., None]
        inverse[..., p, p] = 1.0 / pivot
    return inverse, logarithm(mantissa) + exponent * LOG_2
