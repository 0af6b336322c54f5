"""Novelty from counts by age: what is old multiplies a weight by less."""

from __future__ import annotations

import numpy as np

from flybloom._internal.typing import Array, Codes, CountTable, Winners
from flybloom.core import _kernels
from flybloom.core.readout.weight_table import coarse, decay_table, step_bits


class AgedFilter:
    """Scores rows with counts by age, which must not change meanwhile.

    Parameters
    ----------
    counts : array of shape (n_components, n_ages)
        How often each component won at each age, the newest first.
    decay : float
        How fast the filter gets used to a component; a win that is k of n steps old counts with ``(n - k) / n`` of it.
    """

    def __init__(self, counts: CountTable, decay: float) -> None:
        n, most = counts.shape[1], int(counts.max(initial=0))
        bits = step_bits(decay / n, most)
        self._counts, self._is_exact = coarse(counts, bits), bits == 0
        tables = [decay_table(float(decay) * (n - age) / n, (most >> bits) + 1, bits) for age in range(n)]
        longest = max(table.size for table in tables)
        self._tables = np.array([np.pad(table, (0, longest - table.size), mode="edge") for table in tables])

    def novelty(self, winners: Winners, own_ages: Codes) -> Array:
        """Return the mean weight of each row's winners, without the row's own win at its age (-1: nothing left out)."""
        result = np.empty(len(winners))
        if not self._is_exact:  # one win is less than a step of the counts
            own_ages = np.full_like(own_ages, -1)
        _kernels.recovery.recovered_novelty(winners, own_ages, self._counts, self._tables, result)
        return result
