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
        return probabilities(self.decision_scores(X), self.temperature_)


def probabilities(scores: Array, temperature: float) -> Array:
    """Return the softmax of scores over a temperature, with the class of the largest score on top."""
    probability = np.asarray(softmax(scores / temperature, axis=1))
    best = scores.argmax(axis=1)
    tied = np.flatnonzero(probability.argmax(axis=1) != best)  # scores nearer than a probability can show
    probability[tied, best[tied]] = np.nextafter(probability[tied].max(axis=1), 1)
    return probability
