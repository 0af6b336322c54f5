"""Scoring with a weight for each component and class: the weights of a row's winners, added up."""

from __future__ import annotations

import numpy as np

from flybloom._internal.typing import Array

VALUES_AT_ONCE = 2**20  # weights that are looked up together


def linear_sums(winners: Array, weights: Array, intercept: Array, out: Array) -> None:
    """Write ``intercept[c] + sum of weights[j, c] over the winners j of row i`` to ``out[i, c]``.

    Weights are integers of one unit, so float64 holds every sum of them exactly, in whatever order.
    """
    n_classes = out.shape[1]
    step = max(1, VALUES_AT_ONCE // (winners.shape[1] * weights.shape[1]))
    for begin in range(0, len(winners), step):
        chosen = weights[winners[begin : begin + step]]
        out[begin : begin + step] = chosen.sum(axis=1, dtype=np.float64)[:, :n_classes] + intercept
