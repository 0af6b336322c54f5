"""Quadratic forms of hashes, which are ones for the winners of a row and zeros elsewhere."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import JIT_IS_OFF, kernel

ROWS_AT_ONCE = 512  # whose winners are sorted together
MASKED_ROWS = 64  # the same where their winners are marked in masks, which stay in the cache
LANES = 32  # columns of an inverse that are added up together, in registers


def _squared_length_plain(winners: Array, begin: int, n: int, lines: Array, centre: Array, first: int) -> Any:
    """Return the squared length of the sum of the lines of `n` winners less 32 values of a centre."""
    total = lines[winners.ravel()[begin : begin + n]].sum(axis=0) - centre[first : first + LANES]
    return (total * total).sum()


@intrinsic
def _squared_length_vector(
    typing_context: Any, winners: Any, begin: Any, n: Any, lines: Any, centre: Any, first: Any
) -> Any:
    """Do what `_squared_length_plain` does, in vector registers."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        intp, element = context.get_value_type(types.intp), context.get_value_type(signature.args[3].dtype)
        vector = ir.VectorType(element, LANES)
        winners, lines, centre = (
            context.make_array(signature.args[k])(context, builder, args[k]).data for k in (0, 3, 4)
        )
        total = cgutils.alloca_once(builder, vector)  # type: ignore[no-untyped-call]
        builder.store(ir.Constant(vector, None), total)

        def vector_at(data: Any, offset: Any) -> Any:
            place = builder.bitcast(builder.gep(data, [offset]), vector.as_pointer())
            return builder.load(place, align=4)

        with cgutils.for_range(builder, args[2], intp=intp) as winner:
            line = builder.zext(builder.load(builder.gep(winners, [builder.add(args[1], winner.index)])), intp)
            some = vector_at(lines, builder.mul(line, ir.Constant(intp, LANES)))
            builder.store(builder.fadd(builder.load(total), some), total)
        apart = builder.fsub(builder.load(total), vector_at(centre, args[5]))
        squares, half = builder.fmul(apart, apart), LANES // 2
        while half:
            lower, upper = (
                ir.Constant(ir.VectorType(ir.IntType(32), half), list(range(begin, begin + half)))
                for begin in (0, half)
            )
            squares = builder.fadd(*(builder.shuffle_vector(squares, squares, part) for part in (lower, upper)))
            half //= 2
        return builder.extract_element(squares, ir.Constant(ir.IntType(32), 0))

    return lines.dtype(winners, types.intp, types.intp, lines, centre, types.intp), generate


_squared_length: Any = _squared_length_plain if JIT_IS_OFF else _squared_length_vector


@kernel
def squared_lengths(winners: Array, columns: Array, centre: Array, out: Array) -> None:
    """Write the squared length of W' h - c of each row to `out`, for an upper triangular W.

    Parameters
    ----------
    winners : (n, rho) array of uint32
        Ascending in each row.
    columns : (m, m) array of float32 or float64
        The columns of W, one in each line, of which what is right of the diagonal is not looked at.
    centre : array of the same type
        c, and zeros up to a multiple of 32.
    out : (n,) array of float64
    """
    n_rows, n_winners = winners.shape
    m = columns.shape[0]
    lines, ends = np.zeros((m, LANES), columns.dtype), np.zeros(n_rows, np.int64)
    out[:] = 0
    for first in range(0, m, LANES):  # some columns of W, on their side, stay in the cache
        last = min(first + LANES, m)
        for c in range(first, last):
            for u in range(c + 1):
                lines[u, c - first] = columns[c, u]
            for u in range(c + 1, last):
                lines[u, c - first] = 0
        for c in range(last - first, LANES):
            for u in range(last):
                lines[u, c] = 0
        for i in range(n_rows):
            end = ends[i]
            while end < n_winners and winners[i, end] < last:
                end += 1
            ends[i] = end
            out[i] += _squared_length(winners, i * n_winners, end, lines, centre, first)


@kernel
def winner_forms(winners: Array, triangle: Array, out: Array) -> None:
    """Write h' P h of each row to `out`: the sum of P over all pairs of its winners.

    Parameters
    ----------
    winners : (n, rho) array of unsigned integers
        Ascending in each row.
    triangle : (m (m + 1) / 2,) array of int32
        P, which is symmetric: of u and v <= u at ``u (u + 1) / 2 + v``.
    out : (n,) array of int64
    """
    n_rows, n_winners = winners.shape
    starts = np.empty(_n_components(triangle) + 1, np.int64)
    rows, places = np.empty((2, ROWS_AT_ONCE * n_winners), np.int64)
    for first in range(0, n_rows, ROWS_AT_ONCE):  # a line of P serves all rows of which its component is a winner
        last = min(first + ROWS_AT_ONCE, n_rows)
        _list_by_component(winners, first, last, starts, rows, places)
        out[first:last] = 0
        begin = 0
        for u in range(starts.size - 1):
            cells = triangle[u * (u + 1) // 2 : (u + 1) * (u + 2) // 2]
            for at in range(begin, starts[u]):
                row, part = winners[rows[at]], out.dtype.type(0)
                for j in range(places[at]):
                    part += cells[row[j]]
                out[rows[at]] += 2 * part + cells[u]
            begin = starts[u]


@kernel
def masked_winner_forms(winners: Array, triangle: Array, out: Array) -> None:
    """Do what `winner_forms` does for integers, through all of a line of P that a mask leaves: for many winners."""
    n_rows, n_winners = winners.shape
    starts = np.empty(_n_components(triangle) + 1, np.int64)
    rows, places = np.empty((2, MASKED_ROWS * n_winners), np.int64)
    masks = np.empty((MASKED_ROWS, starts.size - 1), np.int32)
    for first in range(0, n_rows, MASKED_ROWS):
        last = min(first + MASKED_ROWS, n_rows)
        _list_by_component(winners, first, last, starts, rows, places)
        out[first:last] = 0
        masks[:] = 0
        for i in range(first, last):
            for k in range(n_winners):
                masks[i - first, winners[i, k]] = -1
        begin = 0
        for u in range(starts.size - 1):
            cells = triangle[u * (u + 1) // 2 : (u + 1) * (u + 2) // 2]
            for at in range(begin, starts[u]):
                mask, part = masks[rows[at] - first], np.int64(0)
                for v in range(u):
                    part += cells[v] & mask[v]
                out[rows[at]] += 2 * part + cells[u]
            begin = starts[u]


@kernel
def _n_components(triangle: Array) -> int:
    """Return how many lines a triangle has."""
    return int((np.sqrt(8.0 * triangle.size + 1.0) - 1.0) / 2.0 + 0.5)


@kernel
def _list_by_component(winners: Array, first: int, last: int, starts: Array, rows: Array, places: Array) -> None:
    """List the rows from `first` to `last` of which each component is a winner; those of u end at ``starts[u]``."""
    starts[:] = 0
    for i in range(first, last):
        for k in range(winners.shape[1]):
            starts[np.int64(winners[i, k]) + 1] += 1
    for u in range(starts.size - 1):
        starts[u + 1] += starts[u]
    for i in range(first, last):
        for k in range(winners.shape[1]):
            w = np.int64(winners[i, k])
            rows[starts[w]], places[starts[w]] = i, k
            starts[w] += 1  # in the end each start has moved on to the next one
