"""Scoring of rows that a model must not have seen, for several decays at once.

A count is read once and gives the weights of eight decays, which lie side by side. The sums of two classes are kept
in registers over all winners of a row. For each decay and class the weights are added in the order in which
`score.novelty` adds them, so every sum has the same bits.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import JIT_IS_OFF, kernel

LANES = 8  # decays side by side
PAIR = 2  # classes at a time: with more, or with one, it takes longer
SMALL = 16  # bits of counts that need not be compared with the end of the table


def _sum_pair_plain(
    winners: Array, row: int, counts: Array, i: int, less_0: int, less_1: int, tables: Array, last: int, sums: Array
) -> None:
    """Write the summed weights of a row's winners in the filters of classes i and i + 1 to rows i and i + 1 of `sums`.

    Each count is first lowered, by `less_0` and `less_1`.
    """
    for k, less in ((i, less_0), (i + 1, less_1)):
        sums[k] = 0.0
        for j in winners[row]:
            sums[k] += tables[min(int(counts[j, k]) - less, last)]


@intrinsic
def _sum_pair_vector(
    typing_context: Any,
    winners: Any,
    row: Any,
    counts: Any,
    i: Any,
    less_0: Any,
    less_1: Any,
    tables: Any,
    last: Any,
    sums: Any,
) -> Any:
    """Do what `_sum_pair_plain` does, in vector registers; nothing is checked."""
    intp = types.intp
    signature = types.void(winners, intp, counts, intp, intp, intp, tables, intp, sums)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(ir.DoubleType(), LANES)
        word = context.get_value_type(types.intp)

        def array(k: int) -> Any:
            return context.make_array(signature.args[k])(context, builder, args[k])

        def columns(k: int) -> Any:
            return cgutils.unpack_tuple(builder, array(k).shape)[1]  # type: ignore[no-untyped-call]

        def row_of(k: int, at: Any) -> Any:
            return builder.gep(builder.bitcast(array(k).data, vector.as_pointer()), [at])

        rho, n_classes, last = columns(0), columns(2), args[7]
        own_winners = builder.gep(array(0).data, [builder.mul(args[1], rho)])
        own_counts = builder.gep(array(2).data, [args[3]])
        columns_of_pair = [row_of(6, builder.neg(less)) for less in args[4:6]]  # lowers every count by moving the table
        limits = [builder.add(last, less) for less in args[4:6]]
        totals = [cgutils.alloca_once(builder, vector) for _ in range(PAIR)]  # type: ignore[no-untyped-call]
        for total in totals:
            builder.store(ir.Constant(vector, [0.0] * LANES), total)
        with cgutils.for_range(builder, rho, intp=word) as loop:
            winner = builder.zext(builder.load(builder.gep(own_winners, [loop.index])), word)
            cells = builder.gep(own_counts, [builder.mul(winner, n_classes)])
            for k, total in enumerate(totals):
                count = builder.load(builder.gep(cells, [ir.Constant(word, k)]))
                is_small = count.type.width == SMALL
                if count.type != word:
                    count = builder.zext(count, word)  # counts are never negative
                if not is_small:
                    count = builder.select(builder.icmp_signed("<", count, limits[k]), count, limits[k])
                weights = builder.load(builder.gep(columns_of_pair[k], [count]), align=8)
                builder.store(builder.fadd(builder.load(total), weights), total)
        for k, total in enumerate(totals):
            builder.store(builder.load(total), row_of(8, builder.add(args[3], ir.Constant(word, k))), align=8)
        return context.get_dummy_value()

    return signature, generate


# Intrinsics exist only in compiled code; without it the plain twin does the same.
_sum_pair: Any = _sum_pair_plain if JIT_IS_OFF else _sum_pair_vector


@kernel
def cross_validated_novelty(
    winners: Array, counts: Array, codes: Array, leaves: Array, class_count: Array, tables: Array, out: Array
) -> None:
    """Write the novelty of each row to each class, for each decay, to ``out[decay, row, class]``.

    Parameters
    ----------
    winners : (n, rho) uint32 array
    counts : (m, n_classes) integer array, of at least two classes
    codes : (n,) int64 array
        Each row's own class.
    leaves : (n,) int64 array
        How much of each row's own counts is left out while it is scored: its weight if it is among the counted ones.
    class_count : (n_classes,) int64 array
        Rows that were counted of each class. A class without any is infinitely novel: it cannot be chosen.
    tables : (n, 8) float64 array
        Weights by count, one column for each decay, 0 where there are fewer than 8. For counts of two bytes it must
        have a row for each count that there is; larger ones are looked up in its last row.
    out : (n_decays, n, n_classes) float64 array
    """
    n_decays, n_classes, rho, last = out.shape[0], counts.shape[1], winners.shape[1], tables.shape[0] - 1
    sums = np.empty((n_classes, LANES))
    for row in range(winners.shape[0]):
        own, less = codes[row], leaves[row]
        for begin in range(0, n_classes, PAIR):
            i = min(begin, n_classes - PAIR)  # of an odd number of classes, one is summed twice
            _sum_pair(winners, row, counts, i, less * int(own == i), less * int(own == i + 1), tables, last, sums)
        for i in range(n_classes):
            is_known = class_count[i] > less * int(own == i)
            for decay in range(n_decays):
                out[decay, row, i] = sums[i, decay] / rho if is_known else np.inf
