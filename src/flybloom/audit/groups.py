"""Value of groups of rows, such as those of one source."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flybloom._internal.validation import taken
from flybloom.estimators.access import forgetting


class GroupValue(NamedTuple):
    """Value of one group of learned rows.

    Parameters
    ----------
    group : object
        Its name.
    n_rows : int
        How many rows it has.
    value : float
        Decrease of the test score without the group; negative if the group does harm.
    score_without : float
        Test score without the group.
    score_on_group : float
        Score on the group of the model without it: what to expect of a new source like it.
    """

    group: Any
    n_rows: int
    value: float
    score_without: float
    score_on_group: float


def value(model: Any, X: Any, y: Any, groups: Any, X_test: Any, y_test: Any) -> list[GroupValue]:
    """Return the value of each group of learned rows, by forgetting one group at a time exactly.

    Parameters
    ----------
    model : FlyBloomClassifier, FlyRidgeClassifier or FlyRidgeRegressor
        A model fitted to these rows; it is not changed.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows that were learned.
    y : array-like
        Their labels or targets.
    groups : array-like of shape (n_samples,)
        The group of each row, such as its source.
    X_test : {array-like, sparse matrix} of shape (n_test, n_features)
        Test rows.
    y_test : array-like
        Their labels or targets.

    Returns
    -------
    list of GroupValue
        The most valuable first. Scores are those of ``model.score``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomClassifier
    >>> from flybloom.audit import value
    >>> X, y = load_digits(return_X_y=True)
    >>> source = np.array(["good", "good", "careless"])[np.arange(1200) % 3]
    >>> given = np.where(source == "careless", np.roll(y[:1200], 5), y[:1200])
    >>> model = FlyBloomClassifier(random_state=0).fit(X[:1200], given)
    >>> [one.group for one in value(model, X[:1200], given, source, X[1200:], y[1200:])]
    ['good', 'careless']
    """
    names, codes = np.unique(np.asarray(groups), return_inverse=True)
    targets = np.asarray(y)
    score = float(model.score(X_test, y_test))
    found = []
    for code, name in enumerate(names.tolist()):
        own = np.flatnonzero(codes.ravel() == code)
        rows = taken(X, own)
        without = forgetting(model, rows, targets[own])
        left = float(without.score(X_test, y_test))
        found.append(GroupValue(name, own.size, score - left, left, float(without.score(rows, targets[own]))))
    return sorted(found, key=lambda one: -one.value)
