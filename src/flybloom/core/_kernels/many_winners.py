"""Rows in, winners out, where a fair share of the components wins, and their order does not matter; for dense rows.

Then limits do not keep most sums out, as in `winners.py`, so all sums are written down. 32 rows are turned on their
side, and the sums of one component for all of them are one piece of memory. What is sought for each row is where its
sums divide into rho winners and the rest. Vectors count for all rows at once how many sums are above a guess, and
guesses are good: sums of random features are nearly normal, so mean and deviation of some of them tell where the limit
should be, and how far it is off once it is counted. Three guesses leave a handful of sums between one that was too low
and one that was too high. In one more pass what is above both is marked, a bit for each row, and what is between is
listed; of these the largest, and of ties the first, are marked as well.

Turned once more, to a row at a time, the marks are read off in ascending order.
"""

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import JIT_IS_OFF, kernel

ROWS = 32  # rows side by side
OCTET = 8  # components whose connections lie side by side, see winners.py
WORD = 64  # components whose bits are read off together
SAMPLE = 256  # components from which the first limits are guessed
BEYOND = 6  # sums by which a guess is to miss on the other side, so that the limit ends up between two
ENOUGH = 24  # sums that may be left between them
MAX_GUESSES = 8
LEAST = 1e-45  # above zero, of a float32
AT_ONCE = 12  # winners that are read off together
LAP = 2**14  # components that are counted in 16 bits


def _sum_octet_plain(strip: Array, connections: Array, j: int, start: Any, sums: Array) -> None:
    """Write the sums of components `j` to `j + 7` for 32 rows to their place in `sums`."""
    for component in range(j, j + OCTET):
        total = np.full(ROWS, start, strip.dtype)
        for feature in connections[j // OCTET, :, component - j]:
            total += strip[int(feature) * ROWS : (int(feature) + 1) * ROWS]
        sums[component * ROWS : (component + 1) * ROWS] = total


@intrinsic
def _sum_octet_vector(typing_context: Any, strip: Any, connections: Any, j: Any, start: Any, sums: Any) -> Any:
    """Do what `_sum_octet_plain` does, in vector registers."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector, n_vectors, size = _vectors(context, signature.args[0].dtype)
        intp = context.get_value_type(types.intp)
        strip, links, sums = (context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 1, 4))
        s = cgutils.unpack_tuple(builder, links.shape)[1]  # type: ignore[no-untyped-call]
        initial = _filled(builder, vector, args[3])
        totals = [cgutils.alloca_once(builder, vector) for _ in range(OCTET * n_vectors)]  # type: ignore[no-untyped-call]
        for total in totals:
            builder.store(initial, total)
        first = builder.mul(args[2], s)  # j / 8 octets of s * 8 connections
        with cgutils.for_range(builder, s, intp=intp) as link:
            at = builder.add(first, builder.mul(link.index, ir.Constant(intp, OCTET)))
            for r in range(OCTET):
                place = builder.gep(links.data, [builder.add(at, ir.Constant(intp, r))])
                feature = builder.zext(builder.load(place), intp)
                row = _vector_at(builder, vector, strip.data, builder.mul(feature, ir.Constant(intp, ROWS)))
                for v in range(n_vectors):
                    value = builder.load(builder.gep(row, [ir.Constant(intp, v)]), align=size)
                    total = totals[r * n_vectors + v]
                    add = builder.fadd if isinstance(vector.element, ir.FloatType) else builder.add
                    builder.store(add(builder.load(total), value), total)
        target = _vector_at(builder, vector, sums.data, builder.mul(args[2], ir.Constant(intp, ROWS)))
        for k, total in enumerate(totals):
            builder.store(builder.load(total), builder.gep(target, [ir.Constant(intp, k)]), align=size)
        return context.get_dummy_value()

    return types.void(strip, connections, types.intp, strip.dtype, sums), generate


def _count_above_plain(sums: Array, begin: int, end: int, limits: Array, counts: Array) -> None:
    """Add to 32 counts of 16 bits how many sums of components `begin` to `end` are above the limits."""
    counts += (sums.reshape(-1, ROWS)[begin:end] > limits).sum(axis=0).astype(np.int16)


@intrinsic
def _count_above_vector(typing_context: Any, sums: Any, begin: Any, end: Any, limits: Any, counts: Any) -> Any:
    """Do what `_count_above_plain` does, in vector registers."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector, n_vectors, size = _vectors(context, signature.args[0].dtype)
        intp, counter = context.get_value_type(types.intp), ir.VectorType(ir.IntType(8 * size), vector.count)
        sums, limits, counts = (
            context.make_array(signature.args[k])(context, builder, args[k]).data for k in (0, 3, 4)
        )
        zero = ir.Constant(intp, 0)
        edges = _vector_at(builder, vector, limits, zero)
        edges = [builder.load(builder.gep(edges, [ir.Constant(intp, v)]), align=size) for v in range(n_vectors)]
        totals = [cgutils.alloca_once(builder, counter) for _ in range(n_vectors)]  # type: ignore[no-untyped-call]
        for total in totals:
            builder.store(ir.Constant(counter, None), total)
        with cgutils.for_range_slice(builder, args[1], args[2], ir.Constant(intp, 1), intp) as (at, _):
            row = _vector_at(builder, vector, sums, builder.mul(at, ir.Constant(intp, ROWS)))
            for v, total in enumerate(totals):
                value = builder.load(builder.gep(row, [ir.Constant(intp, v)]), align=size)
                is_above = builder.sext(_is_above(builder, value, edges[v]), counter)
                builder.store(builder.sub(builder.load(total), is_above), total)
        small = ir.VectorType(ir.IntType(16), vector.count)
        out = _vector_at(builder, small, counts, zero)
        for v, total in enumerate(totals):
            more = builder.load(total)
            more = more if size == 2 else builder.trunc(more, small)
            place = builder.gep(out, [ir.Constant(intp, v)])
            builder.store(builder.add(builder.load(place, align=2), more), place, align=2)
        return context.get_dummy_value()

    return types.void(sums, types.intp, types.intp, limits, counts), generate


def _split_plain(sums: Array, component: int, low: Array, high: Array) -> Any:
    """Bits that say in which of 32 rows the sum of a component is above `high`, and in which above `low`, 32 higher."""
    some, bits = sums[component * ROWS : (component + 1) * ROWS], 1 << np.arange(2 * ROWS, dtype=np.uint64)
    return np.uint64((np.concatenate([some > high, some > low]) * bits).sum())


@intrinsic
def _split_vector(typing_context: Any, sums: Any, component: Any, low: Any, high: Any) -> Any:
    """Do what `_split_plain` does, in vector registers."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector, n_vectors, size = _vectors(context, signature.args[0].dtype)
        intp, word = context.get_value_type(types.intp), ir.IntType(2 * ROWS)
        sums, low, high = (context.make_array(signature.args[k])(context, builder, args[k]).data for k in (0, 2, 3))
        row = _vector_at(builder, vector, sums, builder.mul(args[1], ir.Constant(intp, ROWS)))
        mask = ir.Constant(word, 0)
        for k, limits in enumerate((high, low)):
            edges = _vector_at(builder, vector, limits, ir.Constant(intp, 0))
            for v in range(n_vectors):
                value, edge = (
                    builder.load(builder.gep(place, [ir.Constant(intp, v)]), align=size) for place in (row, edges)
                )
                bits = builder.bitcast(_is_above(builder, value, edge), ir.IntType(vector.count))
                place = ir.Constant(word, k * ROWS + v * vector.count)
                mask = builder.or_(mask, builder.shl(builder.zext(bits, word), place))
        return mask

    return types.uint64(sums, types.intp, low, high), generate


def _bits_of_row_plain(marks: Array, begin: int, row: int) -> Any:
    """Bits that say which of 64 components from `begin` on are marked for a row."""
    is_marked = (marks[begin : begin + WORD].astype(np.uint64) >> np.uint64(row)) & np.uint64(1)
    return np.uint64((is_marked << np.arange(WORD, dtype=np.uint64)).sum())


@intrinsic
def _bits_of_row_vector(typing_context: Any, marks: Any, begin: Any, row: Any) -> Any:
    """Do what `_bits_of_row_plain` does, in vector registers."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector, intp = ir.VectorType(ir.IntType(32), 16), context.get_value_type(types.intp)
        marks = context.make_array(signature.args[0])(context, builder, args[0]).data
        bit = builder.shl(ir.Constant(ir.IntType(32), 1), builder.trunc(args[2], ir.IntType(32)))
        bit = _filled(builder, vector, bit)
        place = _vector_at(builder, vector, marks, args[1])
        total = ir.Constant(ir.IntType(64), 0)
        for k in range(WORD // 16):
            some = builder.and_(builder.load(builder.gep(place, [ir.Constant(intp, k)]), align=4), bit)
            is_set = builder.icmp_unsigned("!=", some, ir.Constant(vector, None))
            bits = builder.zext(builder.bitcast(is_set, ir.IntType(16)), ir.IntType(64))
            total = builder.or_(total, builder.shl(bits, ir.Constant(ir.IntType(64), 16 * k)))
        return total

    return types.uint64(marks, types.intp, types.intp), generate


def _lowest_bit_plain(mask: Any) -> int:
    """Position of the lowest set bit of a mask; 64 where there is none."""
    return (int(mask) & -int(mask)).bit_length() - 1 if mask else WORD


@intrinsic
def _lowest_bit_vector(typing_context: Any, mask: Any) -> Any:
    """Do what `_lowest_bit_plain` does, in one instruction."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


def _without_lowest_plain(mask: Any) -> Any:
    """A mask without its lowest set bit, if it has any."""
    return np.uint64(int(mask) & (int(mask) - 1)) if mask else mask


@intrinsic
def _without_lowest_vector(typing_context: Any, mask: Any) -> Any:
    """Do what `_without_lowest_plain` does."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.and_(args[0], builder.sub(args[0], ir.Constant(ir.IntType(64), 1)))

    return types.uint64(types.uint64), generate


def _n_bits_plain(mask: Any) -> int:
    """How many bits of a mask are set."""
    return int(mask).bit_count()


@intrinsic
def _n_bits_vector(typing_context: Any, mask: Any) -> Any:
    """Do what `_n_bits_plain` does, in one instruction."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), generate


def _vectors(context: Any, dtype: Any) -> tuple[Any, int, int]:
    """Return the vector that holds sums of as many rows as it can, how many hold 32, and the bytes of a sum."""
    size = dtype.bitwidth // 8
    lanes = min(ROWS, 64 // size)
    return ir.VectorType(context.get_data_type(dtype), lanes), ROWS // lanes, size


def _vector_at(builder: Any, vector: Any, data: Any, offset: Any) -> Any:
    """Return the address of a vector in an array."""
    return builder.bitcast(builder.gep(data, [offset]), vector.as_pointer())


def _filled(builder: Any, vector: Any, value: Any) -> Any:
    """Return a vector of one value."""
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(ir.IntType(32), vector.count), None))


def _is_above(builder: Any, value: Any, limit: Any) -> Any:
    """Return which sums are above the limits."""
    compare = builder.fcmp_ordered if isinstance(value.type.element, ir.FloatType) else builder.icmp_signed
    return compare(">", value, limit)


# Intrinsics exist only in compiled code; without it the plain twins do the same.
_sum_octet: Any = _sum_octet_plain if JIT_IS_OFF else _sum_octet_vector
_count_above: Any = _count_above_plain if JIT_IS_OFF else _count_above_vector
_split: Any = _split_plain if JIT_IS_OFF else _split_vector
_bits_of_row: Any = _bits_of_row_plain if JIT_IS_OFF else _bits_of_row_vector
_lowest_bit: Any = _lowest_bit_plain if JIT_IS_OFF else _lowest_bit_vector
_without_lowest: Any = _without_lowest_plain if JIT_IS_OFF else _without_lowest_vector
_n_bits: Any = _n_bits_plain if JIT_IS_OFF else _n_bits_vector


@kernel
def _aligned(size: int, like: Array) -> Array:
    """An uninitialised array of `size` items that starts on a cache line."""
    room = np.empty(size + 64, like.dtype)
    skip = ((-room.ctypes.data) % 64) // like.itemsize
    return room[skip : skip + size]


@kernel
def _fill_strip(rows: Array, first: int, n_now: int, is_signed: bool, strip: Array) -> None:
    """Turn rows on their side: the features (and their negatives) one after the other, 32 rows of each."""
    d = rows.shape[1]
    for f in range(d):
        for b in range(n_now):
            strip[f * ROWS + b] = rows[first + b, f]
    if is_signed:
        for i in range(d * ROWS):
            strip[d * ROWS + i] = -strip[i]


@kernel
def _spread(sums: Array, m: int, mean: Array, deviation: Array) -> None:
    """Write mean and deviation of the first sums of each row."""
    n = min(m, SAMPLE)
    mean[:], deviation[:] = 0, 0
    for j in range(n):
        for b in range(ROWS):
            value = np.float64(sums[j * ROWS + b])
            mean[b] += value
            deviation[b] += value * value
    for b in range(ROWS):
        mean[b] /= n
        deviation[b] = math.sqrt(max(deviation[b] / n - mean[b] * mean[b], 0.0))


@kernel
def _find_limits(
    sums: Array,
    m: int,
    rho: int,
    n_now: int,
    rank: float,
    density: float,
    lowest: float,
    highest: float,
    is_float: bool,
    low: Array,
    high: Array,
    n_high: Array,
) -> None:
    """Write for each row two limits: at least rho sums are above the lower, at most rho, `n_high`, above the higher."""
    counts, n_above, n_low = np.empty(ROWS, np.int16), np.empty(ROWS, np.int64), np.full(ROWS, m)
    guess, last, n_last, step = np.empty(ROWS), np.empty(ROWS), np.full(ROWS, m), np.empty(ROWS)
    limits = np.empty(ROWS, sums.dtype)
    low[:], high[:], n_high[:] = sums.dtype.type(lowest), sums.dtype.type(highest), 0
    _spread(sums, m, guess, step)
    for b in range(ROWS):
        guess[b] += rank * step[b]
        step[b] /= m * density  # how far a limit moves for one sum more that is above it
    for turn in range(MAX_GUESSES):
        for b in range(ROWS):
            limits[b] = sums.dtype.type(guess[b] if is_float else min(max(math.floor(guess[b]), lowest), highest))
        n_above[:] = 0
        for begin in range(0, m, LAP):
            counts[:] = 0
            _count_above(sums, begin, min(m, begin + LAP), limits, counts)
            for b in range(ROWS):
                n_above[b] += counts[b]
        is_open = False
        for b in range(n_now):
            n, at = n_above[b], np.float64(limits[b])
            if n >= rho and limits[b] > low[b]:
                low[b], n_low[b] = limits[b], n
            if n <= rho and limits[b] < high[b]:
                high[b], n_high[b] = limits[b], n
            is_adjacent = not is_float and np.int64(high[b]) - np.int64(low[b]) <= 1
            if n_low[b] - n_high[b] <= ENOUGH or is_adjacent:
                continue
            is_open = True
            if turn > 0 and n != n_last[b]:
                step[b] = (at - last[b]) / (n_last[b] - n)
            last[b], n_last[b] = at, n
            guess[b] = at + step[b] * (n - rho + (0 if turn == 0 else BEYOND if n > rho else -BEYOND))
            if low[b] > lowest and high[b] < highest and not low[b] < guess[b] < high[b]:
                share = (n_low[b] - rho) / (n_low[b] - n_high[b])
                guess[b] = low[b] + (np.float64(high[b]) - low[b]) * share
            if turn > 0 and low[b] < 0 < high[b]:
                guess[b] = 0.0  # where most ties are
            elif turn > 0 and high[b] == 0:
                guess[b] = -LEAST
        if not is_open:
            break


@kernel
def _limit_of(values: Array, k: int) -> Any:
    """Return the k-th largest of a few values: one after the other is tried, if it can still be it."""
    low, high, has_low, has_high = values[0], values[0], False, False
    for i in range(values.size):
        value = values[i]
        if (has_low and value <= low) or (has_high and value >= high):
            continue
        n_above, n_ties = 0, 0
        for j in range(values.size):
            n_above += values[j] > value
            n_ties += values[j] == value
        if n_above >= k:
            low, has_low = value, True
        elif n_above + n_ties < k:
            high, has_high = value, True
        else:
            return value
    return low


@kernel
def _mark_winners(
    sums: Array, m: int, rho: int, low: Array, high: Array, n_high: Array, values: Array, listed: Array, marks: Array
) -> None:
    """Write a bit for each of 32 rows in which a component wins to `marks`.

    What is between the limits is listed in `values` and `listed`, m items for each row.
    """
    n_listed = np.zeros(ROWS, np.int64)
    for j in range(m):
        bits = _split(sums, j, low, high)
        marks[j] = bits & np.uint64(0xFFFFFFFF)
        between = (bits >> np.uint64(ROWS)) ^ (bits & np.uint64(0xFFFFFFFF))  # above both, or neither
        while between != 0:
            b = _lowest_bit(between)
            between = _without_lowest(between)
            values[b, n_listed[b]], listed[b, n_listed[b]] = sums[j * ROWS + b], j
            n_listed[b] += 1
    for b in range(ROWS):
        n, left, bit = n_listed[b], rho - n_high[b], np.uint32(1) << np.uint32(b)
        if n == 0 or left == 0:
            continue
        limit = _limit_of(values[b, :n], left)
        n_ties = left
        for i in range(n):
            n_ties -= values[b, i] > limit
        for i in range(n):
            is_first = values[b, i] == limit and n_ties > 0
            n_ties -= is_first
            if is_first or values[b, i] > limit:
                marks[listed[b, i]] |= bit


@kernel
def _read_off(marks: Array, m: int, b: int, won: Array) -> None:
    """Write the components that are marked for a row, in ascending order."""
    n = np.int64(0)
    for begin in range(0, m, WORD):
        bits = _bits_of_row(marks, begin, b)
        end = n + _n_bits(bits)
        while n < end:  # some at a time, whether they are there or not: a branch for each would go wrong too often
            for i in range(AT_ONCE):
                won[n + i] = begin + _lowest_bit(bits)
                bits = _without_lowest(bits)
            n += AT_ONCE
        n = end


@kernel
def many_winners(
    rows: Array,
    connections: Array,
    m: int,
    rho: int,
    is_signed: bool,
    start: Any,
    lowest: float,
    highest: float,
    rank: float,
    density: float,
    is_float: bool,
    out: Array,
) -> None:
    """Write the `rho` winners of each row to `out`, in ascending order; of sums that tie, the first components win.

    Parameters
    ----------
    rows : (n, d) array of float32, int16 or int32, wide enough for every sum
    connections : (ceil(m / 8), s, 8) array of unsigned integers
        Features of component j at ``[j // 8, :, j % 8]``; ``d + f`` stands for minus feature f.
    m, rho : int
        Number of components and of winners.
    is_signed : bool
        Whether any connection is beyond d.
    start : scalar of the type of rows
        What every sum starts from: shifts unsigned sums into a signed type.
    lowest, highest : float
        Less than every sum, and not less than any; both of the type of rows.
    rank, density : float
        Where the share ``rho / m`` of a normal distribution begins, and its density there.
    is_float : bool
        Whether rows are floating point.
    out : (n, rho) uint32 array
    """
    n, d = rows.shape
    n_octets = connections.shape[0]
    strip = _aligned((2 * d if is_signed else d) * ROWS, rows)
    strip[:] = 0
    sums, low, high = _aligned(n_octets * OCTET * ROWS, rows), _aligned(ROWS, rows), _aligned(ROWS, rows)
    values, listed, n_high = np.empty((ROWS, m), rows.dtype), np.empty((ROWS, m), np.uint32), np.empty(ROWS, np.int64)
    marks, won = np.zeros((m + WORD - 1) // WORD * WORD, np.uint32), np.empty(rho + AT_ONCE, np.uint32)
    places = out.ravel()
    for first in range(0, n, ROWS):
        n_now = min(ROWS, n - first)
        _fill_strip(rows, first, n_now, is_signed, strip)
        for octet in range(n_octets):
            _sum_octet(strip, connections, octet * OCTET, start, sums)
        _find_limits(sums, m, rho, n_now, rank, density, lowest, highest, is_float, low, high, n_high)
        for b in range(n_now, ROWS):  # rows that are not there have no limits to be between
            low[b] = high[b]
        _mark_winners(sums, m, rho, low, high, n_high, values, listed, marks)
        for b in range(n_now):
            at = (first + b) * rho
            if at + rho + AT_ONCE <= places.size:  # what is too much is overwritten by the next row
                _read_off(marks, m, b, places[at:])
            else:
                _read_off(marks, m, b, won)
                places[at : at + rho] = won[:rho]
