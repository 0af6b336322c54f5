"""Predictions for test rows, computed in blocks, and the confusion of labels."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from flybloom._internal.typing import Array, Codes
from flybloom._internal.validation import NamedRows, taken

VALUES_AT_ONCE = 2**22  # novelties that are in memory at the same time


class Answers(NamedTuple):
    """Predictions and scores of each row."""

    predicted: Array  # the label
    novelty: Array | None  # to the nearest class, where the model knows novelty
    confidence: Array  # the largest probability
    own_probability: Array  # that of the true label, NaN where it was never learned
    seconds: float  # that predicting took


def answers(model: Any, X: Any, own: Codes) -> Answers:
    """Return predictions for rows with true labels `own`, indices of classes or -1 for unknown ones."""
    of_own, n_rows = np.full(own.size, np.nan), max(1, VALUES_AT_ONCE // model.classes_.size)
    predicted, novelty, confidence, seconds = [], [], [], 0.0
    for begin in range(0, own.size, n_rows):
        block = slice(begin, begin + n_rows)
        rows = X if n_rows >= own.size else taken(X, block)
        start = time.perf_counter()
        predicted.append(model.predict(rows))
        seconds += time.perf_counter() - start
        if hasattr(model, "filters_"):
            novelty.append(model.novelty(rows).min(axis=1))
        probability = model.predict_proba(rows)
        confidence.append(probability.max(axis=1))
        known = np.flatnonzero(own[block] >= 0)
        of_own[block][known] = probability[known, own[block][known]]
    nearest = np.concatenate(novelty) if novelty else None
    return Answers(np.concatenate(predicted), nearest, np.concatenate(confidence), of_own, seconds)


def as_array(X: Any) -> Array:
    """Return rows of any kind as an array."""
    if isinstance(X, NamedRows):
        return X.array
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


class Confusion:
    """Sparse confusion matrix."""

    def __init__(self, truth: Codes, told: Codes, n: int) -> None:
        self.n_tested, self.n_told = np.bincount(truth, minlength=n), np.bincount(told, minlength=n)
        self.n_right = np.bincount(truth[truth == told], minlength=n)
        cells, self._n = np.unique(truth * n + told, return_counts=True)
        self._truth, self._told = np.divmod(cells, n)
        is_wrong = truth != told
        low, high = np.minimum(truth, told)[is_wrong], np.maximum(truth, told)[is_wrong]
        cells, self.n_mistakes = np.unique(low * n + high, return_counts=True)
        self.pairs = np.stack(np.divmod(cells, n), axis=1)  # of labels that were mistaken for each other, ascending

    def most_confused(self, n: int) -> Codes:
        """Return up to `n` labels, sorted: those most often confused, then those most often tested."""
        by_mistakes = self.pairs[np.argsort(-self.n_mistakes, kind="stable")].ravel()
        ranked = np.concatenate([by_mistakes, np.argsort(-self.n_tested, kind="stable")])
        _, first = np.unique(ranked, return_index=True)
        return np.sort(ranked[np.sort(first)][:n])

    def table(self, labels: Codes) -> Array:
        """Return the confusion matrix of some labels, true labels in rows."""
        position = np.full(self.n_tested.size, -1)
        position[labels] = np.arange(labels.size)
        row, column = position[self._truth], position[self._told]
        is_shown = (row >= 0) & (column >= 0)
        table = np.zeros((labels.size, labels.size), np.int64)
        table[row[is_shown], column[is_shown]] = self._n[is_shown]
        return table
