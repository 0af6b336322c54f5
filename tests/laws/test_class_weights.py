"""What class weights must obey: they only read the counts, and mean that rows count several times."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import LeaveOneOut

import reference
from flybloom import FlyBloomClassifier
from flybloom.report import class_similarity
from forgetting import after_forgetting
from laws.strategies import labelled_rows
from laws.test_tuning import GRID, SCORES, assert_same_model, assert_same_search, really_fitted, splits, subtracted

SIZES = {"n_components": 48, "n_winners": 6, "random_state": 3, "encoding": "none"}
DECAYS = st.floats(0.01, 1.0)


def classifier(**parameters):
    """A small classifier, unscaled."""
    return FlyBloomClassifier(**{**SIZES, **parameters})


@st.composite
def class_weights(draw):
    """Balanced, or a weight for some of the labels that labelled rows may have."""
    some = st.dictionaries(st.integers(0, 3), st.floats(1e-6, 1e6))
    drawn = draw(st.one_of(st.just("balanced"), some))
    return drawn if drawn == "balanced" else {label: drawn.get(label, 1) for label in range(4)}


def outputs(model, X, y):
    """All that follows from the filters."""
    rows = [model.novelty(X), model.predict(X), model.decision_function(X), model.predict_proba(X), model.explain(X)]
    return [*rows, model.leave_one_out_novelty(X, y), model.filters_, class_similarity(model, kind="familiarity")]


@given(labelled_rows(), DECAYS)
def test_weights_of_one_are_no_weights(rows, decay):
    """Bit for bit, in every output."""
    model = classifier(decay=decay).fit(*rows)
    expected = outputs(model, *rows)
    for class_weight in ({}, dict.fromkeys(range(4), 1), dict.fromkeys(range(4), 1.0)):
        for found, wanted in zip(outputs(model.set_params(class_weight=class_weight), *rows), expected, strict=True):
            assert_array_equal(found, wanted)


@given(labelled_rows(), class_weights(), DECAYS)
def test_filters_and_novelty_are_those_of_the_reference(rows, class_weight, decay):
    """Learned with or without the weights."""
    model = classifier(decay=decay).fit(*rows).set_params(class_weight=class_weight)
    weights = (
        reference.balanced_weights(rows.y) if class_weight == "balanced" else [class_weight[x] for x in model.classes_]
    )
    w = reference.weighted_filters(model.counts_, decay, weights)
    assert_array_equal(model.filters_, w)
    winners = reference.winners(rows.X, model.connections_, model.signs_, 6)
    assert_array_equal(model.novelty(rows.X), reference.novelty(w, winners))
    assert_array_equal(class_similarity(model), reference.cosines(w))
    again = classifier(decay=decay, class_weight=class_weight).fit(*rows)
    assert_same_model(again, model)
    assert_array_equal(again.predict(rows.X), model.predict(rows.X))


@given(labelled_rows(), st.lists(st.integers(1, 5), min_size=4, max_size=4), DECAYS)
def test_a_whole_weight_means_that_many_copies(rows, copies, decay):
    """Of each row of the class; up to rounding, because the powers are multiplied in another order."""
    weighted = classifier(decay=decay, class_weight=dict(enumerate(copies))).fit(*rows)
    n = np.array(copies)[rows.y]
    repeated = classifier(decay=decay).fit(np.repeat(rows.X, n, axis=0), np.repeat(rows.y, n))
    assert_allclose(weighted.filters_, repeated.filters_, rtol=1e-12, atol=1e-300)
    assert_allclose(weighted.novelty(rows.X), repeated.novelty(rows.X), rtol=1e-12)
    counted = classifier(decay=decay).fit(*rows, sample_weight=n)
    assert_array_equal(counted.filters_, repeated.filters_)


@given(labelled_rows(), class_weights())
def test_a_binary_filter_knows_no_weights(rows, class_weight):
    """A component has won or it has not."""
    model = classifier(decay=1.0).fit(*rows)
    expected = model.novelty(rows.X)
    assert_array_equal(model.set_params(class_weight=class_weight).novelty(rows.X), expected)


@given(st.data(), labelled_rows(), class_weights())
def test_order_and_blocks_and_threads_change_nothing(data, rows, class_weight):
    """The weights follow from the rows that are known when scoring, however they came."""
    order = np.array(data.draw(st.permutations(range(len(rows.y)))))
    cut = data.draw(st.integers(1, len(rows.y) - 1))
    model = classifier(class_weight=class_weight).fit(*rows)
    other = classifier(class_weight=class_weight, n_jobs=2)
    for part in (order[:cut], order[cut:]):
        other.partial_fit(rows.X[part], rows.y[part])
    for found, expected in zip(outputs(other, *rows), outputs(model, *rows), strict=True):
        assert_array_equal(found, expected)


@given(labelled_rows(least=3), class_weights(), st.data())
def test_forgotten_rows_do_not_weigh(rows, class_weight, data):
    """Nor do classes that are expected and have no rows yet."""
    n = data.draw(st.integers(1, len(rows.y) - 1))
    model = after_forgetting(classifier(class_weight=class_weight).fit(*rows), rows.X[:n], rows.y[:n])
    never = classifier(class_weight=class_weight).partial_fit(rows.X[n:], rows.y[n:])
    assert_array_equal(model.novelty(rows.X), never.novelty(rows.X))
    expecting = classifier(class_weight=class_weight).partial_fit(rows.X[n:], rows.y[n:], classes=[0, 1, 2, 3])
    assert_array_equal(expecting.novelty(rows.X)[:, expecting.class_count_ > 0], never.novelty(rows.X))
    assert (expecting.novelty(rows.X)[:, expecting.class_count_ == 0] == 1).all()


@given(labelled_rows(integers=True), class_weights(), DECAYS)
def test_a_row_left_out_is_a_row_not_learned(rows, class_weight, decay):
    """Weights included: they follow from the rows that are left."""
    model = classifier(decay=decay, class_weight=class_weight).fit(*rows)
    shortcut = model.leave_one_out_novelty(*rows)
    for i in range(len(rows.y)):
        others = np.arange(len(rows.y)) != i
        without = classifier(decay=decay, class_weight=class_weight)
        without.partial_fit(rows.X[others], rows.y[others], classes=model.classes_)
        assert_array_equal(shortcut[i], without.novelty(rows.X[i : i + 1])[0])


@given(labelled_rows(), class_weights(), st.sampled_from(["novelty", "familiarity"]))
def test_shares_add_up_to_the_weighted_score(rows, class_weight, of):
    """For the predicted class, which is the one of weighted scores."""
    model = classifier(class_weight=class_weight).fit(*rows)
    labels = model.predict(rows.X)
    shares = model.explain(rows.X, kind=of)
    assert_array_equal(shares, model.explain(rows.X, labels, kind=of))
    scores = model.novelty(rows.X)[np.arange(len(labels)), np.searchsorted(model.classes_, labels)]
    assert_allclose(shares.sum(axis=1), scores if of == "novelty" else 1 - scores, rtol=1e-12, atol=1e-14)


@settings(max_examples=25)
@given(st.data(), labelled_rows(), class_weights(), st.sampled_from(SCORES), st.integers(0, 2**32 - 1))
def test_every_score_of_a_search_is_that_of_really_fitting(data, rows, class_weight, scoring, seed):
    """Whatever the rows, the splits, the weights, the score and the seed; bit for bit."""
    cv = data.draw(splits(rows.y))
    if scoring == "neg_log_loss":  # which refuses a model that lacks a class of the test rows
        assume(all(np.isin(rows.y, rows.y[train]).all() for train, _ in cv))
        assume(all(np.unique(rows.y[test]).size == np.unique(rows.y[train]).size for train, test in cv))
    fast = subtracted(rows, cv, GRID, scoring, seed, class_weight=class_weight)
    slow = really_fitted(rows, cv, GRID, scoring, seed, class_weight=class_weight)
    assert_same_search(fast, slow)
    slow.best_estimator_.temperature = fast.temperature_
    assert_array_equal(fast.predict_proba(rows.X), slow.best_estimator_.predict_proba(rows.X))


@settings(max_examples=10)
@given(labelled_rows(), class_weights())
def test_a_search_that_leaves_one_out_really_does(rows, class_weight):
    """The mean score of every setting, and every novelty of the best one."""
    counts = np.unique(rows.y, return_counts=True)[1]
    assume(counts.size - (counts == 1).any() > 1)
    fast = subtracted(rows, "loo", GRID, class_weight=class_weight)
    slow = really_fitted(rows, LeaveOneOut(), GRID, class_weight=class_weight)
    assert_array_equal(fast.cv_results_["mean_test_score"], slow.cv_results_["mean_test_score"])
    assert fast.best_params_ == slow.best_params_
    for i in range(len(rows.y)):
        rest = np.arange(len(rows.y)) != i
        model = FlyBloomClassifier(**fast.best_params_, encoding="none", random_state=5, class_weight=class_weight)
        model.fit(rows.X[rest], rows.y[rest])
        is_known = np.isin(fast.classes_, model.classes_)
        assert_array_equal(fast.oof_novelty_[i, is_known], model.novelty(rows.X[i : i + 1])[0])
        assert np.isinf(fast.oof_novelty_[i, ~is_known]).all()
