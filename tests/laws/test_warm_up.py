"""A stream that begins with few rows: they are held back, and the result is that of a first block of enough rows."""

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
from flybloom.core import recipe
from flybloom.exceptions import IncompatibleHashError, NeverLearnedError
from laws.kinds import assert_same_state
from laws.strategies import block_cuts, labelled_rows

KINDS = [
    lambda **options: FlyBloomClassifier(48, n_winners=6, random_state=3, **options),
    lambda **options: FlyBloomNovelty(48, n_winners=6, random_state=3, contamination=0.1, **options),
    lambda **options: FlyBloomNovelty(48, n_winners=6, random_state=3, recovery=24, **options),
    lambda **options: FlyRidgeClassifier(48, n_winners=6, random_state=3, **options),
]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=["classes", "novelty", "novelty that recovers", "pairs"])


def learn(model, X, y, cuts=(slice(None),)):
    """The model after some blocks."""
    for cut in cuts:
        model.partial_fit(X[cut], y[cut])
    return model


@every_kind
@settings(max_examples=25)
@given(data=st.data(), rows=labelled_rows(least=6), looks=st.booleans())
def test_the_result_is_that_of_a_first_block_of_enough_rows(kind, data, rows, looks):
    """However the rows come, and whether or not anybody looks meanwhile."""
    assume(np.abs(rows.X[rows.X != 0]).min(initial=1) > 1e-30)  # in units of smaller ones, others are refused
    n, warm_up = len(rows.y), data.draw(st.integers(1, 45))
    cuts = data.draw(block_cuts(n))
    enough = next((cut.stop for cut in cuts if cut.stop >= warm_up), n)  # the block that makes it enough is part of it
    model = kind(warm_up=warm_up)
    for cut in cuts:
        model.partial_fit(rows.X[cut], rows.y[cut])
        if looks:
            model.predict(rows.X)
    expected = kind().fit(rows.X[:enough], rows.y[:enough]) if _has_two(rows.y[:enough]) else kind(warm_up=0)
    if not _has_two(rows.y[:enough]):
        expected.partial_fit(rows.X[:enough].astype(float), rows.y[:enough])
    if enough < n:
        expected.partial_fit(rows.X[enough:], rows.y[enough:])
    assert_same_state(model, expected)
    assert_array_equal(model.predict(rows.X), expected.predict(rows.X))


@settings(max_examples=25)
@given(data=st.data(), rows=labelled_rows(least=12), looks=st.booleans())
def test_meanwhile_more_than_a_few_rows_are_hashed_as_the_first_of_them_say(data, rows, looks):
    """By steps of a quarter, so that a look at each row does not learn all of them anew; however the rows come."""
    n, cuts = len(rows.y), data.draw(block_cuts(len(rows.y)))
    X, kind = rows.X.astype(float), KINDS[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recipe, "FEW_ROWS", 8)
        first = max(step for step in (*range(9), 10, 12, 15, 18, 22, 27, 33) if step <= n)
        model = kind(warm_up=41)
        for cut in cuts:
            model.partial_fit(X[cut], rows.y[cut])
            if looks:
                model.predict(X)
        expected = kind(warm_up=0).partial_fit(X[:first], rows.y[:first], classes=np.unique(rows.y))
        if first < n:
            expected.partial_fit(X[first:], rows.y[first:])
        assert_array_equal(model.counts_, expected.counts_)
        assert_array_equal(model.predict(X), expected.predict(X))


def _has_two(y):
    """Whether `fit` of a classifier would take these labels."""
    return np.unique(y).size > 1


@every_kind
@given(rows=labelled_rows(least=6))
def test_files_pickles_and_copies_hold_the_rows_back_too(kind, rows, tmp_path_factory):
    """And go on where the model was."""
    path = tmp_path_factory.mktemp("model") / "model.fly"
    model = learn(kind(warm_up=len(rows.y)), rows.X, rows.y, (slice(0, 2), slice(2, 4)))
    model.save(path)
    for again in (flybloom.load(path), pickle.loads(pickle.dumps(model)), copy(model), deepcopy(model)):  # noqa: S301
        assert again.get_params() == model.get_params()
        assert_same_state(again, model)
        learn(again, rows.X[4:], rows.y[4:])
        assert_same_state(again, learn(kind(warm_up=0), rows.X.astype(float), rows.y))
    assert_same_state(model, learn(kind(warm_up=0), rows.X[:4].astype(float), rows.y[:4]))


def test_files_of_sparse_rows_that_are_held_back(tmp_path):
    """Named labels and classes that are announced included."""
    X, y = sparse.random(30, 200, 0.05, format="csr", random_state=0), np.array(["ant", "bee", "fly"] * 10)
    model = FlyBloomClassifier(48, random_state=0).partial_fit(X[:9], y[:9], classes=["moth"])
    model.save(tmp_path / "model.fly")
    again = flybloom.load(tmp_path / "model.fly")
    assert again.classes_.tolist() == ["ant", "bee", "fly", "moth"]
    assert_same_state(again.partial_fit(X[9:], y[9:]), model.partial_fit(X[9:], y[9:]))
    assert again.classes_.tolist() == ["ant", "bee", "fly", "moth"]


@given(rows=labelled_rows(least=8))
def test_models_that_hold_rows_back_merge(rows):
    """Two of them join their rows; rows of one are learned as the other hashes."""
    new = KINDS[0]
    parts = [(rows.X[i::2], rows.y[i::2]) for i in (0, 1)]
    a, b = (learn(new(), *part) for part in parts)
    together = learn(new(), np.concatenate([parts[0][0], parts[1][0]]), np.concatenate([parts[0][1], parts[1][1]]))
    assert_same_state(a + b, together)
    fixed = learn(new(warm_up=1), *parts[1])
    before = pickle.dumps(fixed.counts_)
    expected = copy(fixed).partial_fit(*parts[0])
    assert_same_state(fixed + a, expected)
    assert_same_state(a + fixed, expected)
    assert pickle.dumps(fixed.counts_) == before
    with pytest.raises(IncompatibleHashError, match="seed_"):
        a.merge(learn(new().set_params(random_state=4), *parts[1]))
    with pytest.raises(IncompatibleHashError, match="encoding"):
        a.merge(learn(new(encoding="standard", n_connections=1), *parts[1]))


@given(rows=labelled_rows(least=6))
def test_rows_that_are_held_back_can_be_forgotten(rows):
    """As if they had never come; what was not learned is refused, and nothing changes."""
    new = KINDS[0]
    model = learn(new(), rows.X, rows.y)
    model.forget(rows.X[2:], rows.y[2:])
    assert_same_state(model, learn(new(), rows.X[:2], rows.y[:2]))
    with pytest.raises(NeverLearnedError):
        model.forget(rows.X[:1] + 1e6, rows.y[:1])
    assert_same_state(model, learn(new(), rows.X[:2], rows.y[:2]))
    model.forget(rows.X[:2], rows.y[:2])
    with pytest.raises(NotFittedError):
        model.predict(rows.X)


def test_bad_rows_leave_what_is_held_back_as_it_was():
    """Labels of another kind are noticed at once."""
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    model = FlyBloomClassifier(48, random_state=0).partial_fit(X, y)
    for wrong in ((X, y.astype(str)), (X[:, :2], y), (np.abs(X) * np.inf, y), (X, y[:3])):
        with pytest.raises(ValueError, match=r"labels|features|infinity|inconsistent"):
            model.partial_fit(*wrong)
    assert_same_state(model, FlyBloomClassifier(48, random_state=0).partial_fit(X, y))


def test_encodings_that_need_no_rows_wait_for_none():
    """Nor do those that are fixed beforehand, nor the older scaling."""
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    for options in (
        {"encoding": "none"},
        {"scaling": "standard"},
        {"encoding": Encoding(bins=3).fit(X)},
        {"warm_up": 0},
    ):
        with FlyBloomClassifier(48, **options).partial_fit(X, y).reading_learned() as learned:
            assert learned.held is None


def test_a_stream_from_row_one_ends_where_all_rows_at_once_do():
    """4000 rows one by one: within 0.01 of `fit`; with relevance it takes more rows, see docs/encodings.md."""
    X, y = make_classification(5000, 20, n_informative=10, n_classes=4, random_state=0)
    model = FlyBloomClassifier(4096, encoding="bins", random_state=0)
    for i in range(4000):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    at_once = FlyBloomClassifier(4096, encoding="bins", random_state=0).fit(X[:4000], y[:4000])
    assert model.score(X[4000:], y[4000:]) > at_once.score(X[4000:], y[4000:]) - 0.01


def test_training_in_a_single_pass_waits_for_enough_rows():
    """Blocks that are too small are taken together."""
    X, y = np.random.default_rng(0).normal(size=(500, 3)), np.arange(500) % 2
    pairs = ((X[at : at + 30], y[at : at + 30]) for at in range(0, 500, 30))
    model = flybloom.train(FlyBloomClassifier(48, random_state=0), pairs, "y", single_pass=True)
    assert_same_state(model, learn(FlyBloomClassifier(48, random_state=0), X, y, (slice(420), slice(420, None))))
