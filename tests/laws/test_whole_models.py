"""While all rows fit into its sketch, a model is its rows: however they came and went, it is that of a plain fit."""

import pickle
from copy import copy, deepcopy

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError

import flybloom
from flybloom import Encoding, FlyBloomClassifier, FlyBloomNovelty, FlyRidgeClassifier
from flybloom.core import model as core_model
from flybloom.core import sketch
from flybloom.estimators.access import reading_learned
from flybloom.exceptions import IncompatibleHashError, NeverLearnedError
from laws.kinds import assert_same_state
from laws.strategies import block_cuts, labelled_rows

KINDS = {
    "classes": lambda **options: FlyBloomClassifier(48, n_winners=6, random_state=3, **options),
    "classes read by Bayes": lambda **o: FlyBloomClassifier(48, n_winners=6, readout="bayes", random_state=3, **o),
    "novelty": lambda **options: FlyBloomNovelty(48, n_winners=6, random_state=3, contamination=0.1, **options),
    "pairs": lambda **options: FlyRidgeClassifier(48, n_winners=6, random_state=3, **options),
}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def labels(kind, y):
    """What a kind takes for labels."""
    return () if kind is KINDS["novelty"] else (y,)


def learned(kind, X, y):
    """A model that learned rows at once."""
    return kind().partial_fit(X, *labels(kind, y))


def file_of(model, folder):
    """The bytes of its file."""
    model.save(folder / "model.fly")
    return (folder / "model.fly").read_bytes()


@every_kind
@settings(max_examples=40)
@given(data=st.data(), rows=labelled_rows(least=6))
def test_the_file_is_that_of_a_plain_fit_of_the_rows_that_remain(kind, data, rows, tmp_path_factory):
    """After learning, forgetting, adding and subtracting in any order, and whether or not anybody looks meanwhile."""
    assume(np.abs(rows.X[rows.X != 0]).min(initial=1) > 1e-30)  # in units of smaller ones, others are refused
    model, there = lived(kind, data, rows)
    if not there:
        with pytest.raises(NotFittedError):
            model.predict(rows.X)
        return
    folder = tmp_path_factory.mktemp("model")
    plain = kind().partial_fit(rows.X[there], *labels(kind, rows.y[there]))
    if np.unique(rows.y[there]).size > 1:
        plain = kind().fit(rows.X[there], *labels(kind, rows.y[there]))
    assert file_of(model, folder) == file_of(plain, folder)
    assert_array_equal(model.predict(rows.X), plain.predict(rows.X))
    if hasattr(model, "predict_proba"):
        assert_array_equal(model.predict_proba(rows.X), plain.predict_proba(rows.X))


def lived(kind, data, rows):
    """A model after a few things happened to it, and the rows that remain."""
    n, model, there = len(rows.y), None, []
    for _ in range(data.draw(st.integers(1, 6))):
        some = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=12))
        action = data.draw(st.sampled_from(["learn", "add", "forget", "subtract", "look"]))
        gone = there[: data.draw(st.integers(1, max(1, len(there))))]
        if not there:
            model, there = learned(kind, rows.X[some], rows.y[some]), some
        elif action == "learn":
            model.partial_fit(rows.X[some], *labels(kind, rows.y[some]))
            there = there + some
        elif action == "add":
            other = learned(kind, rows.X[some], rows.y[some])
            model, there = model + other if data.draw(st.booleans()) else other + model, there + some
        elif action == "forget":
            assert model.forget(rows.X[gone], *labels(kind, rows.y[gone])).extent == "complete"
            there = there[len(gone) :]
        elif action == "subtract" and len(gone) < len(there):
            model, there = model - learned(kind, rows.X[gone], rows.y[gone]), there[len(gone) :]
        else:
            model.predict(rows.X)
    return model, there


@every_kind
@settings(max_examples=25)
@given(data=st.data(), rows=labelled_rows(least=12))
def test_a_stream_is_fixed_by_as_many_rows_as_fit(kind, data, rows):
    """Whatever the blocks: the hash is that of the longest beginning that a sketch holds; then counts alone change."""
    assume(np.abs(rows.X[rows.X != 0]).min(initial=1) > 1e-30)
    n, X = len(rows.y), rows.X + 0.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sketch, "MAX_ROWS", 8)
        model = kind()
        for cut in data.draw(block_cuts(n)):
            model.partial_fit(X[cut], *labels(kind, rows.y[cut]))
            if data.draw(st.booleans()):
                model.predict(X)
        expected = kind()
        for at in range(n):
            expected.partial_fit(X[at : at + 1], *labels(kind, rows.y[at : at + 1]))
        assert_same_state(model, expected)
        assert_array_equal(model.predict(X), expected.predict(X))
        if kind is KINDS["pairs"]:
            assert model.temperature_ == expected.temperature_


@every_kind
@given(rows=labelled_rows(least=6))
def test_files_pickles_and_copies_go_on_where_the_model_was(kind, rows, tmp_path_factory):
    """With all rows inside."""
    path = tmp_path_factory.mktemp("model") / "model.fly"
    model = learned(kind, rows.X[:4], rows.y[:4])
    model.save(path)
    whole = learned(kind, rows.X, rows.y)
    for again in (flybloom.load(path), pickle.loads(pickle.dumps(model)), copy(model), deepcopy(model)):  # noqa: S301
        assert again.get_params() == model.get_params()
        assert_same_state(again, model)
        again.partial_fit(rows.X[4:], *labels(kind, rows.y[4:]))
        assert_same_state(again, whole)
    assert_same_state(model, learned(kind, rows.X[:4], rows.y[:4]))


def test_files_of_sparse_rows_with_announced_labels(tmp_path):
    """Labels that have no rows yet are known, however often rows are counted again."""
    X, y = sparse.random(30, 200, 0.05, format="csr", random_state=0), np.array(["ant", "bee", "fly"] * 10)
    model = FlyBloomClassifier(48, random_state=0).partial_fit(X[:9], y[:9], classes=["moth"])
    model.save(tmp_path / "model.fly")
    again = flybloom.load(tmp_path / "model.fly")
    assert again.classes_.tolist() == ["ant", "bee", "fly", "moth"]
    assert_same_state(again.partial_fit(X[9:], y[9:]), model.partial_fit(X[9:], y[9:]))
    assert again.classes_.tolist() == ["ant", "bee", "fly", "moth"]


@given(rows=labelled_rows(least=8))
def test_rows_of_a_whole_model_are_learned_as_a_fixed_one_hashes(rows):
    """In either order of the sum; models that were asked for in other ways are refused."""
    new, parts = KINDS["classes"], [(rows.X[i::2], rows.y[i::2]) for i in (0, 1)]
    whole = learned(new, *parts[0])
    fixed = learned(new, *parts[1]).like().partial_fit(*parts[1])
    before = pickle.dumps(fixed.counts_)
    expected = copy(fixed).partial_fit(*parts[0])
    assert_same_state(fixed + whole, expected)
    assert_same_state(whole + fixed, expected)
    assert pickle.dumps(fixed.counts_) == before
    with pytest.raises(IncompatibleHashError, match="seed_"):
        whole.merge(learned(new, *parts[1]).set_params(random_state=4).fit(rows.X, rows.y))
    with pytest.raises(IncompatibleHashError, match="encoding"):
        whole.merge(new(encoding="standard").fit(rows.X, rows.y))


@every_kind
@given(data=st.data(), rows=labelled_rows(least=12))
def test_predictions_after_forgetting_follow_from_the_rows_that_remain(kind, data, rows):
    """At once, whatever came before: not only when the model is saved, or when an eighth of its rows has changed."""
    assume(np.abs(rows.X[rows.X != 0]).min(initial=1) > 1e-30)
    n = len(rows.y)
    n_gone = data.draw(st.integers(1, max(1, n // 10)))
    n_late = data.draw(st.integers(0, max(0, n // 10)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core_model, "FEW_ROWS", 0)
        model = learned(kind, rows.X[: n - n_late], rows.y[: n - n_late])
        model.predict(rows.X)
        assert model.forget(rows.X[:n_gone], *labels(kind, rows.y[:n_gone])).extent == "complete"
        if n_late:
            model.partial_fit(rows.X[n - n_late :], *labels(kind, rows.y[n - n_late :]))
        plain = learned(kind, rows.X[n_gone:], rows.y[n_gone:])
        for name in ("predict", "predict_proba", "decision_function"):
            if hasattr(model, name):
                assert_array_equal(getattr(model, name)(rows.X), getattr(plain, name)(rows.X))


@every_kind
@given(rows=labelled_rows(least=6))
def test_what_was_not_learned_cannot_be_forgotten(kind, rows):
    """And nothing changes."""
    assume(np.abs(rows.X[rows.X != 0]).min(initial=1) > 1e-30)
    model = learned(kind, rows.X, rows.y)
    with pytest.raises(NeverLearnedError):
        model.forget(rows.X[:1] + 1e6, *labels(kind, rows.y[:1]))
    assert_same_state(model, learned(kind, rows.X, rows.y))


def test_bad_rows_leave_a_whole_model_as_it_was():
    """Labels of another kind are noticed at once."""
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    model = FlyBloomClassifier(48, random_state=0).partial_fit(X, y)
    for wrong in ((X, y.astype(str)), (X[:, :2], y), (np.abs(X) * np.inf, y), (X, y[:3])):
        with pytest.raises(ValueError, match=r"labels|features|infinity|inconsistent"):
            model.partial_fit(*wrong)
    assert_same_state(model, FlyBloomClassifier(48, random_state=0).partial_fit(X, y))


def test_models_that_derive_nothing_from_rows_keep_none():
    """Encodings that need no rows, and those that were fitted beforehand."""
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    for options in ({"encoding": "none"}, {"encoding": Encoding(bins=3).fit(X)}):
        with reading_learned(FlyBloomClassifier(48, **options).partial_fit(X, y)) as learned:
            assert learned.origin is None


def test_rows_that_come_one_by_one_are_predicted_in_between():
    """From row one on; what is derived from all rows is there when the model is saved, copied or asked for it."""
    X, y = make_classification(1200, 20, n_informative=10, n_classes=4, random_state=0)
    model = FlyBloomClassifier(1024, random_state=0)
    for i in range(600):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        model.predict(X[i + 1 : i + 2])
    assert_same_state(model, FlyBloomClassifier(1024, random_state=0).fit(X[:600], y[:600]))


def test_training_in_a_single_pass_is_a_stream():
    """Whatever the blocks."""
    X, y = np.random.default_rng(0).normal(size=(500, 3)), np.arange(500) % 2
    pairs = ((X[at : at + 30], y[at : at + 30]) for at in range(0, 500, 30))
    model = flybloom.train(FlyBloomClassifier(48, random_state=0), pairs, "y", single_pass=True)
    assert_same_state(model, FlyBloomClassifier(48, random_state=0).fit(X, y))
