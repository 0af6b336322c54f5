"""Merging and forgetting: what is refused, in which words, and that nothing changes then."""

import pickle
from copy import copy, deepcopy

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

import flybloom
from flybloom import FlyBloomClassifier, FlyBloomNovelty, FlyRidgeClassifier, FlyRidgeRegressor
from flybloom.core import sketch
from flybloom.exceptions import IncompatibleHashError, NeverLearnedError
from forgetting import after_forgetting


def small(**parameters):
    """A small classifier."""
    return FlyBloomClassifier(
        **{"n_components": 200, "n_winners": 8, "random_state": 0, "encoding": "none", **parameters}
    )


DIFFERENT = [
    ({"random_state": 1}, r"seed_ \(0 and 1\)"),
    ({"n_components": 100}, r"n_components_ \(200 and 100\)"),
    ({"n_winners": 9, "n_connections": 5}, r"n_connections_ \(32 and 5\); n_winners_ \(8 and 9\)"),
    ({"signed": False}, r"signed_ \(True and False\)"),
    ({"encoding": "center"}, r"center_ \(None and 64 values\)"),
]


@pytest.mark.parametrize(("parameters", "message"), DIFFERENT)
def test_models_that_hash_differently_are_refused_with_what_differs(digits, parameters, message):
    """And stay as they were."""
    a, b = small().fit(*digits), small(**parameters).fit(*digits)
    before = pickle.dumps((a, b))
    for combine in (a.merge, a.__add__, a.__sub__):
        with pytest.raises(IncompatibleHashError, match=message):
            combine(b)
    assert pickle.dumps((a, b)) == before


def test_other_scalings_and_features_are_told_in_numbers(digits):
    """How many columns differ, and the first of them; names too."""
    X, y = digits
    a, b = (small(encoding="standard+clip=inf").fit(rows, y).like() for rows in (X, X + np.eye(64)[3]))
    with pytest.raises(IncompatibleHashError, match=r"center_ \(in 1 of 64 columns: first 12 and 13"):
        a.merge(b)
    frame = pd.DataFrame(X, columns=[f"p{i}" for i in range(64)])
    a, b = small().fit(frame, y), small().fit(frame.rename(columns={"p5": "q"}), y)
    with pytest.raises(IncompatibleHashError, match=r"feature_names_in_ \(in 1 of 64 columns: first 'p5' and 'q'"):
        a.merge(b)
    with pytest.raises(IncompatibleHashError, match="n_features_in_"):
        small(n_connections=5).fit(X, y).merge(small(n_connections=5).fit(X[:, :9], y))


def test_a_refusal_names_columns_and_settings_and_the_line_that_mends_it(digits):
    """In at most five lines, without arrays."""
    X, y = digits
    frame = pd.DataFrame(X, columns=[f"p{i}" for i in range(64)])
    whole = FlyRidgeClassifier(64).fit(X[:99], y[:99])
    wider, centred = FlyRidgeClassifier(96).fit(X, y), FlyRidgeClassifier(64, encoding="center").fit(X, y)
    plain, tripled, renamed = (
        small(encoding="standard").fit(rows, y).like() for rows in (frame, 3 * frame, frame.rename(columns={"p5": "q"}))
    )
    for a, b, differs, line in (
        (plain, tripled, "scale_ (in 61 of 64 columns: 'p1', 'p2', 'p3', ...)", "b = a.like().partial_fit(X_b, y_b)"),
        (whole, wider, "n_components (64 and 96)", "b = a.like().partial_fit(X_b, y_b)"),
        (whole, centred, "encoding ('auto' and Encoding(scaling='center'))", "b = a.like().partial_fit(X_b, y_b)"),
        (plain, renamed, "first 'p5' and 'q'", "b = a.like().partial_fit(X_b[a.feature_names_in_], y_b)"),
    ):
        with pytest.raises(IncompatibleHashError) as refused:
            a.merge(b)
        text = str(refused.value)
        assert differs in text
        assert text.endswith(f"\n    {line}")
        assert len(text.splitlines()) <= 5
        assert "array" not in text


@pytest.mark.parametrize("kind", [FlyBloomClassifier, FlyRidgeClassifier])
def test_a_class_that_is_subtracted_leaves_the_sketch(kind, monkeypatch, tmp_path):
    """Also that of rows beyond it, by a model that has none: calibration found labels that were not counted."""
    monkeypatch.setattr(sketch, "MAX_ROWS", 50)
    X, y = np.random.default_rng(0).normal(size=(300, 4)), np.arange(300) % 3
    whole = kind(64).fit(X, y)
    rest = whole - whole.like().partial_fit(X[y == 2], y[y == 2])
    assert rest.sketch_.classes.tolist() == [0, 1]
    assert rest.predict_proba(X).shape == (300, 2)
    rest.save(tmp_path / "rest.fly")
    assert_array_equal(flybloom.load(tmp_path / "rest.fly").predict_proba(X), rest.predict_proba(X))


@pytest.mark.parametrize("encoding", ["center", "standard", "bins", "rotation=2"])
def test_a_centre_of_minus_zero_is_that_of_zero(encoding):
    """Means around zero do not make two encoders of one."""
    X, y = np.random.default_rng(0).permuted(np.array([[-1.0, 0.5], [1.0, -0.5]] * 20)), np.arange(40) % 2
    for name, values in small(encoding=encoding, n_connections=1).fit(X - 1e-6, y).encoder_.to_parts()[1].items():
        assert not np.signbit(values[values == 0]).any(), name


@pytest.mark.parametrize("kind", [FlyBloomClassifier, FlyRidgeClassifier, FlyRidgeRegressor, FlyBloomNovelty])
def test_models_learned_apart_without_any_argument_add_up(digits, kind, tmp_path):
    """And forget completely: the file is that of a plain fit of the rows that remain."""
    X, y = digits

    def learned(rows):
        return kind().fit(X[rows], *(() if kind is FlyBloomNovelty else (y[rows],)))

    model = learned(slice(60)) + learned(slice(60, 120))
    gone = (X[:30],) if kind is FlyBloomNovelty else (X[:30], y[:30])
    assert model.forget(*gone).extent == "complete"
    model.save(tmp_path / "apart.fly")
    learned(slice(30, 120)).save(tmp_path / "plain.fly")
    assert (tmp_path / "apart.fly").read_bytes() == (tmp_path / "plain.fly").read_bytes()


def test_models_that_were_never_fitted_cannot_be_merged(digits):
    """On neither side."""
    model = small().fit(*digits)
    with pytest.raises(NotFittedError):
        model.merge(small())
    with pytest.raises(NotFittedError):
        small().merge(model)
    with pytest.raises(TypeError):
        model + 1


@pytest.mark.parametrize("estimator", [FlyBloomClassifier, FlyBloomNovelty])
def test_no_sum_of_counts_wraps_around(estimator):
    """Beyond 2**62 rows of a class it is refused, and both models stay as they were."""
    model = estimator(20, encoding="none", random_state=0).fit(np.eye(4), [0, 1, 0, 1])
    for _ in range(60 if estimator is FlyBloomNovelty else 61):  # which sees four rows of a kind, or two of each class
        model.merge(model)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"More than 2\*\*62 rows"):
        model.merge(model)
    assert pickle.dumps(model) == before
    assert (model.counts_ >= 0).all()


def test_scoring_parameters_may_differ_and_stay_those_of_the_first(digits):
    """They are no part of how a model hashes."""
    a, b = small(decay=0.2).fit(*digits), small(decay=0.9).fit(*digits)
    assert (a + b).decay == 0.2


def test_a_model_can_be_merged_with_itself(digits):
    """Which doubles it."""
    model = small().fit(*digits)
    counts = model.counts_
    assert_array_equal(model.merge(model).counts_, 2 * counts)


def test_classes_are_united_and_kinds_of_labels_are_not_mixed(digits):
    """Numbers and strings have no order between them."""
    X, y = digits
    few, many = small().partial_fit(X[y < 3], y[y < 3]), small().partial_fit(X[y > 7], y[y > 7])
    assert (few + many).classes_.tolist() == [0, 1, 2, 8, 9]
    with pytest.raises(ValueError, match="The labels in y are strings"):
        few.merge(small().fit(X, y.astype(str)))


def test_forgetting_what_was_never_learned_is_refused(digits):
    """Unknown labels, too many rows, and rows whose winners were never counted."""
    X, y = digits
    model = small(n_components=5000).fit(X[:900], y[:900])
    before = pickle.dumps(model)
    with pytest.raises(NeverLearnedError, match=r"classes that were never learned: 10, 11\."):
        model.forget(X[:2], [10, 11])
    with pytest.raises(NeverLearnedError, match=r"Cannot forget 1797 rows of class 3: only 92 were learned"):
        model.forget(X, np.full(len(X), 3))
    with pytest.raises(NeverLearnedError, match="cannot all have been learned"):
        model.forget(X[900:910], y[900:910])
    with pytest.raises(NeverLearnedError, match="cannot all have been learned"):
        model.forget(X[:900], np.roll(y[:900], 1))
    with pytest.raises(NeverLearnedError, match="cannot all have been learned"):
        model - small(n_components=5000).fit(X[900:950], y[900:950])
    assert pickle.dumps(model) == before


def test_a_count_above_the_rows_that_remain_is_noticed():
    """Rows of other winners, although every count would stay positive."""
    X = np.array([[9.0, 0], [9, 0], [9, 0], [0, 9]])
    model = small(n_components=40, n_winners=4).partial_fit(X, np.zeros(4))
    with pytest.raises(NeverLearnedError, match="cannot all have been learned"):
        model.forget(X[[3, 3]], np.zeros(2))
    assert after_forgetting(model, X[[3]], np.zeros(1)).class_count_.tolist() == [3]


def test_a_forgotten_class_is_no_longer_known(digits):
    """As if it had never been met; announced classes stay."""
    X, y = digits
    model = after_forgetting(small().partial_fit(X, y, classes=range(11)), X[y == 4], y[y == 4])
    assert model.classes_.tolist() == [0, 1, 2, 3, 5, 6, 7, 8, 9, 10]
    with pytest.raises(NotFittedError):
        after_forgetting(small().fit(X, y), X, y).predict(X)


def test_counts_shrink_to_the_type_they_need(digits):
    """As a model that never saw the rows has it."""
    X, y = digits[0][:6], np.array([0, 1, 0, 1, 0, 1])
    model = small().partial_fit(X, y)
    heavy = np.full(6, 2**29)
    for _ in range(3):
        model.partial_fit(X, y, sample_weight=heavy)
    assert model.counts_.dtype == np.int64
    for _ in range(3):
        model.forget(X, y, sample_weight=heavy)
    assert model.counts_.dtype == np.int32
    assert_array_equal(model.counts_, small().partial_fit(X, y).counts_)


def pickled(model):
    """A copy by way of a pickle."""
    return pickle.loads(pickle.dumps(model))  # noqa: S301


@pytest.mark.parametrize("copied", [copy, deepcopy, pickled])
def test_copies_go_separate_ways(digits, copied):
    """What one learns later, the other does not; a table of counts once read stays as it was."""
    X, y = digits
    model = small().fit(X[:900], y[:900])
    seen, expected = model.counts_, model.counts_.copy()
    other = copied(model)
    other.partial_fit(X[900:], y[900:])
    assert_array_equal(model.counts_, expected)
    model.partial_fit(X[:900], y[:900])
    assert_array_equal(seen, expected)
    assert_array_equal(other.counts_, small().fit(X, y).counts_)
