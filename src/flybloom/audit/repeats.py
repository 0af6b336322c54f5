"""Duplicate rows and contradictory labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flybloom._internal.typing import Array
from flybloom.estimators.access import scoring


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
