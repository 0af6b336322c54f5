"""Cells of random ferns: the results of few tests as the digits of a number."""

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel


@kernel
def write_cells(rows: Array, places: Array, cuts: Array, first: int, out: Array) -> None:
    """Write the number of each fern's cell to the last columns of `out`.

    ``places[f, t]`` is the column of test t of fern f, which is passed above ``cuts[f, t]``. The first cell of the
    first fern has the number `first`.
    """
    n_ferns, n_tests = places.shape
    begin = out.shape[1] - n_ferns
    for i in range(rows.shape[0]):
        for f in range(n_ferns):
            cell = f << n_tests
            for t in range(n_tests):
                cell += int(rows[i, places[f, t]] > cuts[f, t]) << t
            out[i, begin + f] = np.uint32(first + cell)
