"""The winners of a single row: vectors hold components, where those of `winners.py` hold rows.

Of few columns, the signs of all connections are a small matrix of bytes. The row is rounded to integers of a byte
as well, so that one instruction adds a column to 16 components. That is rough, but off by no more than half a step for
each connection: only components whose rough sums come that near to the best can win. There are hardly more of them than
winners, and their sums are added again exactly, in the order of their connections. So what is rough decides the time,
and never the result. Of many columns, the exact sums of all components are added at once.

What comes out is one integer for each candidate, its sum above its component, to be sorted by whoever asked.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import JIT_IS_OFF, kernel

OCTET = 8  # components whose connections lie side by side, see winners.py
TILE = 64  # components whose signs lie side by side
LEVELS = 127  # whole numbers up to which the largest value of a row goes
ROUGH_BITS = 15  # of an exact sum, by which candidates are chosen


@kernel
def fill_signs(connections: Array, d: int, signs: Array) -> None:
    """Write 1 or -1 for each connection to ``signs[j // 64, feature, j % 64]``, which holds zeros."""
    for j in range(connections.shape[0] * OCTET):
        for k in range(connections.shape[1]):
            link = np.int64(connections[j // OCTET, k, j % OCTET])
            signs[j // TILE, link % d, j % TILE] = 1 if link < d else -1


def _add_columns_plain(row: Array, signs: Array, tile: int, sums: Array) -> None:
    """Write the sums of 64 components, for a row of int16, to their place in `sums`."""
    sums[tile * TILE : (tile + 1) * TILE] = row @ signs[tile].astype(np.int16)


@intrinsic
def _add_columns_vector(typing_context: Any, row: Any, signs: Any, tile: Any, sums: Any) -> Any:
    """Do what `_add_columns_plain` does, in vector registers."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        intp = context.get_value_type(types.intp)
        narrow, wide = ir.VectorType(ir.IntType(8), TILE), ir.VectorType(ir.IntType(16), TILE)
        row, signs, sums = (context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 1, 3))
        d = cgutils.unpack_tuple(builder, row.shape)[0]  # type: ignore[no-untyped-call]
        first = builder.mul(args[2], ir.Constant(intp, TILE))
        column = builder.gep(signs.data, [builder.mul(first, d)])
        total = cgutils.alloca_once(builder, wide)  # type: ignore[no-untyped-call]
        builder.store(ir.Constant(wide, None), total)
        nothing, everywhere = ir.Constant(wide, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), TILE), None)
        with cgutils.for_range(builder, d, intp=intp) as feature:
            value = builder.load(builder.gep(row.data, [feature.index]))
            value = builder.insert_element(nothing, value, ir.Constant(ir.IntType(32), 0))
            value = builder.shuffle_vector(value, nothing, everywhere)
            place = builder.gep(column, [builder.mul(feature.index, ir.Constant(intp, TILE))])
            sign = builder.sext(builder.load(builder.bitcast(place, narrow.as_pointer()), align=1), wide)
            builder.store(builder.add(builder.load(total), builder.mul(value, sign)), total)
        place = builder.bitcast(builder.gep(sums.data, [first]), wide.as_pointer())
        builder.store(builder.load(total), place, align=2)
        return context.get_dummy_value()

    return types.void(row, signs, types.intp, sums), generate


_add_columns: Any = _add_columns_plain if JIT_IS_OFF else _add_columns_vector


@kernel
def _rank(rough: Array, rho: int) -> Any:
    """Return the rho-th largest of many int16: each guess counts how many are above it, in vectors."""
    below, above = np.int64(-32768) - 1, np.int64(32767)
    while above - below > 1:
        guess = (below + above) >> 1
        limit, n = np.int16(guess), np.int32(0)
        for j in range(rough.size):
            n = np.int32(n + (rough[j] > limit))
        if n >= rho:
            below = guess
        else:
            above = guess
    return above


@kernel
def rough_candidates(values: Array, connections: Array, signs: Array, m: int, rho: int, keys: Array) -> int:
    """Write the keys of all components that may win; return their number.

    Parameters
    ----------
    values : (2 d,) array of float32
        The row, and its negative.
    connections : (ceil(m / 8), s, 8) array of unsigned integers
        As for `dense_winners`; s is at most 256.
    signs : (ceil(m / 64), d, 64) array of int8
        See `fill_signs`.
    m, rho : int
        Number of components and of winners.
    keys : (m,) array of int64
    """
    d, s = signs.shape[1], connections.shape[1]
    largest = np.float32(0.0)
    for f in range(d):
        largest = max(largest, abs(values[f]))
    steps = LEVELS / np.float64(largest) if largest > 0 else 0.0
    row = np.empty(d, np.int16)
    for f in range(d):
        row[f] = np.int16(np.rint(values[f] * steps))
    rough = np.empty(signs.shape[0] * TILE, np.int16)
    for tile in range(signs.shape[0]):
        _add_columns(row, signs, tile, rough)
    # a sum is off by half a step for each connection, and by less than one because floats are rounded
    lowest = np.int16(max(_rank(rough[:m], rho) - 2 * (s // 2 + 2), -32768))
    n = 0
    for j in range(m):  # no branch: it would go wrong too often
        keys[n] = j
        n += rough[j] >= lowest
    total = np.empty(1, np.float32)
    bits = total.view(np.int32)
    for i in range(n):
        j = keys[i]
        total[0] = 0
        for k in range(s):
            total[0] += values[connections[j // OCTET, k, j % OCTET]]
        keys[i] = (np.int64(bits[0] ^ ((bits[0] >> 31) & 0x7FFFFFFF)) << 32) | (0xFFFFFFFF - j)
    return n


@kernel
def exact_candidates(values: Array, connections: Array, is_float: bool, m: int, rho: int, keys: Array) -> int:
    """Write the keys of all components that may win, from the sums of all; return their number.

    Parameters
    ----------
    values : (2 d,) array of float32 or int32
        The row, and its negative.
    connections : (ceil(m / 8), s, 8) array of unsigned integers
        As for `dense_winners`.
    is_float : bool
        Whether values are floating point.
    m, rho : int
        Number of components and of winners.
    keys : (m,) array of int64
    """
    sums = np.empty(connections.shape[0] * OCTET, values.dtype)
    start = values[0] - values[0]  # zero, of their type
    for octet in range(connections.shape[0]):
        a, b, c, d, e, f, g, h = start, start, start, start, start, start, start, start
        for k in range(connections.shape[1]):  # eight sums at a time, so that none waits for another
            a += values[connections[octet, k, 0]]
            b += values[connections[octet, k, 1]]
            c += values[connections[octet, k, 2]]
            d += values[connections[octet, k, 3]]
            e += values[connections[octet, k, 4]]
            f += values[connections[octet, k, 5]]
            g += values[connections[octet, k, 6]]
            h += values[connections[octet, k, 7]]
        at = octet * OCTET
        sums[at], sums[at + 1], sums[at + 2], sums[at + 3] = a, b, c, d
        sums[at + 4], sums[at + 5], sums[at + 6], sums[at + 7] = e, f, g, h
    ordered = sums.view(np.int32)[:m]
    least, most = np.int32(0x7FFFFFFF), np.int32(-0x80000000)
    for j in range(m):
        if is_float:
            ordered[j] ^= (ordered[j] >> 31) & 0x7FFFFFFF
        least, most = min(least, ordered[j]), max(most, ordered[j])
    shift = 0
    while (np.int64(most) - least) >> shift >= 1 << ROUGH_BITS:
        shift += 1
    rough = np.empty(m, np.int16)
    for j in range(m):
        rough[j] = (np.int64(ordered[j]) - least) >> shift
    lowest = _rank(rough, rho)
    n = 0
    for j in range(m):
        keys[n] = (np.int64(ordered[j]) << 32) | (0xFFFFFFFF - j)
        n += rough[j] >= lowest
    return n
