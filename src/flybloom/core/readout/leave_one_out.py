"""Novelty of learned rows, each as if it alone had not been learned: one count less for each of its winners."""

from __future__ import annotations

import numpy as np

from flybloom import _kernels
from flybloom._internal.typing import Array, Codes, CountTable, Novelty, Winners
from flybloom.core.readout.class_weight import ClassWeight, left_out_weights
from flybloom.core.readout.weight_table import WeightTable, coarse, step_bits, table_by_class


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
        _kernels.class_weights.leave_one_out_novelty(
            winners, codes, self._counts, self._class_count, *self._table, result
        )
        return result
