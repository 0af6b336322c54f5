"""k-NN check: compare two encodings by nearest neighbours in the sample.

A hash groups rows of similar direction, so these should have the same label. Soft bins do harm if classes are rotated
clusters. Integer arithmetic in float64 gives the same result everywhere.
"""

from __future__ import annotations

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.encoding.encoding import Encoding
from flybloom.core.sketch import Sample

SAMPLED, SAMPLED_VALUES = 1536, 2**18  # rows, and values of rows that have many columns
MIN_SAMPLED = 256
UNIT = 2**10  # rows of this length are rounded to whole numbers
NEIGHBOURS = 5
DEVIATIONS = 2  # by how many one encoding must be ahead


def is_behind(sample: Sample, encoding: Encoding, other: Encoding) -> bool:
    """Return whether one encoding predicts significantly worse than another (McNemar's test)."""
    some = sample.first(min(SAMPLED, max(MIN_SAMPLED, SAMPLED_VALUES // sample.rows.shape[1])))
    n_classes, codes = some.class_codes()
    if n_classes < 2:  # noqa: PLR2004
        return False
    right, right_of_other = (_are_right(_directions(one, some), codes) for one in (encoding, other))
    ahead = int(right_of_other.sum()) - int(right.sum())
    differ = int((right != right_of_other).sum())
    n = len(codes)
    return ahead > 0 and ahead * ahead * n > DEVIATIONS**2 * (differ * n - ahead * ahead)


def _directions(encoding: Encoding, sample: Sample) -> Array:
    """Return encoded rows, normalised to integers of one length."""
    encoder = encoding.fitted(Encoder(sample.rows.shape[1]), sample)
    encoded = encoder.encode_dense(sample.rows).astype(np.float64)
    squares = np.add.accumulate(encoded * encoded, axis=1)[:, -1:]  # one after the other, as everywhere
    return np.rint(encoded * (UNIT / np.sqrt(np.maximum(squares, 2.0**-40))))


def _are_right(rows: Array, codes: Array) -> Array:
    """Return which rows are classified correctly by their nearest neighbours."""
    n = len(rows)
    squares = (rows * rows).sum(axis=1)
    apart = (squares[:, None] + squares - 2.0 * (rows @ rows.T)) * n + np.arange(n)  # no two are equal
    np.fill_diagonal(apart, np.inf)
    k = min(NEIGHBOURS, n - 1)
    nearest = np.argpartition(apart, k - 1, axis=1)[:, :k]
    nearest = np.take_along_axis(nearest, np.take_along_axis(apart, nearest, axis=1).argsort(axis=1), axis=1)
    votes = np.zeros((n, int(codes.max()) + 1), np.int64)
    for rank in range(k):  # of as many votes, those of nearer rows count
        votes[np.arange(n), codes[nearest[:, rank]]] += 2 * NEIGHBOURS**2 - rank
    return np.asarray(votes.argmax(axis=1) == codes)
