"""Novelty from pairs of winners: the leverage of a row among the rows that were counted.

With w the hash of a row (rho ones among m) and G = sum of w w' over the rows learned, the leverage of a new row is
``l = w' (G + alpha I)^-1 w``. It is the variance, over alpha, of a Gaussian process whose kernel is the number of
common winners [1]_: rows whose winners are explained together by those of known rows have little of it, rows whose
winners were never seen have ``rho / alpha``. Learned as well, the row would have the leverage ``l / (1 + l)`` (Sherman
and Morrison), from 0 to 1; that is its novelty. So the leverage of a row that was learned is its novelty to the others.

What is solved here is derived and never kept in files of counts. It is computed by LAPACK, so its last bits may depend
on the machine, and then rounded so that sums of it are exact. Relative errors of l are at most about the precision
times the condition, at most ``1 + n rho / alpha``: many components are solved in float32 where that is small.

References
----------
.. [1] C. E. Rasmussen and C. K. I. Williams (2006). Gaussian Processes for Machine Learning, section 2.7.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from flybloom._internal.blas import one_blas_thread
from flybloom._internal.typing import Array, Codes, Winners
from flybloom.core.counts.pairs import PairCounts
from flybloom.core.readout.novelty_forms import LeverageForm

MANY_COMPONENTS = 1024  # from here on float32 saves time worth having
MAX_CONDITION = 2.0**17  # for float32


class PairNovelty(NamedTuple):
    """The inverse of the pairs, with a penalty on the diagonal."""

    form: LeverageForm
    mean_of_learned: float  # novelty of learned rows, each as if it alone had not been learned; 1 of no rows

    def novelty(self, winners: Winners) -> Array:
        """Return the novelty of rows."""
        return self.form.novelty(winners)

    def of_learned(self, winners: Winners, own_ages: Codes) -> Array:  # noqa: ARG002
        """Return the novelty of learned rows, each as if it alone had not been learned: their leverage."""
        return np.minimum(self.form.leverage(winners), 1.0)


@one_blas_thread()
def solve(counts: PairCounts, alpha: float) -> PairNovelty:
    """Return what the leverage of rows follows from.

    Parameters
    ----------
    counts : PairCounts
        Pairs of winners.
    alpha : float
        What is added to the diagonal: wins of each component that no row had.
    """
    is_single = counts.n_components >= MANY_COMPONENTS and counts.n_rows * counts.n_winners < MAX_CONDITION * alpha
    matrix = counts.square(np.float32 if is_single else np.float64).T  # the upper half, in Fortran's order
    matrix[np.diag_indices_from(matrix)] += alpha
    factor = linalg.cholesky(matrix, lower=False, overwrite_a=True, check_finite=False)
    upper, _ = linalg.get_lapack_funcs("potri", (factor,))(factor, lower=0, overwrite_c=1)
    trace = float(np.trace(upper, dtype=np.float64))
    freedom = counts.n_components - alpha * trace  # the leverage of all rows: tr G (G + alpha I)^-1
    form = LeverageForm.of(upper.T, counts.n_winners)
    return PairNovelty(form, freedom / counts.n_rows if counts.n_rows else 1.0)
