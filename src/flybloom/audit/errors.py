"""Errors in training rows: labels and targets that the model without a row disputes, duplicates and contradictions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flybloom._internal.typing import Array
from flybloom._internal.validation import check_labels, check_targets
from flybloom.core.counts.columns import known_codes
from flybloom.core.readout.temperature import fitted_temperature
from flybloom.estimators.access import nearly_left_out, scoring
from flybloom.estimators.scores import probabilities
from flybloom.estimators.solved import OutputsEstimator


class LabelErrors(NamedTuple):
    """Leave-one-out probabilities of the labels of learned rows.

    Parameters
    ----------
    ranked : ndarray of shape (n_samples,)
        Positions of all rows, the most suspicious first.
    quality : ndarray of shape (n_samples,)
        The probability of each row's own label, from 0 to 1.
    suggested : ndarray of shape (n_samples,)
        The most probable label.
    probabilities : ndarray of shape (n_samples, n_classes)
        Probabilities of all labels, columns as in ``classes_``; usable as `pred_probs` of cleanlab.
    """

    ranked: Array
    quality: Array
    suggested: Array
    probabilities: Array


def label_errors(model: Any, X: Any, y: Any) -> LabelErrors:
    """Return leave-one-out probabilities of the labels of learned rows.

    Leaving a row out takes no refit, and is as precise as the equations were solved: about 1e-6 of a score for more
    than 1024 components (`leave_one_out_decision` is more precise, and slower). The temperature of the probabilities
    is that of least log-loss on these rows. The encoding stays that of all rows; where it weighs columns by labels, the
    row's own had a small part in that. That is fine for finding rows, but do not take the share of labels that agree
    for an accuracy.

    Parameters
    ----------
    model : FlyBloomClassifier or FlyRidgeClassifier
        A model fitted to these rows.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows that were learned.
    y : array-like of shape (n_samples,)
        The labels they were learned with.

    Returns
    -------
    LabelErrors
        The ranking and what it follows from.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyRidgeClassifier
    >>> from flybloom.audit import label_errors
    >>> X, y = load_digits(return_X_y=True)
    >>> y[7] = 3  # it is a seven
    >>> found = label_errors(FlyRidgeClassifier(random_state=0).fit(X, y), X, y)
    >>> bool(7 in found.ranked[:20]), int(found.suggested[7])
    (True, 7)
    """
    if not hasattr(model, "leave_one_out_decision") or isinstance(model, OutputsEstimator):
        msg = (
            "label_errors needs a model of one label a row. Expected a FlyBloomClassifier or a FlyRidgeClassifier; for "
            f"targets that are numbers, a FlyRidgeRegressor and target_errors. Got {type(model).__name__} instead."
        )
        raise TypeError(msg)
    scores = nearly_left_out(model, X, y)
    codes = known_codes(check_labels(y, len(scores)), model.classes_)
    chances = probabilities(scores, fitted_temperature(-scores, codes))
    quality = chances[np.arange(len(codes)), codes]
    # the margin tells apart labels whose probabilities round to the same number
    margin = scores[np.arange(len(codes)), codes] - scores.max(axis=1)
    return LabelErrors(np.lexsort((margin, quality)), quality, model.classes_[scores.argmax(axis=1)], chances)


class TargetErrors(NamedTuple):
    """Leave-one-out residuals of the targets of learned rows.

    Parameters
    ----------
    ranked : ndarray of shape (n_samples,)
        The positions of all rows, the most suspicious first.
    distance : ndarray of shape (n_samples,)
        Absolute residual divided by the median over all rows, the maximum over outputs.
    expected : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Leave-one-out predictions.
    """

    ranked: Array
    distance: Array
    expected: Array


def target_errors(model: Any, X: Any, y: Any) -> TargetErrors:
    """Return leave-one-out residuals of the targets of learned rows.

    Parameters
    ----------
    model : FlyRidgeRegressor
        A model fitted to these rows.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows that were learned.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The targets they were learned with.

    Returns
    -------
    TargetErrors
        The ranking and what it follows from.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from flybloom import FlyRidgeRegressor
    >>> from flybloom.audit import target_errors
    >>> X, y = make_friedman1(500, noise=0.5, random_state=0)
    >>> y[7] += 20
    >>> int(target_errors(FlyRidgeRegressor(random_state=0).fit(X, y), X, y).ranked[0])
    7
    """
    if not hasattr(model, "leave_one_out_predict"):
        msg = f"target_errors needs a FlyRidgeRegressor. Got {type(model).__name__} instead: use label_errors."
        raise TypeError(msg)
    expected = model.leave_one_out_predict(X, y)
    targets = check_targets(y)
    apart = np.abs(targets - expected.reshape(targets.shape))
    typical = np.median(apart, axis=0)
    distance = (apart / np.where(typical > 0, typical, 1.0)).max(axis=1)
    return TargetErrors(np.argsort(-distance, kind="stable"), distance, expected)


class Repeats(NamedTuple):
    """Groups of rows with equal winners, which the model cannot distinguish.

    Parameters
    ----------
    groups : list of ndarray
        Positions of two or more rows with equal winners; the largest groups first.
    contradictions : list of ndarray
        Groups in which labels or targets differ.
    """

    groups: list[Array]
    contradictions: list[Array]


def repeats(model: Any, X: Any, y: Any) -> Repeats:
    """Return groups of rows with equal winners, and those with different labels.

    Parameters
    ----------
    model : estimator
        A fitted model; it need not have learned these rows.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows.
    y : array-like
        Their labels or targets.

    Returns
    -------
    Repeats
        Groups of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from flybloom import FlyRidgeClassifier
    >>> from flybloom.audit import repeats
    >>> X, y = load_iris(return_X_y=True)
    >>> X, y = np.vstack([X, X[3]]), np.append(y, 2)
    >>> found = repeats(FlyRidgeClassifier(random_state=0).fit(X, y), X, y)
    >>> any({3, 150} <= {*group.tolist()} for group in found.contradictions)
    True
    """
    with scoring(model, X) as (rows, learned):
        winners = learned.hasher.winners(rows, model.n_jobs)
    as_bytes = np.ascontiguousarray(winners).view(np.dtype((np.void, winners.itemsize * winners.shape[1]))).ravel()
    _, codes, counts = np.unique(as_bytes, return_inverse=True, return_counts=True)
    order = np.argsort(codes.ravel(), kind="stable")
    parts = np.split(order, np.cumsum(counts)[:-1])
    groups = sorted((part for part in parts if part.size > 1), key=lambda part: (-part.size, part[0]))
    labels = np.asarray(y)
    return Repeats(groups, [group for group in groups if (labels[group] != labels[group[:1]]).any()])
