"""Histograms of the directions of brightness gradients, by overlapping cells of an image."""

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel


@kernel
def histograms(
    images: Array, directions: Array, least: np.float32, rows_of: Array, columns_of: Array, out: Array
) -> None:
    """Write the square roots of gradient histograms to `out`.

    Parameters
    ----------
    images : ndarray of shape (n, height, width), float32
        Brightness.
    directions : ndarray of shape (2, n_directions), float32
        Unit vectors, right and down.
    least : float32
        Cosine of the angle from a direction at which it responds no more.
    rows_of, columns_of : ndarray of shape (n_cells, height) and (n_cells, width), float32
        Weights of the rows and columns of pixels in cells.
    out : ndarray of shape (n, n_cells, n_cells, n_directions), float32
        Sums over rows of pixels, then over columns, each in order.
    """
    n, height, width = images.shape
    n_directions = directions.shape[1]
    n_down, n_across = rows_of.shape[0], columns_of.shape[0]
    zero = np.float32(0.0)
    sums = np.empty((n_down + 1, n_directions, width), np.float32)  # the last cell takes what counts nothing
    right, down, size = np.empty(width, np.float32), np.empty(width, np.float32), np.empty(width, np.float32)
    turned, totals = np.empty((width, n_down * n_directions), np.float32), np.empty(n_down * n_directions, np.float32)
    begins, ends = np.empty(n_across, np.int64), np.empty(n_across, np.int64)
    for b in range(n_across):
        places = np.flatnonzero(columns_of[b])
        begins[b], ends[b] = places[0], places[-1] + 1
    for i in range(n):
        sums[:] = zero
        for y in range(height):
            above, below = max(y - 1, 0), min(y + 1, height - 1)
            for x in range(width):
                right[x] = images[i, y, min(x + 1, width - 1)] - images[i, y, max(x - 1, 0)]
                down[x] = images[i, below, x] - images[i, above, x]
            n_edges = 0
            for x in range(width):  # beside missing pixels, nothing is known of gradients
                right[x] = right[x] if right[x] == right[x] else zero
                down[x] = down[x] if down[x] == down[x] else zero
                n_edges += (right[x] != zero) | (down[x] != zero)
            if n_edges == 0:
                continue
            for x in range(width):
                size[x] = least * np.sqrt(right[x] * right[x] + down[x] * down[x])
            first = 0  # of the two cells, at most, that a row of pixels is in
            while rows_of[first, y] == zero:
                first += 1
            weight = rows_of[first, y]
            next_weight = rows_of[first + 1, y] if first + 1 < n_down else zero
            for k in range(n_directions):
                cosine, sine = directions[0, k], directions[1, k]
                cell, next_cell = sums[first, k], sums[first + 1, k]
                for x in range(width):  # side by side, so that compilers vectorise it
                    along = (right[x] * cosine + down[x] * sine) - size[x]
                    along = along if along > zero else zero  # noqa: FURB136 - `max` is not vectorised
                    cell[x] += weight * along
                    next_cell[x] += next_weight * along
        for a in range(n_down):
            for k in range(n_directions):
                at = a * n_directions + k
                for x in range(width):
                    turned[x, at] = sums[a, k, x]
        for b in range(n_across):
            totals[:] = zero
            for x in range(begins[b], ends[b]):
                weight = columns_of[b, x]
                for at in range(totals.size):
                    totals[at] += weight * turned[x, at]
            for a in range(n_down):
                for k in range(n_directions):
                    out[i, a, b, k] = np.sqrt(totals[a * n_directions + k])


@kernel
def brightness(images: Array, rows_of: Array, columns_of: Array, out: Array) -> None:
    """Write the weighted sums of brightness in cells to `out`, of shape (n, n_cells, n_cells); see `histograms`."""
    n, height, width = images.shape
    zero = np.float32(0.0)
    n_down, n_across = rows_of.shape[0], columns_of.shape[0]
    sums = np.empty(width, np.float32)
    for i in range(n):
        for a in range(n_down):
            sums[:] = zero
            for y in range(height):
                weight = rows_of[a, y]
                if weight > zero:
                    for x in range(width):
                        sums[x] += weight * images[i, y, x]
            for b in range(n_across):
                total = zero
                for x in range(width):
                    weight = columns_of[b, x]
                    if weight > zero:
                        total += weight * sums[x]
                out[i, a, b] = total
