"""Novelty of learned rows, each as if it alone had not been learned: one count less for each of its winners.

Only the filter of a row's own class changes, so its novelty to the others comes from an ordinary read-out. Class
weights follow from the rows that are left, and so does the decay where it is "auto".
"""

from __future__ import annotations

from functools import cache

import numpy as np

from flybloom._internal.typing import Codes, Novelty, Weights, Winners
from flybloom.core.counts.by_class import ClassCounts
from flybloom.core.readout.class_weight import ClassWeight, left_out_weights
from flybloom.core.readout.filters import AUTO, Filters, auto_decay, mean_count
from flybloom.core.readout.linear import LinearReadout

OTHER, OWN, OTHER_IF_ALONE = 0, 1, 2  # class weights, as `left_out_weights` returns them


class LeaveOneOut:
    """Scores learned rows with counts that must not change meanwhile.

    Parameters
    ----------
    counts : ClassCounts
        The counts.
    decay : float or "auto"
        c in the paper; "auto" for the decay that the counts without the row ask for.
    class_weight : "balanced", dict or None
        How much each class counts; "balanced" follows from the rows that are left.
    n_lookups : int, default=0
        Number of winners of all rows together: with many, the weights of all components are made first.
    """

    def __init__(
        self, counts: ClassCounts, decay: float | str, class_weight: ClassWeight = None, n_lookups: int = 0
    ) -> None:
        self._counts, self._class_weight, self._n_lookups = counts, class_weight, n_lookups
        self._decays = np.array([self._decay_without(decay, code) for code in range(counts.classes.size)])
        self._readers = cache(self._new_readers)

    def novelty(self, winners: Winners, codes: Codes, leaves: Weights | None = None) -> Novelty:
        """Return the novelty to each class of rows of the classes `codes`; what was not learned is not left out.

        `leaves` is how much each row counts; as one row, unless given.
        """
        counts, rho = self._counts, winners.shape[1]
        leaves = np.full(codes.size, counts.unit.per_row) if leaves is None else leaves
        less = leaves if isinstance(self._class_weight, str) else np.zeros(codes.size, np.int64)
        kinds = self._decays[codes], less, counts.class_count[codes] == less
        found = sorted({*zip(*(kind.tolist() for kind in kinds), strict=True)})
        result = np.empty((len(winners), counts.classes.size))
        for key in found:
            some = np.flatnonzero(np.all([kind == value for kind, value in zip(kinds, key, strict=True)], axis=0))
            others, own = self._readers(*key, self._n_lookups // len(found))
            left = counts.table[winners[some], codes[some, None]] - leaves[some, None]
            result[some] = np.abs(others.scores(winners[some])) / rho
            result[some, codes[some]] = own.novelty_of(np.maximum(left, 0), codes[some])
        return result

    def _new_readers(self, decay: float, less: int, is_alone: bool, n_lookups: int) -> tuple[LinearReadout, Filters]:
        """Return what reads rows of other classes, and the filters that each row's own class has without it."""
        counts = self._counts
        weights = left_out_weights(self._class_weight, counts.classes, counts.class_count, less)
        others, own = (
            Filters(counts.table, counts.class_count, decay, None if weights is None else weights[kind])
            for kind in (OTHER_IF_ALONE if is_alone else OTHER, OWN)
        )
        return others.read_out(counts.n_winners, 0, n_lookups), own

    def _decay_without(self, decay: float | str, code: int) -> float:
        """Return the decay of a count, for counts without a row of a class."""
        counts = self._counts
        if decay == AUTO:
            class_count = counts.class_count.copy()
            class_count[code] -= class_count[code] > 0
            decay = auto_decay(mean_count(class_count, counts.n_components, counts.n_winners) / counts.unit.per_row)
        return counts.unit.per_count(float(decay))
