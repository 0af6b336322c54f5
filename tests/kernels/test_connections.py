"""The connections follow from the seed, as the reference says."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import reference
from flybloom.core._kernels.connections import philox
from flybloom.core.hashing.projection import Projection

# known answers that come with Random123, the library of the authors of Philox
KNOWN = [
    ([0, 0, 0, 0], [0, 0], [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_philox_gives_the_published_words(counter, key, answer):
    """Kernel and reference both agree with the authors of the generator."""
    words = philox(*(np.uint64(word) for word in counter), np.uint64(key[1] << 32 | key[0]))
    assert list(words) == answer
    assert reference.philox(counter, key) == answer


@pytest.mark.parametrize(
    ("seed", "d", "m", "s"), [(0, 1, 3, 1), (5, 7, 20, 7), (2**40 + 3, 50, 33, 9), (9, 90, 10, 70)]
)
def test_connections_are_those_of_the_reference(seed, d, m, s):
    """Features and signs, for whole permutations, seeds beyond 32 bits and more than one word of signs."""
    features, signs = reference.connections(seed, d, m, s)
    drawn_features, drawn_signs = Projection(seed, d, m, s, signed=True).connections()
    assert_array_equal(drawn_features, features)
    assert_array_equal(drawn_signs, signs)


def test_signs_do_not_change_the_features():
    """A signed and an unsigned projection of one seed sum the same features."""
    signed, unsigned = (Projection(3, 30, 64, 6, signed=signed).connections() for signed in (True, False))
    assert_array_equal(signed[0], unsigned[0])
    assert (unsigned[1] == 1).all()


def test_projections_are_nested():
    """Fewer components are the first ones, fewer connections the first of each."""
    features, signs = Projection(4, 40, 50, 20, signed=True).connections()
    fewer_features, fewer_signs = Projection(4, 40, 21, 8, signed=True).connections()
    assert_array_equal(features[:21, :8], fewer_features)
    assert_array_equal(signs[:21, :8], fewer_signs)


def test_every_feature_is_equally_likely():
    """Chi-squared over all connections: within five standard deviations of its mean."""
    d, m, s = 37, 4000, 5
    features, signs = Projection(11, d, m, s, signed=True).connections()
    expected = m * s / d
    statistic = ((np.bincount(features.ravel(), minlength=d) - expected) ** 2 / expected).sum()
    assert abs(statistic - (d - 1)) < 5 * np.sqrt(2 * (d - 1))
    assert abs(signs.mean()) < 5 / np.sqrt(m * s)
    assert all(len(set(row)) == s for row in features)


def test_inverted_connections_are_the_same_connections():
    """Each feature's list holds just the components that sum it, at the right place and sign."""
    projection = Projection(1, 12, 19, 4, signed=True)
    features, signs = projection.connections()
    starts, components, places = projection.inverted
    found = {
        (int(components[at]), int(places[at]) >> 1, feature, -1 if places[at] & 1 else 1)
        for feature in range(12)
        for at in range(starts[feature], starts[feature + 1])
    }
    expected = {(j, k, int(features[j, k]), int(signs[j, k])) for j in range(19) for k in range(4)}
    assert found == expected
