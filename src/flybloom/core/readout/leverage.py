"""How much each learned row weighs in its own score: what leaving it out is computed from."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from flybloom._internal.blas import one_blas_thread
from flybloom._internal.typing import Array, Values, Winners
from flybloom.core import _kernels
from flybloom.core.readout.linear import weighted

FEW_ROWS = 1 / 3  # for each component: solving for these takes no longer than inverting
LANES = 32  # a multiple of which the kernel takes
ROWS_AT_ONCE = 512


class Leverages:
    """Inner products of hashes in the metric of ridge regression, ``1 / n + (h - mu)' (A + alpha I)^-1 (k - mu)``.

    Parameters
    ----------
    factor : ndarray of shape (n_components, n_components)
        Upper Cholesky factor of A + alpha I in Fortran's order; leverages are as precise as it is.
    mean : ndarray of shape (n_components,)
        How often each component wins, mu.
    n_rows : float
        How many rows were counted.
    """

    def __init__(self, factor: Array, mean: Array, n_rows: float) -> None:
        self._factor, self._mean, self._n_rows = factor, mean, n_rows

    @one_blas_thread()
    def of_rows(self, winners: Winners) -> Array:
        """Return the leverage of each row: the squared length of ``W' (h - mu)``, and 1 / n.

        Of many rows, from the inverse W of the factor: sums over winners, which are far fewer than components.
        """
        if len(winners) < self._mean.size * FEW_ROWS or winners.dtype == np.int8:
            return self._of_few(winners)
        (invert,) = linalg.get_lapack_funcs(("trtri",), (self._factor,))
        inverse, _ = invert(self._factor, lower=0)
        centre = np.zeros(-(-self._mean.size // LANES) * LANES, inverse.dtype)
        centre[: self._mean.size] = inverse.T @ self._mean.astype(inverse.dtype)
        lengths = np.empty(len(winners))
        _kernels.leverage.squared_lengths(winners, inverse.T, centre, lengths)
        return lengths + 1.0 / self._n_rows

    def _of_few(self, winners: Winners) -> Array:
        """Return the leverage of each row, from its own equations."""
        leverage = np.empty(len(winners))
        for begin in range(0, len(winners), ROWS_AT_ONCE):
            rows = self._dense(winners[begin : begin + ROWS_AT_ONCE])
            rows -= self._mean.astype(rows.dtype)
            solved = linalg.solve_triangular(self._factor, rows.T, trans="T", overwrite_b=True, check_finite=False)
            leverage[begin : begin + ROWS_AT_ONCE] = np.einsum("ij,ij->j", solved, solved)
        return leverage + 1.0 / self._n_rows

    def _dense(self, winners: Winners | Values) -> Array:
        """Return hashes as rows of a matrix: ones where components won, or their values."""
        if winners.dtype == np.int8:
            return winners.astype(self._factor.dtype)
        rows = np.zeros((len(winners), self._mean.size), self._factor.dtype)
        np.put_along_axis(rows, winners.astype(np.int64), 1.0, axis=1)
        return rows

    @one_blas_thread()
    def between(self, winners: Winners, others: Winners) -> Array:
        """Return the products of rows, one in each line, with other rows, one in each column."""
        products = np.empty((len(winners), len(others)))
        for at, row in enumerate(self._dense(winners)):
            solved = linalg.cho_solve((self._factor, False), row - self._mean, check_finite=False)
            products[at] = weighted(others, solved) - self._mean @ solved + 1.0 / self._n_rows
        return products
