"""The connections as a pure function of the seed, for many components side by side; see `_kernels/connections.py`."""

from __future__ import annotations

import numpy as np

from flybloom._internal.typing import Array

OCTET = 8  # components stored side by side
VALUES_AT_ONCE = 2**20  # of permutations, which bounds their memory
FEATURES, SIGNS = 0, 1  # purposes of the random words
WORD, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
KEY_STEPS = 0x9E3779B9, 0xBB67AE85


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
