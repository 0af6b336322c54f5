"""Novelty of learned rows, each as if it alone had not been learned: one count less for each of its winners."""

from __future__ import annotations

from functools import cache

import numpy as np

from flybloom._internal.typing import Array, Codes, CountTable, Novelty, Winners
from flybloom.core import _kernels
from flybloom.core.counts.by_class import ClassCounts
from flybloom.core.readout.class_weight import ClassWeight, left_out_weights
from flybloom.core.readout.filters import WeightTable, auto_decay, coarse, mean_count, step_bits, table_by_class


class LeaveOneOut:
    """Scores learned rows with counts that must not change meanwhile.

    Parameters
    ----------
    counts : array of shape (n_components, n_classes)
        How often each component won in each class.
    classes, class_count : array of shape (n_classes,)
        The labels, and the rows of each.
    decay : float
        c in the paper.
    class_weight : "balanced", dict or None
        How much each class counts; "balanced" follows from the rows that are left.
    """

    def __init__(
        self, counts: CountTable, classes: Array, class_count: Array, decay: float, class_weight: ClassWeight
    ) -> None:
        weights = left_out_weights(class_weight, classes, class_count)
        bits = step_bits(decay, int(class_count.max(initial=0)), weights)
        self._counts, self._class_count = coarse(counts, bits), class_count
        self._table = table_by_class(decay, class_count, weights, bits)
        if weights is None:  # the same for a class's own rows and for others
            starts, lasts = (np.tile(part, (3, 1)) for part in self._table[1:])
            self._table = WeightTable(self._table.values, starts, lasts)

    def novelty(self, winners: Winners, codes: Codes) -> Novelty:
        """Return the novelty to each class of rows of the classes `codes`; what was not learned is not left out."""
        result = np.empty((len(winners), self._counts.shape[1]))
        _kernels.leave_out.leave_one_out_novelty(winners, codes, self._counts, self._class_count, *self._table, result)
        return result


class FollowingLeaveOneOut:
    """Scores learned rows with the decay that the counts without each of them ask for.

    Parameters
    ----------
    counts : ClassCounts
        The counts, which must not change meanwhile.
    class_weight : "balanced", dict or None
        How much each class counts.
    """

    def __init__(self, counts: ClassCounts, class_weight: ClassWeight) -> None:
        self._counts, self._class_weight = counts, class_weight
        self._with_decay = cache(self._leave_one_out)  # few: a row hardly changes what all of them ask for

    def novelty(self, winners: Winners, codes: Codes) -> Novelty:
        """Return the novelty to each class of rows of the classes `codes`; what was not learned is not left out."""
        decays = np.array([self._decay_without(code) for code in range(self._counts.classes.size)])[codes]
        result = np.empty((len(winners), self._counts.classes.size))
        for decay in np.unique(decays).tolist():
            some = np.flatnonzero(decays == decay)
            result[some] = self._with_decay(decay).novelty(winners[some], codes[some])
        return result

    def _decay_without(self, code: int) -> float:
        """Return the decay of all counts without a row of a class."""
        class_count = self._counts.class_count.copy()
        class_count[code] -= class_count[code] > 0
        return auto_decay(mean_count(class_count, self._counts.n_components, self._counts.n_winners))

    def _leave_one_out(self, decay: float) -> LeaveOneOut:
        """Return what scores with one decay."""
        counts = self._counts
        return LeaveOneOut(counts.table, counts.classes, counts.class_count, decay, self._class_weight)
