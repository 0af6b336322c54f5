"""Rows in, winners out: projection and winner-take-all in one sweep, for dense rows.

The letters of the paper: m components, each the sum of s features; the rho largest win.

How it is fast:

1. Up to 64 rows are turned on their side, `width` rows to a strip, so that the value of one
   feature for all rows of a strip is one contiguous piece. A component's sums for the whole
   strip are then s additions of vectors, kept in registers. The strip is chosen narrow
   enough to stay in the first-level cache; ``64 // width`` components are summed at a time.
2. The sums are compared with one limit per row while they are in registers. Where none is
   above, the next sums overwrite them, so no array of all sums exists; where one is, they
   are looked at later, a few steps together, for that is where branches go wrong.
3. The limits start from the best few of a small sample of the components and are raised in
   stages, always to where rho of the m components should still lie above them. A row for
   which too few did is hashed again with a limit that cannot fail. So the guess decides how
   long it takes, never what comes out.
4. What is above is listed for each row in the order of the components. To keep the best of
   a list, a limit is looked for that as many are above: each guess counts how many there
   are, in vectors. Ties go to the first in the list. That is all if the winners may come in
   ascending order; if the largest is to come first, eight rows' winners, each one integer
   of its sum and its component, are sorted side by side, without a branch.

Sums take part as *ordered* 32-bit integers: an integer sum as it is, the bits of a float
with all but the sign flipped where it is negative, so that integers order as floats do.
"""

import math
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import JIT_IS_OFF, kernel

POINTS = 64  # rows that are hashed together
LANES = 64  # sums per step: width rows times 64 // width components
OCTET = 8  # components whose connections, and rows whose candidates, lie side by side
STEPS = 32  # steps after which the sums above their limits are looked at
TILE = 512  # components per visit of a strip: their connections stay in the second-level cache
BEST = 4  # how many of the sampled sums are remembered per row
SLACK = 16  # a limit need not be found more closely than to this part of its rank
NOBODY = np.iinfo(np.int64).min  # a candidate that loses against every other


def _ordered_plain(total: Any) -> int:
    """The ordered integer of one sum."""
    if isinstance(total, np.float32):
        bits = int(total.view(np.int32))
        return bits ^ ((bits >> 31) & 0x7FFFFFFF)
    return int(total)


def _project_plain(
    strips: Array,
    base: int,
    connections: Array,
    j: int,
    limits: Array,
    first: int,
    sums: Array,
    slot: int,
    start: Any,
    width: tuple[int, ...],
) -> int:
    """Sum ``64 // width`` components from `j` on for one strip into a slot of `sums`.

    Bit i of what is returned says that sum i is above the limit of its row.
    """
    n_rows = 1 << len(width)
    mask = 0
    for lane in range(LANES):
        component, b = j + lane // n_rows, lane % n_rows
        total = start
        for k in range(connections.shape[1]):
            feature = int(connections[component // OCTET, k, component % OCTET])
            with np.errstate(over="ignore"):
                total = total + strips[base + feature * n_rows + b]
        sums[slot * LANES + lane] = _ordered_plain(total)
        limit = limits[first + b]
        if total > (limit.view(np.float32) if isinstance(total, np.float32) else limit):
            mask |= 1 << lane
    return mask


@intrinsic
def _project_vector(
    typing_context: Any,
    strips: Any,
    base: Any,
    connections: Any,
    j: Any,
    limits: Any,
    first: Any,
    sums: Any,
    slot: Any,
    start: Any,
    width: Any,
) -> Any:
    """Do what `_project_plain` does, in vector registers."""
    n_rows = 1 << len(width)
    n_components = LANES // n_rows
    signature = types.uint64(
        strips, types.intp, connections, types.intp, limits, types.intp, sums, types.intp, strips.dtype, width
    )

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        dtype = signature.args[0].dtype
        is_float, size = isinstance(dtype, types.Float), dtype.bitwidth // 8
        lanes = min(n_rows, 64 // size)
        n_vectors = n_rows // lanes
        vector = ir.VectorType(context.get_data_type(dtype), lanes)
        intp, i64 = context.get_value_type(types.intp), ir.IntType(64)

        def const(value: int) -> Any:
            return ir.Constant(intp, value)

        def array(k: int) -> Any:
            return context.make_array(signature.args[k])(context, builder, args[k])

        def vector_at(data: Any, offset: Any) -> Any:
            return builder.bitcast(builder.gep(data, [offset]), vector.as_pointer())

        strips, links, limits, sums = array(0), array(2), array(4), array(6)
        j, start = args[3], args[8]
        s = cgutils.unpack_tuple(builder, links.shape)[1]  # type: ignore[no-untyped-call]
        strip = builder.gep(strips.data, [args[1]])

        lane = ir.Constant(ir.IntType(32), 0)
        initial = builder.insert_element(ir.Constant(vector, ir.Undefined), start, lane)
        initial = builder.shuffle_vector(
            initial, ir.Constant(vector, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), lanes), None)
        )
        totals = [
            [cgutils.alloca_once(builder, vector) for _ in range(n_vectors)]  # type: ignore[no-untyped-call]
            for _ in range(n_components)
        ]
        for component in totals:
            for total in component:
                builder.store(initial, total)

        octet = builder.mul(builder.udiv(j, const(OCTET)), builder.mul(s, const(OCTET)))
        first_link = builder.add(octet, builder.urem(j, const(OCTET)))
        with cgutils.for_range(builder, s, intp=intp) as link:
            link_at = builder.gep(links.data, [builder.add(first_link, builder.mul(link.index, const(OCTET)))])
            for r, component in enumerate(totals):
                feature = builder.zext(builder.load(builder.gep(link_at, [const(r)])), intp)
                row = vector_at(strip, builder.mul(feature, const(n_rows)))
                for v, total in enumerate(component):
                    value = builder.load(builder.gep(row, [const(v)]), align=size)
                    old = builder.load(total)
                    builder.store(builder.fadd(old, value) if is_float else builder.add(old, value), total)

        limits = vector_at(limits.data, args[5])
        limits = [builder.load(builder.gep(limits, [const(v)]), align=size) for v in range(n_vectors)]
        integers, word = ir.VectorType(ir.IntType(32), lanes), ir.IntType(lanes)
        target = builder.gep(sums.data, [builder.mul(args[7], const(LANES))])
        target = builder.bitcast(target, integers.as_pointer())
        mask = ir.Constant(i64, 0)
        for position in range(n_components * n_vectors):
            value, limit = (
                builder.load(totals[position // n_vectors][position % n_vectors]),
                limits[position % n_vectors],
            )
            is_above = builder.fcmp_ordered(">", value, limit) if is_float else builder.icmp_signed(">", value, limit)
            bits = builder.zext(builder.bitcast(is_above, word), i64) if lanes < 64 else builder.bitcast(is_above, word)
            mask = builder.or_(mask, builder.shl(bits, ir.Constant(i64, position * lanes)))
            if is_float:
                value = builder.bitcast(value, integers)
                negative = builder.ashr(value, ir.Constant(integers, [31] * lanes))
                value = builder.xor(value, builder.and_(negative, ir.Constant(integers, [0x7FFFFFFF] * lanes)))
            elif size < 4:
                value = builder.sext(value, integers)
            builder.store(value, builder.gep(target, [const(position)]), align=4)
        return mask

    return signature, generate


@intrinsic
def _lowest_bit_vector(typing_context: Any, mask: Any) -> Any:
    """Position of the lowest set bit of a mask that is not zero."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


def _lowest_bit_plain(mask: Any) -> int:
    """Position of the lowest set bit of a mask that is not zero."""
    return (int(mask) & -int(mask)).bit_length() - 1


@intrinsic
def _exchange_vector(typing_context: Any, candidates: Any, upper: Any, lower: Any) -> Any:
    """Put the larger of two candidates at `upper`, the other at `lower`, for eight rows."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        octet = ir.VectorType(ir.IntType(64), OCTET).as_pointer()
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        places = [builder.bitcast(builder.gep(data, [place]), octet) for place in args[1:]]
        a, b = (builder.load(place, align=8) for place in places)
        is_in_order = builder.icmp_signed(">", a, b)
        builder.store(builder.select(is_in_order, a, b), places[0], align=8)
        builder.store(builder.select(is_in_order, b, a), places[1], align=8)
        return context.get_dummy_value()

    return types.void(candidates, types.intp, types.intp), generate


def _exchange_plain(candidates: Array, upper: int, lower: int) -> None:
    """Put the larger of two candidates at `upper`, the other at `lower`, for eight rows."""
    a, b = candidates[upper : upper + OCTET].copy(), candidates[lower : lower + OCTET].copy()
    candidates[upper : upper + OCTET] = np.maximum(a, b)
    candidates[lower : lower + OCTET] = np.minimum(a, b)


# Intrinsics exist only in compiled code; without it the plain twins do the same.
_project: Any = _project_plain if JIT_IS_OFF else _project_vector
_lowest_bit: Any = _lowest_bit_plain if JIT_IS_OFF else _lowest_bit_vector
_exchange: Any = _exchange_plain if JIT_IS_OFF else _exchange_vector


@kernel
def _aligned(size: int, like: Array) -> Array:
    """An uninitialised array of `size` items that starts on a cache line."""
    room = np.empty(size + 64, like.dtype)
    skip = ((-room.ctypes.data) % 64) // like.itemsize
    return room[skip : skip + size]


@kernel
def _fill_strips(
    rows: Array,
    todo: Array,
    n_before: int,
    n_now: int,
    is_signed: bool,
    strips: Array,
    width: tuple[int, ...],
) -> None:
    """Turn rows on their side: strips of rows, in each the features (and their negatives) one after the other."""
    n_rows = 1 << len(width)
    d = rows.shape[1]
    depth = 2 * d if is_signed else d
    for b in range(n_now):
        i = todo[n_before + b]
        base = (b // n_rows) * depth * n_rows + b % n_rows
        for f in range(d):
            strips[base + f * n_rows] = rows[i, f]
        if is_signed:
            base += d * n_rows
            for f in range(d):
                strips[base + f * n_rows] = -rows[i, f]


@kernel
def _sort_octet(candidates: Array, begin: int, n: int) -> None:
    """Sort the first `n` candidates of eight rows, largest first: Batcher's merge exchange (Knuth 5.2.2 M)."""
    top = 1
    while 2 * top < n:
        top *= 2
    p = top
    while p > 0:
        q, r, distance = top, 0, p
        while True:
            for run in range(r, n - distance, 2 * p):
                for i in range(run, min(run + p, n - distance)):
                    _exchange(candidates, begin + i * OCTET, begin + (i + distance) * OCTET)
            if q == p:
                break
            distance, q, r = q - p, q >> 1, p
        p >>= 1


@kernel
def _divide(sums: Array, k: int, slack: Any) -> tuple[Any, Any]:
    """Return a limit that `k` to `k + slack` sums are above, or else the k-th largest sum; and how many are above it.

    There are more than `k`. The first guess is where the limit would be if sums became rarer at a steady rate, as they
    nearly do, and is mostly near enough where there is some slack. Of the others, every other one is where it would be
    if what is left were spread evenly, so that few are needed; the rest halve what is left, so that few suffice.
    """
    least, most, total = sums[0], sums[0], np.int64(0)
    for i in range(sums.size):
        least, most, total = min(least, sums[i]), max(most, sums[i]), total + sums[i]
    below, above = np.int64(least) - 1, np.int64(most)
    n_below: Any = sums.size
    n_above: Any = 0
    guess = below + np.int64((total / n_below - below) * 2 * (n_below - k) / (n_below + k))
    is_even = True
    while above - below > 1:
        guess = min(max(guess, below + 1), above - 1)
        limit, n = np.int32(guess), np.int32(0)
        for i in range(sums.size):
            n = np.int32(n + (sums[i] > limit))  # all as wide as a sum, so that vectors hold many
        if k <= n <= k + slack:
            return guess, n
        if n > k:
            below, n_below = guess, n
        else:
            above, n_above = guess, n
        guess = (below + above) >> 1
        if is_even:
            guess = below + np.int64((above - below) * ((n_below - k) / (n_below - n_above)))
        is_even = not is_even
    return above, n_above


@kernel
def _after_ties(sums: Array, limit: int, n: int) -> int:
    """Position behind the first `n` sums that are equal to the limit."""
    at = 0
    while n > 0:
        n -= sums[at] == limit
        at += 1
    return at


@kernel
def _as_stored(ordered: int, is_float: bool) -> int:
    """The bits of the sum that an ordered integer stands for."""
    return ordered ^ ((ordered >> 31) & 0x7FFFFFFF) if is_float else ordered


@kernel
def _cut(
    sums: Array,
    components: Array,
    first: int,
    last: int,
    room: int,
    ends: Array,
    most: int,
    k: int,
    keeps_ties: bool,
    limits: Array,
    is_float: bool,
) -> None:
    """Cut lists of more than `most` candidates down to the `k` best, or a few more; what is less cannot enter any more.

    Nor can ties with the last of them, unless they are kept.
    """
    for b in range(first, last):
        if ends[b] > b * room + most:
            kept, won = sums[b * room : ends[b]], components[b * room : ends[b]]
            limit, n_above = _divide(kept, k, k // SLACK)
            after = 0
            if keeps_ties:
                limit -= n_above < k
            else:
                after = _after_ties(kept, limit, k - n_above)
            n = 0
            for i in range(kept.size):
                total, component = kept[i], won[i]
                kept[n], won[n] = total, component
                n += np.int64(total) + (i < after) > limit  # no branch: it would go wrong too often
            ends[b] = b * room + n
            limits[b] = _as_stored(limit, is_float)


@kernel
def _write_winners(
    sums: Array,
    components: Array,
    room: int,
    ends: Array,
    rho: int,
    todo: Array,
    n_before: int,
    n_now: int,
    again: Array,
    n_again: int,
    octet: Array,
    is_ordered: bool,
    out: Array,
) -> int:
    """Write the winners of `n_now` rows to `out`; return how many rows had too few candidates, and list them."""
    for first in range(0, n_now, OCTET):
        n_lanes = min(OCTET, n_now - first)
        for lane in range(n_lanes):
            begin, row = (first + lane) * room, todo[n_before + first + lane]
            kept, won = sums[begin : ends[first + lane]], components[begin : ends[first + lane]]
            limit, after, i = NOBODY, 0, 0
            n: Any = 0
            if kept.size > rho:
                limit, n_above = _divide(kept, rho, np.int64(0))
                after = _after_ties(kept, limit, rho - n_above)
            elif kept.size < rho:
                again[n_again] = row
                n_again += 1
                n = rho
            while n < rho:
                if is_ordered:
                    octet[n * OCTET + lane] = (numba.int64(kept[i]) << 32) | (0xFFFFFFFF - won[i])
                else:
                    out[row, n] = won[i]
                n += np.int64(kept[i]) + (i < after) > limit
                i += 1
        if is_ordered:
            _sort_octet(octet, 0, rho)
            for lane in range(n_lanes):
                row = todo[n_before + first + lane]
                for i in range(rho):
                    out[row, i] = 0xFFFFFFFF - (octet[i * OCTET + lane] & 0xFFFFFFFF)
    return n_again


@kernel
def _likely_rank(n_seen: int, m: int, rho: int) -> int:
    """Rank among the first `n_seen` components that the last winner almost surely does not exceed."""
    expected = rho * n_seen / m
    return math.ceil(expected + 2.5 * math.sqrt(expected * (1 - n_seen / m)) + 1)


@kernel
def _guess_limits(
    strips: Array,
    depth: int,
    n_strips: int,
    connections: Array,
    sample: int,
    limits: Array,
    sums: Array,
    start: Any,
    best: Array,
    lowest: int,
    is_float: bool,
    width: tuple[int, ...],
) -> None:
    """Set each row's limit just below the fourth best of the first `sample` components."""
    n_rows = 1 << len(width)
    step = LANES // n_rows
    best[:] = lowest
    for strip in range(n_strips):
        for j in range(0, sample, step):
            _project(strips, strip * depth * n_rows, connections, j, limits, strip * n_rows, sums, 0, start, width)
            for r in range(step):
                for rank in range(BEST):
                    at = rank * POINTS + strip * n_rows
                    for b in range(n_rows):
                        old, new = best[at + b], sums[r * n_rows + b]
                        best[at + b] = max(new, old)
                        sums[r * n_rows + b] = min(old, new)
    for b in range(n_strips * n_rows):
        limits[b] = _as_stored(best[(BEST - 1) * POINTS + b] - 1, is_float)


@kernel
def _collect(
    hits: Array,
    hit_components: Array,
    n_hits: int,
    sums: Array,
    first: int,
    candidates: Array,
    components: Array,
    ends: Array,
    width: tuple[int, ...],
) -> None:
    """Write every sum above its limit behind the other candidates of its row; there is room for all."""
    for hit in range(n_hits):
        mask = hits[hit]
        while mask != 0:
            lane = _lowest_bit(mask)
            mask &= mask - numba.uint64(1)
            b = first + (lane & ((1 << len(width)) - 1))
            at = numba.uint64(ends[b])  # without a sign there is no check for one
            candidates[at] = sums[hit * LANES + lane]
            components[at] = hit_components[hit] + (lane >> len(width))
            ends[b] += 1


@kernel
def dense_winners(
    rows: Array,
    connections: Array,
    m: int,
    rho: int,
    is_signed: bool,
    start: Any,
    lowest: int,
    highest: int,
    limits: Array,
    is_float: bool,
    width: tuple[int, ...],
    is_ordered: bool,
    out: Array,
) -> None:
    """Write the `rho` winners of each row to `out`; of sums that tie, that of the smaller component is the larger one.

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
    lowest, highest : int
        Ordered integers: less than that of every sum, and not less than that of any.
    limits : (64,) work space, int16 for int16 rows and int32 for others
        Holds the limits in the bits of the sums' own type.
    is_float : bool
        Whether rows are floating point.
    width : tuple of 3 to 6 ints
        Its length is the logarithm of the number of rows in a strip; a type, so that the
        compiler knows it.
    is_ordered : bool
        Whether the largest sum comes first; else the smallest component does.
    out : (n, rho) uint32 array
    """
    n, d = rows.shape
    n_rows = 1 << len(width)
    step = LANES // n_rows
    depth = 2 * d if is_signed else d
    room = ((2 * rho + TILE) // 16 | 1) * 16 + 32  # an odd number of cache lines: rows do not compete for the same ones
    strips = _aligned(min(POINTS, (n + n_rows - 1) // n_rows * n_rows) * depth, rows)
    strips[:] = 0
    sums, best = np.empty(LANES * (STEPS + 1), np.int32), np.empty(BEST * POINTS, np.int32)
    hits, hit_components = np.empty(STEPS + 1, np.uint64), np.empty(STEPS + 1, np.int64)
    candidates, components = np.empty(POINTS * room, np.int32), np.empty(POINTS * room, np.uint32)
    ends = np.empty(POINTS, np.int64)
    octet = np.empty(OCTET * rho, np.int64)
    todo, again = np.arange(n), np.empty(n, np.int64)

    sample = (m // (2 * rho) + OCTET) // OCTET * OCTET
    is_second = 8 * sample > m or 4 * rho > m  # too few components for a guess to pay
    n_todo = n
    while n_todo > 0:
        n_again: Any = np.int64(0)  # a plain 0 is a type of its own: all it is passed to would be compiled twice
        for n_before in range(0, n_todo, POINTS):
            n_now = min(POINTS, n_todo - n_before)
            n_strips = (n_now + n_rows - 1) // n_rows
            _fill_strips(rows, todo, n_before, n_now, is_signed, strips, width)
            for b in range(POINTS):
                ends[b] = b * room
            limits[:] = _as_stored(lowest, is_float)
            next_stage = m
            if not is_second:
                next_stage = 8 * sample
                _guess_limits(
                    strips, depth, n_strips, connections, sample, limits, sums, start, best, lowest, is_float, width
                )
            limits[n_now:] = _as_stored(highest, is_float)

            begin = 0
            while begin < m:
                end = min(begin + TILE, next_stage, m)
                for strip in range(n_strips):
                    base, first, last = strip * depth * n_rows, strip * n_rows, (strip + 1) * n_rows
                    _cut(candidates, components, first, last, room, ends, 2 * rho, rho, begin >= m, limits, is_float)
                    for lap in range(begin, end, step * STEPS):
                        n_hits: Any = np.int64(0)
                        for j in range(lap, min(lap + step * STEPS, end), step):
                            mask = _project(strips, base, connections, j, limits, first, sums, n_hits, start, width)
                            if j + step > m:  # the last octet is filled up
                                mask &= (numba.uint64(1) << numba.uint64((m - j) * n_rows)) - numba.uint64(1)
                            hits[n_hits], hit_components[n_hits] = mask, j
                            n_hits += mask != 0
                        _collect(hits, hit_components, n_hits, sums, first, candidates, components, ends, width)
                begin = end
                if begin == next_stage and begin < m:
                    rank = _likely_rank(begin, m, rho)
                    _cut(
                        candidates, components, begin - end, n_now, room, ends, rank, rank, begin < m, limits, is_float
                    )
                    next_stage *= 8
            n_again = _write_winners(
                candidates, components, room, ends, rho, todo, n_before, n_now, again, n_again, octet, is_ordered, out
            )
        if is_second:
            break
        n_todo, is_second, todo = n_again, True, again
