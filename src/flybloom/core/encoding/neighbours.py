"""Whether neighbours are worse off with one encoding than with another: what a sample of the rows says.

A hash keeps rows of similar directions together, so an encoding in which these have other labels is none for it. Soft
bins lose against the columns themselves where classes are clouds that lie askew; where it matters, it shows. Distances
are whole numbers that float64 holds, so the answer is the same everywhere, in any order of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from flybloom._internal.typing import Array, Features, Weights
from flybloom.core.encoding.row_sample import RowSample, row_sample
from flybloom.core.encoding.step import Plan, Step

if TYPE_CHECKING:
    from flybloom.core.encoding.encoding import Encoding

SAMPLED = 1536  # rows, of all classes together
MAX_SAMPLED_CLASSES = 64  # beyond, a class would have too few of them
UNIT = 2**10  # rows of this length are rounded to whole numbers
NEIGHBOURS = 5
DEVIATIONS = 2  # by how many one encoding must be ahead


@dataclass
class LabelledSample:
    """Some rows of each class, and how many it has; None where there are too many classes."""

    n_rows: int
    by_label: dict[Any, tuple[int, RowSample]] | None

    def __add__(self, other: LabelledSample) -> LabelledSample:
        """Return the sample of both sets of rows together."""
        n_rows = self.n_rows + other.n_rows
        if self.by_label is None or other.by_label is None:
            return LabelledSample(n_rows, None)
        by_label = dict(self.by_label)
        for label, (n, sample) in other.by_label.items():
            known = by_label.get(label)
            by_label[label] = (n, sample) if known is None else (known[0] + n, known[1] + sample)
        return LabelledSample(n_rows, by_label if len(by_label) <= MAX_SAMPLED_CLASSES else None)

    def rows(self) -> tuple[Array, Array] | None:
        """Return rows and numbers of classes, of each class as many as its share; None where there are none to ask."""
        if self.by_label is None:
            return None
        groups = sorted(
            ((n, sample) for n, sample in self.by_label.values() if n > 0),
            key=lambda group: (group[0], group[1].fingerprints.tolist()),
        )
        if len(groups) < 2:  # noqa: PLR2004
            return None
        kept = [sample.rows[: max(1, SAMPLED * n // self.n_rows)] for n, sample in groups]
        return np.concatenate(kept), np.repeat(np.arange(len(kept)), [len(rows) for rows in kept])


class LabelledSamplePlan(Plan):
    """Takes a sample, for a look at the rows before any step is fixed."""

    needs_labels = True

    def measure(self, rows: Features, labels: Any, weights: Weights) -> LabelledSample:
        """Return the sample of these rows."""
        classes, codes = np.unique(labels, return_inverse=True)
        n_rows = int(weights.sum())
        if classes.size > MAX_SAMPLED_CLASSES:
            return LabelledSample(n_rows, None)
        by_label = {}
        for code, label in enumerate(classes.tolist()):
            some = codes == code
            by_label[label] = int(weights[some].sum()), row_sample(rows[some], weights[some], SAMPLED)
        return LabelledSample(n_rows, by_label)

    def fit(self, n_inputs: int, measured: Any) -> Step:
        """Not for this one: nothing is fitted to it."""
        raise NotImplementedError


def is_behind(sample: LabelledSample, encoding: Encoding, other: Encoding) -> bool:
    """Return whether neighbours by one encoding tell labels worse than by another, beyond chance (McNemar's test)."""
    found = sample.rows()
    if found is None:
        return False
    rows, codes = found
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
