"""Whether filters can still tell classes apart, told from a sample of the counts.

Components are drawn at random, so some of them, evenly chosen, tell what all would; it takes the same time however many
there are. Nothing of it is kept, and no score depends on it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core.counts.by_class import ClassCounts

MOST_COMPONENTS, MOST_CLASSES = 2048, 32  # that are looked at
LEAST_ROWS = 1000  # of which it can be told
FULL, ALIKE_IF_FULL, SAME = 0.95, 0.75, 0.99  # measured: docs/benchmarks/defaults.md


class Fullness(NamedTuple):
    """How full filters are, and how much they look alike."""

    full: float  # share of components and classes in which the component has won in the class
    alike: float  # cosine between what two classes know, the median over pairs
    same: float  # the same between their counts, without what is chance

    @property
    def is_full(self) -> bool:
        """Whether nearly every component has won in every class, so that their filters look alike."""
        return self.full >= FULL and self.alike >= ALIKE_IF_FULL

    @property
    def is_alike(self) -> bool:
        """Whether rows of all classes have the same winners, equally often."""
        return self.same >= SAME


def fullness(counts: ClassCounts, decay: float) -> Fullness | None:
    """Return how full filters are, of counts that are read with a decay of one count; None where too little is known.

    Parameters
    ----------
    counts : ClassCounts
        The counts.
    decay : float
        What a count is read with.
    """
    known = np.flatnonzero(counts.class_count > 0)
    if known.size < 2 or counts.unit.rows(counts.n_rows) < LEAST_ROWS:  # noqa: PLR2004
        return None
    known = known[:: -(-known.size // MOST_CLASSES)]
    some = counts.table[:: -(-counts.n_components // MOST_COMPONENTS), known]
    counted = some.astype(np.float64)
    familiar = 1.0 - (1.0 - decay) ** counted
    # Where classes are the same, counts n are draws around a common mean: n (n - 1) is free of their noise.
    squares = (counted * (counted - counts.unit.per_row)).sum(axis=0)
    return Fullness(
        float((some > 0).mean()),
        _median_cosine(familiar, (familiar**2).sum(axis=0)),
        _median_cosine(counted, np.maximum(squares, 0.0)),
    )


def _median_cosine(columns: Array, squares: Array) -> float:
    """Return the median cosine between two columns of these squared lengths; 0 to one without length."""
    lengths = np.sqrt(np.outer(squares, squares))
    cosines = np.divide(columns.T @ columns, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return float(np.median(cosines[np.triu_indices(len(squares), 1)]))
