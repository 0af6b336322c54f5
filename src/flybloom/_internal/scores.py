"""Accuracy, balanced accuracy and calibration error."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flybloom._internal.typing import Array

N_BINS = 15  # of confidence, as in most of the literature


def accuracy(truth: Array, predicted: Array) -> float:
    """Return the accuracy."""
    return float((truth == predicted).mean())


def balanced_accuracy(truth: Array, predicted: Array) -> float:
    """Return the balanced accuracy over the classes in `truth`."""
    _, codes = np.unique(truth, return_inverse=True)
    return mean_recall(np.bincount(codes, weights=truth == predicted), np.bincount(codes))


def mean_recall(n_right: Array, n_rows: Array) -> float:
    """Return the balanced accuracy from the number of correct rows of each class, ignoring classes without rows.

    Examples
    --------
    >>> import numpy as np
    >>> from flybloom._internal.scores import mean_recall
    >>> mean_recall(np.array([1, 0, 3]), np.array([2, 0, 3]))
    0.75
    """
    is_present = n_rows > 0
    return float((n_right[is_present] / n_rows[is_present]).mean())


class Reliability(NamedTuple):
    """Calibration of predictions in bins of equal width."""

    n_rows: Array  # of each bin
    confidence: Array  # the mean in each bin, NaN in those without rows
    accuracy: Array  # the share that is right, likewise
    error: float  # the expected calibration error: the mean gap between the two over all rows


def reliability(confidence: Array, is_right: Array, n_bins: int = N_BINS) -> Reliability:
    """Return the accuracy of predictions by confidence, and the expected calibration error.

    Examples
    --------
    >>> import numpy as np
    >>> from flybloom._internal.scores import reliability
    >>> reliability(np.array([0.9, 0.9]), np.array([True, False])).error  # half right, 0.9 sure
    0.4
    """
    bins = np.minimum((confidence * n_bins).astype(np.int64), n_bins - 1)
    n_rows = np.bincount(bins, minlength=n_bins)
    right, sure = np.bincount(bins, is_right, n_bins), np.bincount(bins, confidence, n_bins)
    with np.errstate(invalid="ignore"):  # bins without rows
        return Reliability(n_rows, sure / n_rows, right / n_rows, float(np.abs(right - sure).sum() / confidence.size))
