"""What follows from how novel rows are to classes: scores and probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import softmax

from flybloom._internal.typing import Array, Novelty
from flybloom.core import _kernels


class NoveltyScores:
    """Scores and probabilities of a classifier that has `novelty` and `temperature`."""

    temperature: float

    def novelty(self, X: Any) -> Novelty:
        """Return how novel each row is to each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            From 0, familiar, to 1, never met; columns as in ``classes_``.
        """
        raise NotImplementedError

    def decision_function(self, X: Any) -> Array:
        """Return how much each row belongs to each class; larger is better.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Minus the novelty; for two classes, the novelty to the first minus that to the second.
        """
        novelty = self.novelty(X)
        if novelty.shape[1] == 2:  # noqa: PLR2004
            with _kernels.float_mode.SmallFloatsKept():
                difference: Array = novelty[:, 0] - novelty[:, 1]
            return difference
        return -novelty

    def predict_proba(self, X: Any) -> Array:
        """Return a probability for each class: the softmax of minus the novelty over the temperature.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows sum to 1; columns as in ``classes_``.
        """
        with _kernels.float_mode.SmallFloatsKept():
            return np.asarray(softmax(self.novelty(X) / -self.temperature, axis=1))
