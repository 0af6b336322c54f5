"""Scoring of rows that a model must not have seen, for several decays at once.

A count is read once and gives the weights of all decays, which lie side by side. For each decay the weights of
the winners are added in the order in which `score.novelty` adds them, so every sum has the same bits.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from flybloom._kernels._jit import JIT_IS_OFF, kernel
from flybloom._typing import Array

LANES = 8  # decays side by side: what one or two vector instructions add


def _add_weights_plain(sums: Array, at: int, tables: Array, count: int) -> None:
    """Add row `count` of `tables` to row `at` of `sums`, both of 8 columns."""
    sums[at] += tables[count]


@intrinsic
def _add_weights_vector(typing_context: Any, sums: Any, at: Any, tables: Any, count: Any) -> Any:
    """Do what `_add_weights_plain` does, in vector registers; nothing is checked."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(ir.DoubleType(), LANES).as_pointer()

        def row_of(k: int, row: Any) -> Any:
            data = context.make_array(signature.args[k])(context, builder, args[k]).data
            return builder.gep(builder.bitcast(data, vector), [row])

        total, weights = row_of(0, args[1]), row_of(2, args[3])
        added = builder.fadd(builder.load(total, align=8), builder.load(weights, align=8))
        builder.store(added, total, align=8)
        return context.get_dummy_value()

    return types.void(sums, types.intp, tables, types.intp), generate


# Intrinsics exist only in compiled code; without it the plain twin does the same.
_add_weights: Any = _add_weights_plain if JIT_IS_OFF else _add_weights_vector


@kernel
def held_out_novelty(
    winners: Array, counts: Array, codes: Array, leaves_itself: bool, class_count: Array, tables: Array, out: Array
) -> None:
    """Write the novelty of each row to each class, for each decay, to ``out[decay, row, class]``.

    Parameters
    ----------
    winners : (n, rho) uint32 array
    counts : (m, n_classes) integer array
    codes : (n,) int64 array
        Each row's own class.
    leaves_itself : bool
        Whether the rows are among the counted ones, and each is to be scored as if it were not.
    class_count : (n_classes,) int64 array
        Rows that were counted of each class. A class without any is infinitely novel: it cannot be chosen.
    tables : (n, 8) float64 array
        Weights by count, one column for each decay, 0 where there are fewer than 8.
    out : (n_decays, n, n_classes) float64 array
    """
    n_decays, n_classes, rho, last = out.shape[0], counts.shape[1], winners.shape[1], tables.shape[0] - 1
    sums = np.empty((n_classes, LANES))
    for row in range(winners.shape[0]):
        sums[:] = 0.0
        for r in range(rho):
            j = winners[row, r]
            for i in range(n_classes):
                _add_weights(sums, i, tables, min(counts[j, i], last))
        own = codes[row]
        if leaves_itself:
            sums[own, :] = 0.0
            for r in range(rho):
                _add_weights(sums, own, tables, min(counts[winners[row, r], own] - 1, last))
        for i in range(n_classes):
            n_rows = class_count[i]
            if leaves_itself and i == own:
                n_rows -= 1
            for decay in range(n_decays):
                out[decay, row, i] = sums[i, decay] / rho if n_rows > 0 else np.inf
