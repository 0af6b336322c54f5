"""Rejection of rows that are novel to every class."""

from copy import copy

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from flybloom import Encoding, FlyBloomClassifier, FlyRidgeClassifier, OpenSetClassifier
from forgetting import after_forgetting


@pytest.fixture(scope="module")
def known(digits):
    """Rows of 0 to 7, in two halves, and rows of 8 and 9."""
    X, y = digits
    rows, labels = X[y < 8], y[y < 8]
    return rows[::2], labels[::2], rows[1::2], labels[1::2], X[y >= 8]


def base():
    """A small classifier."""
    return FlyBloomClassifier(4096, n_winners=64, random_state=0)


@pytest.mark.parametrize("per_class", [False, True])
def test_classes_never_met_are_rejected_more_often(known, per_class):
    """And known ones about as often as asked for."""
    X, y, X_new, y_new, X_other = known
    model = OpenSetClassifier(base(), quantile=0.9, per_class=per_class).fit(X, y)
    rejected = (model.predict(X_new) == -1).mean()
    assert 0.04 < rejected < 0.16
    assert (model.predict(X_other) == -1).mean() > 0.5
    accepted = model.predict(X_new) != -1
    assert (model.predict(X_new)[accepted] == y_new[accepted]).mean() > 0.95


def test_the_threshold_is_a_quantile_of_rows_left_out(known):
    """And the label of what is accepted is that of the classifier."""
    X, y, X_new, *_ = known
    model = OpenSetClassifier(base(), quantile=0.8).fit(X, y)
    alone = base().fit(X, y)
    assert (
        model.threshold_ == np.quantile(alone.leave_one_out_novelty(X, y, shared_encoding=True).min(axis=1), 0.8)
    ).all()
    is_new = alone.novelty(X_new).min(axis=1) > model.threshold_[0]
    assert_array_equal(model.predict(X_new), np.where(is_new, -1, alone.predict(X_new)))
    assert_array_equal(model.acceptance(X_new) < 0, is_new)


def test_ridge_regression_has_a_sense_of_the_unknown(known):
    """Known rows are accepted about as often as asked for, and most of the others rejected."""
    X, y, X_new, y_new, X_other = known
    model = OpenSetClassifier(FlyRidgeClassifier(random_state=0), quantile=0.95).fit(X, y)
    assert 0.01 < (model.predict(X_new) == -1).mean() < 0.09
    assert (model.predict(X_other) == -1).mean() > 0.7
    accepted = model.predict(X_new) != -1
    assert (model.predict(X_new)[accepted] == y_new[accepted]).mean() > 0.98


def test_novelty_to_ridge_regression_of_a_row_left_out_is_that_of_a_model_without_it(known):
    """The one follows from the factor of all rows; what leaves the penalty as it was."""
    X, y, *_ = known
    encoder = Encoding("standard").fit(X)
    model = FlyRidgeClassifier(128, n_winners=16, encoding=encoder, alpha=0.3, random_state=0).fit(X, y)
    left_out = model.leave_one_out_novelty(X[:3], y[:3])
    n = len(X)
    for i in range(3):
        rest = np.arange(n) != i
        others = after_forgetting(copy(model), X[i : i + 1], y[i : i + 1])
        same_penalty = 0.3 * _mean_eigenvalue(model) / _mean_eigenvalue(others)
        without = clone(model).set_params(alpha=same_penalty).fit(X[rest], y[rest])
        np.testing.assert_allclose(left_out[i], without.novelty(X[i : i + 1])[0], rtol=1e-6)


def _mean_eigenvalue(model):
    """Of the centred pairs, of which alpha is a multiple."""
    wins, n = model.counts_.sum(axis=0), model.class_count_.sum()
    return (wins - wins**2 / n).mean()


def test_strings_are_rejected_as_unknown(known):
    """In full, however short the labels are."""
    X, y, _, _, X_other = known
    model = OpenSetClassifier(base()).fit(X, np.array(list("abcdefgh"))[y])
    assert set(model.predict(X_other)) <= {*"abcdefgh", "unknown"}
    assert "unknown" in set(model.predict(X_other))
    assert OpenSetClassifier(base(), unknown="?").fit(X, y.astype(str)).unknown_ == "?"


@pytest.mark.parametrize("unknown", [3, "no number"])
def test_an_unknown_label_must_be_new_and_of_the_same_kind(known, unknown):
    """One sentence says so."""
    with pytest.raises(ValueError, match=r"The 'unknown' parameter of OpenSetClassifier must be a label"):
        OpenSetClassifier(base(), unknown=unknown).fit(known[0], known[1])


def test_thresholds_of_ridge_regression_do_not_depend_on_threads():
    """Nor does what they follow from: the float64 equations of leave-one-out are solved by one thread of BLAS."""
    rng = np.random.default_rng(0)
    for seed in range(10):
        X = np.repeat(rng.standard_normal((40, 4)), 5, axis=0)
        y = rng.integers(0, 3, len(X))
        one, two = (
            FlyRidgeClassifier(64, n_winners=6, encoding="bins", random_state=seed, n_jobs=n_jobs).fit(X, y)
            for n_jobs in (1, 2)
        )
        assert_array_equal(one.leave_one_out_novelty(X, y), two.leave_one_out_novelty(X, y))
        assert_array_equal(one.leave_one_out_decision(X, y), two.leave_one_out_decision(X, y))
        assert_array_equal(one.novelty(X), two.novelty(X))


def test_thresholds_follow_what_is_learned_merged_and_forgotten(known):
    """They are those of a plain fit of the remaining rows."""
    X, y, *_ = known
    X, y = X[:400], y[:400]
    whole = OpenSetClassifier(base(), per_class=True).fit(X[:300], y[:300])
    parts = [OpenSetClassifier(base(), per_class=True).fit(X[i::2], y[i::2]) for i in (0, 1)]
    both = parts[0] + parts[1]
    both.predict(X[:5])
    both.forget(X[300:], y[300:])
    in_turn = OpenSetClassifier(base(), per_class=True)
    for rows in np.split(np.arange(300), 10):
        in_turn.partial_fit(X[rows], y[rows]).predict(X[:5])
    for model in (both, in_turn, sum(parts) - OpenSetClassifier(base()).fit(X[300:], y[300:])):
        assert_array_equal(model.threshold_, whole.threshold_)
        assert_array_equal(model.predict(X), whole.predict(X))


def test_forgetting_says_whether_thresholds_remain(known):
    """Those that no sketch gives are set by calibrating again."""
    X, y, *_ = known
    derived, given = (
        OpenSetClassifier(base()).fit(X, y),
        OpenSetClassifier(base().set_params(encoding="none")).fit(X, y),
    )
    assert derived.forget(X[:9], y[:9]).extent == "complete"
    forgotten = given.forget(X[:9], y[:9])
    assert (forgotten.extent, forgotten.steps) == ("counts only", ("thresholds",))


def test_only_open_sets_merge(known):
    """The message says what was expected."""
    X, y, *_ = known
    model = OpenSetClassifier(base()).fit(X, y)
    with pytest.raises(TypeError, match="expected another OpenSetClassifier"):
        model.merge(base())
    with pytest.raises(TypeError, match="unsupported operand"):
        _ = model + base()


def test_thresholds_of_frames_know_their_columns():
    """Rows of the sketch have the names of fit, and the kinds of its columns."""
    frame = pd.DataFrame({"size": np.arange(60.0) % 7, "colour": np.array(["red", "blue", "green"])[np.arange(60) % 3]})
    model = OpenSetClassifier(FlyBloomClassifier(random_state=0)).fit(frame, np.arange(60) % 3)
    assert set(model.predict(frame)) <= {-1, 0, 1, 2}
