"""Every way to hash gives the winners of the reference, ties and all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

import reference
from flybloom.core._kernels._jit import JIT_IS_OFF
from flybloom.core._kernels.winners import _divide, _limit_of
from flybloom.core.hashing.projection import Projection, ranked

# n, d, m, s, rho: one row, narrow and wide strips, several blocks; one component, one feature; all win; guessed limits
SHAPES = [
    (1, 5, 40, 3, 4),
    (3, 1, 1, 1, 1),
    (9, 6, 30, 2, 30),
    (17, 8, 257, 3, 20),
    (33, 10, 600, 4, 5),
    (70, 12, 700, 5, 16),
    (40, 12, 130, 5, 33),
]
LARGE = [(130, 20, 3000, 6, 40), (65, 15, 5003, 4, 300), (70, 15, 3003, 4, 500)]
if not JIT_IS_OFF:
    SHAPES += LARGE


def make_rows(rng, n, d, kind):
    """Rows of one kind of number, most with many ties."""
    return {
        "float32": lambda: rng.standard_normal((n, d)).astype(np.float32),
        "float64": lambda: rng.standard_normal((n, d)),
        "coarse": lambda: rng.integers(-2, 3, (n, d)).astype(np.float64),
        "bool": lambda: rng.random((n, d)) < 0.3,
        "uint8": lambda: rng.integers(0, 256, (n, d)).astype(np.uint8),
        "int8": lambda: rng.integers(-128, 128, (n, d)).astype(np.int8),
        "uint16": lambda: rng.integers(0, 2**16, (n, d)).astype(np.uint16),
        "int64": lambda: rng.integers(-3, 4, (n, d)),
        "large": lambda: rng.integers(-(2**40), 2**40, (n, d)),
        "constant": lambda: np.full((n, d), 7),
    }[kind]()


KINDS = ["float32", "float64", "coarse", "bool", "uint8", "int8", "uint16", "int64", "large", "constant"]


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "d", "m", "s", "rho"), SHAPES)
def test_winners_are_those_of_the_reference(rng, n, d, m, s, rho, kind, signed):
    """For every type of number and shape; ranked, in the same order."""
    rows = make_rows(rng, n, d, kind)
    projection = Projection(2, d, m, s, signed=signed)
    expected = reference.winners(rows, *projection.connections(), rho)
    won = projection.winners(rows, rho)
    assert_array_equal(won, np.sort(expected, axis=1))
    assert_array_equal(ranked(projection, rows, won), expected)


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("kind", ["float32", "coarse", "int64", "large"])
def test_sparse_winners_are_those_of_dense_rows(rng, kind, signed):
    """Rows with few nonzeros, none at all, and so many winners that ties at zero and negative sums take part."""
    n, d, m, s = 12, 300, 64, 9
    rows = make_rows(rng, n, d, kind) * (rng.random((n, d)) < 0.008)
    rows[3] = 0
    projection = Projection(6, d, m, s, signed=signed)
    for rho in (1, 10, 64):
        expected = reference.winners(rows, *projection.connections(), rho)
        for container in (np.asarray, sparse.csr_matrix):
            won = projection.winners(container(rows), rho)
            assert_array_equal(won, np.sort(expected, axis=1))
            assert_array_equal(ranked(projection, container(rows), won), expected)


def test_dense_sparse_rows_are_hashed_as_dense_ones(rng):
    """Above a share of nonzeros the matrix is made dense; nothing changes."""
    rows = make_rows(rng, 20, 30, "coarse")
    projection = Projection(6, 30, 50, 4, signed=True)
    assert_array_equal(projection.winners(sparse.csr_matrix(rows), 10), projection.winners(rows, 10))


@pytest.mark.parametrize("order", ["C", "F", "reversed"])
def test_memory_order_does_not_matter(rng, order):
    """C order, Fortran order and a view with negative strides."""
    rows = make_rows(rng, 20, 9, "float32")
    projection = Projection(0, 9, 80, 3, signed=True)
    expected = projection.winners(rows, 8)
    views = {"C": rows, "F": np.asfortranarray(rows), "reversed": rows[::-1, ::-1].copy()[::-1, ::-1]}
    assert_array_equal(projection.winners(views[order], 8), expected)


def test_no_rows_have_no_winners():
    """An empty block gives an empty result of the right width."""
    assert Projection(0, 4, 10, 2, signed=False).winners(np.empty((0, 4), np.float32), 3).shape == (0, 3)


def test_rows_that_defeat_the_guess_are_hashed_again():
    """The first components look bad, the winners come early or late: exact all the same."""
    projection = Projection(1, 40, 4000 if not JIT_IS_OFF else 600, 1, signed=False)
    features, signs = projection.connections()
    rows = np.zeros((70, 40), np.float32)
    for i, row in enumerate(rows):
        row[features[i % 7, 0]] = 1 + i  # one feature is all that counts: many exact ties
    expected = reference.winners(rows, features, signs, 30)
    assert_array_equal(projection.winners(rows, 30), np.sort(expected, axis=1))


@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.int32])
@pytest.mark.parametrize("rho", [60, 200, 399])
def test_many_winners_of_rows_with_little_in_them(rng, rho, dtype):
    """No value at all, one, a few, huge beside tiny ones: most sums tie, at zero or elsewhere."""
    d, projection = 60, Projection(3, 60, 400, 4, signed=True)
    rows = np.zeros((40, d), dtype)
    rows[1, 7] = 1
    for i in range(2, 40):
        rows[i, rng.choice(d, i % 9)] = rng.integers(1, 4)
    if dtype is np.float32:
        rows[30:35] *= np.float32(1e-44)
        rows[35:, :5] = np.float32(1e37)
    expected = reference.winners(rows, *projection.connections(), rho)
    assert_array_equal(projection.winners(rows, rho), np.sort(expected, axis=1))


@given(st.lists(st.integers(-3, 3) | st.integers(-(2**15), 2**15 - 1), min_size=1), st.data())
def test_the_limit_among_few_sums_is_the_last_to_be_taken(values, data):
    """The k-th largest, ties counted."""
    k = data.draw(st.integers(1, len(values)))
    assert _limit_of(np.array(values, np.int16), k) == sorted(values)[-k]


SUMS = st.one_of(st.sampled_from([-32766, -32765, 0, 32766]), st.integers(-5, 5), st.integers(-32766, 32766))


@given(st.lists(SUMS, min_size=1), st.data())
def test_lists_are_divided_where_they_should_be(sums, data):
    """As many as asked for are above the limit; or it is the last sum to be taken, and too few are above."""
    k, low = data.draw(st.integers(1, len(sums))), min(sums) - data.draw(st.integers(1, 2))
    guess, apart = data.draw(st.integers(-40_000, 40_000)), data.draw(st.floats(0, 1e4))
    limit, n_above = _divide(np.array(sums, np.int16), k, low, guess, apart)
    assert n_above == (np.array(sums) > limit).sum() <= k
    if n_above < k:
        assert limit == sorted(sums)[-k]


@pytest.mark.parametrize("signed", [False, True])
def test_rows_of_which_sixteen_bits_tell_little(rng, signed):
    """One value is huge beside the others, or all are huge and nearly alike, or as small as can be."""
    d, projection = 90, Projection(4, 90, 500, 60, signed=signed)
    rows = rng.standard_normal((40, d)).astype(np.float32)
    rows[:10, 3] *= np.float32(1e6)
    rows[10:20] += np.float32(1e6)
    rows[20:30] *= np.float32(1e-40)
    whole = np.int64(2**54) + rng.integers(-9, 10, (12, d))
    for some in (rows, whole):
        expected = reference.winners(some, *projection.connections(), 20)
        assert_array_equal(projection.winners(some, 20), np.sort(expected, axis=1))


def test_sums_beyond_64_bits_are_refused():
    """No integer type would hold them."""
    rows = np.full((2, 5), 2**62)
    with pytest.raises(ValueError, match="no 64-bit integer holds"):
        Projection(0, 5, 10, 3, signed=False).winners(rows, 2)


@pytest.mark.parametrize("value", [1e38, -1e300])
def test_sums_beyond_float32_are_refused(value):
    """They would be infinite, and the winners arbitrary."""
    rows = np.full((2, 500), value) * (np.arange(500) == 1)
    projection = Projection(0, 500, 10, 4, signed=False)
    for container in (np.asarray, sparse.csr_matrix):
        with pytest.raises(ValueError, match="must stay within float32"):
            projection.winners(container(rows), 2)
