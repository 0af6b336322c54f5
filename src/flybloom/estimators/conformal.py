"""Prediction sets and intervals by cross-conformal prediction."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from flybloom._internal.typing import Array
from flybloom._internal.validation import check_labels, check_targets, taken
from flybloom.core.counts.columns import known_codes
from flybloom.core.sketch import content_hashes
from flybloom.estimators.access import forgetting, scoring

MIN_ROWS = 2  # of a fold, and folds


class _Fold(NamedTuple):
    """A model without one fold, and its residuals there."""

    model: Any
    scores: Array  # (n_rows, n_outputs): distances of targets, or (n_rows,): one minus the probability of the label
    codes: Array  # of the labels of the rows; empty for targets


class CrossConformal:
    """Prediction sets or intervals around the predictions of a fitted model.

    The rows are split into folds, and each fold is forgotten from a copy of the model, which is exact. Residuals of
    each fold, of the model without it, calibrate the sets. Each new row is predicted by one of these models, which
    follows from its values: all of them together are better than each of them alone, so that residuals of one would be
    too large for predictions of all, and sets too large as well.

    At least a share of ``coverage - 0.74 / sqrt(n_rows / n_folds)`` of new rows is covered on average, if rows are
    independent draws of one distribution and the encoding does not depend on the fold: it was fitted beforehand, or the
    model still holds all of its rows. The measured coverage is within a point of `coverage`; see docs/intervals.md.

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
        scores = np.concatenate([fold.scores for fold in self._folds])
        rank = math.ceil(coverage * (self.n_rows_ + 1))
        far = np.sort(scores, axis=0)[rank - 1] if rank <= self.n_rows_ else np.full(scores.shape[1], np.inf)
        predicted = self._by_fold(X, lambda model, rows: check_targets(model.predict(rows)))
        bounds = np.stack([predicted - far, predicted + far], axis=-1)
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
        own = 1.0 - self._by_fold(X, self._probabilities)
        scores, codes = (np.concatenate([getattr(fold, name) for fold in self._folds]) for name in ("scores", "codes"))
        sets = np.empty(own.shape, bool)
        for code in range(own.shape[1]):
            compared = np.sort(scores[codes == code] if by_class else scores)
            smaller = np.searchsorted(compared, own[:, code], side="left")
            sets[:, code] = smaller < coverage * (compared.size + 1)
        return sets

    def _by_fold(self, X: Any, predict: Callable[[Any, Any], Array]) -> Array:
        """Return predictions of rows, each by the model without one fold, whichever rows come with it."""
        with scoring(self._folds[0].model, X) as (rows, _):
            folds = content_hashes(rows, None) % np.uint64(len(self._folds))
        predicted: Array | None = None
        for at, fold in enumerate(self._folds):
            own = np.flatnonzero(folds == at)
            if own.size:
                found = predict(fold.model, taken(X, own))
                predicted = np.empty((len(folds), found.shape[1])) if predicted is None else predicted
                predicted[own] = found
        assert predicted is not None  # noqa: S101 - there is a row
        return predicted

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
