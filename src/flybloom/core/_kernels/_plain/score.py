"""Scoring: from counts to weights, and from scores to a class."""

from __future__ import annotations

import numpy as np

from flybloom._internal.typing import Array

VALUES_AT_ONCE = 2**20  # weights that are looked up together
MIX_0 = np.uint64(0xBF58476D1CE4E5B9)  # see _kernels/score.py
MIX_1 = np.uint64(0x94D049BB133111EB)
STEP = np.uint64(0x9E3779B97F4A7C15)


def look_up(counts: Array, values: Array, starts: Array, lasts: Array, out: Array) -> None:
    """Write the weight of each count to the first columns of `out`: ``values[starts[i] + min(count, lasts[i])]``."""
    step = max(1, VALUES_AT_ONCE // max(1, counts.shape[1]))
    for begin in range(0, len(counts), step):
        some = slice(begin, begin + step)
        out[some, : counts.shape[1]] = values[starts + np.minimum(counts[some], lasts)]


def looked_up_sums(
    winners: Array, counts: Array, values: Array, starts: Array, lasts: Array, intercept: Array, out: Array
) -> None:
    """Write the intercept plus the weights of the counts of each row's winners to `out`; see `look_up`."""
    for row, won in enumerate(winners):
        out[row] = values[starts + np.minimum(counts[won], lasts)].sum(axis=0, dtype=np.float64) + intercept


def _mix(words: Array) -> Array:
    """Scramble 64-bit words."""
    words = (words ^ (words >> np.uint64(30))) * MIX_0
    words = (words ^ (words >> np.uint64(27))) * MIX_1
    return np.asarray(words ^ (words >> np.uint64(31)))


def choose(scores: Array, winners: Array, seed: np.uint64, out: Array) -> None:
    """Write the class of the largest score to `out`; ties go to one of the tied, chosen by a hash of the winners."""
    is_tied = scores == scores.max(axis=1, keepdims=True)
    n_tied = is_tied.sum(axis=1).astype(np.uint64)
    words = _mix(winners.astype(np.uint64) + STEP).sum(axis=1, dtype=np.uint64)
    words = _mix(_mix(words ^ seed) + STEP)
    chosen = np.where(n_tied > 1, ((words >> np.uint64(32)) * n_tied) >> np.uint64(32), 0)
    place = is_tied.cumsum(axis=1) - 1
    out[:] = (is_tied & (place == chosen.astype(np.int64)[:, None])).argmax(axis=1)
