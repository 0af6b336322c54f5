"""From which score on a row is said to have a label: where the F1 of rows that were left out is largest."""

from __future__ import annotations

import numpy as np

from flybloom._internal.typing import Array

USUAL = 0.5  # where no row can tell


def best_threshold(scores: Array, has_label: Array, weights: Array) -> float:
    """Return the threshold of largest F1, ``2 tp / (predicted + positive)``, halfway between two scores.

    Of thresholds that are as good, the one nearest to a half.
    """
    order = np.argsort(-scores, kind="stable")
    ordered, positive = scores[order], (has_label * weights)[order]
    n_positive = positive.sum()
    if not 0 < n_positive < weights.sum():
        return USUAL
    f1 = 2.0 * np.cumsum(positive) / (np.cumsum(weights[order]) + n_positive)
    is_end = np.append(ordered[1:] < ordered[:-1], True)
    f1, ends = f1[is_end], ordered[is_end]
    halfway = (ends + np.append(ends[1:], ends[-1])) / 2
    best = np.flatnonzero(f1 >= f1.max())
    return float(halfway[best[np.abs(halfway[best] - USUAL).argmin()]])
