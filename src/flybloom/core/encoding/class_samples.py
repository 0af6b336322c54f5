"""Samples of the rows of each class, the same for any order and blocks: they are asked what sums cannot tell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from flybloom._internal.typing import Array, Weights
from flybloom.core.encoding.row_sample import RowSample, row_sample

MAX_CLASSES = 64  # beyond, rows are kept together


@dataclass
class Sampled:
    """What is known of some rows: how many they are, how often each value is missing, and a sample of them."""

    n_rows: int
    missing: Array
    sample: RowSample

    def __add__(self, other: Sampled) -> Sampled:
        """Return the same of both sets of rows together."""
        return Sampled(self.n_rows + other.n_rows, self.missing + other.missing, self.sample + other.sample)


@dataclass
class ClassSamples:
    """What is known of the rows of each class; of all together under None, where classes are not told apart.

    Those of parts of the data add up to those of the whole.
    """

    by_label: dict[Any, Sampled]
    per_row: int = 1  # how much weight is one row; it says how far chance goes

    def __add__(self, other: ClassSamples) -> ClassSamples:
        """Return the samples of both sets of rows together."""
        by_label = dict(self.by_label)
        for label, sampled in other.by_label.items():
            by_label[label] = by_label[label] + sampled if label in by_label else sampled
        return _limited(ClassSamples(by_label))

    @property
    def n_rows(self) -> int:
        """Number of rows, each as often as its weight says."""
        return sum(sampled.n_rows for sampled in self.by_label.values())

    @property
    def all_rows(self) -> Sampled:
        """What is known of all rows: the least fingerprints of all are among those of each class."""
        return reduce(add, self.by_label.values())

    @property
    def classes(self) -> list[Sampled]:
        """The classes, in an order that follows from their rows; none where they are not told apart."""
        present = [sampled for label, sampled in self.by_label.items() if label is not None]
        return sorted(present, key=lambda sampled: (sampled.n_rows, sampled.sample.fingerprints.tolist()))

    def in_rows(self, per_row: int) -> ClassSamples:
        """Return samples that know how much weight is one row."""
        return replace(self, per_row=per_row)


def class_samples(rows: Array, labels: Any, weights: Weights, most: int) -> ClassSamples:
    """Return samples of at most so many rows of each class, or of all rows where labels is None."""
    if labels is None:
        return ClassSamples({None: _sampled(rows, weights, most)})
    none = _sampled(rows[:0], weights[:0], most)  # there may be no rows at all
    classes, codes = np.unique(labels, return_inverse=True)
    members = {label: codes == code for code, label in enumerate(classes.tolist())}
    of_class = {label: _sampled(rows[some], weights[some], most) for label, some in members.items()}
    return _limited(ClassSamples({None: none, **of_class}))


def _limited(samples: ClassSamples) -> ClassSamples:
    """Return the samples of classes that have rows; of all together where they are too many, or were so before."""
    present = {label: sampled for label, sampled in samples.by_label.items() if sampled.n_rows > 0}
    if not present or None in present or len(present) > MAX_CLASSES:
        return ClassSamples({None: samples.all_rows})
    return ClassSamples(present)


def _sampled(rows: Array, weights: Weights, most: int) -> Sampled:
    """Return what is known of some rows."""
    is_missing = np.isnan(rows) if rows.dtype.kind == "f" else np.zeros(rows.shape, bool)
    return Sampled(int(weights.sum()), weights @ is_missing, row_sample(rows, weights, most))
