"""Mixins with predictions from linear read-outs: labels, scores, probabilities and novelty."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import softmax
from sklearn.base import OutlierMixin

from flybloom._internal.deprecated import Renamed
from flybloom._internal.typing import Array, Features, Novelty, Winners
from flybloom.core.counts.columns import known_codes
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.readout import explanation
from flybloom.core.readout.linear import LinearReadout


class Reading(NamedTuple):
    """Validated rows with a read-out."""

    rows: Features  # checked
    hasher: Hasher
    classes: Array
    read_out: LinearReadout
    temperature: Callable[[], float]  # tells what scores are divided by before the softmax
    divisor: int = 1  # what sums are divided by to be scores: filters have means over winners

    def scores(self, n_jobs: int | None) -> Array:
        """Return the score of each row for each class."""
        result = np.empty((self.rows.shape[0], self.classes.size))
        self.hasher.read(self.rows, result, self.read_out.scores, n_jobs)
        if self.divisor > 1:
            result /= self.divisor
        return result

    def labels(self, n_jobs: int | None) -> Array:
        """Return the class with the largest score."""
        codes = np.empty(self.rows.shape[0], np.int64)
        self.hasher.read(self.rows, codes, self.read_out.labels, n_jobs)
        return np.asarray(self.classes[codes])

    def shares(self, labels: Any, weights: Array, n_jobs: int | None) -> Array:
        """Return the share of each feature in the sum of the weights of each row's winners for a class.

        The weight of a fern's winner is divided among the features of its tests.

        The class is that of `labels`, one for each row or one for all; None for the predicted class.
        """
        hasher = self.hasher
        connections, signs = hasher.projection.connections()
        m, n_summed = hasher.projection.n_components, hasher.n_summed_winners
        wanted = None if labels is None else np.broadcast_to(np.asarray(labels), self.rows.shape[0])
        given = None if wanted is None else known_codes(wanted, self.classes)

        result = np.empty((self.rows.shape[0], hasher.encoder.n_features))

        def divide(block: slice, winners: Winners) -> None:
            codes = self.read_out.labels(winners) if given is None else given[block]
            encoded = hasher.encoder.encode_dense(self.rows[block])
            summed = np.ascontiguousarray(winners[:, :n_summed])
            shares = explanation.feature_shares(encoded, summed, codes, connections, signs, weights)
            if hasher.ferns is not None:
                cells = winners[:, n_summed:]
                shares += hasher.ferns.shares(cells - np.uint32(m), weights[cells, codes[:, None]], shares.shape[1])
            result[block] = hasher.encoder.traced_back(shares)

        hasher.for_each_block(self.rows, divide, n_jobs)
        return result


class LinearScores:
    """Labels, scores and probabilities of a classifier; a subclass gives `_scoring` and `_reading`."""

    _old_attributes: ClassVar[Renamed] = {
        "decision_scores": ("decision_function(X)", lambda self, X: self._decision_scores(X))
    }
    n_jobs: int | None
    _scoring: Any  # gives rows, checked, and what was learned, until the end of the with block

    def _reading(self, rows: Features, learned: Any, *, by_filters: bool = False) -> Reading:
        """Return how such rows are read: as labels are, or by filters whatever labels are read by."""
        raise NotImplementedError

    def predict(self, X: Any) -> Array:
        """Predict the class with the largest score; with filters, the smallest novel class.

        Ties are broken by a hash of the seed and the winners: pseudo-randomly, but always in the same way for the same
        row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        with self._scoring(X) as (rows, learned):
            return self._reading(rows, learned).labels(self.n_jobs)

    def _decision_scores(self, X: Any) -> Array:
        """Return the score of each row for each class, also for two classes."""
        with self._scoring(X) as (rows, learned):
            return self._reading(rows, learned).scores(self.n_jobs)

    def decision_function(self, X: Any) -> Array:
        """Return the score of each row for each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Sums over the winners, or with filters the negative novelty; columns as in ``classes_``. For two classes,
            that of the second minus that of the first.
        """
        scores = self._decision_scores(X)
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores  # noqa: PLR2004

    def predict_proba(self, X: Any) -> Array:
        """Return probabilities: the softmax of the scores divided by the temperature.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows sum to 1; columns as in ``classes_``.
        """
        with self._scoring(X) as (rows, learned):
            reading = self._reading(rows, learned)
            return probabilities(reading.scores(self.n_jobs), reading.temperature())


class FilterScores(LinearScores):
    """The same for a classifier that has filters."""

    def novelty(self, X: Any) -> Novelty:
        """Return the novelty of each row to each class, f_i(x) in the paper.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            From 0, familiar, to 1, never seen; columns as in ``classes_``.
        """
        with self._scoring(X) as (rows, learned):
            reading = self._reading(rows, learned, by_filters=True)
            novelty: Novelty = np.abs(reading.scores(self.n_jobs))  # without the sign of a zero
        return novelty


def probabilities(scores: Array, temperature: float) -> Array:
    """Return the softmax of scores, in which the class with the largest score has the largest probability."""
    probability = np.asarray(softmax(scores / temperature, axis=1))
    best = scores.argmax(axis=1)
    tied = np.flatnonzero(probability.argmax(axis=1) != best)  # scores nearer than a probability can show
    probability[tied, best[tied]] = np.nextafter(probability[tied].max(axis=1), 1)
    return probability


class NoveltyReading(NamedTuple):
    """Validated rows with the novelty read-out."""

    rows: Features  # checked
    hasher: Hasher
    read: Callable[[Winners], Array]  # novelty from winners
    offset: Callable[[], float]  # tells the threshold on minus the novelty

    def novelty(self, n_jobs: int | None) -> Array:
        """Return the novelty of each row."""
        novelty = np.empty(self.rows.shape[0])
        return self.hasher.read(self.rows, novelty, self.read, n_jobs)


class NoveltyScores(OutlierMixin):  # type: ignore[misc]
    """Mixin with novelty, scores and labels; a subclass implements `_reading_novelty`."""

    n_jobs: int | None

    def _reading_novelty(self, X: Any) -> AbstractContextManager[NoveltyReading]:
        """Yield validated rows with a snapshot of the novelty read-out."""
        raise NotImplementedError

    def novelty(self, X: Any) -> Array:
        """Return the novelty of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            From 0, familiar, to 1, never seen.
        """
        with self._reading_novelty(X) as reading:
            return reading.novelty(self.n_jobs)

    def score_samples(self, X: Any) -> Array:
        """Return the negative novelty of each row: the lower, the more abnormal.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            From -1, never seen, to 0, familiar.
        """
        return -self.novelty(X)

    def decision_function(self, X: Any) -> Array:
        """Return `score_samples` minus the threshold: negative for outliers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Negative for outliers.
        """
        with self._reading_novelty(X) as reading:
            return -reading.novelty(self.n_jobs) - reading.offset()

    def predict(self, X: Any) -> Array:
        """Predict which rows are outliers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            -1 for outliers, 1 for the others.
        """
        return np.where(self.decision_function(X) < 0, -1, 1)
