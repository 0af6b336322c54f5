"""Sums of targets by component: whole numbers, so that rows may come in any order."""

from __future__ import annotations

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel


@kernel
def add_targets(winners: Array, targets: Array, sums: Array) -> None:
    """Add the targets of each row to the sums of its winners.

    Parameters
    ----------
    winners : (n, rho) array of unsigned integers
    targets : (n, n_outputs) array of int64
        Times the weight of the row; negative ones take away.
    sums : (m, n_outputs) array of int64
    """
    for i in range(winners.shape[0]):
        for r in range(winners.shape[1]):
            for k in range(targets.shape[1]):
                sums[winners[i, r], k] += targets[i, k]
