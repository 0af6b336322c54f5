"""What follows from scores that are larger for likelier classes: labels and probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import softmax

from flybloom._internal.typing import Array


class LinearScores:
    """Labels and probabilities of a classifier that has `decision_scores`, ``classes_`` and ``temperature_``."""

    classes_: Any
    temperature_: Any

    def decision_scores(self, X: Any) -> Array:
        """Return how much each row belongs to each class; larger is better.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns as in ``classes_``.
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
            `decision_scores`; for two classes, that of the second minus that of the first.
        """
        scores = self.decision_scores(X)
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores  # noqa: PLR2004

    def predict(self, X: Any) -> Array:
        """Return the class of the largest score for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        codes = self.decision_scores(X).argmax(axis=1)  # first, because it says what is missing before fit
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any) -> Array:
        """Return a probability for each class: the softmax of the scores over ``temperature_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows sum to 1; columns as in ``classes_``.
        """
        return np.asarray(softmax(self.decision_scores(X) / self.temperature_, axis=1))
