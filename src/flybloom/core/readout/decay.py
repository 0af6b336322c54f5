"""The decay that counts ask for: the more often components have won, the less a single win may say.

A fixed decay saturates: after some dozen wins a weight is nothing, and classes in which a component won 50 and 500
times look alike. So "auto" is 16 over the mean of all counts, zeros included, to the power 11/8. Integers that
add up decide, by operations that are rounded alike on every machine. It goes in steps, so that it changes rarely as
rows come.

Whether filters can still tell classes apart is told from a sample of the counts. Components are drawn at random, so
some of them, evenly chosen, tell what all would. Nothing of it is kept, and no score depends on it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core.counts.by_class import ClassCounts

AUTO = "auto"
MOST = 0.6  # where counts are small; this and the next two were chosen by measurement, see docs/benchmarks/defaults.md
START = 32  # steps up where counts have a mean of 1: 2 ** 4 = 16
POWER = 11  # eighths: the power of the mean
LEAST_STEP = 37  # up to which the decay is the most there is
STEPS = 8  # between a decay and half of it
ROOTS = tuple(float.fromhex(text) for text in (
    "0x1.0000000000000p+0", "0x1.d5818dcfba487p-1", "0x1.ae89f995ad3adp-1", "0x1.8ace5422aa0dbp-1",
    "0x1.6a09e667f3bcdp-1", "0x1.4bfdad5362a27p-1", "0x1.306fe0a31b715p-1", "0x1.172b83c7d517bp-1",
))  # 2 ** (-k / 8), as everybody rounds them  # fmt: skip
MOST_COMPONENTS, MOST_CLASSES = 2048, 32  # that are looked at
LEAST_ROWS = 1000  # of which it can be told
FULL, ALIKE_IF_FULL, SAME = 0.95, 0.75, 0.99  # measured: docs/benchmarks/defaults.md


def mean_count(class_count: Array, n_components: int, n_winners: int) -> float:
    """Return how often a component won in a class that has rows, in the mean over these.

    Rounded as the kernel does it that tells when a decay changes.
    """
    rows: list[int] = class_count.tolist()
    return float(sum(rows)) * n_winners / (float(n_components) * max(sum(n > 0 for n in rows), 1))


def decay_of(decay: float | str, counts: ClassCounts) -> float:
    """Return the decay of a row that these counts are read with: a number as it is, or what "auto" comes to."""
    if decay != AUTO:
        return float(decay)
    return auto_decay(mean_count(counts.class_count, counts.n_components, counts.n_winners) / counts.unit.per_row)


def count_decay_of(decay: float | str, counts: ClassCounts) -> float:
    """Return the decay of one count: that of a row, or where counts are fractions of rows, its share in it."""
    return counts.unit.per_count(decay_of(decay, counts))


def auto_decay(mean: float) -> float:
    """Return the decay for counts of a mean: 16 over its power of 11/8, at most 0.6.

    Parameters
    ----------
    mean : float
        Of all counts, zeros included.

    Returns
    -------
    float
        The decay, which goes in steps of an eighth of a factor 2.

    Examples
    --------
    >>> from flybloom.core.readout.decay import auto_decay
    >>> auto_decay(0.5)
    0.6
    >>> auto_decay(256.0)
    0.0078125
    """
    halved, step = divmod(decay_step(mean) - START, STEPS)
    return min(MOST, math.ldexp(ROOTS[step], -halved))


def decay_step(mean: float) -> int:
    """Return the step that the decay of such counts is at; whole, so that a kernel can tell when it changes."""
    fraction, exponent = math.frexp(mean)
    return max((STEPS * exponent - sum(fraction < root for root in ROOTS)) * POWER // STEPS, LEAST_STEP)


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
