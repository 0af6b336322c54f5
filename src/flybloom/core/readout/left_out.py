"""What ridge regression says when a learned row is left out: exactly, without learning again.

Leaving a row out changes the equations by a matrix of rank one. So its own score, and the scores of others, follow from
inner products with its hash (Sherman and Morrison 1950). The penalty and the encoding stay.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from flybloom._internal.blas import one_blas_thread
from flybloom._internal.typing import Array, Winners
from flybloom.core.readout.leverage import Leverages
from flybloom.core.readout.linear import weighted
from flybloom.core.readout.ridge import Solvable, System, without_own


class LeftOut:
    """The equations of some counts, solved in double precision.

    Within 1e-9 of a model that was fitted to the other rows, for a penalty from 1e-5 on. Below, equations that are
    nearly singular magnify what is rounded.

    Parameters
    ----------
    counts : PairsByClass or PairsByTarget
        Of all rows.
    alpha : float
        The penalty, as a multiple of the mean eigenvalue.
    """

    @one_blas_thread()
    def __init__(self, counts: Solvable, alpha: float) -> None:
        system = System(counts)
        factor = system.factor(alpha, np.float64)
        weights = linalg.cho_solve((factor, False), system.right, check_finite=False)
        rest = system.right - system.times(weights, alpha)
        weights += linalg.cho_solve((factor, False), rest, check_finite=False)  # one step of refinement
        self._weights, self._intercept = weights, system.totals / system.n_rows - system.mean @ weights
        self._leverages = Leverages(factor, system.mean, system.n_rows)

    def scores(self, winners: Winners) -> Array:
        """Return the scores of rows, with nothing left out."""
        return np.asarray(weighted(winners, self._weights) + self._intercept)

    def own(self, winners: Winners, truth: Array) -> Array:
        """Return the scores of learned rows, each left out of the model.

        The truth is what each row was learned with: `indicator` of its class, or its targets as `RightSide` has them.
        """
        return without_own(self.scores(winners), truth, self._leverages.of_rows(winners))

    def novelty(self, winners: Winners) -> Array:
        """Return 1 minus the score of each row for each class, which shrinks as far as known rows do not explain it."""
        return np.asarray(1.0 - self.scores(winners) / (1.0 + self._leverages.of_rows(winners))[:, None])

    def own_novelty(self, winners: Winners, truth: Array) -> Array:
        """Return the same of learned rows, each left out of the model."""
        leverage = np.minimum(self._leverages.of_rows(winners), 1.0)  # l / (1 + l) of the l without the row
        return np.asarray(1.0 - self.own(winners, truth) * (1.0 - leverage)[:, None])

    def changes(self, winners: Winners, learned: Winners, residuals: Array) -> Array:
        """Return by how much scores change when one learned row is left out: (n_rows, n_learned, n_columns).

        The residuals are those of the learned rows, each left out: the truth less `own`.
        """
        return -self._leverages.between(winners, learned)[:, :, None] * residuals
