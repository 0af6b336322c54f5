"""What groups of rows are worth, such as the rows of one source: the model with and without each of them."""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

import numpy as np

from flybloom._internal.validation import taken


class GroupValue(NamedTuple):
    """What one group of learned rows is worth.

    Parameters
    ----------
    group : object
        Its name.
    n_rows : int
        How many rows it has.
    value : float
        By how much the score on the test rows falls without it: below 0, the model is better off without.
    score_without : float
        That score.
    score_on_group : float
        How well the model that never learned the group does on it: what to expect of a new source like it.
    """

    group: Any
    n_rows: int
    value: float
    score_without: float
    score_on_group: float


def value(model: Any, X: Any, y: Any, groups: Any, X_test: Any, y_test: Any) -> list[GroupValue]:
    """Return what each group of learned rows is worth: the groups are forgotten one at a time, exactly.

    Parameters
    ----------
    model : FlyBloomClassifier, FlyRidgeClassifier or FlyRidgeRegressor
        Fitted to these rows; it stays as it is.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows that were learned.
    y : array-like
        What they were learned with.
    groups : array-like of shape (n_samples,)
        The group of each row, such as where it came from.
    X_test : {array-like, sparse matrix} of shape (n_test, n_features)
        Other rows, by which the groups are judged.
    y_test : array-like
        What is right for these.

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
        without = copy(model)
        without.forget(rows, targets[own])
        left = float(without.score(X_test, y_test))
        found.append(GroupValue(name, own.size, score - left, left, float(without.score(rows, targets[own]))))
    return sorted(found, key=lambda one: -one.value)
