"""Histograms of oriented gradients, and brightness, in place of the pixels of images.

A component that sums a few pixels depends on where exactly a stroke or an edge lies. The directions of edges in
overlapping cells do not (Dalal and Triggs, 2005). The step is fitted to nothing, so rows that are learned or forgotten
never change it.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from flybloom._internal.typing import Array, Features
from flybloom.core._kernels import _plain
from flybloom.core._kernels._choice import loops
from flybloom.core.encoding.step import Step, without_missing

DIRECTIONS = 12
CELLS = 6  # of gradients, in a row or column of them; at least two pixels each
PATCHES = 8  # the same of brightness
LARGEST = np.float32(2.0**59)  # of a pixel: its square is within float32
# Cosines and sines of multiples of 30 degrees; a direction responds to gradients less than 30 degrees away.
HALF, ROOT = 0.5, math.sqrt(0.75)
COSINES = np.array([1, ROOT, HALF, 0, -HALF, -ROOT, -1, -ROOT, -HALF, 0, HALF, ROOT], np.float32)
DIRECTION_VECTORS = np.array([COSINES, np.roll(COSINES, 3)])
LEAST = np.float32(ROOT)


class Gradients(Step):
    """For each cell the square roots of 12 sums of gradients by direction, and means of brightness, as float32.

    Missing pixels have no gradients, and no brightness. Of colours, the gradients are those of their sum, and each has
    its own brightness.

    Parameters
    ----------
    shape : tuple of int
        (height, width) or (height, width, channels) of the images.
    """

    kind = "gradients"

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.height, self.width, self.n_channels = (*shape, 1)[:3]
        self.cells = _weights(min(CELLS, max(self.height // 2, 1)), min(CELLS, max(self.width // 2, 1)), shape)
        self.patches = _weights(min(PATCHES, self.height), min(PATCHES, self.width), shape)
        self._n_gradients = math.prod(map(len, self.cells)) * DIRECTIONS

    def apply(self, rows: Features) -> Array:
        """Return the histograms by cell, then the brightness by channel and patch."""
        images = self.images(rows)
        kernels = loops("gradients", images.size * DIRECTIONS)
        histograms, brightness = self._empty(len(images))
        kernels.histograms(grey(images), DIRECTION_VECTORS, LEAST, *self.cells, histograms)
        images = without_missing(images)
        for channel in range(self.n_channels):
            kernels.brightness(images[..., channel], *self.patches, brightness[:, channel])
        return _joined(histograms, brightness)

    def images(self, rows: Features) -> Array:
        """Return the brightness of channels, of shape (n, height, width, channels)."""
        with np.errstate(over="ignore"):  # what overflows is clipped
            values: Array = rows.astype(np.float32)
        if rows.dtype.itemsize > 2:  # noqa: PLR2004 - bytes and 16 bits are small
            np.clip(values, -LARGEST, LARGEST, out=values)
        return values.reshape(-1, self.height, self.width, self.n_channels)

    def _empty(self, n: int) -> tuple[Array, Array]:
        """Return arrays for histograms and brightness."""
        down, across = map(len, self.cells)
        histograms = np.empty((n, down, across, DIRECTIONS), np.float32)
        return histograms, np.empty((n, self.n_channels, *map(len, self.patches)), np.float32)

    def between(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Return bounds from those of every pixel; each operation keeps the order of values."""
        ends = self.images(low), self.images(high)
        bounds = _plain.response_bounds(grey(ends[0]), grey(ends[1]), DIRECTION_VECTORS, LEAST)
        both = []
        for images, responses in zip(ends, bounds, strict=True):
            _, brightness = self._empty(len(images))
            images = without_missing(images)  # noqa: PLW2901
            for channel in range(self.n_channels):
                _plain.brightness(images[..., channel], *self.patches, brightness[:, channel])
            both.append(_joined(np.sqrt(_plain.pooled(responses, *self.cells)), brightness))
        return both[0], both[1]

    def n_outputs(self, n_inputs: int) -> int:  # noqa: ARG002
        """Return the number of directions of all cells, and of patches."""
        return self._n_gradients + self.n_channels * math.prod(map(len, self.patches))

    def to_dict(self) -> dict[str, Any]:
        """Return the shape."""
        return {"shape": list(self.shape)}

    @classmethod
    def from_dict(cls, stored: dict[str, Any], n_inputs: int) -> Self:
        """Return the step, if the shape has as many values as there are columns."""
        shape: Any = stored.get("shape")
        is_right = isinstance(shape, list) and 2 <= len(shape) <= 3 and all(type(n) is int and n > 0 for n in shape)  # noqa: PLR2004
        if not is_right or math.prod(shape) != n_inputs:
            msg = f"the shape of its images does not have {n_inputs} values"
            raise ValueError(msg)
        return cls(tuple(shape))

    def traced_back(self, shares: Array, *, signed: bool) -> Array:
        """Return the share of each pixel: those of cells are spread as their weights are; only brightness has signs."""
        n = len(shares)
        gradients = shares[:, : self._n_gradients].reshape(n, *map(len, self.cells), DIRECTIONS).sum(axis=3)
        patches = shares[:, self._n_gradients :].reshape(n, self.n_channels, *map(len, self.patches))
        of_edges = _spread(gradients[:, None], *self.cells) / self.n_channels
        pixels = _spread(patches, *self.patches) + (0.0 if signed else of_edges)
        return np.asarray(pixels.transpose(0, 2, 3, 1).reshape(n, -1))


def _weights(n_down: int, n_across: int, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Return the weights of rows and columns of pixels in so many cells."""
    return hats(n_down, shape[0]), hats(n_across, shape[1])


def hats(n: int, side: int) -> Array:
    """Return the weights of pixels in cells: hat functions on even knots, of shape (n, side), multiples of 1/64."""
    knots = (np.arange(n) + 0.5) * side / n - 0.5
    places = np.clip(np.arange(side), knots[0], knots[-1])
    weights = np.maximum(0.0, 1.0 - np.abs(places - knots[:, None]) * (n / side))
    return np.asarray(np.rint(weights * 64) / 64, np.float32)


def grey(images: Array) -> Array:
    """Return the sum of the channels, added in order."""
    total: Array = images[..., 0]
    for channel in range(1, images.shape[3]):
        total = total + images[..., channel]
    return total


def _joined(histograms: Array, brightness: Array) -> Array:
    """Return the columns of both."""
    flat = (part.reshape(len(part), math.prod(part.shape[1:])) for part in (histograms, brightness))
    return np.concatenate(list(flat), axis=1)


def _spread(cells: Array, rows_of: Array, columns_of: Array) -> Array:
    """Return values of cells spread over pixels, of shape (n, channels, height, width)."""
    down, across = (weights / weights.sum(axis=1, keepdims=True) for weights in (rows_of, columns_of))
    spread: Array = np.einsum("ncab,ay,bx->ncyx", cells, down, across, optimize=True)
    return spread
