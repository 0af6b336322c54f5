"""Scores and predictions of outlier detectors."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import OutlierMixin

from flybloom._internal.typing import Array, Features, Winners
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.readout.novelty_forms import NoveltyForm


class NoveltyReading(NamedTuple):
    """Validated rows with the novelty read-out."""

    rows: Features  # checked
    hasher: Hasher
    form: NoveltyForm
    offset: Callable[[], float]  # tells the threshold on minus the novelty

    def novelty(self, n_jobs: int | None) -> Array:
        """Return the novelty of each row."""
        return read_winners(self.hasher, self.rows, n_jobs, lambda winners, _: self.form.novelty(winners))


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


def read_winners(hasher: Hasher, rows: Features, n_jobs: int | None, read: Callable[[Winners, slice], Array]) -> Array:
    """Return what is read from the winners of each block."""
    result = np.empty(rows.shape[0])

    def score(block: slice, winners: Winners) -> None:
        result[block] = read(winners, block)

    hasher.for_each_block(rows, score, n_jobs)
    return result
