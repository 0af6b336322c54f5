"""The decay that counts ask for: the more often components have won, the less a single win may say.

A fixed decay saturates: after some dozen wins a weight is nothing, and classes in which a component won 50 and 500
times look alike. So "auto" falls with the power 1.5 of the typical count, which is told by how many binary digits
counts have, in the mean over those that are not zero. Two whole numbers that add up decide, without a rounding on the
way: it is the same on every machine. It goes in steps, so that it changes rarely as rows come.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from flybloom.core.counts.by_class import ClassCounts

AUTO = "auto"
MOST = 0.6  # where counts are small; this and the next two were chosen by measurement, see docs/defaults.md
FALL = 12  # steps down for each digit in the mean: the power 1.5 of the count
START = 28  # steps up where counts have no digits: 2 ** 3.5 = 11.3
LEAST_STEP = 33  # up to which the decay is the most there is
STEPS = 8  # between a decay and half of it
ROOTS = tuple(float.fromhex(text) for text in (
    "0x1.0000000000000p+0", "0x1.d5818dcfba487p-1", "0x1.ae89f995ad3adp-1", "0x1.8ace5422aa0dbp-1",
    "0x1.6a09e667f3bcdp-1", "0x1.4bfdad5362a27p-1", "0x1.306fe0a31b715p-1", "0x1.172b83c7d517bp-1",
))  # 2 ** (-k / 8), as everybody rounds them  # fmt: skip


class Digits(NamedTuple):
    """How many counts are not zero, and how many binary digits they have together."""

    n_counts: int
    n_digits: int


def decay_of(decay: float | str, counts: ClassCounts) -> float:
    """Return the decay of a row that these counts are read with: a number as it is, or what "auto" comes to."""
    if decay != AUTO:
        return float(decay)
    n_counts, n_digits = counts.n_met_and_digits
    return auto_decay(Digits(n_counts, n_digits - n_counts * (counts.unit.per_row.bit_length() - 1)))


def count_decay_of(decay: float | str, counts: ClassCounts) -> float:
    """Return the decay of one count: that of a row, or where counts are fractions of rows, its share in it."""
    return counts.unit.per_count(decay_of(decay, counts))


def auto_decay(digits: Digits) -> float:
    """Return the decay for counts of so many digits: 11.3 / 2**(1.5 b) for b digits in the mean, at most 0.6.

    Parameters
    ----------
    digits : Digits
        How many counts are not zero, and how many binary digits they have together.

    Returns
    -------
    float
        The decay, which goes in steps of an eighth of a factor 2.

    Examples
    --------
    >>> from flybloom.core.readout.decay import Digits, auto_decay
    >>> auto_decay(Digits(100, 150)), auto_decay(Digits(100, 500))  # counts of 2, and of about 20
    (0.6, 0.0625)
    """
    halved, step = divmod(decay_step(digits) - START, STEPS)
    return min(MOST, math.ldexp(ROOTS[step], -halved))


def decay_step(digits: Digits) -> int:
    """Return the step that the decay of such counts is at; whole, so that a kernel can tell when it changes."""
    return max(FALL * digits.n_digits // max(digits.n_counts, 1), LEAST_STEP)
