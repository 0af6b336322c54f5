"""Rows in, winners out: each sum is added in the order of its connections, for all components at once."""

from __future__ import annotations

import numpy as np

from flybloom._internal.typing import Array

SUMS_AT_ONCE = 2**22  # which bounds their memory


def plain_winners(rows: Array, connections: Array, m: int, is_signed: bool, out: Array) -> None:
    """Write the winners of each row to `out`, in ascending order; of sums that tie, the first components win.

    Parameters
    ----------
    rows : (n, d) array of float32 or int64, wide enough for every sum
    connections : (ceil(m / 8), s, 8) array of unsigned integers
        Features of component j at ``[j // 8, :, j % 8]``; ``d + f`` stands for minus feature f.
    m : int
        Number of components.
    is_signed : bool
        Whether any connection is beyond d.
    out : (n, rho) uint32 array
    """
    s, rho = connections.shape[1], out.shape[1]
    step = max(1, SUMS_AT_ONCE // m)
    for begin in range(0, len(rows), step):
        values = rows[begin : begin + step].T
        values = np.concatenate([values, -values]) if is_signed else np.ascontiguousarray(values)
        sums = np.zeros((m, values.shape[1]), values.dtype)
        for k in range(s):
            sums += values[connections[:, k].ravel()[:m]]
        for i in range(values.shape[1]):
            out[begin + i] = _largest(sums[:, i], rho)


def _largest(sums: Array, rho: int) -> Array:
    """Return the positions of the rho largest sums; of those that tie, the first."""
    sums = np.ascontiguousarray(sums)
    last = np.partition(sums, sums.size - rho)[sums.size - rho]
    above = np.flatnonzero(sums > last)
    tied = np.flatnonzero(sums == last)[: rho - above.size]
    return np.sort(np.concatenate([above, tied]))
