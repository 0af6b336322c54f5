"""k-NN check: compare two encodings by nearest neighbours in the sample.

A hash groups rows of similar direction, so these should have the same label. Soft bins do harm if classes are rotated
clusters. Integer arithmetic in float64 gives the same result everywhere.
"""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs

from flybloom._internal.parallel import threads
from flybloom._internal.typing import Array
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.encoding.encoding import Encoding
from flybloom.core.sketch import Sample

SAMPLED, SAMPLED_VALUES = 1536, 2**18  # rows, and values of rows that have many columns
MIN_SAMPLED = 256
ROWS_AT_ONCE = 128  # whose products with all rows stay in the cache
UNIT = 2**10  # rows of this length are rounded to whole numbers
NEIGHBOURS = 5
DEVIATIONS = 2  # by how many one encoding must be ahead


def is_behind(sample: Sample, encoding: Encoding, other: Encoding, n_jobs: int | None = 1) -> bool:
    """Return whether one encoding predicts significantly worse than another (McNemar's test)."""
    some = sample.first(min(SAMPLED, max(MIN_SAMPLED, SAMPLED_VALUES // sample.rows.shape[1])))
    n_classes, codes = some.class_codes()
    if n_classes < 2:  # noqa: PLR2004
        return False
    with threads(effective_n_jobs(n_jobs)) as run:
        right, right_of_other = run(lambda one: _are_right(_directions(one, some), codes), [(encoding,), (other,)])
    ahead = int(right_of_other.sum()) - int(right.sum())
    differ = int((right != right_of_other).sum())
    n = len(codes)
    return ahead > 0 and ahead * ahead * n > DEVIATIONS**2 * (differ * n - ahead * ahead)


def _directions(encoding: Encoding, sample: Sample) -> Array:
    """Return encoded rows, normalised to integers of one length; products of two rows are exact in float32."""
    encoder = encoding.fitted(Encoder(sample.rows.shape[1]), sample)
    encoded = encoder.encode_dense(sample.rows).astype(np.float64)
    squares = np.add.accumulate(encoded * encoded, axis=1)[:, -1:]  # one after the other, as everywhere
    return np.rint(encoded * (UNIT / np.sqrt(np.maximum(squares, 2.0**-40)))).astype(np.float32)


def _are_right(rows: Array, codes: Array) -> Array:
    """Return which rows are classified correctly by their nearest neighbours."""
    n = len(rows)
    k = min(NEIGHBOURS, n - 1)
    own = np.square(rows, dtype=np.float64).sum(axis=1) * n + np.arange(n)  # no two are equal, and they tell their row
    votes = np.zeros((n, int(codes.max()) + 1), np.int64)
    products, room = np.empty((ROWS_AT_ONCE, n), np.float32), np.empty((ROWS_AT_ONCE, n))
    for begin in range(0, n, ROWS_AT_ONCE):
        some = np.arange(begin, min(begin + ROWS_AT_ONCE, n))
        apart = room[: some.size]
        np.multiply(np.matmul(rows[some], rows.T, out=products[: some.size]), np.float64(-2 * n), out=apart)
        apart += own
        apart[some - begin, some] = np.inf
        apart.partition(k - 1, axis=1)
        nearest = np.sort(apart[:, :k], axis=1).astype(np.int64) % n
        for rank in range(k):  # of as many votes, those of nearer rows count
            votes[some, codes[nearest[:, rank]]] += 2 * NEIGHBOURS**2 - rank
    return np.asarray(votes.argmax(axis=1) == codes)
