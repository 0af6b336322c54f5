"""The paper's filters: from counts by class to novelty, and from novelty to a class. Knows nothing of features."""

from __future__ import annotations

import numpy as np

from flybloom._internal.typing import Array, Codes, CountTable, Novelty, Winners
from flybloom.core._kernels._choice import loops
from flybloom.core.readout.weight_table import coarse, step_bits, table_by_class


def weights_of(counts: CountTable, decay: float, class_weights: Array | None = None) -> Array:
    """Return the paper's filters, (1 - decay)^count, in the shape of `counts`; or with the counts weighted by class."""
    most = counts.max(axis=0, initial=0)
    bits = step_bits(decay, int(most.max(initial=0)), class_weights)
    return table_by_class(decay, most, class_weights, bits).of(coarse(counts, bits))


def most_familiar(novelty: Novelty, winners: Winners, seed: int) -> Codes:
    """Return the class of least novelty of each row; ties are broken by a hash of the seed and the winners."""
    codes = np.empty(len(winners), np.int64)
    loops("score", winners.size).most_familiar(novelty, winners, np.uint64(seed), codes)
    return codes
