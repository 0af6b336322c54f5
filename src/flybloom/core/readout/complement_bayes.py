"""Counts read as complement naive Bayes: a class is likely where few of the wins of a row's winners lie outside of it.

Filters ask whether a component has won in a class, and hardly how often beside others. Of texts, most components have
won in most classes, and what tells is in how uneven a share. So here component j speaks for class i by

    log(wins of j + a) - log(wins of j in other classes + a)

which is 0 where it never won in the class. Added over the winners, and set against what as many wins drawn at random
from all rows would say, that is ComplementNB of scikit-learn, from the same whole numbers as the filters.

A weight depends on its component's counts alone. It is a whole number of one unit, see `linear_weights.py`, and the
logarithm is our own. So sums are the same in any order and on every machine.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from flybloom._internal.elementary import logarithm
from flybloom._internal.typing import Array, Codes, CountTable, Weights, Winners
from flybloom.core.counts.by_class import ClassCounts
from flybloom.core.readout.class_weight import ClassWeight, class_weights
from flybloom.core.readout.linear_weights import linear_scores, padded_zeros

SMOOTHING = 0.1  # wins that every component is given, in rows; by measurement, see docs/text.md
UNIT = 2.0**-18  # weights are below 2**6, so they have 24 binary digits
UNKNOWN = -128.0  # for each winner, in favour of a class without rows: less than any other class can have
OVERLAP = 0.25  # of winners, which are not independent as the rule supposes; so that the usual temperature suits
MAX_LOOKED_UP = 2**20  # wins of which the logarithm is looked up
VALUES_AT_ONCE = 2**20  # weights that are derived together


class BayesScorer:
    """Scores rows with the counts as they are now, which must not change meanwhile.

    Parameters
    ----------
    counts : ClassCounts
        What is learned.
    class_weight : "balanced", dict or None
        How many rows each row of a class counts as.
    n_lookups : int, default=0
        Number of winners of all rows together: with many, the weights of all components are made first.
    """

    def __init__(self, counts: ClassCounts, class_weight: ClassWeight = None, n_lookups: int = 0) -> None:
        self._counts = counts
        self._by_class = class_weights(class_weight, counts.classes, counts.class_count)
        self.intercept = intercept_of(counts, counts.class_count, self._by_class)
        self._padded: Array | None = None
        if n_lookups >= counts.n_components:
            self._padded = padded_zeros(*counts.table.shape)
            self._write(self._padded[:, : counts.classes.size])

    @property
    def temperature_unit(self) -> float:
        """What the temperature of probabilities is multiplied by: how often a score has the same in it."""
        return self._counts.n_winners * OVERLAP

    def weights(self) -> Array:
        """Return the weights of all components, float32, of shape (n_components, n_classes)."""
        result = np.empty(self._counts.table.shape, np.float32)
        self._write(result)
        return result

    def _write(self, out: Array) -> None:
        """Write the weights of all components, some at a time."""
        table = self._counts.table
        step = max(1, VALUES_AT_ONCE // max(1, table.shape[1]))
        for begin in range(0, len(table), step):
            some = slice(begin, begin + step)
            out[some] = weights_of(table[some], self._by_class, self._counts.unit.per_row)

    def scores(self, winners: Winners, out: Array | None = None) -> Array:
        """Return how much each row belongs to each class, in `out` if given."""
        if self._padded is not None:
            scores = linear_scores(winners, self._padded, self.intercept)
        else:
            weights = weights_of(self._counts.table[winners.ravel()], self._by_class, self._counts.unit.per_row)
            scores = _added(weights, winners.shape) + self.intercept
        if out is None:
            return scores
        out[:] = scores
        return out

    def most_familiar(self, winners: Winners, seed: int) -> Codes:  # noqa: ARG002
        """Return the class of the largest score of each row, the first where several tie."""
        codes: Codes = self.scores(winners).argmax(axis=1)
        return codes


def left_out_scores(
    counts: ClassCounts, class_weight: ClassWeight, winners: Winners, codes: Codes, leaves: Weights | None = None
) -> Array:
    """Return the scores of learned rows of these classes, each as if it alone had not been learned.

    `leaves` is how much each counts; as one row, unless given.
    """
    leaves = np.full(codes.size, counts.unit.per_row) if leaves is None else leaves
    result = np.empty((len(winners), counts.classes.size))
    step = max(1, VALUES_AT_ONCE // max(1, winners.shape[1] * counts.classes.size))
    for own, less in sorted({*zip(codes.tolist(), leaves.tolist(), strict=True)}):
        places = np.flatnonzero((codes == own) & (leaves == less))
        left = counts.class_count.copy()
        left[own] = max(left[own] - less, 0)
        by_class = class_weights(class_weight, counts.classes, left)
        intercept = intercept_of(counts, left, by_class)
        for begin in range(0, places.size, step):
            some = places[begin : begin + step]
            met = counts.table[winners[some].ravel()].astype(np.int64)
            met[:, own] = np.maximum(met[:, own] - less, 0)  # what was not learned is not left out
            weights = weights_of(met, by_class, counts.unit.per_row)
            result[some] = _added(weights, (some.size, winners.shape[1])) + intercept
    return result


def weights_of(counts: CountTable, by_class: Array | None, per_row: int) -> Array:
    """Return what components with these counts say of each class, float32, in the shape of `counts`.

    Parameters
    ----------
    counts : array of shape (n, n_classes)
        How often some components won in each class.
    by_class : array of shape (n_classes,) or None
        How many rows each row of a class counts as.
    per_row : int
        How many counts are one row, a power of two.
    """
    if by_class is None:
        total = counts.sum(axis=1, dtype=np.int64)
        logs = _logs(total[:, None], per_row) - _logs(total[:, None] - counts, per_row)
    else:
        wins = counts * (by_class / per_row)
        sums = np.zeros(len(wins))
        for column in wins.T:  # one after the other: a library adds up as it likes
            sums += column
        others = np.maximum(sums[:, None] - wins, 0.0)
        logs = logarithm(sums + SMOOTHING)[:, None] - logarithm(others + SMOOTHING)
    rounded: Array = np.rint(np.maximum(logs, 0.0) / UNIT) * UNIT
    return rounded.astype(np.float32)


def intercept_of(counts: ClassCounts, class_count: Array, by_class: Array | None) -> Array:
    """Return what is added to the sums of so many rows of each class: wins drawn at random say nothing then."""
    n_winners = counts.n_winners
    rows = class_count / float(counts.unit.per_row) * (1.0 if by_class is None else by_class)
    total = math.fsum(rows.tolist())
    given = SMOOTHING * counts.n_components
    others = np.maximum(total - rows, 0.0)
    parts = logarithm(others * n_winners + given) - logarithm(np.array(total * n_winners + given))
    return np.where(class_count > 0, parts, UNKNOWN) * n_winners


def _logs(wins: Array, per_row: int) -> Array:
    """Return the logarithms of whole numbers of wins, with what every component is given."""
    most = int(wins.max(initial=0))
    if most >= MAX_LOOKED_UP:
        return logarithm(wins / float(per_row) + SMOOTHING)
    logs: Array = _kept_logs(1 << most.bit_length(), per_row)[wins]
    return logs


@lru_cache(maxsize=4)
def _kept_logs(size: int, per_row: int) -> Array:
    """Return the logarithms of 0, 1, 2, ... wins."""
    logs = logarithm(np.arange(size) / float(per_row) + SMOOTHING)
    logs.flags.writeable = False
    return logs


def _added(weights: Array, shape: tuple[int, int]) -> Array:
    """Return the sums of the weights of each row's winners; exact, whatever the order."""
    sums: Array = weights.reshape(*shape, weights.shape[1]).sum(axis=1, dtype=np.float64)
    return sums
