"""Certificates: between which bounds each sum stays, and whether any set of winners within them changes the label."""

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel

OCTET = 8  # components whose connections lie side by side


@kernel
def interval_sums(low: Array, high: Array, connections: Array, out_low: Array, out_high: Array) -> None:
    """Write between which bounds the sums of components stay where columns stay between `low` and `high`.

    Columns come twice: as they are, and with the other sign, as connections name them. They are added in the order and
    in the type in which rows are hashed. Rounding never turns the order of two numbers around, so what is computed for
    any row between the bounds of the columns lies between these, rounding included.
    """
    m, s = out_low.shape[1], connections.shape[1]
    least, most = np.empty(OCTET, low.dtype), np.empty(OCTET, low.dtype)
    for row in range(low.shape[0]):
        for octet in range(connections.shape[0]):
            least[:] = 0
            most[:] = 0
            for k in range(s):
                for r in range(OCTET):
                    column = connections[octet, k, r]
                    least[r] += low[row, column]
                    most[r] += high[row, column]
            for r in range(min(OCTET, m - octet * OCTET)):
                out_low[row, octet * OCTET + r], out_high[row, octet * OCTET + r] = least[r], most[r]


@kernel
def holds(
    low: Array,
    high: Array,
    weights: Array,
    intercept: Array,
    codes: Array,
    rho: int,
    possible: Array,
    n_cells: int,
    out: Array,
) -> None:
    """Write whether the class of each row stays the one of the largest score, whichever components win in the bounds.

    A component surely wins if no more than rho - 1 others may reach it, and never wins if rho others surely lie above
    it. The places that are left go to those of the rest that speak most against the class, for each other class again.
    Of each `n_cells` cells of a fern, which come after the components that have sums, one of those that are `possible`
    wins: the one that speaks most against the class. Weights and intercepts are integers of one unit, so nothing is
    rounded; what ties may be lost.
    """
    m, n_classes = low.shape[1], weights.shape[1]
    open_ones, against = np.empty(m, np.int64), np.empty(m)
    for row in range(low.shape[0]):
        reach = -np.inf if rho == m else float(np.partition(high[row], m - rho - 1)[m - rho - 1])
        floor = float(np.partition(low[row], m - rho)[m - rho])
        own = codes[row]
        n_open, n_sure = 0, 0
        sums = intercept.copy()
        for j in range(m):
            if low[row, j] > reach:
                n_sure += 1
                for i in range(n_classes):
                    sums[i] += weights[j, i]
            elif not high[row, j] < floor:
                open_ones[n_open] = j
                n_open += 1
        n_free = rho - n_sure
        is_held = True
        for i in range(n_classes):
            if i == own or not is_held:
                continue
            total = sums[i] - sums[own]
            for at in range(n_open):
                j = open_ones[at]
                against[at] = np.float64(weights[j, i]) - np.float64(weights[j, own])
            if n_free < n_open and n_free > 0:
                chosen = np.partition(against[:n_open], n_open - n_free)[n_open - n_free :]
            else:
                chosen = against[:n_free]
            for value in chosen:
                total += value
            for first in range(0, possible.shape[1], n_cells):
                worst = -np.inf
                for cell in range(first, first + n_cells):
                    if possible[row, cell]:
                        worst = max(worst, np.float64(weights[m + cell, i]) - np.float64(weights[m + cell, own]))
                total += worst
            is_held = total < 0.0
        out[row] = is_held
