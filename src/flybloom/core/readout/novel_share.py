"""How much of a row is new: the share of its winners that have never won."""

from __future__ import annotations

from flybloom._internal.typing import Array, Winners


def novel_share(has_won: Array, winners: Winners) -> Array:
    """Return the share of each row's winners that have never won, as `has_won` says of each component."""
    share: Array = (~has_won)[winners].mean(axis=1)
    return share
