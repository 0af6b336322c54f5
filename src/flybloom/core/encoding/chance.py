"""How far chance goes, so that what is beyond tells something."""

from __future__ import annotations

import math

from flybloom._internal.elementary import LOG_2


def most_by_chance(free: int, n_sums: int) -> float:
    """Return what the largest of so many sums of `free` squares of normal numbers seldom exceeds.

    Of 100 or 500 independent ones, one does in every seventh or fourth case. The logarithm is that of the next power of
    two, which everybody rounds alike.
    """
    log = n_sums.bit_length() * LOG_2
    return free + 2 * math.sqrt(free * log) + log
