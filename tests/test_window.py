"""Sliding windows: the model is that of the window alone, bit for bit, whatever happens."""

import pickle
from copy import copy

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import flybloom
from flybloom import FlyBloomClassifier, FlyBloomNovelty, FlyRidgeClassifier, SlidingWindow
from flybloom.core.counts.kept_winners import N_GENERATIONS
from flybloom.estimators import stream_follower
from flybloom.estimators.access import reading_learned
from flybloom.exceptions import ModelFileError, NeverLearnedError
from laws.kinds import assert_same_state

SMALL = {"n_components": 60, "n_winners": 6, "random_state": 0}
KINDS = [FlyBloomClassifier, FlyRidgeClassifier, FlyBloomNovelty]


@pytest.fixture
def rows(rng):
    """Rows of classes that come and go."""
    X = rng.standard_normal((300, 5)).round(1)
    y = np.array(["ab"[i % 2] if i < 150 else "bcde"[i % 4] for i in range(300)])
    return X, y, rng.integers(1, 4, 300)


def learned_alone(kind, X, y, weights):
    """A model of these rows and no others."""
    model = kind(**SMALL, encoding="none")
    return model.partial_fit(X) if kind is FlyBloomNovelty else model.partial_fit(X, y, sample_weight=weights)


def slid(window, X, y, weights, sizes, **more):
    """A window that has learned all rows in blocks of these sizes."""
    begin, sizes = 0, list(sizes)
    while begin < len(y):
        sizes.append(size := sizes.pop(0))
        some = slice(begin, begin + size)
        window.partial_fit(X[some], y[some], weights[some], **{name: value[some] for name, value in more.items()})
        begin += size
    return window


@pytest.mark.parametrize("sizes", [(1,), (7, 1, 30), (100,), (300,)])
@pytest.mark.parametrize("n_rows", [1, 40, 1000])
@pytest.mark.parametrize("kind", KINDS)
def test_a_window_is_a_model_of_its_rows_alone(kind, rows, n_rows, sizes):
    """Whatever the kind of counts, the size of the window and of the blocks."""
    X, y, weights = rows
    if kind is FlyBloomNovelty:
        weights = np.ones_like(weights)
    window = slid(SlidingWindow(kind(**SMALL, encoding="none"), n_rows=n_rows), X, y, weights, sizes)
    last = slice(max(0, 300 - n_rows), 300)
    assert window.n_rows_in_window_ == min(300, n_rows)
    assert_same_state(window.model_, learned_alone(kind, X[last], y[last], weights[last]))


def test_a_window_of_seconds_forgets_by_time(rows):
    """Rows as old as that, or older, are gone; many may come at one time."""
    X, y, weights = rows
    times = np.repeat(np.cumsum(np.arange(60) % 7), 5).astype(float)
    window = SlidingWindow(FlyBloomClassifier(**SMALL, encoding="none"), seconds=20)
    slid(window, X, y, weights, (1, 13, 40), times=times)
    last = times > times[-1] - 20
    assert 5 < last.sum() < 200
    assert_same_state(window.model_, learned_alone(FlyBloomClassifier, X[last], y[last], weights[last]))
    for wrong in (times[-1] - 1, np.nan, [times[-1]] * 2):
        with pytest.raises(ValueError, match="times must be one number"):
            window.partial_fit(X[:1], y[:1], times=wrong)
    assert window.partial_fit(X[:1], y[:1]).n_rows_in_window_ == 1  # the clock is far ahead


@pytest.mark.parametrize("sizes", [(1,), (9, 1, 50), (300,)])
@pytest.mark.parametrize("kind", KINDS)
def test_generations_weigh_powers_of_two(kind, rows, sizes):
    """After each half-life rows weigh half as much, and after eight generations nothing."""
    X, y, weights = rows
    weights = np.ones_like(weights)
    window = slid(SlidingWindow(kind(**SMALL, encoding="none"), half_life=30), X, y, weights, sizes)
    age = 10 - np.arange(300) // 30  # the tenth generation has just ended
    weights = np.where(age < N_GENERATIONS, 2 ** np.maximum(N_GENERATIONS - 1 - age, 0), 0)
    kept = weights > 0
    if kind is FlyBloomNovelty:
        repeated = np.repeat(X[kept], weights[kept], axis=0)
        alone = learned_alone(kind, repeated, None, None)
    else:
        alone = learned_alone(kind, X[kept], y[kept], weights[kept])
    assert_same_state(window.model_, alone)


def test_half_lives_score_in_their_own_unit(digits):
    """Rows of the current generation count as one row each, not as 128."""
    X, y = digits
    model = FlyBloomClassifier(512, encoding="none", decay=0.4, random_state=0)
    window = SlidingWindow(model, half_life=10_000).partial_fit(X, y)
    np.testing.assert_allclose(window.novelty(X[:50]), model.fit(X, y).novelty(X[:50]), atol=1e-6)


@pytest.mark.parametrize("n_rows", [50, 1000])
def test_the_first_rows_fix_the_hash_and_the_window_slides_on(rows, n_rows, monkeypatch):
    """Until then all rows are known; afterwards the window is that of a model that hashes alike."""
    X, y, _ = rows
    monkeypatch.setattr(stream_follower, "FIRST_ROWS", 120)
    window = SlidingWindow(FlyBloomClassifier(**SMALL), n_rows=n_rows)
    for begin in range(0, 300, 10):
        window.partial_fit(X[begin : begin + 10], y[begin : begin + 10])
        if begin == 100:
            assert window.n_rows_in_window_ == 110
            assert window.predict(X[:3]).shape == (3,)
            assert pickle.loads(pickle.dumps(window)).n_rows_in_window_ == 110  # noqa: S301
    first = FlyBloomClassifier(**SMALL).fit(X[:120], y[:120])
    last = slice(max(0, 300 - n_rows), 300)
    alone = learned = FlyBloomClassifier(**SMALL, encoding=first.encoder_).fit(X[last], y[last])
    assert_same_state(window.model_, alone)
    assert_array_equal(window.predict(X), learned.predict(X))
    assert_same_state(
        SlidingWindow(FlyBloomClassifier(**SMALL), n_rows=n_rows).fit(X[:120], y[:120]).model_,
        FlyBloomClassifier(**SMALL, encoding=first.encoder_).fit(X[:120][-n_rows:], y[:120][-n_rows:]),
    )


@pytest.mark.parametrize("limit", [{"n_rows": 40}, {"half_life": 25}])
@pytest.mark.parametrize("n", [60, 130])
@pytest.mark.parametrize("kind", KINDS)
def test_files_pickles_and_copies_slide_on(kind, rows, limit, n, tmp_path):
    """Before and after the hash is fixed; the original stays as it was."""
    X, y, _ = rows
    window = SlidingWindow(kind(**SMALL), **limit).partial_fit(X[:50], y[:50])
    window.partial_fit(X[50:n], y[50:n])
    window.save(tmp_path / "w.fly")
    again = [flybloom.load(tmp_path / "w.fly", SlidingWindow), pickle.loads(pickle.dumps(window)), copy(window)]  # noqa: S301
    for begin in range(n, 300, 17):
        for twin in (window, *again):
            twin.partial_fit(X[begin : begin + 17], y[begin : begin + 17])
    for twin in again:
        assert_same_state(twin.model_, window.model_)
        assert twin.n_rows_in_window_ == window.n_rows_in_window_


def test_a_file_whose_window_is_not_that_of_its_model_is_refused(rows, tmp_path):
    """Forgetting by it would go wrong later."""
    X, y, _ = rows
    window = SlidingWindow(FlyBloomClassifier(**SMALL, encoding="none"), n_rows=40).partial_fit(X[:60], y[:60])
    window.model_.forget(X[59:60], y[59:60])
    window.save(tmp_path / "w.fly")
    with pytest.raises(ModelFileError, match="does not hold the rows"):
        flybloom.load(tmp_path / "w.fly")


def test_what_is_refused_changes_nothing(rows):
    """Rows, labels and parameters that are wrong."""
    X, y, weights = rows
    window = SlidingWindow(FlyBloomClassifier(**SMALL, encoding="none"), n_rows=40)
    slid(window, X, y, weights, (30,))
    before = copy(window)
    for bad in ((X[:3, :2], y[:3]), (X[:3], y[:2]), (X[:3], [1, 2, 3]), (np.full((1, 5), np.inf), y[:1])):
        with pytest.raises(ValueError, match=r"."):
            window.partial_fit(*bad)
    assert_same_state(window.model_, before.model_)
    slid(window, X, y, weights, (30,))
    assert_same_state(window.model_, before.model_)
    for wrong, match in (({}, "exactly one"), ({"n_rows": 3, "seconds": 2}, "exactly one"), ({"n_rows": 0}, "n_rows")):
        with pytest.raises(ValueError, match=match):
            SlidingWindow(FlyBloomClassifier(), **wrong).partial_fit(X, y)
    with pytest.raises(ValueError, match="fades by itself"):
        SlidingWindow(FlyBloomNovelty(forget_after=10), n_rows=3).partial_fit(X)


def test_rows_of_no_weight_are_not_there(rows):
    """They take no place in the window, and make no class known."""
    X, y, _ = rows
    window = SlidingWindow(FlyBloomClassifier(**SMALL, encoding="none"), n_rows=20).partial_fit(X[:30], y[:30])
    before = copy(window)
    window.partial_fit(X[30:32], ["z", "a"], [0, 1])
    before.partial_fit(X[31:32], ["a"])
    assert_same_state(window.model_, before.model_)


def test_memory_stays(rng):
    """However many rows pass; rows are kept as small numbers."""
    window = SlidingWindow(FlyBloomClassifier(500, n_winners=20, encoding="none", random_state=0), n_rows=1000)
    used = []
    for _ in range(30):
        window.partial_fit(rng.standard_normal((200, 5)), rng.integers(0, 3, 200))
        used.append(window.memory_usage()["window"])
    assert max(used[10:]) == used[10] <= 2 * 1400 * (2 * 20 + 16)


def test_readers_see_a_block_whole(rng):
    """While others predict, the window slides on a copy; what they see is before or after."""
    X, y = rng.standard_normal((60, 5)), np.arange(60) % 3
    window = SlidingWindow(FlyBloomClassifier(**SMALL, encoding="none"), n_rows=30).partial_fit(X[:30], y[:30])
    with reading_learned(window.model_) as learned:
        before = learned.counts.table.copy()
        window.partial_fit(X[30:40], y[30:40])
        assert_array_equal(learned.counts.table, before)
    assert_same_state(window.model_, learned_alone(FlyBloomClassifier, X[10:40], y[10:40], None))


def test_few_rows_are_exchanged_by_one_call_or_not_at_all(rng, monkeypatch):
    """A window whose model cannot hold what is to leave stays as it is, with what came counted back."""
    X, y = rng.standard_normal((60, 5)), np.arange(60) % 3
    window = SlidingWindow(FlyBloomClassifier(**SMALL, encoding="none"), n_rows=30).partial_fit(X[:30], y[:30])
    window.partial_fit(X[30:31], y[30:31]).predict(X[:1])  # from here on in place, with digits kept up
    monkeypatch.setattr("flybloom.estimators.window.uninterrupted", None)  # it is not needed
    window.model_.forget(X[1:2], y[1:2])  # behind its back

    def state():
        with reading_learned(window.model_) as learned:
            counts = learned.counts
            return counts.table.copy(), counts.class_count.copy(), window.n_rows_in_window_

    before = state()
    for _ in range(2):
        with pytest.raises(NeverLearnedError, match="cannot all have been learned"):
            window.partial_fit(X[31:33], y[31:33])
        for now, then in zip(state(), before, strict=True):
            assert_array_equal(now, then)


def test_a_half_life_that_is_lowered_goes_on():
    """With more rows in the current generation than the new one takes, learning never ended."""
    X, y = np.random.default_rng(0).standard_normal((60, 5)), np.arange(60) % 3
    window = SlidingWindow(FlyBloomClassifier(**SMALL), half_life=50).fit(X[:40], y[:40])
    window.set_params(half_life=10).partial_fit(X[40:], y[40:])
    assert window.n_rows_in_window_ == 0
    assert window.model_.class_count_.sum() == 64 * 10 + 32 * 10 + 16 * 40
