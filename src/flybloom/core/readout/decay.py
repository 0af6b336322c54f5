"""The decay that counts ask for: the more often components have won, the less a single win may say.

A fixed decay saturates: after some dozen wins a weight is nothing, and classes in which a component won 50 and 500
times look alike. So "auto" falls with two measures of the typical count: the mean over all components and classes,
those without a win included; and, to the power 0.5, what the counts that are not zero are like, told by how many binary
digits they have in the mean. Beyond some digits the mean alone decides: then counts are as good as rates, which more
rows do not change. Two or three classes share a mean as if they were four: where a row has few classes to go to, a
single win says more. Whole numbers that add up decide, by operations that are rounded alike on every machine. It goes
in steps, so that it changes rarely as rows come.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from flybloom._internal.typing import Array
from flybloom.core.counts.by_class import ClassCounts

AUTO = "auto"
MOST = 0.6  # where counts are small; this and the next three were chosen by measurement, see docs/defaults.md
FALL = 4  # steps down for each digit in the mean: the power 0.5 of the count
MOST_FALL = 30  # of these: from counts of about 100 on
START = 32  # steps up where counts have no digits and a mean of 1: 2 ** 4 = 16
LEAST_STEP = 37  # up to which the decay is the most there is
STEPS = 8  # between a decay and half of it
FEW_CLASSES = 4  # fewer share a mean as if they were as many
ROOTS = tuple(float.fromhex(text) for text in (
    "0x1.0000000000000p+0", "0x1.d5818dcfba487p-1", "0x1.ae89f995ad3adp-1", "0x1.8ace5422aa0dbp-1",
    "0x1.6a09e667f3bcdp-1", "0x1.4bfdad5362a27p-1", "0x1.306fe0a31b715p-1", "0x1.172b83c7d517bp-1",
))  # 2 ** (-k / 8), as everybody rounds them  # fmt: skip


class CountSums(NamedTuple):
    """What decides about the decay of some counts."""

    n_counts: int  # that are not zero
    n_digits: int  # binary ones, that these have together
    mean: float  # of all counts, zeros included, over four classes at least


def sums_of(counts: ClassCounts) -> CountSums:
    """Return what decides about the decay of these counts, in units of rows."""
    n_counts, n_digits = counts.n_met_and_digits
    per_row = counts.unit.per_row
    n_digits -= n_counts * (per_row.bit_length() - 1)
    mean = mean_count(counts.class_count, counts.n_components, counts.n_winners) / per_row
    return CountSums(n_counts, n_digits, mean)


def mean_count(class_count: Array, n_components: int, n_winners: int) -> float:
    """Return how often a component won in a class that has rows, in the mean over these, and over four at least.

    Rounded as the kernel does it that tells when a decay changes.
    """
    rows: list[int] = class_count.tolist()
    return float(sum(rows)) * n_winners / (float(n_components) * max(sum(n > 0 for n in rows), FEW_CLASSES))


def decay_of(decay: float | str, counts: ClassCounts) -> float:
    """Return the decay of a row that these counts are read with: a number as it is, or what "auto" comes to."""
    return auto_decay(sums_of(counts)) if decay == AUTO else float(decay)


def count_decay_of(decay: float | str, counts: ClassCounts) -> float:
    """Return the decay of one count: that of a row, or where counts are fractions of rows, its share in it."""
    return counts.unit.per_count(decay_of(decay, counts))


def auto_decay(sums: CountSums) -> float:
    """Return the decay for such counts: 16 / (mean * 2**(b / 2)) for b digits in the mean, up to 7.5; at most 0.6.

    Parameters
    ----------
    sums : CountSums
        How many counts are not zero, how many binary digits they have together, and the mean of all counts.

    Returns
    -------
    float
        The decay, which goes in steps of an eighth of a factor 2.

    Examples
    --------
    >>> from flybloom.core.readout.decay import CountSums, auto_decay
    >>> auto_decay(CountSums(100, 150, 0.5))  # counts of 2, and as many zeros
    0.6
    >>> auto_decay(CountSums(100, 600, 32.0))
    0.0625
    """
    halved, step = divmod(decay_step(sums) - START, STEPS)
    return min(MOST, math.ldexp(ROOTS[step], -halved))


def decay_step(sums: CountSums) -> int:
    """Return the step that the decay of such counts is at; whole, so that a kernel can tell when it changes."""
    fraction, exponent = math.frexp(sums.mean)
    of_mean = STEPS * exponent - sum(fraction < root for root in ROOTS)  # steps that the mean is above 1, rounded down
    return max(min(FALL * sums.n_digits // max(sums.n_counts, 1), MOST_FALL) + of_mean, LEAST_STEP)
