"""Base class of ridge estimators with one column of targets per output."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin

from flybloom._internal.typing import Array, Features, Winners
from flybloom.core.algebra import Forgotten
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.readout.linear import LinearReadout
from flybloom.core.readout.outputs import FrozenOutputs
from flybloom.estimators.solved import SolvedEstimator


class OutputsEstimator(MultiOutputMixin, SolvedEstimator):  # type: ignore[misc]
    """Estimator of one or more outputs from pair counts and sums of targets."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit from scratch.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 3 counts as three copies. For fractions, see `weight_unit`.

        Returns
        -------
        estimator
            The fitted estimator itself.
        """
        self._learn_rows(X, y, sample_weight, anew=True)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Update the model with a block of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their targets, with the same number of outputs as before.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 3 counts as three copies. For fractions, see `weight_unit`.

        Returns
        -------
        estimator
            The estimator itself.
        """
        self._learn_rows(X, y, sample_weight)
        return self

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Forgotten:
        """Remove rows: afterwards the counts equal, bit for bit, those of a model that never learned them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that were learned before.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The targets with which they were learned.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights with which they were learned.

        Returns
        -------
        Forgotten
            Its ``extent`` is "complete" if nothing remains of the rows, or "counts only" if the encoding in use differs
            from that of the remaining rows; ``steps`` lists the differences.

        Raises
        ------
        NeverLearnedError
            If the rows cannot all have been learned. The model is then unchanged.
        """
        return self._forget(X, y, sample_weight)

    @property
    def n_rows_(self) -> Any:
        """Number of rows learned, weights included."""
        counts = self._handed_out("n_rows_")
        return counts.unit.rows(counts.n_rows)

    @property
    def weight_unit_(self) -> float:
        """The weight that counts as one row."""
        return float(self._handed_out("weight_unit_").unit.weight)

    def _frozen_outputs(self, counts: Any) -> FrozenOutputs:
        """Return weights, intercepts and the transformation of scores as a frozen read-out."""
        ridge = self._solution(counts)
        return FrozenOutputs(ridge.weights, ridge.read_out().intercept, ridge.unit, counts.grid)


def output_scores(rows: Features, hasher: Hasher, read_out: LinearReadout, n_jobs: int | None) -> Array:
    """Return the score of each row for each column of the weights."""
    scores = np.empty((rows.shape[0], read_out.intercept.size))

    def score(block: slice, winners: Winners) -> None:
        read_out.scores(winners, scores[block])

    hasher.for_each_block(rows, score, n_jobs)
    return scores


def targets_of(rows: Features, hasher: Hasher, grid: Any, scores: Array) -> Array:
    """Return the targets for scores of shape (..., n_samples, n_outputs)."""
    offsets = grid.offsets(lambda some: hasher.encoder.columns_apart(rows[some]), rows.shape[0])
    return np.asarray(grid.targets(scores, offsets))


def as_given(targets: Array) -> Array:
    """Drop the last dimension for a single output."""
    return targets[:, 0] if targets.shape[1] == 1 else targets
