"""How much each learned row weighs in its own score: what leaving it out is computed from."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from flybloom._internal.typing import Array, Winners
from flybloom.core import _kernels
from flybloom.core.readout.novelty_forms import packed


class Leverages:
    """Inner products of hashes in the metric of ridge regression, ``1 / n + (h - mu)' (A + alpha I)^-1 (k - mu)``.

    Parameters
    ----------
    factor : ndarray of shape (n_components, n_components)
        Upper Cholesky factor of A + alpha I in Fortran's order, in double precision.
    mean : ndarray of shape (n_components,)
        How often each component wins, mu.
    n_rows : float
        How many rows were counted.
    """

    def __init__(self, factor: Array, mean: Array, n_rows: float) -> None:
        self._factor, self._mean, self._n_rows = factor, mean, n_rows
        self._of_mean = linalg.cho_solve((factor, False), mean, check_finite=False)

    def of_rows(self, winners: Winners) -> Array:
        """Return the leverage of each row, from sums over pairs of its winners: far fewer than of components."""
        upper, _ = linalg.lapack.dpotri(self._factor, lower=0)
        forms = np.empty(len(winners))
        _kernels.leverage.winner_forms(winners, packed(upper.T), forms)
        return np.asarray(forms - 2.0 * self._sums(winners, self._of_mean) + self._constant)

    def between(self, winners: Winners, others: Winners) -> Array:
        """Return the products of rows, one in each line, with other rows, one in each column."""
        products = np.empty((len(winners), len(others)))
        for at, row in enumerate(winners.astype(np.int64)):
            hashed = np.zeros(self._mean.size)
            hashed[row] = 1.0
            solved = linalg.cho_solve((self._factor, False), hashed - self._mean, check_finite=False)
            products[at] = self._sums(others, solved) - self._mean @ solved + 1.0 / self._n_rows
        return products

    @property
    def _constant(self) -> float:
        """What the mean adds to every leverage."""
        return float(self._mean @ self._of_mean) + 1.0 / self._n_rows

    @staticmethod
    def _sums(winners: Winners, values: Array) -> Array:
        """Return the sums of the values of the winners of each row."""
        return np.array([values[row].sum() for row in winners.astype(np.int64)])
