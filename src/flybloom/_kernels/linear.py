"""Scoring with a weight for each component and class: the weights of a row's winners, added up.

Sums of floats depend on the order, and winners may come in any. So weights are whole numbers of one unit, a power of
two, of at most 24 binary digits: a float32 holds each of them, and a float64 every sum of up to 2^29 of them, without
rounding. Whatever adds them in float64, in whatever order, gets the same bits.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from flybloom._internal.typing import Array
from flybloom._kernels._jit import JIT_IS_OFF, kernel

LANES = 16  # classes that are added up together: as many float32 as a cache line has
CHAINS = 2  # winners whose weights are added to sums of their own, so that additions need not wait for each other
DIGITS = 24  # of a weight, as a float32 has


def rounded(weights: Array) -> Array:
    """Return float32 weights: the nearest multiples of the unit that gives the largest 24 binary digits."""
    weights = np.asarray(weights, np.float64)
    _, exponent = np.frexp(np.abs(weights).max(initial=0.0))
    unit = 2.0 ** (max(int(exponent), -100) - DIGITS)  # not so small that float32 would have no room below it
    return (np.rint(weights / unit) * unit).astype(np.float32)


def padded(weights: Array) -> Array:
    """Return float32 weights (m, n_classes) with zeros up to a multiple of 16 classes, on cache lines."""
    m, n_classes = weights.shape
    width = -(-n_classes // LANES) * LANES
    room = np.zeros(m * width + LANES, np.float32)
    skip = -room.ctypes.data % 64 // room.itemsize
    result = room[skip : skip + m * width].reshape(m, width)
    result[:, :n_classes] = weights
    return result


def _sum_winners_plain(winners: Array, row: int, weights: Array, first: int, sums: Array) -> None:
    """Write the sums of the weights of a row's winners for 16 classes from `first` on."""
    sums[:] = weights[winners[row], first : first + LANES].astype(np.float64).sum(axis=0)


@intrinsic
def _sum_winners_vector(typing_context: Any, winners: Any, row: Any, weights: Any, first: Any, sums: Any) -> Any:
    """Do what `_sum_winners_plain` does, in vector registers."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        intp = context.get_value_type(types.intp)
        stored, wide = ir.VectorType(ir.FloatType(), LANES), ir.VectorType(ir.DoubleType(), LANES)
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
            weight = builder.fpext(builder.load(place, align=4), wide)
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
def linear_scores(winners: Array, weights: Array, intercept: Array, out: Array) -> None:
    """Write ``intercept[c] + sum of weights[j, c] over the winners j of row i`` to ``out[i, c]``.

    Parameters
    ----------
    winners : (n, rho) array of uint32
        In any order.
    weights : (m, width) array of float32
        Whole numbers of one unit, see `rounded`; the width is a multiple of 16, see `padded`.
    intercept : (n_classes,) array of float64
        Added last, so rounded once.
    out : (n, n_classes) array of float64
    """
    n_classes = out.shape[1]
    sums = np.empty(LANES)
    for i in range(winners.shape[0]):
        for first in range(0, n_classes, LANES):
            _sum_winners(winners, i, weights, first, sums)
            for c in range(first, min(first + LANES, n_classes)):
                out[i, c] = sums[c - first] + intercept[c]
