"""The loops in numpy give the bits of the compiled ones; and those of single rows the bits of those of many."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from flybloom.core import _kernels
from flybloom.core._kernels import _choice as loops
from flybloom.core._kernels import _plain
from flybloom.core.hashing.projection import Projection, window_sides
from flybloom.core.readout.linear import TableWeights

SEEDS = st.integers(0, 2**64 - 1)


@pytest.fixture
def compiled(monkeypatch):
    """Let nothing wait for an allowance."""
    monkeypatch.setattr(loops, "CHOICE", "compiled")


def both(name, arguments, shape, dtype):
    """What a kernel and its twin write."""
    file, function = name.split(".")
    found = []
    for home in (getattr(_kernels, file), _plain):
        out = np.zeros(shape, dtype)
        getattr(home, function)(*arguments, out)
        found.append(out)
    return found


@given(SEEDS, st.integers(1, 90), st.integers(1, 40), st.data())
@settings(max_examples=40, deadline=None)
def test_connections(seed, d, m, data):
    """Every word is drawn in the same order, signs too."""
    s, signed = data.draw(st.integers(1, d)), data.draw(st.booleans())
    arguments = np.uint64(seed), np.uint64(1), d, signed, 0, m
    compiled_, plain = both("connections.draw_connections", arguments, (-(-m // 8), s, 8), np.uint16)
    assert_array_equal(plain, compiled_)


@given(SEEDS, st.tuples(st.integers(1, 7), st.integers(1, 7), st.integers(1, 3)), st.data())
@settings(max_examples=40, deadline=None)
def test_connections_within_windows(seed, grid, data):
    """Sides are drawn until a window has room."""
    s, signed, m = data.draw(st.integers(1, int(np.prod(grid)))), data.draw(st.booleans()), 21
    arguments = np.uint64(seed), np.uint64(2), np.array(grid), window_sides(grid, s), signed, m
    compiled_, plain = both("connections.draw_window_connections", arguments, (-(-m // 8), s, 8), np.uint16)
    assert_array_equal(plain, compiled_)


def test_connections_are_drawn_in_parts(monkeypatch):
    """Parts of any size give the same."""
    whole = Projection(7, 30, 100, 9, signed=True).packed_connections
    monkeypatch.setattr(_plain, "VALUES_AT_ONCE", 100)
    arguments = np.uint64(7), np.uint64(1), 30, True, 0, 100
    for found in both("connections.draw_connections", arguments, whole.shape, whole.dtype):
        assert_array_equal(found, whole)


VALUES = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 3.0, -2.5, 2.5, 1e-30, 1e30, -1e30, 1e-42, 7.0, -0.1, 1 / 3])


@given(SEEDS, st.integers(1, 30), st.integers(1, 70), st.integers(1, 9), st.data())
@settings(max_examples=60, deadline=None)
def test_winners_of_few_and_many_rows(seed, d, m, n, data):
    """Rows side by side, one after the other by rough and by exact sums, and with numpy: ties and all."""
    s, rho = data.draw(st.integers(1, d)), data.draw(st.integers(1, m))
    projection = Projection(seed, d, m, s, data.draw(st.booleans()))
    if data.draw(st.booleans()):
        rows = np.array(data.draw(st.lists(VALUES, min_size=n * d, max_size=n * d)), np.float32).reshape(n, d)
    else:
        large = data.draw(st.sampled_from([1, 3, 1000, 2**24, 2**40]))
        rows = np.random.default_rng(seed).integers(-large, large + 1, (n, d))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "CHOICE", "compiled")
        many = np.concatenate([rows] * 17)  # more than are hashed one after the other
        expected = projection.winners(many, rho)[:n]
        assert_array_equal(projection.winners(rows, rho), expected)
        for row, winners in zip(rows, expected, strict=True):
            assert_array_equal(projection.winners(row[None], rho)[0], winners)
        if rows.dtype.kind == "f":
            patch.setattr(Projection, "signs", None)
            assert_array_equal(projection.winners(rows[:1], rho), expected[:1])
        patch.setattr(loops, "CHOICE", "plain")
        assert_array_equal(projection.winners(rows, rho), expected)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("largest", [1, 255, 1638, 1639, 2**20])
@pytest.mark.parametrize("signed", [False, True])
def test_whole_floats_have_the_winners_of_integers(rng, largest, signed):
    """Many rows of whole numbers are hashed as integers, with the winners of each float row alone; -0 is 0."""
    projection = Projection(3, 40, 300, 20, signed)
    rows = rng.integers(-largest if signed else 0, largest + 1, (33, 40))
    rows[0, 0] = largest
    floats = rows.astype(np.float32)
    floats[floats == 0] *= np.float32(-1.0)
    expected = np.concatenate([projection.winners(row[None], 60) for row in floats])
    assert_array_equal(projection.winners(floats, 60), expected)
    assert_array_equal(projection.winners(rows, 60), expected)
    floats[-1, -1] += 0.5
    assert_array_equal(projection.winners(floats, 60)[:-1], expected[:-1])


@pytest.mark.usefixtures("compiled")
def test_one_row_of_many_components():
    """Sizes as models have them, with values that are far apart and values that hardly differ."""
    rng = np.random.default_rng(0)
    for d, s, m in ((50, 25, 5000), (150, 64, 3001), (600, 60, 999), (3, 3, 4096)):
        projection = Projection(1, d, m, s, signed=True)
        assert (projection.signs is None) == (d > 8 * s)
        rows = rng.standard_normal((40, d)).astype(np.float32)
        rows[10:20] **= 9
        rows[20:30] = 1 + rows[20:30] * 1e-6
        rows[30:, 1:] = 0
        expected = projection.winners(rows, 128)
        for row, winners in zip(rows, expected, strict=True):
            assert_array_equal(projection.winners(row[None], 128)[0], winners)


@given(
    st.integers(2, 9),
    st.lists(VALUES, min_size=1, max_size=6),
    st.floats(0.125, 4.0, width=32),
    st.sampled_from([0.0, 0.4, 3.0]),
)
@settings(max_examples=60, deadline=None)
def test_soft_bins(n_bins, row, limit, beside):
    """Missing values, knots, and values beyond them; bins alone, and columns beside them."""
    rows = np.array([row, [np.nan, *row[1:]], [-x * 0.3 for x in row]], np.float32)
    means = np.random.default_rng(0).random(n_bins * len(row)).astype(np.float32)
    shape = (len(rows), (n_bins + (beside > 0)) * len(row))
    given_ = (rows, n_bins, np.float32(limit), np.float32(beside), means)
    compiled_, plain = both("encode.soft_bins", given_, shape, np.float32)
    assert_array_equal(plain.view(np.int32), compiled_.view(np.int32))


@pytest.mark.parametrize("beside", [0.0, 0.4])
def test_soft_bins_of_no_rows(beside):
    """A part of a file may have none."""
    given_ = (np.empty((0, 4), np.float32), 5, np.float32(2.5), np.float32(beside), np.zeros(20, np.float32))
    for found in both("encode.soft_bins", given_, (0, 4 * (5 + (beside > 0))), np.float32):
        assert found.size == 0


@given(SEEDS, st.integers(1, 12), st.integers(1, 9), st.integers(1, 20))
@settings(max_examples=60, deadline=None)
def test_weights_and_the_choice_of_a_class(seed, n_classes, rho, n_rows):
    """Weights are looked up alike, and ties are broken alike."""
    rng = np.random.default_rng(seed)
    winners = rng.integers(0, 30, (n_rows, rho)).astype(np.uint32)
    counts = rng.integers(0, 3, (n_rows, n_classes)).astype(np.int32)
    table = np.array([9, 7, 9, 5], np.int32), rng.choice([0, 2], n_classes), rng.integers(0, 2, n_classes)
    compiled_, plain = both("score.look_up", (counts, *table), (n_rows, n_classes), np.int32)
    assert_array_equal(plain, compiled_)
    counts = rng.integers(0, 3, (30, n_classes)).astype(np.int32)
    given_ = winners, counts, *table, np.arange(n_classes, dtype=np.float64)
    scores, plain = both("score.looked_up_sums", given_, (n_rows, n_classes), np.float64)
    assert_array_equal(plain, scores)
    compiled_, plain = both("score.choose", (scores, winners, np.uint64(seed)), n_rows, np.int64)
    assert_array_equal(plain, compiled_)


@given(SEEDS, st.integers(1, 40), st.integers(1, 9))
@settings(max_examples=30, deadline=None)
def test_linear_sums(seed, n_classes, rho):
    """Whatever the order in which weights are added."""
    rng = np.random.default_rng(seed)
    winners = rng.integers(0, 30, (11, rho)).astype(np.uint32)
    weights, intercept = rng.integers(-(2**30), 2**30, (30, n_classes)), np.rint(rng.standard_normal(n_classes) * 2**40)
    given_ = winners, TableWeights.of(weights.astype(np.int32)).padded, intercept
    compiled_, plain = both("linear.linear_sums", given_, (11, n_classes), np.float64)
    assert_array_equal(plain, compiled_)


def test_an_allowance_is_used_up_once(monkeypatch):
    """Small work is plain until it adds up; after the first that is compiled, all is."""
    monkeypatch.setattr(loops, "CHOICE", "auto")
    monkeypatch.setattr(loops, "_at_hand", {"encode": False})
    monkeypatch.setattr(loops, "LEAST", 10)
    monkeypatch.setitem(loops._left, "encode", 100)
    assert [loops.stays_plain("encode", n) for n in (60, 30, 0)] == [True, True, True]
    assert [loops.stays_plain("encode", n) for n in (1, 0)] == [False, False]
    monkeypatch.setitem(loops._left, "encode", 100)
    assert [loops.stays_plain("encode", n) for n in (101, 1)] == [False, False]
    monkeypatch.setitem(loops._left, "encode", 100)
    assert loops.loops("encode", 1) is _plain
    assert loops.loops("encode", 1000) is _kernels.encode
    monkeypatch.setattr(loops, "CHOICE", "plain")
    assert loops.loops("encode", 10**9) is _plain


def test_what_is_cached_waits_for_numba_alone(monkeypatch):
    """Kernels in the cache are taken at once, but not before numba has begun; a file is looked for once."""
    kernel = _kernels.encode.soft_bins
    jit = sys.modules["flybloom.core._kernels._jit"]
    index = {("types", "this machine", "code"): "file"}
    cache = SimpleNamespace(_cache_file=SimpleNamespace(_load_index=lambda: index))
    monkeypatch.setattr(loops, "CHOICE", "auto")
    monkeypatch.setitem(loops._left, "encode", 10**9)
    monkeypatch.setattr(jit, "_caches", {kernel.__module__: [cache]})
    for machines, expected in (([], True), (["another"], True), (["this machine"], False)):
        monkeypatch.setattr(loops, "_at_hand", {})
        monkeypatch.setattr(jit, "_machines", machines)
        assert loops.stays_plain("encode", 1) is expected
    monkeypatch.setitem(loops._left, "encode", 10**9)
    monkeypatch.setattr(loops, "_at_hand", {})
    cache._cache_file._load_index = lambda: index["nothing"]
    assert loops.stays_plain("encode", 1)
    cache._cache_file._load_index = lambda: index
    assert loops.stays_plain("encode", 1)
