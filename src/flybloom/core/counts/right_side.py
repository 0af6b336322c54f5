"""What ridge regression solves for, whether classes were counted or targets added up."""

from __future__ import annotations

from typing import NamedTuple

from flybloom._internal.typing import Array


class RightSide(NamedTuple):
    """The right-hand side of the equations, in rows."""

    sums: Array  # (n_components, n_columns), float64: of the rows in which a component won
    totals: Array  # (n_columns,), float64: of all rows
    spreads: Array  # (n_columns,), float64: sums of squares around the mean
    are_classes: bool  # whether columns are indicators of classes, of which one is 1 in each row
