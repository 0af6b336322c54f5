"""Scoring with a weight for each component and class: the weights of a row's winners, added up.

Weights are such that no sum of them is rounded, see `core/readout/linear.py`; so their order does not matter. They come
as a table, or, with many classes, as lists of the classes in which a component has won: zeros cost next to nothing.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import JIT_IS_OFF, kernel

LANES = 16  # classes that are looked at together: as many int32 as a cache line has
CHAINS = 2  # winners whose weights are added to sums of their own, so that additions need not wait for each other


def _sum_winners_plain(winners: Array, row: int, weights: Array, first: int, sums: Array) -> None:
    """Write the sums of the weights of a row's winners for 16 classes from `first` on."""
    sums[:] = weights[winners[row], first : first + LANES].astype(np.float64).sum(axis=0)


@intrinsic
def _sum_winners_vector(typing_context: Any, winners: Any, row: Any, weights: Any, first: Any, sums: Any) -> Any:
    """Do what `_sum_winners_plain` does, in vector registers."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        intp = context.get_value_type(types.intp)
        stored, wide = ir.VectorType(ir.IntType(32), LANES), ir.VectorType(ir.DoubleType(), LANES)
        winners, weights, sums = (context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 2, 4))
        rho = cgutils.unpack_tuple(builder, winners.shape)[1]  # type: ignore[no-untyped-call]
        width = cgutils.unpack_tuple(builder, weights.shape)[1]  # type: ignore[no-untyped-call]
        begin = builder.mul(args[1], rho)
        end = builder.add(begin, rho)
        last = builder.sub(end, builder.urem(rho, ir.Constant(intp, CHAINS)))
        column = builder.gep(weights.data, [args[3]])
        totals = [cgutils.alloca_once(builder, wide) for _ in range(CHAINS)]  # type: ignore[no-untyped-call]
        for total in totals:
            builder.store(ir.Constant(wide, None), total)

        def add(at: Any, total: Any) -> None:
            winner = builder.zext(builder.load(builder.gep(winners.data, [at])), intp)
            place = builder.bitcast(builder.gep(column, [builder.mul(winner, width)]), stored.as_pointer())
            weight = builder.sitofp(builder.load(place, align=4), wide)
            builder.store(builder.fadd(builder.load(total), weight), total)

        with cgutils.for_range_slice(builder, begin, last, ir.Constant(intp, CHAINS), intp) as (at, _):
            for k, total in enumerate(totals):
                add(builder.add(at, ir.Constant(intp, k)), total)
        with cgutils.for_range_slice(builder, last, end, ir.Constant(intp, 1), intp) as (at, _):
            add(at, totals[0])
        result = builder.load(totals[0])
        for total in totals[1:]:
            result = builder.fadd(result, builder.load(total))
        builder.store(result, builder.bitcast(sums.data, wide.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(winners, types.intp, weights, types.intp, sums), generate


_sum_winners: Any = _sum_winners_plain if JIT_IS_OFF else _sum_winners_vector


@kernel
def linear_sums(winners: Array, weights: Array, intercept: Array, out: Array) -> None:
    """Write ``intercept[c] + sum of weights[j, c] over the winners j of row i`` to ``out[i, c]``.

    Parameters
    ----------
    winners : (n, rho) array of uint32
        In any order.
    weights : (m, width) array of int32
        The width is a multiple of 16.
    intercept : (n_classes,) array of float64
        Integers.
    out : (n, n_classes) array of float64
    """
    n_classes = out.shape[1]
    sums = np.empty(LANES)
    for i in range(winners.shape[0]):
        for first in range(0, n_classes, LANES):
            _sum_winners(winners, i, weights, first, sums)
            for c in range(first, min(first + LANES, n_classes)):
                out[i, c] = sums[c - first] + intercept[c]


@kernel
def count_listed(counts: Array, begin: int, end: int, step: int, out: Array) -> None:
    """Write to ``out[j]`` in how many classes component j has won, for every `step`-th component of a range."""
    for j in range(begin, end, step):
        n = 0
        for i in range(counts.shape[1]):
            n += counts[j, i] != 0
        out[j] = n


@kernel
def fill_lists(
    counts: Array, begin: int, end: int, values: Array, firsts: Array, lasts: Array,
    starts: Array, classes: Array, weights: Array,
) -> None:  # fmt: skip
    """Write the classes in which component j has won, and its weights there, from ``starts[j]`` on.

    The weight of a count in class i is ``values[firsts[i] + min(count, lasts[i])]``.
    """
    n_classes = counts.shape[1]
    for j in range(begin, end):
        at = starts[j]
        for first in range(0, n_classes, LANES):
            stop, won = min(first + LANES, n_classes), False
            for i in range(first, stop):
                won |= counts[j, i] != 0
            if won:
                for i in range(first, stop):
                    if counts[j, i] != 0:
                        classes[at], weights[at] = i, values[firsts[i] + min(counts[j, i], lasts[i])]
                        at += 1


@kernel
def listed_sums(winners: Array, starts: Array, classes: Array, weights: Array, intercept: Array, out: Array) -> None:
    """Write ``intercept[c] + sum of the weights for class c on the lists of the winners of row i`` to ``out[i, c]``."""
    for row in range(winners.shape[0]):
        out[row] = intercept
        for r in range(winners.shape[1]):
            j = winners[row, r]
            for at in range(starts[j], starts[j + 1]):
                out[row, classes[at]] += weights[at]
