"""Counts that grow old: how what was learned fades, step by step, with the number of rows met since.

A table has one column for each age, the newest first. Ages follow from the positions of rows in the stream alone, so
the size of blocks changes nothing.
"""

from __future__ import annotations

import numpy as np

from flybloom import _kernels
from flybloom._internal.typing import Array, Codes, Counts, Winners

STEPS = 8
"""In how many steps the effect of a row fades."""


def epoch_length(recovery: int) -> int:
    """Return the number of rows after which what was learned grows one step older."""
    return -(-int(recovery) // STEPS)


def n_ages(epoch: int | None) -> int:
    """Return how many ages are kept apart."""
    return 1 if epoch is None else STEPS


def ages(positions: Array, clock: int, epoch: int) -> Codes:
    """Return how many epochs have begun since the rows at these positions; -1 where that makes them fade entirely."""
    age = clock // epoch - positions.astype(np.int64) // epoch
    return np.where(age < STEPS, age, -1)


def aged(counts: Counts, n_epochs: int) -> Counts:
    """Return the counts so many epochs later."""
    if n_epochs == 0:
        return counts
    later = np.zeros_like(counts)
    if n_epochs < counts.shape[1]:
        later[:, n_epochs:] = counts[:, :-n_epochs]
    return later


def weight_tables(counts: Counts, decay: float) -> Array:
    """Return for each age what 0, 1, 2, ... wins multiply a weight by."""
    n, size = counts.shape[1], int(counts.max(initial=0)) + 1
    tables = [_kernels.score.decay_table(float(decay) * (n - age) / n, size) for age in range(n)]
    longest = max(table.size for table in tables)
    return np.array([np.pad(table, (0, longest - table.size), mode="edge") for table in tables])


def novelty(winners: Winners, own_ages: Codes, counts: Counts, tables: Array) -> Array:
    """Return the mean weight of each row's winners, without the row's own win at its age (-1: nothing left out)."""
    result = np.empty(len(winners))
    _kernels.recovery.recovered_novelty(winners, own_ages, counts, tables, result)
    return result
