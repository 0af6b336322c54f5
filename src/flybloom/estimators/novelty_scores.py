"""What follows from a read-out of counts, by novelty or otherwise: labels, scores and probabilities."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

import numpy as np

from flybloom._internal.typing import Array, Codes, Features, Novelty, Winners
from flybloom.core import _kernels
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.readout.scorer import Scorer
from flybloom.estimators.linear_scores import probabilities


class ReadOut(Protocol):
    """What makes labels and scores of winners."""

    @property
    def temperature_unit(self) -> float:
        """What the temperature of probabilities is multiplied by: scores may be sums."""

    def scores(self, winners: Winners, out: Array | None = None) -> Array:
        """Return how much each row belongs to each class; larger is better."""

    def most_familiar(self, winners: Winners, seed: int) -> Codes:
        """Return the class of each row."""


class ReadRows(NamedTuple):
    """Rows on their way to labels and scores."""

    rows: Features  # checked
    hasher: Hasher
    classes: Array
    read_out: ReadOut


class ScoredRows(NamedTuple):
    """Rows on their way to novelties."""

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

    def _reading_out(self, X: Any) -> AbstractContextManager[ReadRows]:
        """Give the same with what labels are read by; novelty, unless a subclass knows better."""
        return self._scoring_by_novelty(X)  # type: ignore[return-value]

    def predict(self, X: Any) -> Array:
        """Return the class to which each row is least novel, or of the largest score where that is the read-out.

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
        with self._reading_out(X) as (rows, hasher, classes, read_out):
            codes, seed = np.empty(rows.shape[0], np.int64), hasher.projection.seed

            def decide(block: slice, winners: Winners) -> None:
                codes[block] = read_out.most_familiar(winners, seed)

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

    def decision_scores(self, X: Any) -> Array:
        """Return how much each row belongs to each class, also of two; larger is better.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Minus the novelty, or what else the read-out says; columns as in ``classes_``.
        """
        return self._scores(X)[0]

    def decision_function(self, X: Any) -> Array:
        """Return how much each row belongs to each class; larger is better.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Minus the novelty, or what else the read-out says; for two classes, that of the second minus that of the
            first.
        """
        scores, _ = self._scores(X)
        if scores.shape[1] == 2:  # noqa: PLR2004
            with _kernels.float_mode.SmallFloatsKept():
                difference: Array = scores[:, 1] - scores[:, 0]
            return difference
        return scores

    def predict_proba(self, X: Any) -> Array:
        """Return a probability for each class: the softmax of the scores over the temperature.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows sum to 1; columns as in ``classes_``.
        """
        scores, temperature_unit = self._scores(X)
        with _kernels.float_mode.SmallFloatsKept():
            return probabilities(scores, self.temperature * temperature_unit)

    def _scores(self, X: Any) -> tuple[Array, float]:
        """Return how much each row belongs to each class, and what the temperature is to be multiplied by."""
        with self._reading_out(X) as (rows, hasher, classes, read_out):
            result = np.empty((rows.shape[0], classes.size))

            def score(block: slice, winners: Winners) -> None:
                read_out.scores(winners, result[block])

            hasher.for_each_block(rows, score, self.n_jobs)
            return result, read_out.temperature_unit
