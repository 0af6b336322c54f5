"""Winners of sparse rows, at a cost in proportion to nnz * m * s / d.

A nonzero feature is looked up in the inverted connections: the components it feeds, and at which place
among their connections. All that one row touches is brought into the order of the places before it is
added, because the sums of floats depend on the order and must be those of the dense rows, bit for bit.
What is not touched has the sum zero and is never looked at, except to fill up with ties.
"""

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel


@kernel
def _move_best_to_front(keys: Array, n: int, k: int) -> None:
    """Move the `k` largest of the first `n` keys, all different, to the front."""
    low, high = 0, n - 1
    while low < high:
        a, pivot, c = keys[low], keys[(low + high) >> 1], keys[high]
        if a < pivot:
            a, pivot = pivot, a
        if pivot < c:
            pivot = min(a, c)
        i, j = low, high
        while i <= j:
            while keys[i] > pivot:
                i += 1
            while keys[j] < pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                i += 1
                j -= 1
        if k - 1 <= j:
            high = j
        elif k - 1 >= i:
            low = i
        else:
            return


@kernel
def _sum_touched(
    features: Array,
    values: Array,
    starts: Array,
    components: Array,
    places: Array,
    s: int,
    sums: Array,
    is_touched: Array,
) -> Array:
    """Add one row's features to the sums of the components they feed; return those components."""
    n_hits = 0
    for f in features:
        n_hits += starts[f + 1] - starts[f]
    per_place = np.zeros(s + 1, np.int64)
    for f in features:
        for at in range(starts[f], starts[f + 1]):
            per_place[(places[at] >> 1) + 1] += 1
    for k in range(s):
        per_place[k + 1] += per_place[k]
    hit_components, hit_values = np.empty(n_hits, np.uint32), np.empty(n_hits, sums.dtype)
    for i in range(features.size):
        f, value = features[i], values[i]
        for at in range(starts[f], starts[f + 1]):
            place = places[at] >> 1
            hit_components[per_place[place]] = components[at]
            hit_values[per_place[place]] = -value if places[at] & 1 else value
            per_place[place] += 1
    n_touched = 0
    touched = np.empty(n_hits, np.uint32)
    for i in range(n_hits):
        j = hit_components[i]
        sums[j] += hit_values[i]
        if not is_touched[j]:
            is_touched[j] = True
            touched[n_touched] = j
            n_touched += 1
    return touched[:n_touched]


@kernel
def _write_best(keys: Array, n: int, rho: int, out: Array, row: int, n_written: int) -> int:
    """Write the components of the best keys to the row from `n_written` on; return how much it is filled."""
    n_best = min(n, rho - n_written)
    if n_best > 0:
        _move_best_to_front(keys, n, n_best)
        for i in range(n_best):
            out[row, n_written + i] = 0xFFFFFFFF - (keys[i] & 0xFFFFFFFF)
    return n_written + n_best


@kernel
def sparse_winners(
    indptr: Array,
    indices: Array,
    data: Array,
    starts: Array,
    components: Array,
    places: Array,
    s: int,
    m: int,
    sums: Array,
    ordered: Array,
    is_float: bool,
    out: Array,
) -> None:
    """Write the winners of each CSR row to `out`, in no order; of sums that tie, the first components win.

    `data` and `sums` (m zeros) are float32 or int32; `ordered` shows the memory of `sums` as int32.
    """
    rho = out.shape[1]
    is_touched = np.zeros(m, np.bool_)
    for row in range(indptr.size - 1):
        begin, end = indptr[row], indptr[row + 1]
        touched = _sum_touched(indices[begin:end], data[begin:end], starts, components, places, s, sums, is_touched)
        above, below = np.empty(touched.size, np.int64), np.empty(touched.size, np.int64)
        n_above, n_below = 0, 0
        for j in touched:
            if sums[j] != 0:
                bits = np.int64(ordered[j])
                if is_float:
                    bits ^= (bits >> 31) & 0x7FFFFFFF
                key = (bits << 32) | (0xFFFFFFFF - np.int64(j))
                if sums[j] > 0:
                    above[n_above] = key
                    n_above += 1
                else:
                    below[n_below] = key
                    n_below += 1
        n_written = _write_best(above, n_above, rho, out, row, 0)
        j = 0
        while n_written < rho and j < m:  # at most rho + touched.size steps
            if sums[j] == 0:
                out[row, n_written] = j
                n_written += 1
            j += 1
        _write_best(below, n_below, rho, out, row, n_written)
        for j in touched:
            sums[j] = 0
            is_touched[j] = False
