"""Missing values as the other columns of their row let expect them.

Rows are taken to come from a few normal distributions, some for each class. Each expects something of a missing value,
given what is there; the value becomes the mean of that, by how likely each distribution is. The distributions are found
from a sample of the rows of each class, by expectation and maximisation (Dempster, Laird and Rubin, 1977).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from flybloom._internal.elementary import logarithm
from flybloom._internal.typing import Array, Features, Weights
from flybloom.core import _kernels
from flybloom.core._kernels._choice import loops
from flybloom.core.encoding.chance import most_by_chance
from flybloom.core.encoding.class_samples import ClassSamples, Sampled, class_samples
from flybloom.core.encoding.row_sample import RowSample
from flybloom.core.encoding.step import Plan, Step

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
    """Puts an expected value in the place of each missing one, in columns that are to be filled; float32 comes out.

    Parameters
    ----------
    means : ndarray of shape (n_normals, n_columns), float32
        The mean of each normal.
    precisions : ndarray of shape (n_normals, n_columns, n_columns), float32
        The inverse of its covariance.
    chances : ndarray of shape (n_normals,)
        The logarithm of its share, less half of that of the determinant of its covariance.
    columns : ndarray of shape (n_columns,), bool
        Which columns are filled; in others missing values stay.
    """

    kind = "fill"
    ARRAYS = frozenset({"fill_means", "fill_precisions", "fill_chances"})

    def __init__(self, means: Array, precisions: Array, chances: Array, columns: Array) -> None:
        self.means, self.precisions, self.chances, self.columns = means, precisions, chances, columns

    def apply(self, rows: Features) -> Features:
        """Return the rows with their gaps filled."""
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

    def facts(self) -> dict[str, Any]:
        """Return the columns that are not filled."""
        return {"not_filled": np.flatnonzero(~self.columns).tolist()}

    def arrays(self) -> dict[str, Array]:
        """Return the normals."""
        return {"fill_means": self.means, "fill_precisions": self.precisions, "fill_chances": self.chances}

    def fields(self) -> dict[str, Any]:
        """Return a digest of the normals, which have too many values to be listed."""
        bits = b"".join(values.tobytes() for values in self.arrays().values())
        return {self.kind: {**self.facts(), "normals": len(self.means), "sha256": hashlib.sha256(bits).hexdigest()}}

    @classmethod
    def from_parts(cls, facts: dict[str, Any], arrays: dict[str, Array], n_inputs: int) -> Self:
        """Return the step, if its normals are some, for as many columns as there are."""
        if set(arrays) != cls.ARRAYS:
            msg = "what its missing values are filled with is not there"
            raise ValueError(msg)
        means, precisions, chances = (arrays[name] for name in ("fill_means", "fill_precisions", "fill_chances"))
        n = len(means) if means.ndim else 0
        is_right = means.dtype == precisions.dtype == np.float32 and chances.dtype == np.float64 and n > 0
        shapes = means.shape, precisions.shape, chances.shape
        if not is_right or shapes != ((n, n_inputs), (n, n_inputs, n_inputs), (n,)):
            msg = "its normals, which fill missing values, are not of the right type and shape"
            raise ValueError(msg)
        if not all(np.isfinite(values).all() for values in (means, precisions, chances)):
            msg = "its normals, which fill missing values, hold values that are not finite"
            raise ValueError(msg)
        kept = facts.get("not_filled")
        if not (isinstance(kept, list) and all(type(at) is int and 0 <= at < n_inputs for at in kept)):
            msg = "the columns that it does not fill are not columns"
            raise ValueError(msg)
        columns = np.ones(n_inputs, bool)
        columns[kept] = False
        return cls(means, precisions, chances, columns)


@dataclass(frozen=True)
class FillPlan(Plan):
    """Finds the normals from samples.

    Parameters
    ----------
    by_class : bool
        Whether classes have normals of their own.
    """

    by_class: bool

    @property
    def needs_labels(self) -> bool:  # type: ignore[override]
        """Whether classes are told apart."""
        return self.by_class

    def measure(self, rows: Features, labels: Any, weights: Weights) -> ClassSamples:
        """Return samples of these rows."""
        most = max(MIN_ROWS, min(MAX_ROWS, SAMPLED_VALUES // max(1, rows.shape[1])))
        return class_samples(rows, labels if self.by_class else None, weights, most)

    def in_rows(self, measured: ClassSamples, per_row: int) -> ClassSamples:
        """Return samples with the weight of one row."""
        return measured.in_rows(per_row)

    def fit(self, n_inputs: int, measured: ClassSamples) -> Fill:
        """Return the step."""
        start, everything = _Normals.of_covariance(np.eye(n_inputs)), measured.all_rows
        rough = start.improved(everything.sample, np.eye(n_inputs), WEAK * n_inputs)
        prior = rough.covariances[0]
        classes = measured.classes
        if len(classes) > MAX_CLASSES or len(classes) * NORMALS * n_inputs**2 > MAX_VALUES:
            classes = []
        found = []
        for group in classes or [everything]:
            one = _Normals.of_covariance(prior).improved(group.sample, prior, float(n_inputs))
            two = one.split().improved(group.sample, prior, float(n_inputs))
            share = logarithm(np.array([group.n_rows / everything.n_rows]))
            found.append((two.means, two.precisions, two.chances + share))
        means, precisions, chances = (np.concatenate(parts) for parts in zip(*found, strict=True))
        explained = 1.0 - 1.0 / (np.diagonal(prior) * np.diagonal(rough.precisions[0]))  # of the variance, by others
        columns = (explained >= MIN_EXPLAINED) & _gaps_tell_nothing(everything, classes, measured.per_row)
        return Fill(means.astype(np.float32), precisions.astype(np.float32), chances, columns)


@dataclass
class _Normals:
    """Normal distributions, and what follows from them."""

    means: Array
    covariances: Array
    precisions: Array
    chances: Array

    @classmethod
    def of_covariance(cls, covariance: Array) -> Self:
        """Return a single one around 0."""
        return cls(np.zeros((1, len(covariance))), covariance[None], *_inverted(covariance[None], np.ones(1)))

    def improved(self, sample: RowSample, prior: Array, strength: float) -> _Normals:
        """Return those that are likelier to have made a sample."""
        rows = sample.rows
        weights = sample.weights.astype(np.float64)
        weights *= len(rows) / max(float(sample.weights.sum()), 1.0)
        means, covariances = self.means.copy(), np.empty_like(self.covariances)
        precisions, chances, totals = self.precisions, self.chances, np.empty(len(means))
        for _ in range(LAPS):
            _kernels.fill.improve(rows, weights, means, precisions, chances, prior, strength, covariances, totals)
            precisions, chances = _inverted(covariances, totals)
        return _Normals(means, covariances, precisions, chances)

    def split(self) -> _Normals:
        """Return two of a single one, to either side of its middle, along the direction in which it is longest."""
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


def _gaps_tell_nothing(everything: Sampled, classes: list[Sampled], per_row: int) -> Array:
    """Return which columns have gaps that go with no class beyond chance; those of others tell something, and stay."""
    total = everything.missing
    share = total.astype(float) / everything.n_rows
    spread = share * (1.0 - share)
    told = np.zeros(total.size)  # of gaps that come by chance: as many squares of normal numbers as classes but one
    for group in classes:
        apart = group.missing.astype(float) / group.n_rows - share
        told += group.n_rows * apart * apart / np.where(spread > 0, spread, 1.0)
    return np.asarray(told / per_row <= most_by_chance(max(0, len(classes) - 1), SELDOM * total.size))
