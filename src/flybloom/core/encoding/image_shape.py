"""Detection of images, by correlations of neighbouring pixels, and of embeddings, by their length.

Integer arithmetic on the sample gives the same result everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from flybloom._internal.typing import Array, Features, issparse
from flybloom.core.encoding.step import moments_of
from flybloom.core.sketch import Sample

MIN_SIDE = 8  # pixels; smaller ones are hardly told from tables
MAX_ASPECT = 3  # of the longer side to the shorter; colours may come one below the other
CHANNELS = (3, 1)
MIN_ROWS, MAX_ROWS = 32, 1024  # of a sample
MIN_CONTRAST = 0.26  # see docs/encodings.md: images have 0.30 and more, tables and signals up to 0.22
NEAR = 0.05  # shapes of colours that come so close to others are right
STEPS, CLIP = 32, 2.5  # values are whole numbers of 1/32 of a deviation, cut off
UNIT = 2**20  # correlations are whole numbers of one over this
MIN_COLUMNS, MAX_COLUMNS = 64, 4096
ROUNDING = 0.01  # of a length: float16, and vectors that were shortened to few digits


def image_shape(sample: Sample) -> tuple[int, ...] | None:
    """Return the shape of images, (height, width) or (height, width, 3), or None.

    A shape is accepted if horizontally and vertically adjacent pixels are much more correlated than pixels one row
    apart and shifted by half a row. In signals the latter are almost as correlated.

    Parameters
    ----------
    sample : Sample
        The sample.

    Returns
    -------
    tuple of int or None
        The shape.
    """
    shapes = list(possible_shapes(sample.rows.shape[1]))
    if not shapes or sample.rows.shape[0] < MIN_ROWS:
        return None
    values = _whole(np.asarray(sample.first(MAX_ROWS).rows, np.float64))
    evened = values - values.sum(axis=1, keepdims=True) // values.shape[1]  # bright images and dark ones alike
    contrasts = [max(_contrast(values, *shape), _contrast(evened, *shape)) for shape in shapes]
    best = max(contrasts)
    if best < MIN_CONTRAST * UNIT:
        return None
    height, width, channels = next(
        shape
        for shape, contrast in zip(shapes, contrasts, strict=True)
        if contrast == best or (shape[2] > 1 and contrast >= best - NEAR * UNIT)
    )
    return (height, width, channels) if channels > 1 else (height, width)


def possible_shapes(n_columns: int) -> Iterator[tuple[int, int, int]]:
    """Yield height, width and channels of all image shapes with a number of values.

    Parameters
    ----------
    n_columns : int
        Columns of the rows.

    Yields
    ------
    tuple of int
        Height, width and channels.
    """
    for channels in CHANNELS:
        n_pixels = n_columns // channels
        for width in range(MIN_SIDE, n_pixels // MIN_SIDE + 1):
            height = n_pixels // width
            is_whole = height * width * channels == n_columns
            if is_whole and max(height, width) <= MAX_ASPECT * min(height, width):
                yield height, width, channels


def _whole(rows: Array) -> Array:
    """Return standardised columns as integers, with 0 for missing values."""
    means, deviations = moments_of(rows, np.ones(len(rows)))
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = (rows - means) / np.where(deviations > 0, deviations, 1.0)
    scaled = np.where(np.isnan(scaled), 0.0, np.clip(scaled, -CLIP, CLIP))
    return np.asarray(np.rint(scaled * STEPS), np.int64)


def _contrast(values: Array, height: int, width: int, channels: int) -> int:
    """Return the difference between correlations of neighbours and of others, as an integer."""
    pixels = np.arange(values.shape[1]).reshape(height, width, channels)
    beside = _correlation(values, pixels[:, :-1], pixels[:, 1:])
    below = _correlation(values, pixels[:-1], pixels[1:])
    half = width // 2
    others = _correlation(values, pixels[:-1, : width - half], pixels[1:, half:])
    return min(beside, below) - max(others, 0)


def _correlation(values: Array, some: Array, others: Array) -> int:
    """Return the mean correlation of pairs of nonconstant columns."""
    a, b = values[:, some.ravel()], values[:, others.ravel()]
    together, sizes = (a * b).sum(axis=0), np.sqrt((a * a).sum(axis=0) * (b * b).sum(axis=0))
    varies = sizes > 0
    if not varies.any():
        return 0
    return int(np.rint(UNIT * (together[varies] / sizes[varies])).astype(np.int64).sum()) // int(varies.sum())


def are_unit_vectors(rows: Features) -> bool:
    """Return whether dense rows of floats all have length 1; a row of zeros is the embedding of an empty text."""
    if issparse(rows) or rows.dtype.kind != "f" or not MIN_COLUMNS <= rows.shape[1] <= MAX_COLUMNS:
        return False
    squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    is_unit = np.abs(squares - 1) <= 2 * ROUNDING
    return bool(is_unit.any() and (is_unit | (squares == 0)).all())
