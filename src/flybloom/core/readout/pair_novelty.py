"""Novelty from pairs of winners: the leverage of a row among the rows that were counted.

With w the hash of a row (rho ones among m) and G = sum of w w' over the rows learned, the leverage of a new row is
``l = w' (G + alpha I)^-1 w``. It is the variance, over alpha, of a Gaussian process whose kernel is the number of
common winners [1]_: rows whose winners are explained together by those of known rows have little of it, rows whose
winners were never met have ``rho / alpha``. Learned as well, the row would have the leverage ``l / (1 + l)`` (Sherman
and Morrison), from 0 to 1; that is its novelty. So the leverage of a row that was learned is its novelty to the others.

What is solved here is derived and never kept in files. It is computed in float64 by LAPACK, so its last bits may depend
on the machine. Sums go through the winners in ascending order: no score depends on blocks or threads.

References
----------
.. [1] C. E. Rasmussen and C. K. I. Williams (2006). Gaussian Processes for Machine Learning, section 2.7.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from flybloom._internal.typing import Array, Winners
from flybloom.core import _kernels
from flybloom.core.counts.pairs import PairCounts


class PairNovelty(NamedTuple):
    """The inverse of the pairs, with a penalty on the diagonal."""

    inverse: Array  # (n_components, n_components), of which the lower half in C's order is filled in
    freedom: float  # the leverage of all learned rows together

    def mean_of_learned(self, n_rows: int) -> float:
        """Return the mean leverage of the learned rows; 1 of no rows."""
        return self.freedom / n_rows if n_rows else 1.0

    def of_new(self, winners: Winners) -> Array:
        """Return the leverage that rows would have if they were learned."""
        leverage = self._raw(winners)
        return np.asarray(leverage / (1.0 + leverage))

    def of_learned(self, winners: Winners) -> Array:
        """Return the leverage of learned rows: what `of_new` gives where each alone had not been learned."""
        return np.minimum(self._raw(winners), 1.0)

    def _raw(self, winners: Winners) -> Array:
        """Return ``w' (G + alpha I)^-1 w``."""
        leverage = np.empty(len(winners))
        _kernels.leverage.winner_forms(winners, self.inverse, leverage)
        return np.maximum(leverage, 0.0)


def solve(counts: PairCounts, alpha: float) -> PairNovelty:
    """Return what the leverage of rows follows from.

    Parameters
    ----------
    counts : PairCounts
        Pairs of winners.
    alpha : float
        What is added to the diagonal: wins of each component that no row had.
    """
    matrix = counts.square().T  # the upper half, in Fortran's order
    matrix[np.diag_indices_from(matrix)] += alpha
    factor = linalg.cholesky(matrix, lower=False, overwrite_a=True, check_finite=False)
    upper, _ = linalg.lapack.dpotri(factor, lower=0, overwrite_c=1)
    freedom = counts.n_components - alpha * float(np.trace(upper))  # the trace of G (G + alpha I)^-1
    return PairNovelty(upper.T, freedom)
