"""The short ways that single rows take: they give what the long ways give, and refuse what those refuse."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from flybloom import FlyBloomClassifier
from flybloom._internal import validation as _validation
from flybloom.core.readout.filters import common_table, decay_table


@pytest.fixture
def model(digits):
    """A small fitted classifier."""
    return FlyBloomClassifier(200, n_winners=8, random_state=0).fit(*digits)


@pytest.mark.parametrize("dtype", ["f4", "f8", ">f8", "f2", "u1", "i2", "i8", "?", "O", "longdouble"])
def test_plain_rows_are_checked_as_all_others(model, digits, dtype, monkeypatch):
    """Types, orders and strides: what is let through is what scikit-learn lets through."""
    X = digits[0][:6].astype(dtype)
    for rows in (X, np.asfortranarray(X), X[::-2], X[:1]):
        monkeypatch.setattr(_validation, "MAX_PLAIN_VALUES", 2**14)
        short = _validation.check_rows(rows, "FlyBloomClassifier", model._hasher.encoder)
        predicted = model.predict(rows)
        monkeypatch.setattr(_validation, "MAX_PLAIN_VALUES", 0)
        long = _validation.check_rows(rows, "FlyBloomClassifier", model._hasher.encoder)
        assert short.dtype == long.dtype
        assert_array_equal(short, long)
        assert_array_equal(predicted, model.predict(rows))


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        (np.zeros((1, 63)), "63 features"),
        (np.zeros(64), "Expected 2D array"),
        (np.zeros((0, 64)), "0 sample"),
        (np.full((1, 64), np.inf), "infinity"),
    ],
)
def test_bad_rows_are_refused(model, rows, match):
    """With the messages that scikit-learn has for them."""
    with pytest.raises(ValueError, match=match):
        model.predict(rows)


def test_rows_without_the_names_that_were_learned_are_noticed(digits):
    """An array for a model that knows names."""
    pandas = pytest.importorskip("pandas")
    X, y = digits
    named = FlyBloomClassifier(200, n_winners=8, random_state=0).fit(pandas.DataFrame(X).add_prefix("p"), y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        named.predict(X[:1])


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("decay", 0.0), ("decay", "0.4"), ("decay", [0.4]), ("signed", 2), ("n_jobs", 1.0)],
)
def test_parameters_that_were_set_since_fit_are_checked(model, digits, parameter, value):
    """However often good ones were met before, equal ones of another type among them."""
    model.set_params(n_jobs=1).predict(digits[0][:1])
    model.set_params(**{parameter: value})
    with pytest.raises(ValueError, match=f"The '{parameter}' parameter of FlyBloomClassifier must be"):
        model.predict(digits[0][:1])


@pytest.mark.parametrize("decay", [1e-6, 0.4, 1.0])
def test_tables_of_weights_are_long_enough_and_nobody_can_change_them(decay):
    """Kept or not, they begin with the weights that are asked for."""
    for most in (0, 1, 2, 1000, 200_000):
        table = common_table(decay, most)
        expected = decay_table(decay, most + 1)
        assert table.size >= expected.size
        assert_array_equal(table[: expected.size], expected)
        with pytest.raises(ValueError, match="read-only"):
            table[0] = 0


@pytest.mark.parametrize(
    "labels",
    [[3], [0, -5, 3], ["b"], ["a", "ccc"], [True, False], [2**53, 1], [2**53 + 1, 1], [2**64, 1], [1, "a"], [], [None]],
)
def test_few_labels_are_checked_as_all_others(labels, monkeypatch):
    """The same array, or the same error."""

    def outcome():
        try:
            checked = _validation.check_labels(labels, len(labels))
        except (ValueError, TypeError) as error:
            return type(error), str(error)
        return checked.dtype, checked.tolist()

    short = outcome()
    monkeypatch.setattr(_validation, "MAX_PLAIN_LABELS", 0)
    assert short == outcome()


@pytest.mark.parametrize("labels", [["a", "b"], ["a", "bbb"], ["c", "a"]])
def test_text_of_any_width_is_found_among_the_classes(model, digits, labels):
    """Classes and their type do not depend on which labels came first, nor on how wide their arrays were."""
    X = digits[0][:2]
    first, second = (model.__class__(200, n_winners=8, encoding="none", random_state=0) for _ in range(2))
    first.partial_fit(X, np.array(["a", "c"])).partial_fit(X, np.array(labels)).partial_fit(X, np.array(["a", "a"]))
    second.partial_fit(X, np.array(["a", "a"])).partial_fit(X, np.array(labels)).partial_fit(X, np.array(["a", "c"]))
    assert first.classes_.dtype == second.classes_.dtype
    assert_array_equal(first.classes_, second.classes_)
    assert_array_equal(first.counts_, second.counts_)


@pytest.mark.parametrize("encoding", ["auto", "none"])
def test_rows_that_come_again_have_their_own_winners(digits, encoding):
    """The last few are remembered: the same ones, others that look alike, and changed ones."""
    X, y = digits
    hasher = FlyBloomClassifier(200, n_winners=8, encoding=encoding, random_state=0).fit(X, y)._hasher
    whole = hasher.winners(X[:40])
    for i in (0, 0, 1, 3, 1):
        for n in (1, 2, 4, 5):
            winners = hasher.winners(X[i : i + n])
            assert_array_equal(winners, whole[i : i + n])
            winners[:] = 0  # it is the caller's
    row = X[:1].copy()
    for i in range(5):
        row[:] = X[i]
        assert_array_equal(hasher.winners(row), whole[i : i + 1])
    floats = X[:1].astype(np.float32)
    assert_array_equal(hasher.winners(floats), whole[:1])
    same_bytes = floats.view(np.int32)
    assert_array_equal(hasher.winners(same_bytes), hasher.winners(np.repeat(same_bytes, 9, axis=0))[:1])
    assert hasher.winners(X[:0]).shape == (0, 8)
