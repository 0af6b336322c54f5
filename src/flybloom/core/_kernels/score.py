"""Scoring: from counts to weights, and from scores to a class."""

import math

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel

MIX_0 = np.uint64(0xBF58476D1CE4E5B9)  # constants of the finaliser of SplitMix64 (Steele, Lea and Flood, 2014)
MIX_1 = np.uint64(0x94D049BB133111EB)
STEP = np.uint64(0x9E3779B97F4A7C15)
POWER = 11  # as `core/readout/decay.py` has it


@kernel
def look_up(counts: Array, values: Array, starts: Array, lasts: Array, out: Array) -> None:
    """Write the weight of each count to the first columns of `out`: ``values[starts[i] + min(count, lasts[i])]``."""
    for j in range(counts.shape[0]):
        for i in range(counts.shape[1]):
            out[j, i] = values[starts[i] + min(counts[j, i], lasts[i])]


@kernel
def looked_up_sums(
    winners: Array, counts: Array, values: Array, starts: Array, lasts: Array, intercept: Array, out: Array
) -> None:
    """Write the intercept plus the weights of the counts of each row's winners to `out`; see `look_up`."""
    for row in range(winners.shape[0]):
        out[row] = intercept
        for r in range(winners.shape[1]):
            j = winners[row, r]
            for i in range(counts.shape[1]):
                out[row, i] += values[starts[i] + min(counts[j, i], lasts[i])]


@kernel
def _mix(word: np.uint64) -> np.uint64:
    """Scramble a 64-bit word."""
    word = (word ^ (word >> np.uint64(30))) * MIX_0
    word = (word ^ (word >> np.uint64(27))) * MIX_1
    return word ^ (word >> np.uint64(31))


@kernel
def choose(scores: Array, winners: Array, seed: np.uint64, out: Array) -> None:
    """Write the class of the largest score to `out`; ties go to one of the tied, chosen by a hash of the winners."""
    n_classes, rho = scores.shape[1], winners.shape[1]
    for row in range(winners.shape[0]):
        most = scores[row, 0]
        for i in range(1, n_classes):
            most = max(most, scores[row, i])
        n_tied = 0
        for i in range(n_classes):
            n_tied += scores[row, i] == most
        chosen = np.int64(0)
        if n_tied > 1:
            word = np.uint64(0)
            for r in range(rho):  # a sum: the order of the winners does not matter
                word += _mix(np.uint64(winners[row, r]) + STEP)
            word = _mix(_mix(word ^ seed) + STEP)
            chosen = np.int64(((word >> np.uint64(32)) * np.uint64(n_tied)) >> np.uint64(32))
        for i in range(n_classes):
            if scores[row, i] == most:
                if chosen == 0:
                    out[row] = i
                    break
                chosen -= 1


@kernel
def _enter(winners: Array, code: int, weight: int, counts: Array, rows: Array) -> None:
    """Add a row to the counts of its class."""
    rows[code] += weight
    for r in range(winners.size):
        counts[winners[r], code] += weight


@kernel
def _decay_step(rows: Array, n_components: int, n_winners: int, roots: Array, least: int) -> int:
    """Return the step that the decay of counts of so many rows is at: see `core/readout/decay.py`."""
    n_rows, n_known = 0, 0
    for c in range(rows.size):
        n_rows += rows[c]
        n_known += int(rows[c] > 0)
    mean = float(n_rows) * n_winners / (float(n_components) * max(n_known, 1))
    fraction, exponent = math.frexp(mean)
    step = roots.size * exponent
    for root in roots:
        step -= int(fraction < root)
    return max(step * POWER // roots.size, least)


@kernel
def follow(
    winners: Array, codes: Array, weights: Array, begin: int, end: int, seed: np.uint64,
    limits: Array, values: Array, starts: Array, bits: Array, steps: Array, roots: Array,
    tables: Array, rows: Array,
    kept: Array, kept_codes: Array, kept_weights: Array, judged: Array, right: Array, seen: Array,
    answers: Array,
) -> int:  # fmt: skip
    """Let rows come in sequence: each is answered by the window that was right most often, then learned by all.

    Ends early, before a row for which the weights of a window are no longer those that its counts ask for.

    Parameters
    ----------
    winners, codes, weights : arrays of n rows
        The rows; one of weight 0 is answered only.
    begin, end, seed : int
        Which rows; what ties are broken by.
    limits : (k,) array
        Rows of each window, 0 for all.
    values, starts : (v,) and (k + 1,) arrays
        The weights of counts, those of window i from ``starts[i]`` to ``starts[i + 1]``.
    bits, steps : (k,) and (k + 1,) arrays
        Low bits of counts that are left out; for which step of the decay the weights hold, and last the least step that
        there is.
    roots : (n_steps,) array
        Powers of 2 from one step of the decay to the next; none where it stays.
    tables, rows : (k, m, n_classes) and (k, n_classes) arrays
        What each window has counted.
    kept, kept_codes, kept_weights : arrays of as many rows as the longest window that has an end
        The latest rows; number i is at i modulo that.
    judged, right : (n_judged, k) and (k,) arrays
        Whether each window was right, for the latest rows, and how often.
    seen : (2,) array
        How many rows have come, and how many of them were judged.
    answers : (n,) array
        Where answers go; -1 while no class is known.
    """
    n_windows, n_classes, rho = limits.size, rows.shape[1], winners.shape[1]
    scores, answer = np.empty((1, n_classes)), np.empty(1, np.int64)
    guesses = np.empty(n_windows, np.int64)
    for i in range(begin, end):
        for k in range(n_windows):
            if roots.size and _decay_step(rows[k], tables.shape[1], rho, roots, steps[-1]) != steps[k]:
                return i
        best = 0
        for k in range(n_windows):
            if right[k] >= right[best]:
                best = k
            last, is_known = starts[k + 1] - starts[k] - 1, False
            scores[:] = 0.0
            for r in range(rho):
                j = winners[i, r]
                for c in range(n_classes):
                    scores[0, c] -= values[starts[k] + min(np.int64(tables[k, j, c]) >> bits[k], last)]
            for c in range(n_classes):
                scores[0, c] = scores[0, c] if rows[k, c] > 0 else -np.inf
                is_known |= rows[k, c] > 0
            answer[0] = -1
            if is_known:
                choose(scores, winners[i : i + 1], seed, answer)
            guesses[k] = answer[0]
        answers[i] = guesses[best]
        if weights[i] == 0:
            continue
        place = seen[1] % judged.shape[0]
        for k in range(n_windows):
            is_right = guesses[k] == codes[i]
            right[k] += np.int64(is_right) - np.int64(judged[place, k])
            judged[place, k] = is_right
            if 0 < limits[k] <= seen[0]:
                gone = (seen[0] - limits[k]) % kept.shape[0]
                _enter(kept[gone], kept_codes[gone], -kept_weights[gone], tables[k], rows[k])
            _enter(winners[i], codes[i], weights[i], tables[k], rows[k])
        place = seen[0] % kept.shape[0]
        kept[place], kept_codes[place], kept_weights[place] = winners[i], codes[i], weights[i]
        seen += 1
    return end
