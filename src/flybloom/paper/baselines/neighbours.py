"""The nearest neighbours for many k from one search, with the same decisions as scikit-learn's classifier."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from flybloom._internal.typing import Array


def predictions_for_each_k(
    X_train: Array, y_train: Array, X_test: Array, ks: list[int]
) -> dict[int, Array | ValueError]:
    """Return what `KNeighborsClassifier(k)` predicts, for each k; an error where there are fewer rows than k.

    One search finds the neighbours for the largest k; smaller ones vote by the first of them. scikit-learn chooses its
    algorithm by k, so those k that are large for the number of rows have a search of their own.
    """
    n_rows = len(X_train)
    too_large = f"Expected k <= {n_rows}, the number of rows. Lower k."
    results: dict[int, Array | ValueError] = {k: ValueError(too_large) for k in ks if k > n_rows}
    for group in ([k for k in ks if k < n_rows // 2], [k for k in ks if n_rows // 2 <= k <= n_rows]):
        if group:
            results.update(_predictions_from_one_search(X_train, y_train, X_test, group))
    return results


def _predictions_from_one_search(X_train: Array, y_train: Array, X_test: Array, ks: list[int]) -> dict[int, Array]:
    """Return the predictions for each k, where all have the same algorithm."""
    model = KNeighborsClassifier(max(ks)).fit(X_train, y_train)
    codes = np.searchsorted(model.classes_, y_train)
    distances, neighbours = model.kneighbors(X_test, min(max(ks) + 1, len(X_train)))
    votes = codes[neighbours]
    results = {}
    for k in ks:
        if _choice_matters(distances, votes, k):
            # which of the equally far ones scikit-learn takes depends on its heaps, so ask it
            results[k] = np.asarray(KNeighborsClassifier(k).fit(X_train, y_train).predict(X_test))
        else:
            results[k] = model.classes_[_majority(votes[:, :k], model.classes_.size)]
    return results


def _choice_matters(distances: Array, votes: Array, k: int) -> bool:
    """Return whether, in any row, neighbours equally far from it straddle rank k and have different labels."""
    if k >= distances.shape[1]:
        return False
    edge = distances[:, k - 1]
    for row in np.flatnonzero(edge == distances[:, k]):
        tied = distances[row] == edge[row]
        if tied[-1] or np.unique(votes[row, tied]).size > 1:  # or there may be more of them than were found
            return True
    return False


def _majority(votes: Array, n_classes: int) -> Array:
    """Return the most frequent code in each row, the smallest of several."""
    cells = votes + n_classes * np.arange(len(votes))[:, None]
    counts = np.bincount(cells.ravel(), minlength=n_classes * len(votes))
    return np.asarray(counts.reshape(len(votes), n_classes).argmax(axis=1))
