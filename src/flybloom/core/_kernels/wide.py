"""Winners of integer rows whose sums need more than 32 bits: exact, rare, and simple."""

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel

OCTET = 8  # components stored side by side, see winners.py


@kernel
def wide_winners(rows: Array, octets: Array, m: int, out: Array) -> None:
    """Write the winners of each int64 row to `out`, the largest sum first, ties to the smaller component."""
    d, rho = rows.shape[1], out.shape[1]
    losing = np.empty(m, np.int64)  # minus the sums: ascending order is then what is wanted
    for i in range(rows.shape[0]):
        for j in range(m):
            total = np.int64(0)
            for k in range(octets.shape[1]):
                link = octets[j // OCTET, k, j % OCTET]
                if link < d:
                    total += rows[i, link]
                else:
                    total -= rows[i, link - d]
            losing[j] = -total
        order = np.argsort(losing, kind="mergesort")
        for r in range(rho):
            out[i, r] = order[r]
