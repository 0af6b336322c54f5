"""Counts read as complement naive Bayes: a class is likely where few of the wins of a row's winners lie outside of it.

Filters ask whether a component has won in a class, and hardly how often beside others. Of texts, most components have
won in most classes, and what tells is in how uneven a share. So here component j supports class i by

    log(wins of j + a) - log(wins of j in other classes + a)

which is 0 where it never won in the class. Added over the winners, and set against what as many wins drawn at random
from all rows would say, that is ComplementNB of scikit-learn, from the same integers as the filters.

A weight depends on its component's counts alone. It is an integer of one unit, see `linear.py`, and the
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
from flybloom.core.readout.linear import DerivedWeights, FrozenReadout, LinearReadout, TableWeights, in_units

SMOOTHING = 0.1  # wins that every component is given, in rows; by measurement, see docs/text.md
UNIT = 2.0**-18  # weights are below 2**6, so they have 24 binary digits
UNKNOWN = -128.0  # for each winner, in favour of a class without rows: less than any other class can have
OVERLAP = 0.25  # of winners, which are not independent as the rule supposes; so that the usual temperature suits
MAX_LOOKED_UP = 2**20  # wins of which the logarithm is looked up
VALUES_AT_ONCE = 2**20  # weights that are derived together


class Bayes:
    """Weights of counts as they are now, which must not change meanwhile.

    Parameters
    ----------
    counts : ClassCounts
        What is learned.
    class_weight : "balanced", dict or None
        How many rows each row of a class counts as.
    """

    def __init__(self, counts: ClassCounts, class_weight: ClassWeight = None) -> None:
        self._counts = counts
        self._by_class = class_weights(class_weight, counts.classes, counts.class_count)
        self.intercept = intercept_of(counts, counts.class_count, self._by_class)

    def weights(self) -> Array:
        """Return the weights of all components in units, int32, of shape (n_components, n_classes)."""
        table = self._counts.table
        out = np.empty(table.shape, np.int32)
        step = max(1, VALUES_AT_ONCE // max(1, table.shape[1]))
        for begin in range(0, len(table), step):
            some = slice(begin, begin + step)
            out[some] = weights_of(table[some], self._by_class, self._counts.unit.per_row)
        return out

    def frozen(self, temperature: float) -> FrozenReadout:
        """Return the read-out as files hold it, for a temperature of sums."""
        return FrozenReadout(self._counts.classes, self.weights(), self.intercept, UNIT, temperature)

    def read_out(self, seed: int, n_lookups: int = 0) -> LinearReadout:
        """Return what makes scores of winners.

        Parameters
        ----------
        seed : int
            Of the choice between classes that tie.
        n_lookups : int, default=0
            Number of winners of all rows together: with many, the weights of all components are made first.
        """
        if n_lookups < self._counts.n_components:
            return LinearReadout(DerivedWeights(self._of), self.intercept, UNIT, seed)
        return LinearReadout(TableWeights.of(self.weights()), self.intercept, UNIT, seed)

    def _of(self, components: Array) -> Array:
        """Return the weights of some components."""
        return weights_of(self._counts.table[components], self._by_class, self._counts.unit.per_row)


def temperature_unit(n_winners: int) -> float:
    """Return what the temperature of probabilities is multiplied by: how often a score has the same in it."""
    return n_winners * OVERLAP


def left_out_scores(
    counts: ClassCounts, class_weight: ClassWeight, winners: Winners, codes: Codes, leaves: Weights | None = None
) -> Array:
    """Return the scores of learned rows of these classes, each left out of the model.

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
            shape = some.size, winners.shape[1], counts.classes.size
            result[some] = (weights.reshape(shape).sum(axis=1, dtype=np.float64) + intercept) * UNIT
    return result


def weights_of(counts: CountTable, by_class: Array | None, per_row: int) -> Array:
    """Return what components with these counts say of each class in units, int32, in the shape of `counts`.

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
    return in_units(np.maximum(logs, 0.0), UNIT)


def intercept_of(counts: ClassCounts, class_count: Array, by_class: Array | None) -> Array:
    """Return what is added to sums of so many rows of each class, in units: wins drawn at random say nothing then."""
    n_winners = counts.n_winners
    rows = class_count / float(counts.unit.per_row) * (1.0 if by_class is None else by_class)
    total = math.fsum(rows.tolist())
    given = SMOOTHING * counts.n_components
    others = np.maximum(total - rows, 0.0)
    parts = logarithm(others * n_winners + given) - logarithm(np.array(total * n_winners + given))
    return np.rint(np.where(class_count > 0, parts, UNKNOWN) * n_winners / UNIT)


def _logs(wins: Array, per_row: int) -> Array:
    """Return the logarithms of integers of wins, with what every component is given."""
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
