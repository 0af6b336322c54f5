"""Scoring of rows that a model must not have seen: each left out by itself, or held out, for several decays at once.

Tables of weights lie one after another. Class i finds the weight of a count at ``starts[i] + min(count, lasts[i])``.
Weights are multiples of a power of two, so that sums are exact in any order; see `core/readout/filters.py`. Those
that follow from the number of rows change when a row is left out. So there are three tables for each class, found by
``starts[kind, i]``: one for rows of other classes, one for its own rows, and one for rows that are alone in another
class, which is then no class any more.

For several decays a count is read once and gives the weights of eight of them, which lie side by side. The sums of two
classes are kept in registers over all winners of a row.
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
OTHER, OWN, OTHER_IF_ALONE = 0, 1, 2  # kinds of tables


@kernel
def leave_one_out_novelty(
    winners: Array, codes: Array, counts: Array, class_count: Array, table: Array, starts: Array, lasts: Array,
    out: Array,
) -> None:  # fmt: skip
    """Write f_i(x) to ``out[row, i]`` as if the row, of class ``codes[row]``, had not been learned."""
    n_classes, rho = counts.shape[1], winners.shape[1]
    for row in range(winners.shape[0]):
        own = codes[row]
        other = OTHER_IF_ALONE if class_count[own] == 1 else OTHER
        out[row, :] = 0.0
        for r in range(rho):
            j = winners[row, r]
            for i in range(n_classes):
                kind, count = other, counts[j, i]
                if i == own:
                    kind = OWN
                    if count > 0:
                        count -= 1
                out[row, i] += table[starts[kind, i] + min(count, lasts[kind, i])]
        for i in range(n_classes):
            out[row, i] /= rho


def _sum_pair_plain(
    winners: Array, row: int, counts: Array, i: int, first_0: int, first_1: int, most_0: int, most_1: int,
    tables: Array, sums: Array,
) -> None:  # fmt: skip
    """Write the summed weights of a row's winners in the filters of classes i and i + 1 to rows i and i + 1 of `sums`.

    Each class has the place of a count of 0, and the largest count with a place of its own.
    """
    for k, first, most in ((i, first_0, most_0), (i + 1, first_1, most_1)):
        sums[k] = 0.0
        for j in winners[row]:
            sums[k] += tables[first + min(int(counts[j, k]), most)]


@intrinsic
def _sum_pair_vector(
    typing_context: Any,
    winners: Any,
    row: Any,
    counts: Any,
    i: Any,
    first_0: Any,
    first_1: Any,
    most_0: Any,
    most_1: Any,
    tables: Any,
    sums: Any,
) -> Any:
    """Do what `_sum_pair_plain` does, in vector registers; nothing is checked."""
    intp = types.intp
    signature = types.void(winners, intp, counts, intp, intp, intp, intp, intp, tables, sums)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(ir.DoubleType(), LANES)
        word = context.get_value_type(types.intp)

        def array(k: int) -> Any:
            return context.make_array(signature.args[k])(context, builder, args[k])

        def columns(k: int) -> Any:
            return cgutils.unpack_tuple(builder, array(k).shape)[1]  # type: ignore[no-untyped-call]

        def row_of(k: int, at: Any) -> Any:
            return builder.gep(builder.bitcast(array(k).data, vector.as_pointer()), [at])

        rho, n_classes = columns(0), columns(2)
        own_winners = builder.gep(array(0).data, [builder.mul(args[1], rho)])
        own_counts = builder.gep(array(2).data, [args[3]])
        tables_of_pair, limits = [row_of(8, first) for first in args[4:6]], args[6:8]
        totals = [cgutils.alloca_once(builder, vector) for _ in range(PAIR)]  # type: ignore[no-untyped-call]
        for total in totals:
            builder.store(ir.Constant(vector, [0.0] * LANES), total)
        with cgutils.for_range(builder, rho, intp=word) as loop:
            winner = builder.zext(builder.load(builder.gep(own_winners, [loop.index])), word)
            cells = builder.gep(own_counts, [builder.mul(winner, n_classes)])
            for k, total in enumerate(totals):
                count = builder.load(builder.gep(cells, [ir.Constant(word, k)]))
                if count.type != word:
                    count = builder.zext(count, word)  # counts are never negative
                count = builder.select(builder.icmp_signed("<", count, limits[k]), count, limits[k])
                weights = builder.load(builder.gep(tables_of_pair[k], [count]), align=8)
                builder.store(builder.fadd(builder.load(total), weights), total)
        for k, total in enumerate(totals):
            builder.store(builder.load(total), row_of(9, builder.add(args[3], ir.Constant(word, k))), align=8)
        return context.get_dummy_value()

    return signature, generate


# Intrinsics exist only in compiled code; without it the plain twin does the same.
_sum_pair: Any = _sum_pair_plain if JIT_IS_OFF else _sum_pair_vector


@kernel
def cross_validated_novelty(
    winners: Array, counts: Array, codes: Array, leaves: Array, class_count: Array, tables: Array, starts: Array,
    lasts: Array, out: Array,
) -> None:  # fmt: skip
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
        Weights by count, one column for each decay.
    starts, lasts : (1, n_classes) int64 array, or (3, n_classes) if each row leaves itself
    out : (n_decays, n, n_classes) float64 array
    """
    n_decays, n_classes, rho = out.shape[0], counts.shape[1], winners.shape[1]
    sums = np.empty((n_classes, LANES))
    for row in range(winners.shape[0]):
        own, less = codes[row] if leaves[row] > 0 else -1, leaves[row]
        other = OTHER_IF_ALONE if own >= 0 and class_count[own] == less else OTHER
        for begin in range(0, n_classes, PAIR):
            i = min(begin, n_classes - PAIR)  # of an odd number of classes, one is summed twice
            kind_0, kind_1 = OWN if own == i else other, OWN if own == i + 1 else other
            less_0, less_1 = less * int(own == i), less * int(own == i + 1)  # lowers every count by moving the table
            _sum_pair(
                winners, row, counts, i, starts[kind_0, i] - less_0, starts[kind_1, i + 1] - less_1,
                lasts[kind_0, i] + less_0, lasts[kind_1, i + 1] + less_1, tables, sums,
            )  # fmt: skip
        for i in range(n_classes):
            is_known = class_count[i] > less * int(own == i)
            for decay in range(n_decays):
                out[decay, row, i] = sums[i, decay] / rho if is_known else np.inf
