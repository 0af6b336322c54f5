"""Rows in, winners out: projection and winner-take-all in one sweep, for dense rows.

The letters of the paper: m components, each the sum of s features; the rho largest win.

How it is fast:

1. Sums of 16 bits decide nearly everything, whatever type the rows have. Each row is centred and rounded to steps that
   are as small as 16 bits allow for its sums. Such a sum is off by half a step for each connection at most, so only
   components that come as near as that to the last winner are summed exactly, in the order of their connections. Rows
   of small integers need not even that.
2. 64 rows form a strip in which one feature of all rows is contiguous: s additions of vectors, kept in registers, sum a
   component for all of them. The sums of some components stay in the first-level cache until they have been looked at;
   the connections of these are used for several strips.
3. Sums are compared with a limit per row while they are in registers, and those above are listed. Limits are so many
   deviations above the mean of a row's sums, both of which follow from its values; how many is learned from the rows
   before. The list of a row for which that was too few, or far too many, is made again. So the guess decides how long
   it takes, never what comes out.
4. To find the last winner of a list, a limit is looked for that rho of it are above: each guess counts how many there
   are, in vectors, and the last rows tell a good first guess. Lists are in the order of the components, so ties go to
   the first, and so are the winners.
"""

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import JIT_IS_OFF, kernel

ROWS = 64  # of a strip
STRIPS = 4  # that take turns at the same connections
NEAR_BYTES = 2**19  # of connections that stay in the second-level cache: then one strip after the other is as well
OCTET = 8  # components whose connections lie side by side
QUAD = 4  # components that are summed together: as many as registers hold
TILE = 128  # components whose sums stay in the first-level cache
LANES = 8  # values of a row that are looked at together
LARGEST = 32766  # size that sums in 16 bits may reach
WORST, BEST = -(2**15), 2**15 - 1  # below and above every such sum
BEYOND = 2**30  # above them all by far
FARTHEST = 2.0**17  # steps that a sum may be off, and nothing is known of it
NOBODY = np.iinfo(np.int64).max  # is above this
MARGIN = 3.0  # deviations by which the number of deviations may be off
UNSURE = 0.1  # how far it may be off before any row was seen
SHARPEST = 0.005  # that is added to what it was off among the last rows
GUESSES = 3  # that follow from other rows
LEAST_RATE = 0.5  # at which sums become rarer, for each deviation; it grows by one with each
ROOM = 3  # times as many as win are listed, before a list is made again with room for all


def _sum_quad_plain(
    strips: Array,
    base: int,
    connections: Array,
    j: int,
    limits: Array,
    first: int,
    sums: Array,
    words: Array,
    slot: int,
) -> None:
    """Write the sums of four components from `j` on, of a strip, to their slots, and which are above the limits."""
    for k in range(QUAD):
        total = np.zeros(ROWS, np.int16)
        for feature in connections[(j + k) // OCTET, :, (j + k) % OCTET]:
            total += strips[base + int(feature) * ROWS : base + (int(feature) + 1) * ROWS]
        sums[(slot + k) * ROWS : (slot + k + 1) * ROWS] = total
        is_above = total > limits[first : first + ROWS]
        words[slot + k] = (is_above.astype(np.uint64) << np.arange(ROWS, dtype=np.uint64)).sum()


@intrinsic
def _sum_quad_vector(
    typing_context: Any,
    strips: Any,
    base: Any,
    connections: Any,
    j: Any,
    limits: Any,
    first: Any,
    sums: Any,
    words: Any,
    slot: Any,
) -> Any:
    """Do what `_sum_quad_plain` does, in vector registers."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        intp, vector = context.get_value_type(types.intp), ir.VectorType(ir.IntType(16), ROWS)
        strips, links, limits, sums, words = (
            context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 2, 4, 6, 7)
        )
        s = cgutils.unpack_tuple(builder, links.shape)[1]  # type: ignore[no-untyped-call]

        def const(value: int) -> Any:
            return ir.Constant(intp, value)

        def vector_at(data: Any, offset: Any) -> Any:
            return builder.bitcast(builder.gep(data, [offset]), vector.as_pointer())

        strip = builder.gep(strips.data, [args[1]])
        totals = [cgutils.alloca_once(builder, vector) for _ in range(QUAD)]  # type: ignore[no-untyped-call]
        for total in totals:
            builder.store(ir.Constant(vector, None), total)
        octet = builder.mul(builder.udiv(args[3], const(OCTET)), builder.mul(s, const(OCTET)))
        first_link = builder.add(octet, builder.urem(args[3], const(OCTET)))
        with cgutils.for_range(builder, s, intp=intp) as link:
            at = builder.add(first_link, builder.mul(link.index, const(OCTET)))
            for k, total in enumerate(totals):
                feature = builder.zext(builder.load(builder.gep(links.data, [builder.add(at, const(k))])), intp)
                value = builder.load(vector_at(strip, builder.mul(feature, const(ROWS))), align=2)
                builder.store(builder.add(builder.load(total), value), total)
        edges = builder.load(vector_at(limits.data, args[5]), align=2)
        for k, place in enumerate(totals):
            total, slot = builder.load(place), builder.add(args[8], const(k))
            builder.store(total, vector_at(sums.data, builder.mul(slot, const(ROWS))), align=2)
            bits = builder.bitcast(builder.icmp_signed(">", total, edges), ir.IntType(ROWS))
            builder.store(bits, builder.gep(words.data, [slot]))
        return context.get_dummy_value()

    signature = types.void(strips, types.intp, connections, types.intp, limits, types.intp, sums, words, types.intp)
    return signature, generate


def _lowest_bit_plain(mask: Any) -> Any:
    """Position of the lowest set bit of a mask; 64 where there is none."""
    return np.uint64((int(mask) & -int(mask)).bit_length() - 1 if mask else 64)


@intrinsic
def _lowest_bit_vector(typing_context: Any, mask: Any) -> Any:
    """Do what `_lowest_bit_plain` does, in one instruction."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


def _bits_between_plain(values: Array, begin: int, low: Any, high: Any) -> Any:
    """Bits that say which of 64 values are from `low` to `high`."""
    some = values[begin : begin + ROWS]
    is_between = (some >= low) & (some <= high)
    return np.uint64((is_between.astype(np.uint64) << np.arange(some.size, dtype=np.uint64)).sum())


@intrinsic
def _bits_between_vector(typing_context: Any, values: Any, begin: Any, low: Any, high: Any) -> Any:
    """Do what `_bits_between_plain` does, in vector registers."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(ir.IntType(16), ROWS)
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        some = builder.load(builder.bitcast(builder.gep(data, [args[1]]), vector.as_pointer()), align=2)
        is_between = [
            builder.icmp_signed(sign, some, _filled(builder, vector, limit))
            for sign, limit in ((">=", args[2]), ("<=", args[3]))
        ]
        return builder.bitcast(builder.and_(*is_between), ir.IntType(ROWS))

    return types.uint64(values, types.intp, types.int16, types.int16), generate


def _filled(builder: Any, vector: Any, value: Any) -> Any:
    """Return a vector of one value."""
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(ir.IntType(32), ROWS), None))


# Intrinsics exist only in compiled code; without it the plain twins do the same.
_sum_quad: Any = _sum_quad_plain if JIT_IS_OFF else _sum_quad_vector
_bits_between: Any = _bits_between_plain if JIT_IS_OFF else _bits_between_vector
_lowest_bit: Any = _lowest_bit_plain if JIT_IS_OFF else _lowest_bit_vector


@kernel
def _aligned(size: int) -> Array:
    """An uninitialised array of 16-bit integers that starts on a cache line."""
    room = np.empty(size + 32, np.int16)
    skip = ((-room.ctypes.data) % 64) // 2
    return room[skip : skip + size]


@kernel
def _rounding(
    values: Array, d: int, s: int, is_signed: bool, is_float: bool, lanes: Array
) -> tuple[float, float, float, float]:
    """Return what to take from the values of a row, how many steps are one, by how many a sum may be off, and squares.

    Values come in rows of 8, filled up with the first one; `lanes` is work space of four such rows. A sum of s of them,
    all different, is no larger than s times the largest, nor than the root of s times the sum of all squares.
    """
    first = values[0, 0]
    totals, least, most, broken = lanes[0], lanes[1], lanes[2], lanes[3]
    totals[:], least[:], most[:], broken[:] = 0.0, first, first, 0.0
    for i in range(values.shape[0]):
        for k in range(LANES):
            value = values[i, k]
            totals[k] += value
            least[k], most[k] = min(least[k], value), max(most[k], value)
            broken[k] += value != np.rint(value)
    total, low, high, n_broken = -(values.size - d) * first, first, first, 0.0
    for k in range(LANES):
        total += totals[k]
        low, high, n_broken = min(low, least[k]), max(high, most[k]), n_broken + broken[k]
    is_whole = n_broken == 0
    centre = 0.0 if is_signed else total / d
    if is_whole:
        centre = np.rint(centre)
    totals[:] = 0
    for i in range(values.shape[0]):
        for k in range(LANES):
            value = values[i, k] - centre
            totals[k] += value * value
    squares = -(values.size - d) * (first - centre) ** 2
    for k in range(LANES):
        squares += totals[k]
    size = max(high - centre, centre - low)
    squares = max(squares, 0.0)
    bound = min(s * size, math.sqrt(s * squares) * (1 + 1e-9))
    largest = max(high, -low)
    if is_whole and bound <= LARGEST and s * largest < 2**24:
        return centre, 1.0, 0.0, squares
    scale = (LARGEST - s // 2 - 2) / bound if bound > 0 else 1.0
    if not scale < 1e300:  # of the smallest floats
        scale = 1e300
    unit = 2.0**-23 * s if is_float else 2.0**-51  # exact means as float32 adds; float64 rounds large whole numbers
    return centre, scale, min(s * 0.5 + 1.0 + unit * s * largest * scale, FARTHEST), squares


@kernel
def _fill_strip(
    rows: Array,
    todo: Array,
    is_signed: bool,
    s: int,
    is_float: bool,
    values: Array,
    strip: Array,
    deviations: Array,
    errors: Array,
    lanes: Array,
) -> None:
    """Turn rows on their side, in steps: the features (and their negatives) in sequence, 64 rows of each.

    Notes how much sums spread, and how many steps they may be off.
    """
    d, flat = rows.shape[1], values.ravel()
    for b in range(todo.size):
        i = todo[b]
        for f in range(d):
            flat[f] = rows[i, f]
        for f in range(d, flat.size):
            flat[f] = flat[0]
        centre, scale, errors[b], squares = _rounding(values, d, s, is_signed, is_float, lanes)
        for f in range(d):
            strip[f * ROWS + b] = np.int16(np.rint((flat[f] - centre) * scale))
        deviations[b] = math.sqrt(squares * s / d) * scale
    if is_signed:
        for i in range(d * ROWS):
            strip[d * ROWS + i] = -strip[i]


@kernel
def _list_above(
    words: Array,
    n_words: int,
    places: Array,
    sums: Array,
    begin: int,
    first: int,
    values: Array,
    listed: Array,
    ends: Array,
    at_once: int,
) -> None:
    """Write every sum above its limit behind the others of its row; there is room for all, and one more.

    Branches would go wrong too often. So some bits of a word are taken at once; what is written where there are fewer
    is written over by the next.
    """
    n_hits, last_row = np.uint64(0), np.uint64(ROWS - 1)
    for i in range(n_words):
        places[n_hits] = i
        n_hits += np.uint64(words[i] != 0)
    for hit in range(n_hits):
        place = places[hit]
        word, component, base = words[place], np.uint32(np.uint64(begin) + place), place * np.uint64(ROWS)
        while word != 0:
            for _ in range(at_once):
                b = _lowest_bit(word) & last_row
                end = ends[np.uint64(first) + b]
                values[end], listed[end] = sums[base + b], component
                ends[np.uint64(first) + b] = end + np.uint64(word != 0)
                word &= word - np.uint64(1)


@kernel
def _divide(sums: Array, k: Any, low: Any, guess: Any, apart: float) -> tuple[Any, Any]:
    """Return a limit that `k` sums are above, or else the k-th largest sum; and how many are above it.

    There are at least `k` sums of 16 bits, all above `low`. The first `guess` follows from other rows; the next ones,
    from how much two sums are `apart` there. Then every other one is where the limit would be if what is left were
    spread evenly, so that few are needed; the rest halve what is left, so that few suffice.
    """
    below: Any = low
    above: Any = BEST
    n_below: Any = sums.size
    n_above: Any = 0
    if n_below == k:
        return below, k
    tries = 0
    while above - below > 1:
        guess = min(max(guess, below + 1), above - 1)
        limit, n = np.int16(guess), np.int32(0)
        for i in range(sums.size):
            n = np.int32(n + (sums[i] > limit))
        if n == k:
            return guess, np.int64(n)
        if n > k:
            below, n_below = guess, n
        else:
            above, n_above = guess, n
        tries += 1
        if tries < GUESSES:
            guess += np.int64((n - k) * apart)
        elif tries % 2:
            guess = (below + above) >> 1
        else:
            guess = below + np.int64((above - below) * ((n_below - k) / (n_below - n_above)))
    return above, np.int64(n_above)


@kernel
def _limit_of(values: Array, k: Any) -> Any:
    """Return the k-th largest of a few values: in sequence is tried, if it can still be it."""
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
def _write_exact_sums(
    rows: Array, i: Any, doubled: Array, connections: Array, components: Array, n: Any, is_float: bool, exact: Array
) -> None:
    """Write the sums of `n` components of a row as integers that order as sums do: bits of a float32, or the number.

    `doubled` is work space for the row and its negative, and for one sum.
    """
    d, bits = rows.shape[1], doubled.view(np.int32)
    for f in range(d):
        doubled[f], doubled[d + f] = rows[i, f], -rows[i, f]
    for c in range(n):
        octet, lane = np.uint64(components[c]) // np.uint64(OCTET), np.uint64(components[c]) % np.uint64(OCTET)
        whole, real = np.int64(0), np.float32(0)
        for k in range(connections.shape[1]):
            value = doubled[connections[octet, k, lane]]
            if is_float:
                real += np.float32(value)
            else:
                whole += np.int64(value)
        if is_float:
            doubled[2 * d] = real
            whole = np.int64(bits[2 * d] ^ ((bits[2 * d] >> 31) & 0x7FFFFFFF))
        exact[c] = whole


@kernel
def _edges(values: Array, last: Any, is_tied: bool, near: Any) -> tuple[Any, Any]:
    """Return from which sum on components may win, and up to which they may lose, where each is off by half of `near`.

    `last` is the sum of the last winner and of others if they tie; else winners are above it, all others are not.
    """
    worst, best = np.int16(BEST), np.int16(WORST)  # of the winners, of the others
    limit = np.int16(last)
    for i in range(values.size):
        value = values[i]
        worst = min(worst, value if value > limit else np.int16(BEST))
        best = max(best, value if value <= limit else np.int16(WORST))
    if is_tied:
        worst = limit
    return max(np.int64(worst) - near, np.int64(WORST + 1)), min(np.int64(best) + near, np.int64(BEST))


@kernel
def _list_near(values: Array, low: Any, high: Any, places: Array) -> tuple[Any, Any]:
    """Write where the values from `low` to `high` are; return how many there are, and how many are above.

    There is memory for 64 more values, and room for as many places.
    """
    n_near, n_above = np.uint64(0), np.int32(0)
    for i in range(values.size):
        n_above = np.int32(n_above + (values[i] > high))
    for begin in range(0, values.size, ROWS):
        word = _bits_between(values, begin, low, high)
        while word != 0:
            places[n_near] = np.uint64(begin) + _lowest_bit(word)
            n_near += np.uint64(1)
            word &= word - np.uint64(1)
    while n_near > 0 and places[n_near - np.uint64(1)] >= values.size:
        n_near -= np.uint64(1)
    return n_near, np.int64(n_above)


@kernel
def _write_winners(
    values: Array, listed: Array, last: Any, n_above: Any, error: float,
    rows: Array, row: Any, doubled: Array, connections: Array, is_float: bool,
    near_places: Array, near_components: Array, exact: Array, out: Array,
) -> None:  # fmt: skip
    """Write the winners of a row, which are among those that are listed: the first of those that tie.

    `last` and `n_above` are what `_divide` found. Sums so near that rounding may have put them on the wrong side are
    summed exactly, and `values` of those that lose become the least of all.
    """
    rho, near = out.size, np.int64(math.ceil(2 * error))
    low, high = _edges(values, last, n_above < rho, near)
    if low <= high:
        n_near, n_sure = _list_near(values, np.int16(low), np.int16(high), near_places)
        if near > 0:
            for at in range(n_near):
                near_components[at] = listed[near_places[at]]
            _write_exact_sums(rows, row, doubled, connections, near_components, n_near, is_float, exact)
        else:
            exact[:n_near] = 0  # they tie
        n_left = rho - n_sure  # that win of those that are near
        edge = _limit_of(exact[:n_near], n_left) if n_left > 0 else NOBODY
        for at in range(n_near):
            n_left -= exact[at] > edge
        for at in range(n_near):
            is_tied = exact[at] == edge and n_left > 0
            n_left -= is_tied
            if exact[at] <= edge and not is_tied:
                values[near_places[at]] = WORST
    n_out, place, least = np.uint64(0), np.uint64(0), np.int16(low)
    while n_out < np.uint64(rho):  # no branch but this: it would go wrong too often
        out[n_out] = listed[place]
        n_out += np.uint64(values[place] >= least)
        place += np.uint64(1)


@kernel
def dense_winners(
    rows: Array, connections: Array, m: int, rho: int, is_signed: bool, is_float: bool, rank: float, out: Array
) -> None:
    """Write the `rho` winners of each row to `out`, in ascending order; of sums that tie, the first components win.

    Parameters
    ----------
    rows : (n, d) array of float32, int16 or int64
    connections : (ceil(m / 8), s, 8) array of unsigned integers
        Features of component j at ``[j // 8, :, j % 8]``, all different; ``d + f`` stands for minus feature f. There
        are less than 2**14.
    m, rho : int
        Number of components and of winners.
    is_signed : bool
        Whether any connection is beyond d.
    is_float : bool
        Whether sums are those of float32, added in the order of the connections.
    rank : float
        How many deviations above the mean the share ``rho / m`` of sums begins, as far as known.
    out : (n, rho) uint32 array
    """
    n, d = rows.shape
    s = connections.shape[1]
    depth = (2 * d if is_signed else d) * ROWS
    n_strips = 1 if connections.nbytes <= NEAR_BYTES else min(STRIPS, (n + ROWS - 1) // ROWS)
    strips = _aligned(n_strips * depth)
    strips[:] = 0
    sums, limits = _aligned(TILE * ROWS), _aligned(n_strips * ROWS)
    words, places = np.empty(TILE, np.uint64), np.empty(TILE, np.uint64)
    deviations, errors = np.empty(n_strips * ROWS), np.empty(n_strips * ROWS)
    row_values, exact = np.empty(((d + LANES - 1) // LANES, LANES)), np.empty(m, np.int64)
    doubled = np.empty(2 * d + 4, rows.dtype)
    near_places, near_components, lanes = np.empty(m + ROWS, np.uint64), np.empty(m, np.uint32), np.empty((4, LANES))
    at_once = max(2, 3 * ROWS * rho // (4 * m))  # a little less than win of the rows of a strip
    ends, expected = np.empty(n_strips * ROWS, np.uint64), np.empty(n_strips * ROWS)
    middle, spread, has_seen = rank, UNSURE, False
    todo, again = np.arange(n), np.empty(n, np.int64)
    for attempt in range(3):
        most = m if attempt > 0 else min(m, ROOM * rho + TILE)  # that a row lists
        room = ((most + TILE) // 16 + 1 | 1) * 16  # an odd number of cache lines: rows do not compete for the same ones
        n_lists = min(n_strips * ROWS, todo.size)
        values, listed = np.zeros(n_lists * room + ROWS, np.int16), np.empty(n_lists * room, np.uint32)
        n_again, before = 0, 0
        while before < todo.size:
            n_now = min(n_lists if has_seen else ROWS, todo.size - before)
            n_full = (n_now + ROWS - 1) // ROWS * ROWS
            beyond = middle - MARGIN * spread * (1 + 3 * attempt)
            for first in range(0, n_now, ROWS):
                some, strip = slice(first, min(first + ROWS, n_now)), strips[first // ROWS * depth :][:depth]
                now = todo[before + first : before + min(first + ROWS, n_now)]
                _fill_strip(rows, now, is_signed, s, is_float, row_values, strip, deviations[some], errors[some], lanes)
            for b in range(n_now):
                guess = beyond * deviations[b] - 2 * errors[b] - 1
                limits[b] = WORST if attempt == 2 else math.floor(min(max(guess, WORST), LARGEST))
            limits[n_now:n_full] = BEST
            for b in range(n_full):
                ends[b] = b * room
            for begin in range(0, m, TILE):
                end = min(begin + TILE, m)
                for first in range(0, n_full, ROWS):
                    base = first // ROWS * depth
                    for j in range(begin, end, QUAD):
                        _sum_quad(strips, base, connections, j, limits, first, sums, words, j - begin)
                    _list_above(words, end - begin, places, sums, begin, first, values, listed, ends, at_once)
                    for b in range(first, first + ROWS):
                        if ends[b] > np.uint64(b * room + most):  # far too many
                            expected[b] = float(most) * m / end
                            limits[b], ends[b] = BEST, b * room
            total_seen, squares, n_seen = 0.0, 0.0, 0
            for b in range(n_now):
                own, row, limit = slice(b * room, ends[b]), todo[before + b], np.int64(limits[b])
                its_values = values[own]
                is_complete, last = its_values.size >= rho, limit
                if is_complete:
                    guess, rate = np.int64(middle * deviations[b]), max(middle, 0.0) + LEAST_RATE
                    last, n_above = _divide(its_values, rho, limit, guess, deviations[b] / (rate * rho))
                    lowest = last - np.int64(math.ceil(2 * errors[b])) + np.int64(n_above == rho)
                    is_complete = limit == WORST or lowest > limit
                if is_complete:
                    _write_winners(
                        its_values, listed[own], last, n_above, errors[b], rows, row, doubled, connections,
                        is_float, near_places, near_components, exact, out[row],
                    )  # fmt: skip
                else:
                    again[n_again] = row
                    n_again += 1
                if deviations[b] == 0:
                    continue
                seen = last / deviations[b]
                if not is_complete:  # as if sums became rarer at a steady rate
                    n_more = expected[b] if limit == BEST else float(its_values.size)
                    seen = beyond + math.log(max(n_more, 0.5) / rho) / max(rank, 1.0)
                total_seen += seen
                squares += seen * seen
                n_seen += 1
            if n_seen > 0:
                middle, has_seen = total_seen / n_seen, True
                spread = math.sqrt(max(squares / n_seen - middle * middle, 0.0)) + SHARPEST
            before += n_now
        if n_again == 0:
            break
        todo = again[:n_again].copy()
