"""Target errors: targets far from their leave-one-out prediction."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flybloom._internal.typing import Array
from flybloom._internal.validation import check_targets


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
