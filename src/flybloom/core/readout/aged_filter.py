"""Novelty from counts by age: what is old adds less to the exponent of a weight."""

from __future__ import annotations

import numpy as np

from flybloom._internal.blas import one_blas_thread
from flybloom._internal.cached import cached_property
from flybloom._internal.typing import Array, Codes, CountTable, Winners
from flybloom.core.readout.filters import exponents_of, rate_of, weights_of
from flybloom.core.readout.novelty_forms import FilterForm


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
        n = counts.shape[1]
        self._counts, self._rates = counts, [rate_of(float(decay) * (n - age) / n) for age in range(n)]

    @cached_property
    def form(self) -> FilterForm:
        """What new rows are read by."""
        return FilterForm(self._weights_of(self._counts))

    def novelty(self, winners: Winners) -> Array:
        """Return the novelty of rows."""
        if winners.size < len(self._counts):  # so few rows do not need the weights of all components
            return FilterForm.mean_of(self._weights_of(self._counts[winners]))
        return self.form.novelty(winners)

    def of_learned(self, winners: Winners, own_ages: Codes) -> Array:
        """Return the novelty of rows of these ages (-1: faded), each left out of the model."""
        counts = self._counts[winners]
        is_own = own_ages[:, None, None] == np.arange(counts.shape[2])
        return FilterForm.mean_of(self._weights_of(counts - (is_own & (counts > 0))))

    @cached_property
    @one_blas_thread()
    def mean_of_learned(self) -> float:
        """Return the mean novelty of the rows that have not faded, each left out of the model."""
        total = 0.0
        for age in range(self._counts.shape[1]):
            counts = self._counts.copy()
            counts[:, age] = np.maximum(counts[:, age] - 1, 0)
            total += float(self._counts[:, age] @ self._weights_of(counts))
        n_wins = int(self._counts.sum(dtype=np.int64))
        return total / n_wins if n_wins else 1.0

    def _weights_of(self, counts: CountTable) -> Array:
        """Return the weights of counts, whose last axis is the ages; each adds to the exponent, the newest first."""
        exponents = np.zeros(counts.shape[:-1])
        for age, rate in enumerate(self._rates):
            exponents += exponents_of(counts[..., age], rate)
        return weights_of(exponents)
