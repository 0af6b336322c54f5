"""Label errors: labels with a low leave-one-out probability."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flybloom._internal.typing import Array
from flybloom._internal.validation import check_labels
from flybloom.core.counts.columns import known_codes
from flybloom.core.readout.temperature import fitted_temperature
from flybloom.estimators.access import nearly_left_out
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
