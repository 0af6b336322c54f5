"""How much of a row is new: the share of its winners that have never won."""

from __future__ import annotations

import numpy as np

from flybloom._internal.typing import Array, CountTable, Winners


def novel_share(table: CountTable, winners: Winners) -> Array:
    """Return the share of each row's winners that no column of the table has counted."""
    never_won: Array = np.logical_not(table.any(axis=1))
    share: Array = never_won[winners].mean(axis=1)
    return share
