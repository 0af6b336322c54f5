"""Prediction sets and intervals by cross-conformal prediction."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from flybloom._internal.typing import Array
from flybloom._internal.validation import check_labels, check_targets, taken
from flybloom.core.counts.columns import known_codes
from flybloom.estimators.access import forgetting

MIN_ROWS = 2  # of a fold, and folds
VALUES_AT_ONCE = 2**23  # that bounds are chosen from


class _Fold(NamedTuple):
    """A model without one fold, and its residuals there."""

    model: Any
    scores: Array  # (n_rows, n_outputs): distances of targets, or (n_rows,): one minus the probability of the label
    codes: Array  # of the labels of the rows; empty for targets


class CrossConformal:
    """Prediction sets or intervals around the predictions of a fitted model.

    The rows are split into folds, and each fold is forgotten from a copy of the model, which is exact. The residuals on
    the fold calibrate the sets: cross-conformal prediction for labels, CV+ for numbers.

    At least a share of ``1 - 2 * alpha - sqrt(2 / n_rows)`` of new rows is covered, for ``alpha = 1 - coverage``
    (Barber, Candes, Ramdas and Tibshirani 2021), if rows are exchangeable and the encoding does not depend on the fold:
    it was fitted beforehand, or the model still holds all of its rows. The measured coverage is close to ``coverage``;
    see docs/intervals.md.

    Parameters
    ----------
    model : FlyRidgeRegressor, FlyRidgeClassifier or FlyBloomClassifier
        A fitted model; it is not changed.

    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows that the model has learned: all, or a random sample.

    y : array-like
        Their labels or targets.

    n_folds : int, default=10
        Number of folds.

    random_state : int, default=0
        Seed of the assignment of rows to folds.

    See Also
    --------
    FlyRidgeRegressor : A model for numbers.
    FlyRidgeClassifier : A model for labels.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from flybloom import CrossConformal, FlyRidgeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = FlyRidgeRegressor(random_state=0).fit(X[:300], y[:300])
    >>> low, high = CrossConformal(model, X[:300], y[:300]).predict_interval(X[300:], coverage=0.9).T
    >>> bool(0.85 < ((low <= y[300:]) & (y[300:] <= high)).mean() < 0.95)
    True
    """

    def __init__(self, model: Any, X: Any, y: Any, *, n_folds: int = 10, random_state: int = 0) -> None:
        if not hasattr(model, "forget") or not hasattr(model, "predict"):
            msg = (
                "CrossConformal needs a model that forgets and predicts. Expected a FlyRidgeRegressor or a classifier. "
                f"Got {type(model).__name__} instead."
            )
            raise TypeError(msg)
        self._has_classes = hasattr(model, "classes_")
        targets = check_labels(y) if self._has_classes else check_targets(y)
        n_rows = len(targets)
        if not MIN_ROWS <= n_folds <= n_rows // MIN_ROWS:
            msg = (
                f"n_folds must be a whole number from 2 to {n_rows // MIN_ROWS}, half the rows. Got {n_folds} instead."
            )
            raise ValueError(msg)
        self._classes = model.classes_ if self._has_classes else None
        self.n_rows_ = n_rows
        order = np.random.default_rng(random_state).permutation(n_rows)
        self._folds = [self._without(model, X, targets, order[fold::n_folds]) for fold in range(n_folds)]

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Array:
        """Return prediction intervals with the given coverage.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        coverage : float, default=0.9
            Share of new targets inside their interval.

        Returns
        -------
        ndarray of shape (n_samples, 2) or (n_samples, n_outputs, 2)
            Lower and upper bounds; infinite if there are too few rows.
        """
        _check_coverage(coverage)
        self._require(has_classes=False)
        predicted = np.array([check_targets(fold.model.predict(X)) for fold in self._folds])
        rank = math.ceil(coverage * (self.n_rows_ + 1))
        bounds = np.empty((*predicted.shape[1:], 2))
        bounds[..., 0], bounds[..., 1] = -np.inf, np.inf
        step = max(1, VALUES_AT_ONCE // (self.n_rows_ * predicted.shape[2]))
        for begin in range(0, predicted.shape[1] if rank <= self.n_rows_ else 0, step):
            some = slice(begin, begin + step)
            bounds[some, :, 0] = -self._moved(-predicted[:, some], rank)
            bounds[some, :, 1] = self._moved(predicted[:, some], rank)
        return bounds[:, 0] if bounds.shape[1] == 1 else bounds

    def predict_set(self, X: Any, coverage: float = 0.9, *, by_class: bool = False) -> Array:
        """Return prediction sets with the given coverage.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        coverage : float, default=0.9
            Share of new rows whose label is in their set.
        by_class : bool, default=False
            Whether the coverage holds for each class (Mondrian conformal prediction); sets are then larger.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), bool
            Columns as in ``classes_`` of the model. Sets may be empty.
        """
        _check_coverage(coverage)
        self._require(has_classes=True)
        assert self._classes is not None  # noqa: S101
        n_classes = self._classes.size
        smaller: Any = 0
        n_compared = np.full(n_classes, self.n_rows_)
        if by_class:
            n_compared = np.bincount(np.concatenate([fold.codes for fold in self._folds]), minlength=n_classes)
        for fold in self._folds:
            own = 1.0 - self._probabilities(fold.model, X)
            for code in range(n_classes) if by_class else (slice(None),):
                scores = fold.scores[fold.codes == code] if by_class else fold.scores
                counts = np.searchsorted(np.sort(scores), own[:, code], side="left")
                found = np.zeros(own.shape, np.int64)
                found[:, code] = counts
                smaller = smaller + found
        return np.asarray(smaller < coverage * (n_compared + 1))

    def _moved(self, predicted: Array, rank: int) -> Array:
        """Return an order statistic of predictions plus residuals of their folds."""
        moved = [mine[None] + fold.scores[:, None] for mine, fold in zip(predicted, self._folds, strict=True)]
        return np.asarray(np.partition(np.concatenate(moved), rank - 1, axis=0)[rank - 1])

    def _without(self, model: Any, X: Any, targets: Array, rows: Array) -> _Fold:
        """Return a model without a fold, and its residuals there."""
        fold, own = taken(X, rows), targets[rows]
        left = forgetting(model, fold, own if self._has_classes or own.shape[1] > 1 else own[:, 0])
        if not self._has_classes:
            return _Fold(left, np.abs(own - check_targets(left.predict(fold))), np.empty(0, np.int64))
        codes = known_codes(own, model.classes_)
        chances = self._probabilities(left, fold)
        return _Fold(left, 1.0 - chances[np.arange(len(codes)), codes], codes)

    def _probabilities(self, model: Any, X: Any) -> Array:
        """Return the probabilities of all labels, 0 for those missing in a fold."""
        chances = model.predict_proba(X)
        assert self._classes is not None  # noqa: S101
        if chances.shape[1] == self._classes.size:
            return np.asarray(chances)
        every = np.zeros((len(chances), self._classes.size))
        every[:, known_codes(model.classes_, self._classes)] = chances
        return every

    def _require(self, *, has_classes: bool) -> None:
        """Raise an error for sets of numbers and intervals of labels."""
        if self._has_classes != has_classes:
            found, right = ("labels", "predict_set") if self._has_classes else ("numbers", "predict_interval")
            msg = f"The model predicts {found}. Use {right}."
            raise TypeError(msg)


def _check_coverage(coverage: float) -> None:
    """Raise an error unless the coverage is between 0 and 1."""
    if not 0 < coverage < 1:
        msg = f"coverage must be a number between 0 and 1. Got {coverage!r} instead."
        raise ValueError(msg)
