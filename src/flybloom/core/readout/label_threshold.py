"""From which score on a row is said to have a label: that which as many rows exceed as have the label."""

from __future__ import annotations

import numpy as np

from flybloom._internal.typing import Array

USUAL = 0.5  # where no row can tell


def even_threshold(scores: Array, has_label: Array, weights: Array) -> float:
    """Return the threshold that about as many rows exceed as have the label, halfway between two scores.

    Then precision and recall are equal. The threshold of largest F1 gives nearly all rows a label that rows tell
    nothing of.
    """
    order = np.argsort(-scores, kind="stable")
    ordered, upto = scores[order], np.cumsum(weights[order])
    n_positive = float(has_label @ weights)
    if not 0 < n_positive < upto[-1]:
        return USUAL
    ends = np.flatnonzero(ordered[1:] < ordered[:-1])  # equal scores stay together
    if ends.size == 0:
        return USUAL
    at = ends[np.abs(upto[ends] - n_positive).argmin()]
    return float((ordered[at] + ordered[at + 1]) / 2)
