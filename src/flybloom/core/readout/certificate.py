"""Whether a label can change while sums stay between bounds, and the largest radius at which it cannot."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flybloom._internal.typing import Array, Codes
from flybloom.core import _kernels
from flybloom.core.readout.linear import FrozenReadout

DOUBLINGS = 64
HALVINGS = 12  # a radius is found to a share of 2**-12 of it


def holds(low: Array, high: Array, frozen: FrozenReadout, codes: Codes, n_winners: int) -> Array:
    """Return for each row whether its class stays, whichever components win with sums between the bounds."""
    result = np.zeros(len(codes), bool)
    is_known = np.isfinite(low).all(axis=1) & np.isfinite(high).all(axis=1)
    if is_known.any():
        some = np.zeros(int(is_known.sum()), bool)
        _kernels.certify.holds(
            low[is_known], high[is_known], frozen.weights, frozen.intercept, codes[is_known], n_winners, some
        )
        result[is_known] = some
    return result


def largest_radius(holds_at: Callable[[Array, Array], Array], n_rows: int, first: float) -> Array:
    """Return a radius for each row at which it holds, and hardly any larger one; 0 where there is none.

    `holds_at` takes positions of rows and a radius for each. It is asked for `first`, doubled until it fails, or halved
    until it holds; what lies between is halved. Infinite where it never fails.
    """
    certain, failed = np.zeros(n_rows), np.full(n_rows, np.inf)
    radius = np.full(n_rows, first)
    open_ones = np.flatnonzero(holds_at(np.arange(n_rows), np.zeros(n_rows)))
    for _ in range(DOUBLINGS):
        if open_ones.size == 0:
            break
        is_held = holds_at(open_ones, radius[open_ones])
        certain[open_ones[is_held]] = radius[open_ones[is_held]]
        failed[open_ones[~is_held]] = radius[open_ones[~is_held]]
        between = (certain[open_ones] > 0) & (failed[open_ones] < np.inf)
        radius[open_ones] *= np.where(is_held, 2.0, 0.5)
        open_ones = open_ones[~between]
    certain[(failed == np.inf) & (certain > 0)] = np.inf
    found = np.flatnonzero((certain > 0) & (certain < np.inf))
    for _ in range(HALVINGS):
        if found.size == 0:
            break
        middle = (certain[found] + failed[found]) / 2
        is_held = holds_at(found, middle)
        certain[found[is_held]] = middle[is_held]
        failed[found[~is_held]] = middle[~is_held]
    return certain
