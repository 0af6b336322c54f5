"""Learning: count how often two components won together.

The counts are a triangle in one array: cell (u, v), v <= u, is at ``u (u + 1) / 2 + v``. So the rows of the triangle
lie in sequence, and the last cell of row u is how often u won at all. Winners come in ascending order. There
are two ways to count them, both give the same integers, and `add_block` knows which is faster:

- `add_pairs` goes through the pairs: n rho^2 / 2 additions, whatever m is.
- `add_listed_pairs` goes through the rows of the triangle. For component u it takes the rows of the block in which u
  won, 512 components of each as one vector of bits, and counts in vertical counters: vector k holds bit k of 512
  counts, and fifteen full adders add sixteen rows. n rho m / 1024 such vectors and an addition to each cell replace
  n rho^2 / 2 additions, so the more components win, and the more rows a block has, the more it gains.

Threads share the triangle, each writes to ranges of rows of its own. Nothing here looks for overflow: a cell grows by
no more than the weights of the rows together, and it is the caller's to know that its type holds that.
"""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from flybloom._internal.typing import Array, Weights, Winners
from flybloom.core._kernels._jit import JIT_IS_OFF, kernel

TILE = 512  # components that are counted together
WORDS = TILE // 64
STEP = 16  # rows that are added together; lists are filled up to a multiple of it
AHEAD = 32  # places of a list between a row that is added and one that is asked for
REGISTERS = 4  # planes of bits that stay in registers: 2^4 = STEP
PLANES = 16  # bits of a count within a block
MAX_ROWS = 2**PLANES - 1  # of a block that is listed
LONG_LIST = 512  # rows of a block in which a component should win: what a block costs beside its rows is then small
LEAST_WINNERS = 2**20  # of a block: what it takes to wake threads is then small beside their work
LARGE_BLOCK = 2**15  # rows: of more than fit the second-level cache, 64 bytes each, those to come are asked for ahead
FEW_PAIRS = 1 / 8  # pairs for each cell, below which a block is added pair by pair
CELLS = 256  # rows that could be counted in the time that the 512 cells of a tile take
RANGES = 2  # ranges for each thread: one that is held up leaves some to the others
LINE = 64  # bytes that are fetched at once


def _add_listed_plain(bits: Array, base: int, rows: Array, begin: int, end: int, n_high: int, planes: Array) -> None:
    """Write bit k of how often each of 512 components won in the listed rows to plane k."""
    tile = bits.reshape(-1, WORDS)[base + rows[begin:end].astype(np.int64)]
    won = (tile[:, :, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    total = won.sum(axis=0)
    for k in range(PLANES):
        bit = (total >> np.uint64(k)) & np.uint64(1)
        planes[k * WORDS : (k + 1) * WORDS] = (bit << np.arange(64, dtype=np.uint64)).sum(axis=1)


@intrinsic
def _add_listed_vector(
    typing_context: Any, bits: Any, base: Any, rows: Any, begin: Any, end: Any, n_high: Any, planes: Any
) -> Any:
    """Do what `_add_listed_plain` does, in vector registers."""
    signature = types.void(bits, types.intp, rows, types.intp, types.intp, types.intp, planes)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector, intp = ir.VectorType(ir.IntType(64), WORDS), context.get_value_type(types.intp)
        zero = ir.Constant(vector, [0] * WORDS)

        def const(value: int) -> Any:
            return ir.Constant(intp, value)

        def data(k: int) -> Any:
            return context.make_array(signature.args[k])(context, builder, args[k]).data

        tile = builder.gep(builder.bitcast(data(0), vector.as_pointer()), [args[1]])
        rows, planes = data(2), builder.bitcast(data(6), vector.as_pointer())
        low = [cgutils.alloca_once(builder, vector) for _ in range(REGISTERS)]  # type: ignore[no-untyped-call]
        carried = cgutils.alloca_once(builder, vector)  # type: ignore[no-untyped-call]
        for plane in low:
            builder.store(zero, plane)
        for k in range(REGISTERS, PLANES):
            builder.store(zero, builder.gep(planes, [const(k)]), align=8)

        def add(plane: Any, a: Any, b: Any) -> Any:
            """Add two vectors of bits to a plane; return what is carried."""
            old = builder.load(plane)
            either = builder.xor(a, b)
            builder.store(builder.xor(either, old), plane)
            return builder.or_(builder.and_(a, b), builder.and_(either, old))

        with cgutils.for_range_slice(builder, args[3], args[4], const(STEP), intp) as (at, _):
            waiting: list[list[Any]] = [[] for _ in range(REGISTERS + 1)]
            for i in range(STEP):
                row = builder.zext(builder.load(builder.gep(rows, [builder.add(at, const(i))])), intp)
                waiting[0].append(builder.load(builder.gep(tile, [row]), align=8))
                later = builder.load(builder.gep(rows, [builder.add(at, const(i + AHEAD))]))
                _fetch_line(builder, builder.gep(tile, [builder.zext(later, intp)]))
                for k in range(REGISTERS):  # as soon as there are two of a kind: few are waiting at any time
                    if len(waiting[k]) == 2:
                        waiting[k + 1].append(add(low[k], *waiting[k]))
                        waiting[k] = []
            builder.store(waiting[REGISTERS][0], carried)
            with cgutils.for_range(builder, args[5], intp=intp) as loop:
                place = builder.gep(planes, [builder.add(loop.index, const(REGISTERS))])
                old, more = builder.load(place, align=8), builder.load(carried)
                builder.store(builder.xor(old, more), place, align=8)
                builder.store(builder.and_(old, more), carried)
        for k, plane in enumerate(low):
            builder.store(builder.load(plane), builder.gep(planes, [const(k)]), align=8)
        return context.get_dummy_value()

    return signature, generate


def _unpack_plain(planes: Array, first: int, out: Array) -> None:
    """Write one byte for each component, of the eight planes from `first` on."""
    words = planes.reshape(PLANES, WORDS, 1)[first : first + 8]
    bits = (words >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    out[:] = (bits.reshape(8, TILE) << np.arange(8, dtype=np.uint64)[:, None]).sum(axis=0)


@intrinsic
def _unpack_vector(typing_context: Any, planes: Any, first: Any, out: Any) -> Any:
    """Do what `_unpack_plain` does, 64 components at a time."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        intp = context.get_value_type(types.intp)
        octets, flags = ir.VectorType(ir.IntType(8), 64), ir.VectorType(ir.IntType(1), 64)
        planes = context.make_array(signature.args[0])(context, builder, args[0]).data
        out = context.make_array(signature.args[2])(context, builder, args[2]).data
        base = builder.mul(args[1], ir.Constant(intp, WORDS))
        with cgutils.for_range(builder, ir.Constant(intp, WORDS), intp=intp) as loop:
            total = ir.Constant(octets, [0] * 64)
            for k in range(8):
                at = builder.add(builder.add(base, ir.Constant(intp, k * WORDS)), loop.index)
                is_set = builder.bitcast(builder.load(builder.gep(planes, [at])), flags)
                value = ir.Constant(octets, [(1 << k) - (256 if k == 7 else 0)] * 64)
                total = builder.or_(total, builder.select(is_set, value, ir.Constant(octets, [0] * 64)))
            place = builder.gep(out, [builder.mul(loop.index, ir.Constant(intp, 64))])
            builder.store(total, builder.bitcast(place, octets.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(planes, types.intp, out), generate


def _fetch_plain(array: Array, at: int) -> None:
    """Nothing to fetch."""


@intrinsic
def _fetch_vector(typing_context: Any, array: Any, at: Any) -> Any:
    """Ask for the cache line of an item that is needed soon."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        _fetch_line(builder, builder.gep(data, [args[1]]))
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


def _fetch_line(builder: Any, place: Any) -> None:
    """Ask for the cache line at an address."""
    i32, address = ir.IntType(32), ir.IntType(8).as_pointer()
    fetch = cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
        builder.module, ir.FunctionType(ir.VoidType(), [address, i32, i32, i32]), "llvm.prefetch.p0"
    )
    builder.call(fetch, [builder.bitcast(place, address), *(ir.Constant(i32, value) for value in (0, 3, 1))])


_add_listed: Any = _add_listed_plain if JIT_IS_OFF else _add_listed_vector
_unpack: Any = _unpack_plain if JIT_IS_OFF else _unpack_vector
_fetch: Any = _fetch_plain if JIT_IS_OFF else _fetch_vector


@kernel
def add_pairs(winners: Array, weights: Array, begin: int, end: int, triangle: Array) -> int:
    """Add the weight of each row to the cells of all pairs of its winners, in rows `begin` to `end` of the triangle.

    Parameters
    ----------
    winners : (n, rho) array of unsigned integers
        Ascending in each row.
    weights : (n,) array of int64
        Negative ones take away.
    begin, end : int
        Rows of the triangle to add to.
    triangle : (m (m + 1) / 2,) array of int32 or int64

    Returns
    -------
    int
        The least that any cell was on the way, or zero if none was below it.
    """
    least = triangle.dtype.type(0)
    for i in range(winners.shape[0]):
        row, weight = winners[i], triangle.dtype.type(weights[i])
        for k in range(winners.shape[1]):
            u = np.int64(row[k])
            if begin <= u < end:
                cells = triangle[u * (u + 1) // 2 : (u + 1) * (u + 2) // 2]
                for j in range(k + 1):
                    cells[row[j]] += weight
                    least = min(least, cells[row[j]])
    return int(least)


@kernel
def mark_winners(winners: Array, begin: int, end: int, bits: Array, sizes: Array) -> None:
    """Write rows `begin` to `end` of a block as bits, and to ``sizes[u]`` in how many of them component u won.

    Component u of row i is bit u % 64 of ``bits[u // 512, i, u % 512 // 64]``.
    """
    for tile in range(bits.shape[0]):
        for i in range(begin, end):
            for word in range(WORDS):
                bits[tile, i, word] = 0
    sizes[:] = 0
    for i in range(begin, end):
        row = winners[i]
        for k in range(row.size):
            u = np.int64(row[k])
            bits[u // TILE, i, u % TILE // 64] |= np.uint64(1) << np.uint64(u % 64)
            sizes[row[k]] += 1


@kernel
def list_rows(winners: Array, begin: int, end: int, ends: Array, rows: Array) -> None:
    """Write each of the rows `begin` to `end` to the lists of its winners; that of u continues at ``ends[u]``."""
    for i in range(begin, end):
        row = winners[i]
        for k in range(row.size):
            at = ends[row[k]]
            rows[at] = i
            ends[row[k]] = at + 1


@kernel
def _add_cells(cells: Array, counts: Array, weight: int) -> int:
    """Add `weight` times the counts to the cells; return the smallest of them, or zero."""
    least, factor = cells.dtype.type(0), cells.dtype.type(weight)  # in the cells' own type, this becomes vectors
    for i in range(cells.size):
        cells[i] += factor * counts[i]
        least = min(least, cells[i])
    return int(least)


@kernel
def add_listed_pairs(
    bits: Array, rows: Array, starts: Array, weight: int, begin: int, end: int, triangle: Array
) -> int:
    """Add `weight` to the cells of all pairs of winners of each row, in rows `begin` to `end` of the triangle.

    Parameters
    ----------
    bits : (ceil(m / 512), n + 1, 8) array of uint64
        Winners as `mark_winners` writes them, n at most MAX_ROWS, and a row of zeros.
    rows : array of uint16
        Lists of the rows in which a component won, filled up with n to multiples of 16, and 32 more of n.
    starts : (m + 1,) array of int64
        Where the list of each component starts.
    weight : int
        Of every row; a negative one takes away.
    begin, end : int
        Rows of the triangle to add to.
    triangle : (m (m + 1) / 2,) array of int32 or int64

    Returns
    -------
    int
        The least of the cells that were added to, or zero if none is below it.
    """
    planes = np.zeros(PLANES * WORDS, np.uint64)
    low, high, counts = np.empty(TILE, np.uint8), np.empty(TILE, np.uint8), np.empty(TILE, np.uint16)
    least = triangle.dtype.type(0)
    for tile in range((end + TILE - 1) // TILE):  # the bits of a tile stay in the second-level cache
        base, first = tile * bits.shape[1], tile * TILE
        for row in range(bits.shape[1]):  # one after the other they come faster than in the order of a list
            _fetch(bits, (base + row) * WORDS)
        for u in range(max(begin, first), end):
            size = starts[u + 1] - starts[u]
            if size == 0:
                continue
            at, n_cells = u * (u + 1) // 2 + first, min(TILE, u + 1 - first)
            cells = triangle[at : at + n_cells]
            for i in range(0, n_cells, LINE // triangle.itemsize):
                _fetch(cells, i)
            n_high = 0
            while n_high < PLANES - REGISTERS and size >> (n_high + REGISTERS) > 0:  # filled up, it may need one more
                n_high += 1
            _add_listed(bits, base, rows, starts[u], starts[u + 1], n_high, planes)
            _unpack(planes, 0, low)
            beyond = np.uint64(0)
            for i in range(8 * WORDS, PLANES * WORDS):
                beyond |= planes[i]
            if beyond == 0:  # no pair was met more than 255 times
                least = min(least, _add_cells(cells, low, weight))
                continue
            _unpack(planes, 8, high)
            for i in range(TILE):
                counts[i] = low[i] | (np.uint16(high[i]) << np.uint16(8))
            least = min(least, _add_cells(cells, counts, weight))
    return int(least)


def rows_per_block(m: int, rho: int) -> int:
    """How many rows make a block worth its passage through the triangle."""
    return min(LARGE_BLOCK, max(LONG_LIST * m, LEAST_WINNERS) // rho)


def listing_pays(n: int, m: int, rho: int) -> bool:
    """Whether `add_listed_pairs` is faster than `add_pairs` for a block of `n` rows."""
    return n * rho * rho >= FEW_PAIRS * m * m


def empty_bits(n: int, m: int) -> Array:
    """Return room for the bits of `n` rows and a row of zeros: (ceil(m / 512), n + 1, 8) words, on cache lines."""
    shape = (-(-m // TILE), n + 1, WORDS)
    room = np.empty(math.prod(shape) + WORDS, np.uint64)
    skip = -room.ctypes.data % LINE // room.itemsize
    bits = room[skip : skip + math.prod(shape)].reshape(shape)
    bits[:, n] = 0
    return bits


def row_ranges(work: Array, n_ranges: int) -> list[tuple[int, int]]:
    """Cut the rows of the triangle into at most `n_ranges` ranges of about the same work."""
    done = np.cumsum(work)
    shares = done[-1] * np.arange(1, n_ranges) / n_ranges
    edges = [0, *np.searchsorted(done, shares).tolist(), len(work)]
    return [(begin, end) for begin, end in itertools.pairwise(edges) if begin < end]


Call = tuple[Callable[..., int], tuple[Any, ...]]


def _listed_calls(winners: Winners, weight: int, m: int, n_threads: int, starmap: Callable[..., Any]) -> list[Call]:
    """Mark and list rows of one weight, on all threads; return the calls that remain, one for each range."""
    n = len(winners)
    edges = [n * k // n_threads for k in range(n_threads + 1)]
    parts = list(itertools.pairwise(edges))
    bits, sizes = empty_bits(n, m), np.empty((n_threads, m), np.int64)
    list(starmap(mark_winners, [(winners, *part, bits, sizes[k]) for k, part in enumerate(parts)]))

    lengths = -(-sizes.sum(axis=0) // STEP) * STEP
    starts = np.concatenate([[0], np.cumsum(lengths)])
    ends = starts[:-1] + np.cumsum(sizes, axis=0) - sizes
    rows = np.full(starts[-1] + AHEAD, n, np.uint16)
    list(starmap(list_rows, [(winners, *part, ends[k], rows) for k, part in enumerate(parts)]))

    work = (np.arange(m) // TILE + 1) * (lengths + CELLS)
    ranges = row_ranges(work, n_threads * RANGES if n_threads > 1 else 1)
    return [(add_listed_pairs, (bits, rows, starts, weight, *part)) for part in ranges]


def calls_for_block(
    winners: Winners,
    weights: Weights,
    m: int,
    n_threads: int = 1,
    starmap: Callable[..., Any] = itertools.starmap,
) -> list[list[Call]]:
    """Return what is to be called to add the weight of each row to the cells of all pairs of its winners.

    All that can fail is done here, so that nothing can come between the calls: see `add_block`.

    Parameters
    ----------
    winners : (n, rho) array of unsigned integers
        Ascending in each row; n at most MAX_ROWS, `rows_per_block` is best.
    weights : (n,) array of int64
        Negative ones take away. Rows whose weights differ are added in turns, one for each binary digit.
    m : int
        Number of components.
    n_threads : int
        How many calls `starmap` runs at once.
    starmap : callable
        Calls a function with each of several tuples of arguments and returns what they return.

    Returns
    -------
    list of list of (kernel, arguments)
        Each kernel takes the triangle as its last argument. Those of one list may run at once.
    """
    n, rho = winners.shape
    if n == 0:
        return []
    if not listing_pays(n, m, rho):
        ranges = row_ranges(np.arange(1, m + 1), n_threads) if n_threads > 1 else [(0, m)]
        return [[(add_pairs, (winners, weights, *part)) for part in ranges]]
    if weights.min() == weights.max():
        return [_listed_calls(winners, int(weights[0]), m, n_threads, starmap)]
    sizes, turns = np.abs(weights), []
    for digit, sign in itertools.product(range(int(sizes.max()).bit_length()), (1, -1)):
        chosen = np.flatnonzero((sizes >> digit & 1 == 1) & (weights * sign > 0))
        part = np.full(len(chosen), sign << digit)
        turns += calls_for_block(winners[chosen], part, m, n_threads, starmap)
    return turns


def run_calls(turns: list[list[Call]], triangle: Array, starmap: Callable[..., Any] = itertools.starmap) -> int:
    """Make the calls of `calls_for_block`; return the smallest that any cell was on the way, or zero."""
    least = 0
    for calls in turns:
        least = min(least, *starmap(_call, [(kernel, arguments, triangle) for kernel, arguments in calls]))
    return int(least)


def _call(function: Callable[..., int], arguments: tuple[Any, ...], triangle: Array) -> int:
    """Call a kernel."""
    return function(*arguments, triangle)


def add_block(
    winners: Winners,
    weights: Weights,
    triangle: Array,
    n_threads: int = 1,
    starmap: Callable[..., Any] = itertools.starmap,
) -> int:
    """Add the weight of each row to the cells of all pairs of its winners, whichever way is faster.

    Parameters
    ----------
    winners, weights, n_threads, starmap
        As for `calls_for_block`.
    triangle : (m (m + 1) / 2,) array of int32 or int64
        Must hold the sums.

    Returns
    -------
    int
        The least that any cell was on the way, or zero if none was below it. If rows are taken away that were never
        added, it is negative; adding them again, with the signs changed, restores every cell.
    """
    m = (math.isqrt(8 * triangle.size + 1) - 1) // 2
    return run_calls(calls_for_block(winners, weights, m, n_threads, starmap), triangle, starmap)
