"""What rows are worth: their influence on a prediction, and the value of groups of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flybloom._internal.typing import Array
from flybloom._internal.validation import taken
from flybloom.estimators.access import forgetting, leaving_out, scoring
from flybloom.estimators.solved import targets_of


class Influence(NamedTuple):
    """A prediction, and what it would be without each learned row.

    Parameters
    ----------
    now : ndarray of shape (n_columns,)
        The current scores of the classes or labels, or the predicted targets.
    without : ndarray of shape (n_learned, n_columns)
        The same if one learned row were forgotten.
    ranked : ndarray of shape (n_learned,)
        Positions of the learned rows by descending influence on the margin of the predicted class, or on the label or
        target that changes most.
    """

    now: Array
    without: Array
    ranked: Array


def influence(model: Any, X: Any, y: Any, row: Any) -> Influence:
    """Return the prediction of a row without each of the learned rows.

    This is exact for the current penalty and encoding: the equations change by a matrix of rank one.

    Parameters
    ----------
    model : FlyRidgeClassifier, FlyRidgeMultiOutputClassifier or FlyRidgeRegressor
        A model fitted to these rows.
    X : {array-like, sparse matrix} of shape (n_learned, n_features)
        Rows that were learned.
    y : array-like
        Their labels or targets.
    row : {array-like, sparse matrix} of shape (1, n_features)
        The row to predict.

    Returns
    -------
    Influence
        Predictions and the ranking.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyRidgeClassifier
    >>> from flybloom.audit import influence
    >>> X, y = load_digits(return_X_y=True)
    >>> model = FlyRidgeClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> found = influence(model, X[:1000], y[:1000], X[1000:1001])
    >>> y[found.ranked[:3]], y[1000]
    (array([2, 1, 2]), np.int64(1))
    """
    if not hasattr(model, "_leaving_out"):
        msg = (
            "influence needs a model whose predictions are solved for. Expected a FlyRidgeClassifier or a "
            f"FlyRidgeRegressor. Got {type(model).__name__} instead."
        )
        raise TypeError(msg)
    with leaving_out(model, X, y) as rows, scoring(model, row) as (one, learned):
        if one.shape[0] != 1:
            msg = f"influence is that on one row. Expected one. Got {one.shape[0]} instead. Ask for each in turn."
            raise ValueError(msg)
        winners = learned.hasher.winners(one)
        now = rows.left_out.scores(winners)[0]
        changes = rows.left_out.changes(winners, rows.winners, rows.truth - rows.own())[0]
    counts: Any = learned.counts
    if hasattr(counts, "classes"):
        top, *others = np.argsort(-now, kind="stable")[:2]
        margin = changes[:, top] - (changes[:, others[0]] if others else 0.0)
        return Influence(now, now + changes, np.argsort(-np.abs(margin), kind="stable"))
    ranked = np.argsort(-np.abs(changes).max(axis=1), kind="stable")
    if hasattr(model, "classes_"):
        return Influence(now, now + changes, ranked)
    without = targets_of(one, learned.hasher, counts.grid, (now + changes)[:, None])[:, 0]
    return Influence(targets_of(one, learned.hasher, counts.grid, now[None])[0], without, ranked)


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
