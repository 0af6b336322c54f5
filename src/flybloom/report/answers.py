"""What a model says of test rows: a few numbers for each row, computed in blocks, and which labels it confuses."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from flybloom._internal.sklearn_compat import safe_indexing
from flybloom._internal.typing import Array, Codes
from flybloom._internal.validation import NamedRows

VALUES_AT_ONCE = 2**22  # novelties that are in memory at the same time


class Answers(NamedTuple):
    """What a model says of each row."""

    predicted: Array  # the label
    novelty: Array  # to the nearest class
    confidence: Array  # the largest probability
    own_probability: Array  # that of the true label, NaN where it was never learned
    seconds: float  # that predicting took


def answers(model: Any, X: Any, y: Array) -> Answers:
    """Return what a model says of rows with labels."""
    codes, is_known = _positions(y, model.classes_)
    own, n_rows = np.full(len(y), np.nan), max(1, VALUES_AT_ONCE // model.classes_.size)
    predicted, novelty, confidence, seconds = [], [], [], 0.0
    for begin in range(0, len(y), n_rows):
        block = slice(begin, begin + n_rows)
        rows = X if n_rows >= len(y) else taken(X, block)
        start = time.perf_counter()
        predicted.append(model.predict(rows))
        seconds += time.perf_counter() - start
        novelty.append(model.novelty(rows).min(axis=1))
        probability = model.predict_proba(rows)
        confidence.append(probability.max(axis=1))
        of_own = np.take_along_axis(probability, codes[block, None], axis=1)[:, 0]
        own[block] = np.where(is_known[block], of_own, np.nan)
    return Answers(np.concatenate(predicted), np.concatenate(novelty), np.concatenate(confidence), own, seconds)


def taken(X: Any, which: Any) -> Any:
    """Return some of the rows, of whatever kind they are."""
    if isinstance(X, NamedRows):
        return NamedRows(X.array[which], X.names)
    return safe_indexing(X.tocsr() if sparse.issparse(X) else X, which)


def as_array(X: Any) -> Array:
    """Return rows of any kind as an array."""
    if isinstance(X, NamedRows):
        return X.array
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


class Confusion:
    """How often each label was taken for which, without a table of all pairs of labels.

    Parameters
    ----------
    labels : ndarray of shape (n_labels,)
        All labels, sorted.
    y, predicted : ndarray of shape (n,)
        The true and the predicted label of each row.
    """

    def __init__(self, labels: Array, y: Array, predicted: Array) -> None:
        n = labels.size
        truth, told = np.searchsorted(labels, y), np.searchsorted(labels, predicted)
        self.n_tested, self.n_told = np.bincount(truth, minlength=n), np.bincount(told, minlength=n)
        self.n_right = np.bincount(truth[truth == told], minlength=n)
        cells, self._n = np.unique(truth * n + told, return_counts=True)
        self._truth, self._told = np.divmod(cells, n)
        is_wrong = truth != told
        low, high = np.minimum(truth, told)[is_wrong], np.maximum(truth, told)[is_wrong]
        cells, self.n_mistakes = np.unique(low * n + high, return_counts=True)
        self.pairs = np.stack(np.divmod(cells, n), axis=1)  # of labels that were mistaken for each other, ascending

    def most_confused(self, n: int) -> Codes:
        """Return up to `n` labels, ascending: those of the pairs mistaken most often, then those most often tested."""
        by_mistakes = self.pairs[np.argsort(-self.n_mistakes, kind="stable")].ravel()
        ranked = np.concatenate([by_mistakes, np.argsort(-self.n_tested, kind="stable")])
        _, first = np.unique(ranked, return_index=True)
        return np.sort(ranked[np.sort(first)][:n])

    def table(self, labels: Codes) -> Array:
        """Return the confusion matrix of some labels, ascending: true labels are rows."""
        (row, is_row), (column, is_column) = _positions(self._truth, labels), _positions(self._told, labels)
        is_shown = is_row & is_column
        table = np.zeros((labels.size, labels.size), np.int64)
        table[row[is_shown], column[is_shown]] = self._n[is_shown]
        return table


def _positions(values: Array, known: Array) -> tuple[Codes, Array]:
    """Return where each value is among those known, which are ascending, and whether it is."""
    at = np.clip(np.searchsorted(known, values), 0, known.size - 1)
    return at, known[at] == values
