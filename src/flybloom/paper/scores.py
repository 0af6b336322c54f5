"""The two reported scores: the paper's "accuracy" is balanced accuracy in its code."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split

from flybloom._internal.scores import accuracy, balanced_accuracy
from flybloom._internal.typing import Array

__all__ = [
    "METRICS", "SEED", "Record", "Splits", "accuracy", "balanced_accuracy", "best", "best_of_each", "folds", "hold_out",
    "mean",
]  # fmt: skip

METRICS = ("accuracy", "balanced_accuracy")
SEED = 5489  # of the authors' folds and hold-outs
Splits: TypeAlias = list[tuple[Array, Array]]
Record: TypeAlias = dict[str, Any]  # params, and for each metric the score on each fold


def folds(X: Array, y: Array, n_folds: int = 10) -> Splits:
    """Return the authors' folds."""
    return list(StratifiedKFold(n_folds, shuffle=True, random_state=SEED).split(X, y))


def hold_out(y: Array) -> Splits:
    """Return the authors' hold-out, a fifth of the rows, as a list of one split."""
    return [tuple(train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=SEED))]


def best(records: list[Record], metric: str) -> Record:
    """Return the record with the best mean score, the first of several."""
    return max(records, key=lambda record: mean(record, metric))


def best_of_each(records: list[Record]) -> Record:
    """Return the best record by each metric and the number of records, for storage."""
    return {"n_settings": len(records), **{metric: best(records, metric) for metric in METRICS}}


def mean(record: Record, metric: str) -> float:
    """Return the mean score over the folds."""
    return float(np.mean(record[metric]))
