"""Pairs of winners, counted in every way, against dense matrices."""

from multiprocessing.pool import ThreadPool

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import reference
from flybloom.core._kernels import count, pairs
from flybloom.core._kernels._jit import JIT_IS_OFF

MOST_COMPONENTS = 90 if JIT_IS_OFF else 1200  # the fast ones are three tiles, the last of them not whole


def make_winners(rng, n, m, rho):
    """Winners in ascending order; some components win much more often than others."""
    keys = np.log(rng.gamma(0.5, size=m) + 1e-9) + rng.gumbel(size=(n, m))
    return np.sort(np.argsort(-keys, axis=1)[:, :rho], axis=1).astype(np.uint32)


def expected(winners, m, weights):
    """The triangle of the reference."""
    return reference.triangle(reference.pairs(reference.hashes(winners, m), weights))


def empty(m, dtype=np.int64):
    """A triangle of zeros."""
    return np.zeros(m * (m + 1) // 2, dtype)


@pytest.fixture(params=["pair by pair", "listed"])
def way(request, monkeypatch):
    """Both ways to count, whichever is faster."""
    monkeypatch.setattr(pairs, "FEW_PAIRS", np.inf if request.param == "pair by pair" else 0)
    return request.param


@st.composite
def blocks(draw):
    """Winners of a block, their number of components, and a generator."""
    m = draw(st.integers(1, MOST_COMPONENTS))
    n, rho = draw(st.integers(1, 40)), draw(st.integers(1, min(m, 60)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return make_winners(rng, n, m, rho), m, rng


@given(blocks(), st.sampled_from([1, 3, 2**20, 2**40]), st.booleans())
def test_pairs_are_those_of_dense_matrices(block, largest, takes_away):
    """Whatever the weights, positive, negative or zero."""
    winners, m, rng = block
    weights = rng.integers(-largest if takes_away else 0, largest, len(winners), endpoint=True)
    triangle = empty(m)
    least = pairs.add_block(winners, weights, triangle)
    assert_array_equal(triangle, expected(winners, m, weights))
    assert least <= min(0, triangle.min())
    assert takes_away or least == 0


@given(blocks(), st.sampled_from([-(2**20), -1, 1, 3]), st.sampled_from([np.int32, np.int64]), st.integers(1, 5))
def test_both_ways_count_the_same_in_any_ranges(block, weight, dtype, n_ranges):
    """One weight for all rows; what is returned is the least cell if it is negative."""
    winners, m, _ = block
    truth = expected(winners, m, np.full(len(winners), weight))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "RANGES", n_ranges)
        for few in (np.inf, 0):
            patch.setattr(pairs, "FEW_PAIRS", few)
            triangle = empty(m, dtype)
            least = pairs.add_block(winners, np.full(len(winners), weight), triangle, n_ranges)
            assert_array_equal(triangle, truth)
            assert least == min(0, truth.min())


@pytest.mark.parametrize("n", [15, 16, 17, 255, 256, 257, 300] + ([] if JIT_IS_OFF else [4096, 65535]))
@pytest.mark.usefixtures("way")
def test_counts_of_every_size_are_right(rng, n):
    """A component that always wins, one that never does, and lists about as long as a step, a byte, and a block."""
    m = 70
    winners = np.concatenate([np.zeros((n, 1), np.uint32), make_winners(rng, n, m - 2, 5) + np.uint32(1)], axis=1)
    triangle = empty(m, np.int32)
    pairs.add_block(winners, np.ones(n, np.int64), triangle)
    assert_array_equal(triangle, expected(winners, m, np.ones(n)))
    assert triangle[0] == n
    assert triangle[-1] == 0


def test_no_rows_add_nothing(way):
    """An empty block."""
    triangle = empty(20)
    assert pairs.add_block(np.empty((0, 3), np.uint32), np.empty(0, np.int64), triangle) == 0, way
    assert not triangle.any()


@pytest.mark.usefixtures("way")
def test_what_cannot_be_taken_away_is_noticed_and_can_be_undone(rng):
    """Rows that were never added leave a cell below zero; adding them again restores every cell."""
    m, ones = 80, np.ones(30, np.int64)
    known, strange = make_winners(rng, 30, m, 9), make_winners(rng, 30, m, 9)
    triangle = empty(m, np.int32)
    pairs.add_block(known, ones, triangle)
    before = triangle.copy()
    assert pairs.add_block(strange, -ones, triangle) == triangle.min() < 0
    pairs.add_block(strange, ones, triangle)
    assert_array_equal(triangle, before)
    assert pairs.add_block(known, -ones, triangle) == 0
    assert not triangle.any()


@pytest.mark.usefixtures("way")
def test_threads_change_nothing(rng):
    """Rows are marked and listed in parts, and ranges of the triangle added to, at the same time."""
    n, m = (40, 80) if JIT_IS_OFF else (500, 1100)
    winners, weights = make_winners(rng, n, m, 30), rng.integers(1, 3, n)
    triangle = empty(m, np.int32)
    with ThreadPool(3) as pool:
        pairs.add_block(winners, weights, triangle, 3, pool.starmap)
    assert_array_equal(triangle, expected(winners, m, weights))


@given(st.lists(st.integers(1, 100), min_size=1, max_size=300), st.integers(1, 40))
def test_ranges_cover_every_row_once_and_share_the_work(work, n_ranges):
    """Each range begins where the one before ends; none has more than its share and two rows."""
    ranges = pairs.row_ranges(np.array(work), n_ranges)
    assert [u for begin, end in ranges for u in range(begin, end)] == list(range(len(work)))
    assert len(ranges) <= n_ranges
    assert max(sum(work[begin:end]) for begin, end in ranges) <= sum(work) / n_ranges + 2 * max(work)


@given(st.integers(1, 4096), st.integers(1, 2**17))
def test_blocks_are_large_but_fit_the_counters(rho, m):
    """Listing pays for a whole block, unless next to nothing wins; it never does for a row."""
    n = pairs.rows_per_block(m, min(rho, m))
    assert 1 <= n <= pairs.MAX_ROWS
    assert pairs.listing_pays(n, m, min(rho, m)) or 256 * rho < m
    assert not pairs.listing_pays(1, 4096, 128)


def test_room_for_bits_lies_on_cache_lines():
    """Else every row would be two lines."""
    bits = pairs.empty_bits(5, 513)
    assert bits.shape == (2, 6, 8)
    assert bits.ctypes.data % 64 == 0
    assert bits.flags.c_contiguous
    assert not bits[:, 5].any()


def test_counts_and_rows_of_classes_are_added_together(rng):
    """What add_counts adds, and the weights of each class."""
    winners, codes = make_winners(rng, 50, 40, 7), rng.integers(0, 3, 50)
    weights = rng.integers(-3, 9, 50)
    counts, rows = np.zeros((40, 3), np.int32), np.zeros(3, np.int64)
    count.add_counts(winners, codes, weights, counts, rows)
    h = reference.hashes(winners, 40)
    assert_array_equal(counts.T, [(h * weights[:, None])[codes == c].sum(axis=0) for c in range(3)])
    assert_array_equal(rows, [weights[codes == c].sum() for c in range(3)])
