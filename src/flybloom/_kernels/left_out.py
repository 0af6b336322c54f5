"""Scoring of learned rows as if each had not been learned."""

from flybloom._internal.typing import Array
from flybloom._kernels._jit import kernel


@kernel
def left_out_novelty(winners: Array, codes: Array, counts: Array, table: Array, out: Array) -> None:
    """Write f_i(x) to ``out[row, i]``, with one count less for each winner in the row's own class ``codes[row]``.

    A row that was not learned meets counts of zero there, which stay zero.
    """
    n_classes, rho, last = counts.shape[1], winners.shape[1], table.size - 1
    for row in range(winners.shape[0]):
        out[row, :] = 0.0
        for r in range(rho):
            j = winners[row, r]
            for i in range(n_classes):
                count = counts[j, i]
                if i == codes[row] and count > 0:
                    count -= 1
                out[row, i] += table[min(count, last)]
        for i in range(n_classes):
            out[row, i] /= rho
