"""What reading counts by complement naive Bayes must obey: the truth, scikit-learn, and whole numbers alone."""

from copy import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.naive_bayes import ComplementNB

import reference
from flybloom import FlyBloomClassifier
from flybloom._internal.elementary import logarithm
from flybloom.core.readout.complement_bayes import Bayes, weights_of
from flybloom.core.readout.linear import choose
from flybloom.estimators.access import reading_learned
from forgetting import after_forgetting
from laws.strategies import block_cuts, labelled_rows

SIZES = {"n_components": 48, "n_winners": 6, "random_state": 3}


def classifier(**parameters):
    """A small classifier that is read by Bayes, of rows as they come."""
    return FlyBloomClassifier(**{"encoding": "none", "readout": "bayes", **SIZES, **parameters})


def winners_of(model, X):
    """The winners of rows."""
    with reading_learned(model) as learned:
        return learned.hasher.winners(X)


def scores(model, X):
    """A score for each class, also of two."""
    with reading_learned(model) as learned:
        return Bayes(learned.counts, model.class_weight).read_out(0).scores(learned.hasher.winners(X))


@given(st.floats(1e-3, 1e18), st.integers(0, 2**62))
def test_the_logarithm_is_right(real, whole):
    """To the last bits."""
    for value in (real, whole + 0.1, 1.0 + 1e-9 * real):
        assert_allclose(logarithm(np.array([value])), np.log(value), rtol=4e-16, atol=4e-16)


@settings(max_examples=30)
@given(labelled_rows(), st.sampled_from([None, "balanced", {0: 2.0, 1: 1.0, 2: 1.0, 3: 0.3}]))
def test_weights_and_scores_are_those_of_the_reference(rows, class_weight):
    """Every weight to the bit, from whole numbers, with 40 digits in between."""
    model = classifier(class_weight=class_weight).fit(*rows)
    weights = None
    if class_weight == "balanced":
        weights = reference.balanced_weights(rows.y)
    elif class_weight is not None:
        weights = [class_weight.get(label, 1.0) for label in model.classes_.tolist()]
    truth = reference.bayes_weights(model.counts_, weights)
    intercept = reference.bayes_intercept(model.class_count_, 6, 48, weights)
    with reading_learned(model) as learned:
        found = Bayes(learned.counts, class_weight)
    assert_allclose(found.weights().T, truth, rtol=0, atol=0 if class_weight is None else 1)
    assert_allclose(found.intercept, intercept, rtol=0, atol=0 if class_weight is None else 1)
    assert found.read_out(0).scores(np.empty((0, 6), np.uint32)).shape == (0, model.classes_.size)
    told = reference.linear_scores(winners_of(model, rows.X), found.weights(), found.intercept) * 2.0**-18
    assert_array_equal(scores(model, rows.X), told)
    chosen = choose(told, winners_of(model, rows.X), model.seed_)
    assert_array_equal(told[np.arange(len(told)), chosen], told.max(axis=1))
    assert_array_equal(model.predict(rows.X), model.classes_[chosen])


@given(labelled_rows())
def test_it_is_complement_naive_bayes_of_scikit_learn(rows):
    """Up to what is the same for all classes."""
    model = classifier().fit(*rows)
    h = reference.hashes(winners_of(model, rows.X), 48)
    theirs = ComplementNB(alpha=0.1).fit(h, rows.y).predict_joint_log_proba(h)
    ours = scores(model, rows.X)
    assert_allclose(ours - ours[:, :1], theirs - theirs[:, :1], atol=1e-4)


@settings(max_examples=25)
@given(st.data(), labelled_rows())
def test_scores_follow_from_counts_alone(data, rows):
    """Blocks, order, threads, sums, forgetting, and how many rows are asked at once: the same bits."""
    whole = classifier().fit(*rows)
    truth = whole.decision_function(rows.X)
    order = np.array(data.draw(st.permutations(range(len(rows.y)))))
    parts = [classifier(n_jobs=2).partial_fit(rows.X[b], rows.y[b]) for b in data.draw(block_cuts(len(rows.y)))]
    both = after_forgetting(classifier().fit(np.vstack([rows.X, rows.X]), np.hstack([rows.y, rows.y])), *rows)
    for same in (classifier().fit(rows.X[order], rows.y[order]), sum(parts), both):
        assert_array_equal(same.decision_function(rows.X), truth)
        assert_array_equal(np.concatenate([same.decision_function(row[None]) for row in rows.X]), truth)
        assert_array_equal(same.predict_proba(rows.X), whole.predict_proba(rows.X))


@given(labelled_rows(least=3), st.sampled_from([None, "balanced", {0: 2.0, 1: 1.0, 2: 1.0, 3: 0.3}]))
def test_leaving_a_row_out_is_forgetting_it(rows, class_weight):
    """For every row, the same bits; a class that has no other row has no chance."""
    model = classifier(class_weight=class_weight).fit(*rows)
    found = model.leave_one_out_decision(*rows)
    for i, label in enumerate(rows.y):
        if (rows.y == label).sum() == 1:
            assert found[i].argmin() == np.searchsorted(model.classes_, label)
            continue
        left = after_forgetting(copy(model), rows.X[i : i + 1], [label])
        assert_array_equal(found[i], scores(left, rows.X[i : i + 1])[0])


@given(labelled_rows())
def test_fractions_of_rows_are_read_as_rows(rows):
    """Counts of 1024 for a row say what counts of 1 do."""
    truth = classifier().fit(*rows)
    fine = classifier(weight_unit=1.0).fit(*rows, np.ones(len(rows.y)))
    assert fine.counts_per_row_ == 1024
    assert_array_equal(scores(fine, rows.X), scores(truth, rows.X))


def test_a_class_without_rows_is_never_chosen(rng):
    """Not even for rows that nothing is known of."""
    X, y = rng.standard_normal((40, 5)), np.arange(40) % 2
    model = classifier().partial_fit(X, y, classes=[0, 1, 2])
    new = rng.standard_normal((200, 5)) * 9
    assert set(model.predict(new)) == {0, 1}
    assert model.predict_proba(new)[:, 2].max() == 0.0


@pytest.mark.parametrize("per_row", [1, 1024])
def test_large_counts_are_not_looked_up(per_row):
    """Their logarithms are taken as they are: the same function, whatever the size of a table."""
    counts = np.array([[3, 0, 2**40], [1, 2, 0]])
    truth = np.log(counts.sum(axis=1, keepdims=True) / per_row + 0.1) - np.log(
        (counts.sum(axis=1, keepdims=True) - counts) / per_row + 0.1
    )
    assert_allclose(weights_of(counts, None, per_row) * 2.0**-18, truth, atol=2.0**-18)
