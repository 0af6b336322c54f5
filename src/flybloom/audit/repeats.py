"""Rows that are the same to the model, and those of them that contradict each other."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flybloom._internal.typing import Array
from flybloom.estimators.access import scoring


class Repeats(NamedTuple):
    """Rows with equal winners: no model of these counts tells them apart.

    Parameters
    ----------
    groups : list of ndarray
        The positions of rows with equal winners, two or more; the largest groups first.
    contradictions : list of ndarray
        Those groups in which labels, or targets, differ.
    """

    groups: list[Array]
    contradictions: list[Array]


def repeats(model: Any, X: Any, y: Any) -> Repeats:
    """Return which rows are the same to a model, and which of them have different labels.

    Parameters
    ----------
    model : estimator
        That hashes rows; it need not have learned these.
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
