"""Missing values imputed from the other columns of their row.

Rows are modelled by a mixture of normal distributions, and a missing value becomes its conditional mean. The mixture is
fitted to a sample of each class by expectation-maximisation (Dempster, Laird and Rubin, 1977).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from flybloom._internal.elementary import logarithm
from flybloom._internal.typing import Array, Features
from flybloom.core import _kernels
from flybloom.core._kernels._choice import loops
from flybloom.core.encoding.relevance import most_by_chance
from flybloom.core.encoding.step import Step, stored_array
from flybloom.core.sketch import Sample

MAX_FILLED = 100  # columns
MAX_CLASSES = 32  # beyond, and beyond so many values of matrices, classes are not told apart
MAX_VALUES = 2**18
NORMALS = 2  # for each class: one is right for a cloud of rows, two for a bent or a divided one
MIN_ROWS, MAX_ROWS, SAMPLED_VALUES = 128, 512, 2**14  # of a class that are looked at
LAPS = 6  # of expectation and maximisation, for one normal and then for two
WEAK = 0.1  # rows for each column that no correlation at all counts as
MIN_EXPLAINED = 0.2  # what others must tell of a column: else a gap would become its mean, as if that were known
SELDOM = 2**10  # gaps are said to tell something as seldom as if there were so many times the columns
SPLIT = 0.8  # where the halves of a normal have their means, in deviations


class Fill(Step):
    """Imputes missing values of some columns, as float32.

    Parameters
    ----------
    means : ndarray of shape (n_normals, n_columns), float32
        The mean of each normal.
    precisions : ndarray of shape (n_normals, n_columns, n_columns), float32
        The inverse of its covariance.
    chances : ndarray of shape (n_normals,)
        The logarithm of its share, less half of that of the determinant of its covariance.
    columns : ndarray of shape (n_columns,), bool
        Which columns are imputed.
    """

    kind = "fill"

    def __init__(self, means: Array, precisions: Array, chances: Array, columns: Array) -> None:
        self.means, self.precisions, self.chances, self.columns = means, precisions, chances, columns

    @classmethod
    def fit(cls, sample: Sample, *, by_class: bool) -> Self:
        """Fit the mixture, optionally with components for each class."""
        n = sample.rows.shape[1]
        most = max(MIN_ROWS, min(MAX_ROWS, SAMPLED_VALUES // max(1, n)))
        groups = _by_class(sample) if by_class else []
        if len(groups) > MAX_CLASSES or len(groups) * NORMALS * n**2 > MAX_VALUES:
            groups = []
        rough = _Normals.of_covariance(np.eye(n)).improved(sample.first(most), np.eye(n), WEAK * n)
        prior = rough.covariances[0]
        found = []
        for group in groups or [sample]:
            one = _Normals.of_covariance(prior).improved(group.first(most), prior, float(n))
            two = one.split().improved(group.first(most), prior, float(n))
            share = logarithm(np.array([group.weights.sum() / sample.weights.sum()]))
            found.append((two.means, two.precisions, two.chances + share))
        means, precisions, chances = (np.concatenate(parts) for parts in zip(*found, strict=True))
        explained = 1.0 - 1.0 / (np.diagonal(prior) * np.diagonal(rough.precisions[0]))  # of the variance, by others
        columns = (explained >= MIN_EXPLAINED) & _gaps_are_random(sample, groups)
        return cls(means.astype(np.float32), precisions.astype(np.float32), chances, columns)

    def apply(self, rows: Features) -> Features:
        """Return the imputed rows."""
        is_missing = np.isnan(rows)
        if not (is_missing & self.columns).any():
            return rows
        rows = np.ascontiguousarray(rows, np.float32)
        out = np.empty(rows.shape, np.float32)
        n_values = int(is_missing.any(axis=1).sum()) * self.precisions.size
        loops("fill", n_values).fill_missing(rows, self.means, self.precisions, self.chances, out)
        if not self.columns.all():
            out[is_missing & ~self.columns] = np.nan
        return out

    def between(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Return the bounds themselves: certificates are for rows of which nothing is missing."""
        return low, high

    def slopes(self, before: Array) -> Array:
        """Return them as they are, as rows of which nothing is missing are."""
        return before

    def to_dict(self) -> dict[str, Any]:
        """Return the columns that are not filled, and the normals."""
        normals = {"fill_means": self.means, "fill_precisions": self.precisions, "fill_chances": self.chances}
        return {"not_filled": np.flatnonzero(~self.columns).tolist(), **normals}

    def fields(self, names: tuple[str, ...] | None = None) -> dict[str, Any]:  # noqa: ARG002
        """Return a digest of the normals, which have too many values to be listed."""
        kept, *normals = self.to_dict().values()
        digest = hashlib.sha256(b"".join(values.tobytes() for values in normals)).hexdigest()
        return {self.kind: {"not_filled": kept, "normals": len(self.means), "sha256": digest}}

    @classmethod
    def from_dict(cls, stored: dict[str, Any], n_inputs: int) -> Self:
        """Return the step, if its normals are some, for as many columns as there are."""
        means = stored_array(stored, "fill_means", np.float32, (None, n_inputs))
        precisions = stored_array(stored, "fill_precisions", np.float32, (len(means), n_inputs, n_inputs))
        chances = stored_array(stored, "fill_chances", np.float64, (len(means),))
        kept = stored.get("not_filled")
        if not (isinstance(kept, list) and all(type(at) is int and 0 <= at < n_inputs for at in kept)):
            msg = "the columns that it does not fill are not columns"
            raise ValueError(msg)
        columns = np.ones(n_inputs, bool)
        columns[kept] = False
        return cls(means, precisions, chances, columns)


@dataclass
class _Normals:
    """A mixture of normal distributions."""

    means: Array
    covariances: Array
    precisions: Array
    chances: Array

    @classmethod
    def of_covariance(cls, covariance: Array) -> Self:
        """Return a single one around 0."""
        return cls(np.zeros((1, len(covariance))), covariance[None], *_inverted(covariance[None], np.ones(1)))

    def improved(self, sample: Sample, prior: Array, strength: float) -> _Normals:
        """Return the mixture after one step of expectation-maximisation."""
        rows = np.ascontiguousarray(sample.rows, np.float64)
        weights = sample.weights * (len(rows) / max(float(sample.weights.sum()), 2.0**-1000))
        means, covariances = self.means.copy(), np.empty_like(self.covariances)
        precisions, chances, totals = self.precisions, self.chances, np.empty(len(means))
        for _ in range(LAPS):
            _kernels.fill.improve(rows, weights, means, precisions, chances, prior, strength, covariances, totals)
            precisions, chances = _inverted(covariances, totals)
        return _Normals(means, covariances, precisions, chances)

    def split(self) -> _Normals:
        """Split a normal into two along its first principal component."""
        direction = np.empty(self.means.shape[1])
        deviation = _kernels.fill.longest_direction(self.covariances[0], direction)
        step = SPLIT * deviation * direction
        twice = (np.repeat(values, 2, axis=0) for values in (self.covariances, self.precisions, self.chances))
        return _Normals(np.concatenate([self.means - step, self.means + step]), *twice)


def _inverted(covariances: Array, totals: Array) -> tuple[Array, Array]:
    """Return precisions, and chances of normals of so many rows each; none is beyond all chance."""
    precisions = np.empty_like(covariances)
    halves = [0.5 * _kernels.fill.invert_covariance(*both) for both in zip(covariances, precisions, strict=True)]
    return precisions, logarithm((totals + 1.0) / (float(totals.sum()) + totals.size)) - np.array(halves)


def _by_class(sample: Sample) -> list[Sample]:
    """Return the rows of each class, in the order of the labels."""
    n_classes, codes = sample.class_codes()
    per_weight = sample.n_measured / sample.weights.sum()
    groups = []
    for code in range(n_classes):
        at = np.flatnonzero(codes == code)
        weights = sample.weights[at]
        groups.append(Sample(sample.rows[at], None, weights, float(weights.sum() * per_weight)))
    return groups


def _gaps_are_random(sample: Sample, groups: list[Sample]) -> Array:
    """Return which columns are missing independently of the class."""
    share = _missing_share(sample)
    spread = share * (1.0 - share)
    told = np.zeros(share.size)  # by chance: a sum of as many squares of normal numbers as there are classes but one
    for group in groups:
        apart = _missing_share(group) - share
        told += group.n_measured * apart * apart / np.where(spread > 0, spread, 1.0)
    return np.asarray(told <= most_by_chance(max(0, len(groups) - 1), SELDOM * share.size))


def _missing_share(sample: Sample) -> Array:
    """Return the share of missing values of each column."""
    is_missing = np.isnan(sample.rows)
    return np.asarray(np.add.reduce(sample.weights[:, None] * is_missing, axis=0) / sample.weights.sum())
