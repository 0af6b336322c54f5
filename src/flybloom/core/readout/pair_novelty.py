"""Novelty from pairs of winners: the leverage of a row among the rows that were counted.

With w the hash of a row (rho ones among m) and G = sum of w w' over the rows learned, the leverage of a new row is
``l = w' (G + alpha I)^-1 w``. It is the variance, over alpha, of a Gaussian process whose kernel is the number of
common winners [1]_: rows whose winners are explained together by those of known rows have little of it, rows whose
winners were never seen have ``rho / alpha``. Learned as well, the row would have the leverage ``l / (1 + l)`` (Sherman
and Morrison), from 0 to 1; that is its novelty. So the leverage of a row that was learned is its novelty to the others.

What is solved here is derived and never kept in files of counts. It is computed in float64 by LAPACK, so its last bits
may depend on the machine, and then rounded so that sums of it are exact.

References
----------
.. [1] C. E. Rasmussen and C. K. I. Williams (2006). Gaussian Processes for Machine Learning, section 2.7.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from flybloom._internal.typing import Array, Codes, Winners
from flybloom.core.counts.pairs import PairCounts
from flybloom.core.readout.novelty_forms import LeverageForm


class PairNovelty(NamedTuple):
    """The inverse of the pairs, with a penalty on the diagonal."""

    form: LeverageForm
    mean_of_learned: float  # novelty of learned rows, each as if it alone had not been learned; 1 of no rows

    def of_learned(self, winners: Winners, own_ages: Codes) -> Array:  # noqa: ARG002
        """Return the novelty of learned rows, each as if it alone had not been learned: their leverage."""
        return np.minimum(self.form.leverage(winners), 1.0)


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
    freedom = counts.n_components - alpha * float(np.trace(upper))  # the leverage of all rows: tr G (G + alpha I)^-1
    form = LeverageForm.of(upper.T, counts.n_winners)
    return PairNovelty(form, freedom / counts.n_rows if counts.n_rows else 1.0)
