"""What follows from how novel rows are: scores, and which rows are outliers."""

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
    """Rows on their way to novelty, with all that it depends on."""

    rows: Features  # checked
    hasher: Hasher
    form: NoveltyForm
    offset: Callable[[], float]  # tells the threshold on minus the novelty

    def novelty(self, n_jobs: int | None) -> Array:
        """Return how novel each row is."""
        return read_winners(self.hasher, self.rows, n_jobs, lambda winners, _: self.form.novelty(winners))


class NoveltyScores(OutlierMixin):  # type: ignore[misc]
    """Novelty, scores and labels of a detector; a subclass gives `_reading_novelty`."""

    n_jobs: int | None

    def _reading_novelty(self, X: Any) -> AbstractContextManager[NoveltyReading]:
        """Give rows and how their novelty is read, which stays as it is until the end of the with block."""
        raise NotImplementedError

    def novelty(self, X: Any) -> Array:
        """Return how novel each row is.

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
        """Return minus the novelty of each row: the lower, the more abnormal.

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
        """Return `score_samples` less the threshold: negative for outliers.

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
        """Tell which rows are outliers.

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
