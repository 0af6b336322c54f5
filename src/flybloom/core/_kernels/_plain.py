"""The loops of prediction in numpy: nothing to compile, slower, and the same bits.

Each function is the twin of a compiled one of the same name, which says more. They are for the first few rows of a
process, which are scored sooner than a kernel is compiled, and for machines that have no numba at all; `_choice.py`
chooses.
"""

from __future__ import annotations

import numpy as np

from flybloom._internal.elementary import LOG_2, exponential, logarithm
from flybloom._internal.typing import Array

OCTET = 8  # components stored side by side
VALUES_AT_ONCE = 2**20  # that are worked on together, which bounds memory
FEATURES, SIGNS = 0, 1  # purposes of the random words
WORD, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
KEY_STEPS = 0x9E3779B9, 0xBB67AE85
FIRST = np.uint64(0xBF58476D1CE4E5B9)
NEGATIVE_ZERO = np.uint64(1 << 63)
INFINITY = np.uint64(0x7FF0000000000000)
NAN = np.uint64(0x7FF8000000000000)
LARGEST = 8.0  # as the kernel has it
LEAST_PIVOT = 2.0**-40
SUMS_AT_ONCE = 2**22  # which bounds their memory
MIX_0 = np.uint64(0xBF58476D1CE4E5B9)  # see _kernels/score.py
MIX_1 = np.uint64(0x94D049BB133111EB)
STEP = np.uint64(0x9E3779B97F4A7C15)


def philox(block: int, components: Array, purpose: int, version: int, seed: int) -> Array:
    """Return the four 32-bit words of a block for each of the components, of shape (4, n), uint64."""
    n = components.size
    c0, c1 = np.full(n, block, np.uint64), components.astype(np.uint64)
    c2, c3 = np.full(n, purpose, np.uint64), np.full(n, version, np.uint64)
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        product_0, product_1 = MULTIPLIERS[0] * c0, MULTIPLIERS[1] * c2
        c0, c1, c2, c3 = (
            (product_1 >> HALF) ^ c1 ^ np.uint64(k0),
            product_1 & WORD,
            (product_0 >> HALF) ^ c3 ^ np.uint64(k1),
            product_0 & WORD,
        )
        k0, k1 = (k0 + KEY_STEPS[0]) & 0xFFFFFFFF, (k1 + KEY_STEPS[1]) & 0xFFFFFFFF
    return np.array([c0, c1, c2, c3])


class _Streams:
    """A stream of random words for each component, from which each takes as many as it needs."""

    def __init__(self, components: Array, version: int, seed: int) -> None:
        self._source = components, FEATURES, version, seed
        self._words = np.empty((0, components.size), np.uint64)
        self._n_used = np.zeros(components.size, np.int64)

    def below(self, limits: Array, who: Array) -> Array:
        """Return an unbiased choice from 0 up to the limit of each component of `who`."""
        chosen, pending = np.empty(who.size, np.int64), np.arange(who.size)
        left = limits.astype(np.uint64)
        smallest = (WORD - left + np.uint64(1)) % left
        while pending.size:
            products = self._next(who[pending]) * left[pending]
            is_right = products & WORD >= smallest[pending]
            chosen[pending[is_right]] = (products[is_right] >> HALF).astype(np.int64)
            pending = pending[~is_right]
        return chosen

    def _next(self, who: Array) -> Array:
        """Return the next word of each of these components."""
        at = self._n_used[who]
        while at.max() >= len(self._words):
            self._words = np.concatenate([self._words, philox(len(self._words) // 4, *self._source)])
        self._n_used[who] += 1
        return self._words[at, who]


def draw_connections(seed: int, version: int, d: int, is_signed: bool, begin: int, end: int, octets: Array) -> None:
    """Draw the connections of the components from `begin` up to `end` as the kernel of that name does."""
    step = max(1, VALUES_AT_ONCE // d)
    for first in range(begin, end, step):
        components = np.arange(first, min(first + step, end))
        streams = _Streams(components, version, seed)
        places = _drawn(streams, np.full(components.size, d), octets.shape[1])
        if is_signed:
            places += d * _signs(components, octets.shape[1], version, seed)
        octets[components // OCTET, :, components % OCTET] = places


def draw_window_connections(
    seed: int, version: int, shape: Array, sides: Array, is_signed: bool, m: int, octets: Array
) -> None:
    """Draw connections from a random window of a grid for each component, as the kernel of that name does."""
    s = octets.shape[1]
    height, width, channels = (int(n) for n in shape)
    d = height * width * channels
    step = max(1, VALUES_AT_ONCE // d)
    for first in range(0, m, step):
        components = np.arange(first, min(first + step, m))
        everybody = np.arange(components.size)
        streams = _Streams(components, version, seed)
        a, b, pending = np.zeros_like(components), np.zeros_like(components), everybody
        while pending.size:
            a[pending] = sides[0] + streams.below(np.full(pending.size, sides[1] - sides[0] + 1), pending)
            b[pending] = sides[2] + streams.below(np.full(pending.size, sides[3] - sides[2] + 1), pending)
            pending = pending[a[pending] * b[pending] * channels < s]
        top = streams.below(height - a + 1, everybody)[:, None]
        left = streams.below(width - b + 1, everybody)[:, None]
        places = _drawn(streams, a * b * channels, s)
        row, rest = np.divmod(places, (b * channels)[:, None])
        places = ((top + row) * width + left) * channels + rest
        if is_signed:
            places += d * ((np.arange(s) + components[:, None]) % 2)  # every second one, from where its number says
        octets[components // OCTET, :, components % OCTET] = places


def _drawn(streams: _Streams, n_places: Array, s: int) -> Array:
    """Return the first s of a random permutation of so many places for each component (Fisher and Yates)."""
    everybody = np.arange(n_places.size)
    permutation = np.tile(np.arange(n_places.max(), dtype=np.int32), (n_places.size, 1))
    chosen = np.empty((n_places.size, s), np.int64)
    for k in range(s):
        partner = k + streams.below(n_places - k, everybody)
        chosen[:, k] = permutation[everybody, partner]
        permutation[everybody, partner] = permutation[:, k]
    return chosen


def _signs(components: Array, s: int, version: int, seed: int) -> Array:
    """Return which connections are negative, for each of the components, as 0 and 1."""
    words = [philox(block, components, SIGNS, version, seed) for block in range(-(-s // 128))]
    bits = [(words[k // 128][k % 128 // 32] >> np.uint64(k % 32)) & np.uint64(1) for k in range(s)]
    return np.array(bits).T.astype(np.int64)


def hash_rows(bits: Array, places: Array, out: Array) -> None:
    """Write to `out` the sum of the mixed bits of each value times the odd number of its column."""
    out[:] = mixed_values(bits) @ places


def mixed_values(bits: Array) -> Array:
    """Return the bits of float64 values mixed; zeros stay zero, and all NaN are one."""
    x = np.where(bits == NEGATIVE_ZERO, np.uint64(0), bits)
    x = np.where((x & ~NEGATIVE_ZERO) > INFINITY, NAN, x)
    x = (x ^ (x >> np.uint64(32))) * FIRST
    return np.asarray(x ^ (x >> np.uint64(29)))


def histograms(
    images: Array, directions: Array, least: np.float32, rows_of: Array, columns_of: Array, out: Array
) -> None:
    """Write the square roots of gradient histograms to `out`, as the kernel of that name does."""
    step = max(1, VALUES_AT_ONCE // max(images[0].size * directions.shape[1], 1)) if len(images) else 1
    for begin in range(0, len(images), step):
        some = images[begin : begin + step]
        _, responses = response_bounds(some, some, directions, least)
        out[begin : begin + step] = np.sqrt(pooled(responses, rows_of, columns_of))


def response_bounds(low: Array, high: Array, directions: Array, least: np.float32) -> tuple[Array, Array]:
    """Return bounds of the response of each direction at each pixel, for bounds of the pixels."""
    (left, right), (up, down) = (_differences(low, high, axis) for axis in (2, 1))
    cosines, sines = directions
    ends = np.stack([left, right])[..., None] * cosines, np.stack([up, down])[..., None] * sines
    nearest, farthest = (_lengths(ends_, left, right, up, down) for ends_ in (np.minimum, np.maximum))
    zero = np.float32(0.0)
    lowest = (ends[0].min(axis=0) + ends[1].min(axis=0)) - least * farthest[..., None]
    highest = (ends[0].max(axis=0) + ends[1].max(axis=0)) - least * nearest[..., None]
    return np.maximum(lowest, zero), np.maximum(highest, zero)


def _differences(low: Array, high: Array, axis: int) -> tuple[Array, Array]:
    """Return bounds of the differences of the pixels at both sides; at an edge, the pixel itself is one of them."""
    places = np.arange(low.shape[axis])
    after, before = np.minimum(places + 1, places[-1]), np.maximum(places - 1, 0)
    ends = low.take(after, axis) - high.take(before, axis), high.take(after, axis) - low.take(before, axis)
    return np.where(np.isnan(ends[0]), np.float32(0.0), ends[0]), np.where(np.isnan(ends[1]), np.float32(0.0), ends[1])


def _lengths(ends: np.ufunc, left: Array, right: Array, up: Array, down: Array) -> Array:
    """Return the least or greatest length of gradients within bounds."""
    sides = []
    for low, high in ((left, right), (up, down)):
        side = ends(np.abs(low), np.abs(high))
        if ends is np.minimum:
            side = np.where((low < 0) & (high > 0), np.float32(0.0), side)
        sides.append(side * side)
    return np.asarray(np.sqrt(sides[0] + sides[1]))


def pooled(values: Array, rows_of: Array, columns_of: Array) -> Array:
    """Return weighted sums of values of pixels in cells: over rows, then over columns, each in order."""
    n, height, width = values.shape[:3]
    sums = np.zeros((n, len(rows_of), width, *values.shape[3:]), np.float32)
    for y in range(height):
        for a in np.flatnonzero(rows_of[:, y]):
            sums[:, a] += rows_of[a, y] * values[:, y]
    cells = np.zeros((n, len(rows_of), len(columns_of), *values.shape[3:]), np.float32)
    for x in range(width):
        for b in np.flatnonzero(columns_of[:, x]):
            cells[:, :, b] += columns_of[b, x] * sums[:, :, x]
    return cells


def brightness(images: Array, rows_of: Array, columns_of: Array, out: Array) -> None:
    """Write the weighted sums of brightness in cells to `out`, as the kernel of that name does."""
    out[:] = pooled(images, rows_of, columns_of)


def soft_bins(rows: Array, n_bins: int, limit: np.float32, scale: np.float32, means: Array, out: Array) -> None:
    """Write the hats of float32 `rows` to `out`, minus their means; a missing value becomes zeros.

    With `scale` above zero, the value itself, times it, comes after the hats of each column.

    All in float32, each step rounded as the kernel of that name rounds it.
    """
    one = np.float32(1.0)
    steps = np.float32(n_bins - 1) / (np.float32(2.0) * limit)
    is_missing = np.isnan(rows)
    values = np.clip(np.where(is_missing, np.float32(0), rows), -limit, limit)
    at = (values + limit) * steps
    left = np.minimum(at.astype(np.int64), n_bins - 2)
    share = np.minimum(at - left.astype(np.float32), one)
    first = left + np.arange(0, rows.shape[1] * n_bins, n_bins)
    hats = np.tile(-means, (len(rows), 1))
    np.put_along_axis(hats, first, (one - share) - means[first], axis=1)
    np.put_along_axis(hats, first + 1, share - means[first + 1], axis=1)
    places = out.reshape(*rows.shape, out.shape[1] // rows.shape[1])  # said in full: there may be no rows
    places[..., :n_bins] = hats.reshape(*rows.shape, n_bins)
    if scale > 0:
        places[..., n_bins] = values * scale
    if is_missing.any():
        places[is_missing] = 0


def fill_missing(rows: Array, means: Array, precisions: Array, chances: Array, out: Array) -> None:
    """Write float32 `rows` to `out`, each missing value as all normals expect it, by how likely each of them is."""
    out[:] = rows
    incomplete = np.flatnonzero(np.isnan(rows).any(axis=1))
    n_normals, d = means.shape
    step = max(1, VALUES_AT_ONCE // (n_normals * d * d))
    for begin in range(0, incomplete.size, step):
        places = incomplete[begin : begin + step]
        some = rows[places]
        is_missing = np.isnan(some)
        expected, sizes = _expected(some, is_missing, means.astype(np.float64), precisions.astype(np.float64))
        scores = chances - 0.5 * sizes
        likely = exponential(scores - scores.max(axis=1, keepdims=True))
        total, values = np.zeros(len(some)), np.zeros(some.shape)
        for k in range(n_normals):
            total += likely[:, k]
        for k in range(n_normals):
            values += (likely[:, k] / total)[:, None] * expected[:, k]
        filled = np.clip(values, -LARGEST, LARGEST).astype(np.float32)
        out[places] = np.where(is_missing, filled, some)


def _expected(rows: Array, is_missing: Array, means: Array, precisions: Array) -> tuple[Array, Array]:
    """Return for each row and normal what is expected, and how unlikely what is there is."""
    d = means.shape[1]
    apart = np.where(is_missing[:, None], 0.0, rows[:, None].astype(np.float64) - means)
    pull = np.zeros(apart.shape)
    for j in range(d):
        pull += precisions[:, j] * apart[:, :, j, None]
    size = np.zeros(apart.shape[:2])
    for j in range(d):
        size += apart[:, :, j] * pull[:, :, j]
    both = (is_missing[:, :, None] & is_missing[:, None, :])[:, None]
    inverses, log_determinants = _inverted(np.where(both, precisions, np.eye(d)))
    pull = np.where(is_missing[:, None], pull, 0.0)
    shift = np.zeros(apart.shape)
    for j in range(d):
        shift += inverses[:, :, :, j] * pull[:, :, j, None]
    for j in range(d):
        size -= pull[:, :, j] * shift[:, :, j]
    return means - shift, size + log_determinants


def _inverted(matrices: Array) -> tuple[Array, Array]:
    """Return the inverses of symmetric positive matrices, of shape (..., d, d), and the logarithms of determinants."""
    inverse = matrices.copy()
    mantissa, exponent = np.ones(matrices.shape[:-2]), np.zeros(matrices.shape[:-2], np.int64)
    for p in range(matrices.shape[-1]):
        pivot = np.maximum(inverse[..., p, p], LEAST_PIVOT)
        mantissa, more = np.frexp(mantissa * pivot)
        exponent += more
        row, factor = inverse[..., p, :].copy(), inverse[..., :, p] / pivot[..., None]
        inverse -= factor[..., :, None] * row[..., None, :]
        inverse[..., :, p] = -factor
        inverse[..., p, :] = row / pivot[..., None]
        inverse[..., p, p] = 1.0 / pivot
    return inverse, logarithm(mantissa) + exponent * LOG_2


def plain_winners(rows: Array, connections: Array, m: int, is_signed: bool, out: Array) -> None:
    """Write the winners of each row to `out`, in ascending order; of sums that tie, the first components win.

    Parameters
    ----------
    rows : (n, d) array of float32 or int64, wide enough for every sum
    connections : (ceil(m / 8), s, 8) array of unsigned integers
        Features of component j at ``[j // 8, :, j % 8]``; ``d + f`` stands for minus feature f.
    m : int
        Number of components.
    is_signed : bool
        Whether any connection is beyond d.
    out : (n, rho) uint32 array
    """
    s, rho = connections.shape[1], out.shape[1]
    step = max(1, SUMS_AT_ONCE // m)
    for begin in range(0, len(rows), step):
        values = rows[begin : begin + step].T
        values = np.concatenate([values, -values]) if is_signed else np.ascontiguousarray(values)
        sums = np.zeros((m, values.shape[1]), values.dtype)
        for k in range(s):
            sums += values[connections[:, k].ravel()[:m]]
        for i in range(values.shape[1]):
            out[begin + i] = _largest(sums[:, i], rho)


def _largest(sums: Array, rho: int) -> Array:
    """Return the positions of the rho largest sums; of those that tie, the first."""
    sums = np.ascontiguousarray(sums)
    last = np.partition(sums, sums.size - rho)[sums.size - rho]
    above = np.flatnonzero(sums > last)
    tied = np.flatnonzero(sums == last)[: rho - above.size]
    return np.sort(np.concatenate([above, tied]))


def linear_sums(winners: Array, weights: Array, intercept: Array, out: Array) -> None:
    """Write ``intercept[c] + sum of weights[j, c] over the winners j of row i`` to ``out[i, c]``.

    Weights are integers of one unit, so float64 holds every sum of them exactly, in whatever order.
    """
    n_classes = out.shape[1]
    step = max(1, VALUES_AT_ONCE // (winners.shape[1] * weights.shape[1]))
    for begin in range(0, len(winners), step):
        chosen = weights[winners[begin : begin + step]]
        out[begin : begin + step] = chosen.sum(axis=1, dtype=np.float64)[:, :n_classes] + intercept


def look_up(counts: Array, values: Array, starts: Array, lasts: Array, out: Array) -> None:
    """Write the weight of each count to the first columns of `out`: ``values[starts[i] + min(count, lasts[i])]``."""
    step = max(1, VALUES_AT_ONCE // max(1, counts.shape[1]))
    for begin in range(0, len(counts), step):
        some = slice(begin, begin + step)
        out[some, : counts.shape[1]] = values[starts + np.minimum(counts[some], lasts)]


def looked_up_sums(
    winners: Array, counts: Array, values: Array, starts: Array, lasts: Array, intercept: Array, out: Array
) -> None:
    """Write the intercept plus the weights of the counts of each row's winners to `out`; see `look_up`."""
    for row, won in enumerate(winners):
        out[row] = values[starts + np.minimum(counts[won], lasts)].sum(axis=0, dtype=np.float64) + intercept


def _mix(words: Array) -> Array:
    """Scramble 64-bit words."""
    words = (words ^ (words >> np.uint64(30))) * MIX_0
    words = (words ^ (words >> np.uint64(27))) * MIX_1
    return np.asarray(words ^ (words >> np.uint64(31)))


def choose(scores: Array, winners: Array, seed: np.uint64, out: Array) -> None:
    """Write the class of the largest score to `out`; ties go to one of the tied, chosen by a hash of the winners."""
    is_tied = scores == scores.max(axis=1, keepdims=True)
    n_tied = is_tied.sum(axis=1).astype(np.uint64)
    words = _mix(winners.astype(np.uint64) + STEP).sum(axis=1, dtype=np.uint64)
    words = _mix(_mix(words ^ seed) + STEP)
    chosen = np.where(n_tied > 1, ((words >> np.uint64(32)) * n_tied) >> np.uint64(32), 0)
    place = is_tied.cumsum(axis=1) - 1
    out[:] = (is_tied & (place == chosen.astype(np.int64)[:, None])).argmax(axis=1)


def write_cells(rows: Array, places: Array, cuts: Array, first: int, out: Array) -> None:
    """Write the cells of ferns as the kernel of that name does."""
    n_ferns, n_tests = places.shape
    step = max(1, VALUES_AT_ONCE // places.size)
    for begin in range(0, len(rows), step):
        some = slice(begin, begin + step)
        digits = (rows[some][:, places] > cuts).astype(np.int64) << np.arange(n_tests)
        out[some, out.shape[1] - n_ferns :] = first + (np.arange(n_ferns) << n_tests) + digits.sum(axis=2)


def winner_forms(winners: Array, triangle: Array, out: Array) -> None:
    """Write the sum of a symmetric matrix of integers, of which `triangle` is the lower half, over all pairs."""
    lower = np.tril_indices(winners.shape[1])
    twice = np.where(lower[0] == lower[1], 1, 2)
    for i, row in enumerate(winners.astype(np.int64)):
        u, v = row[lower[0]], row[lower[1]]
        out[i] = triangle[u * (u + 1) // 2 + v] @ twice


masked_winner_forms = winner_forms
