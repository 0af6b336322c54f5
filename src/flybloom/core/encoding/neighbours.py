"""Whether neighbours are worse off with one encoding than with another: what a sample of the rows says.

A hash keeps rows of similar directions together, so an encoding in which these have other labels is none for it. Soft
bins lose against the columns themselves where classes are clouds that lie askew; where it matters, it shows. Distances
are whole numbers that float64 holds, so the answer is the same everywhere, in any order of the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flybloom._internal.typing import Array, Features, Weights
from flybloom.core.encoding.class_samples import ClassSamples, class_samples
from flybloom.core.encoding.step import Plan, Step

if TYPE_CHECKING:
    from flybloom.core.encoding.encoding import Encoding

SAMPLED = 1536  # rows, of all classes together
MIN_SAMPLED, SAMPLED_VALUES = 128, 2**18  # of a class, so that many columns of many classes have room
UNIT = 2**10  # rows of this length are rounded to whole numbers
NEIGHBOURS = 5
DEVIATIONS = 2  # by how many one encoding must be ahead


class LabelledSamplePlan(Plan):
    """Takes samples of the classes, for a look at the rows before any step is fixed."""

    needs_labels = True

    def measure(self, rows: Features, labels: Any, weights: Weights) -> ClassSamples:
        """Return the samples of these rows."""
        most = min(SAMPLED, max(MIN_SAMPLED, SAMPLED_VALUES // rows.shape[1]))
        return class_samples(rows, labels, weights, most)

    def fit(self, n_inputs: int, measured: Any) -> Step:
        """Not for this one: nothing is fitted to it."""
        raise NotImplementedError


def is_behind(samples: ClassSamples, encoding: Encoding, other: Encoding) -> bool:
    """Return whether neighbours by one encoding tell labels worse than by another, beyond chance (McNemar's test)."""
    classes, n_rows = samples.classes, samples.n_rows
    if len(classes) < 2:  # noqa: PLR2004
        return False
    kept = [sampled.sample.rows[: max(1, SAMPLED * sampled.n_rows // n_rows)] for sampled in classes]
    rows, codes = np.concatenate(kept), np.repeat(np.arange(len(kept)), [len(some) for some in kept])
    right, right_of_other = (_are_right(_directions(one, rows, codes), codes) for one in (encoding, other))
    ahead = int(right_of_other.sum()) - int(right.sum())
    differ = int((right != right_of_other).sum())
    n = len(codes)
    return ahead > 0 and ahead * ahead * n > DEVIATIONS**2 * (differ * n - ahead * ahead)


def _directions(encoding: Encoding, rows: Array, codes: Array) -> Array:
    """Return rows as an encoding that is fitted to them has them, of one length, in whole numbers."""
    encoded = encoding.fit(rows, codes).encode_dense(rows).astype(np.float64)
    squares = np.add.accumulate(encoded * encoded, axis=1)[:, -1:]  # one after the other, as everywhere
    return np.rint(encoded * (UNIT / np.sqrt(np.maximum(squares, 2.0**-40))))


def _are_right(rows: Array, codes: Array) -> Array:
    """Return whether the nearest of the other rows have the label of each."""
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
