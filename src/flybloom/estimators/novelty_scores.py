"""What follows from how novel rows are to classes: labels, scores and probabilities."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax

from flybloom._internal.typing import Array, Features, Novelty, Winners
from flybloom.core import _kernels
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.readout.scorer import Scorer


class ScoredRows(NamedTuple):
    """Rows on their way to scores."""

    rows: Features  # checked
    hasher: Hasher
    classes: Array
    scorer: Scorer


class NoveltyScores:
    """Labels, scores and probabilities of a classifier that has filters; a subclass gives `_scoring_by_novelty`."""

    temperature: float
    n_jobs: int | None

    def _scoring_by_novelty(self, X: Any) -> AbstractContextManager[ScoredRows]:
        """Give the rows, what hashes and what scores them, which stay as they are until the end of the with block."""
        raise NotImplementedError

    def predict(self, X: Any) -> Array:
        """Return the class to which each row is least novel.

        Classes that tie are chosen between by a hash of the seed and the row's winners: as if at random, but always the
        same for the same row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        with self._scoring_by_novelty(X) as (rows, hasher, classes, scorer):
            codes, seed = np.empty(rows.shape[0], np.int64), hasher.projection.seed

            def decide(block: slice, winners: Winners) -> None:
                codes[block] = scorer.most_familiar(winners, seed)

            hasher.for_each_block(rows, decide, self.n_jobs)
        return np.asarray(classes[codes])

    def novelty(self, X: Any) -> Novelty:
        """Return how novel each row is to each class, f_i(x) in the paper.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            From 0, familiar, to 1, never met; columns as in ``classes_``.
        """
        with self._scoring_by_novelty(X) as (rows, hasher, classes, scorer):
            result = np.empty((rows.shape[0], classes.size))

            def score(block: slice, winners: Winners) -> None:
                scorer.novelty(winners, result[block])

            hasher.for_each_block(rows, score, self.n_jobs)
        return result

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
