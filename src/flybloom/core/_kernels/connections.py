"""The connections as a pure function of the seed: row j needs nothing but (seed, j).

Random words come from Philox4x32-10, a counter-based generator (Salmon, Moraes, Dror and Shaw,
"Parallel random numbers: as easy as 1, 2, 3", SC 2011). Its key is the 64-bit seed; its counter is
(block, j, purpose, version), so each component has a stream of its own.
"""

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel

OCTET = 8  # components stored side by side, see winners.py

FEATURES = np.uint64(0)  # purposes of the random words
SIGNS = np.uint64(1)

WORD = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
MULTIPLIER_0 = np.uint64(0xD2511F53)
MULTIPLIER_1 = np.uint64(0xCD9E8D57)
KEY_STEP_0 = np.uint64(0x9E3779B9)
KEY_STEP_1 = np.uint64(0xBB67AE85)
PER_BLOCK = np.uint64(4)  # words that come with each counter


@kernel
def philox(c0: np.uint64, c1: np.uint64, c2: np.uint64, c3: np.uint64, key: np.uint64) -> tuple[np.uint64, ...]:
    """Return the four 32-bit words that belong to a counter and a key (all uint64)."""
    k0, k1 = key & WORD, key >> HALF
    for _ in range(10):
        product_0, product_1 = MULTIPLIER_0 * c0, MULTIPLIER_1 * c2
        c0, c1, c2, c3 = (
            (product_1 >> HALF) ^ c1 ^ k0,
            product_1 & WORD,
            (product_0 >> HALF) ^ c3 ^ k1,
            product_0 & WORD,
        )
        k0, k1 = (k0 + KEY_STEP_0) & WORD, (k1 + KEY_STEP_1) & WORD
    return c0, c1, c2, c3


@kernel
def draw_connections(
    seed: np.uint64, version: np.uint64, d: int, is_signed: bool, begin: int, end: int, octets: Array
) -> None:
    """Draw the connections of the components from `begin` up to `end`, both multiples of 8 or the last one.

    Component j gets the first s of a random permutation of the d features (Fisher and Yates), each
    step an unbiased choice (Lemire's multiplication with rejection). ``octets[j // 8, k, j % 8]`` is its
    k-th feature, plus d where the connection is negative.
    """
    s = octets.shape[1]
    permutation, partners = np.arange(d).astype(np.uint32), np.empty(s, np.int64)
    smallest, words = np.empty(s, np.uint64), np.empty(4, np.uint64)
    for k in range(s):
        left = np.uint64(d - k)
        smallest[k] = (WORD - left + np.uint64(1)) % left
    for j in range(begin, end):
        n_used = np.uint64(0)
        for k in range(s):
            left = np.uint64(d - k)
            while True:
                if n_used % PER_BLOCK == 0:
                    block = n_used // PER_BLOCK
                    words[0], words[1], words[2], words[3] = philox(block, np.uint64(j), FEATURES, version, seed)
                product = words[n_used % PER_BLOCK] * left
                n_used += np.uint64(1)
                if product & WORD >= smallest[k]:
                    break
            partner = k + np.int64(product >> HALF)
            partners[k] = partner
            feature = permutation[partner]
            permutation[partner], permutation[k] = permutation[k], feature
            octets[j // OCTET, k, j % OCTET] = feature
        for k in range(s - 1, -1, -1):  # back to the identity, at the cost of s and not of d
            permutation[k], permutation[partners[k]] = permutation[partners[k]], permutation[k]
        if is_signed:
            word = np.uint64(0)
            for k in range(s):
                if k % 32 == 0:
                    word = philox(np.uint64(k // 128), np.uint64(j), SIGNS, version, seed)[k // 32 % 4]
                is_negative = np.int64(word & np.uint64(1))  # a branch would go wrong half the time
                octets[j // OCTET, k, j % OCTET] += d * is_negative
                word >>= np.uint64(1)


@kernel
def _below(limit: int, j: int, version: np.uint64, key: np.uint64, words: Array, n_used: int) -> tuple[int, int]:
    """Return an unbiased choice from 0 up to `limit`, and how many words of the stream are used then."""
    left = np.uint64(limit)
    smallest = (WORD - left + np.uint64(1)) % left
    while True:
        place = np.uint64(n_used) % PER_BLOCK
        if place == 0:
            block = np.uint64(n_used) // PER_BLOCK
            words[0], words[1], words[2], words[3] = philox(block, np.uint64(j), FEATURES, version, key)
        product = words[place] * left
        n_used += 1
        if product & WORD >= smallest:
            return int(product >> HALF), n_used


@kernel
def draw_window_connections(
    seed: np.uint64, version: np.uint64, shape: Array, sides: Array, is_signed: bool, m: int, octets: Array
) -> None:
    """Draw connections from a random window of a grid for each component.

    ``shape`` is height, width and channels; ``sides`` the least and the largest height, then width, of a window. Sides
    are drawn until the window has room for all connections, then its corner; the connections are the first s of a
    random permutation of its places. Every second one is negative: a component compares places of its window, and how
    bright it is as a whole does not matter. ``octets`` is filled as by `draw_connections`.
    """
    s = octets.shape[1]
    height, width, channels = shape[0], shape[1], shape[2]
    d = height * width * channels
    places = np.empty(d, np.int64)
    words = np.empty(4, np.uint64)
    for j in range(m):
        n_used = 0
        while True:
            a, n_used = _below(sides[1] - sides[0] + 1, j, version, seed, words, n_used)
            b, n_used = _below(sides[3] - sides[2] + 1, j, version, seed, words, n_used)
            a, b = a + sides[0], b + sides[2]
            if a * b * channels >= s:
                break
        top, n_used = _below(height - a + 1, j, version, seed, words, n_used)
        left, n_used = _below(width - b + 1, j, version, seed, words, n_used)
        n_places = a * b * channels
        for at in range(n_places):
            places[at] = at
        for k in range(s):
            step, n_used = _below(n_places - k, j, version, seed, words, n_used)
            place = places[k + step]
            places[k + step] = places[k]
            row, rest = place // (b * channels), place % (b * channels)
            octets[j // OCTET, k, j % OCTET] = ((top + row) * width + left) * channels + rest
        if is_signed:
            for k in range((j + 1) % 2, s, 2):
                octets[j // OCTET, k, j % OCTET] += d


@kernel
def invert_connections(octets: Array, m: int, d: int, starts: Array, components: Array, places: Array) -> None:
    """List for each feature the components it feeds, in ascending order.

    ``starts`` holds d + 1 zeros and becomes where each list begins; `places` gets twice the position of the
    connection within its component, plus one where it is negative.
    """
    s = octets.shape[1]
    for j in range(m):
        for k in range(s):
            starts[octets[j // OCTET, k, j % OCTET] % d + 1] += 1
    for f in range(d):
        starts[f + 1] += starts[f]
    filled = starts[:-1].copy()
    for j in range(m):
        for k in range(s):
            link = octets[j // OCTET, k, j % OCTET]
            f = link % d
            components[filled[f]] = j
            places[filled[f]] = 2 * k + (link >= d)
            filled[f] += 1
