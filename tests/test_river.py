"""Models for river: its own checks, and what a stream of dictionaries must give."""

import math
import pickle
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from flybloom import AdaptiveWindow, FlyBloomClassifier, FlyRidgeClassifier, SlidingWindow
from flybloom.exceptions import NeverLearnedError

river = pytest.importorskip("river")
from river import checks  # noqa: E402

from flybloom.streams.river import FlyClassifier  # noqa: E402

SMALL = {"n_components": 200, "n_winners": 8, "random_state": 0}
FREE = {**SMALL, "encoding": "none"}


def as_rows(X):
    """Rows as dictionaries."""
    return [{f"x{j:02}": value for j, value in enumerate(row)} for row in X.tolist()]


def test_rivers_own_checks():
    """Every one of them."""
    model = FlyClassifier(FlyBloomClassifier(**SMALL), warm_up=20)
    for check in checks.yield_checks(model):
        check(model.clone())


@pytest.mark.parametrize("name", ["check_pickling", "check_learn_many_matches_learn_one", "check_emerging_features"])
@pytest.mark.parametrize("window", [partial(SlidingWindow, n_rows=50), partial(AdaptiveWindow, n_rows=(50, None))])
def test_rivers_checks_of_a_window(window, name):
    """Those that see a difference, each on its first stream."""
    model = FlyClassifier(window(FlyBloomClassifier(**SMALL)), warm_up=20)
    next(check for check in checks.yield_checks(model) if check.__name__ == name)(model.clone())


@pytest.mark.parametrize("kind", [FlyBloomClassifier, FlyRidgeClassifier])
def test_row_by_row_is_partial_fit(kind, digits):
    """Bit for bit, from the end of the warm-up on; also in frames, and after a pickle."""
    pandas = pytest.importorskip("pandas")
    X, y = digits[0][:200, :20], digits[1][:200]
    one, many, wide = (FlyClassifier(kind(**SMALL), warm_up=100) for _ in range(3))
    for row, label in zip(as_rows(X), y.tolist(), strict=True):
        one.learn_one(row, label)
    frame = pandas.DataFrame(as_rows(X))
    for begin in range(0, 200, 70):
        many.learn_many(frame[begin : begin + 70], pandas.Series(y[begin : begin + 70]))
    wide.learn_many(frame, pandas.Series(y))
    alone = kind(**SMALL).partial_fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    for model in (one, many, wide, pickle.loads(pickle.dumps(one))):  # noqa: S301
        assert_array_equal(model._learner.counts_, alone.counts_)
        assert [model.predict_one(row) for row in as_rows(X[:20])] == alone.predict(X[:20]).tolist()
        assert model.predict_many(frame[:20]).tolist() == alone.predict(X[:20]).tolist()
    assert list(one.predict_proba_one(as_rows(X)[0])) == alone.classes_.tolist()


def test_unlearning_restores(digits):
    """During the warm-up and after it; what was never learned is refused."""
    X, y = digits[0][:60, :10], digits[1][:60].tolist()
    model, never = (FlyClassifier(FlyBloomClassifier(**FREE), warm_up=30) for _ in range(2))
    for i, row in enumerate(as_rows(X)):
        model.learn_one(row, y[i])
        if i == 10:
            model.unlearn_one(row, y[i])
        else:
            never.learn_one(row, y[i])
    model.unlearn_one(as_rows(X)[50], y[50])
    never.unlearn_one(as_rows(X)[50], y[50])
    assert_array_equal(model._learner.counts_, never._learner.counts_)
    with pytest.raises(NeverLearnedError):
        model.unlearn_one(as_rows(X)[0], 77)
    fresh = FlyClassifier(warm_up=30)
    with pytest.raises(NeverLearnedError):
        fresh.unlearn_one({"a": 1.0}, 0)
    with pytest.raises(TypeError, match="forgets by itself"):
        FlyClassifier(SlidingWindow(FlyBloomClassifier(), n_rows=3)).unlearn_one({"a": 1.0}, 0)


def test_keys_come_and_go(digits):
    """A key that lacks adds nothing, or what `missing` says; a new one is ignored and noted."""
    X, y = digits[0][:40, :6], digits[1][:40].tolist()
    rows = as_rows(X)
    model, zero = FlyClassifier(FlyBloomClassifier(**FREE), 20), FlyClassifier(FlyBloomClassifier(**FREE), 20, 0)
    for row, label in zip(rows, y, strict=True):
        model.learn_one(row, label)
        zero.learn_one(row, label)
    some = {key: value for key, value in rows[3].items() if key != "x02"}
    X[3, 2] = math.nan
    assert model.predict_proba_one({**some, "new": 3.0})[0] == model._learner.predict_proba(X[3:4])[0, 0]
    assert model.predict_proba_one({**some, "x02": None}) == model.predict_proba_one(some)
    X[3, 2] = 0
    assert zero.predict_proba_one(some)[0] == zero._learner.predict_proba(X[3:4])[0, 0]
    assert model.ignored == {"new"}
    assert model.predict_one({}) in y
    for wrong in ({"x00": "red"}, {"x00": math.inf}):
        with pytest.raises(ValueError, match=r"numbers|infinity"):
            model.learn_one(wrong, 0)
    with pytest.raises(ValueError, match="labels"):
        FlyClassifier(warm_up=50)._collect([({"a": 1.0}, 0), ({"a": 1.0}, "b")])


def test_labels_of_any_kind_grow_natively():
    """Text, whole numbers and truths come back as they were; a new one needs no word."""
    rng = np.random.default_rng(0)
    for labels in (["a", "bb", "ccc"], [3, 1, 2], [True, False]):
        model = FlyClassifier(FlyBloomClassifier(**FREE), warm_up=5)
        assert model.predict_one({"a": 1.0}) is None
        assert model.predict_proba_one({"a": 1.0}) == {}
        for i in range(30):
            model.learn_one(dict(enumerate(rng.standard_normal(4))), labels[i * len(labels) // 30])
        assert set(model.predict_proba_one({0: 1.0})) == set(labels)
        assert all(type(label) is type(labels[0]) for label in model.predict_proba_one({0: 1.0}))
