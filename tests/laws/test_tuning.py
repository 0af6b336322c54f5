"""What a search must obey: every score is that of models really fitted without the rows they are tested on."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, LeaveOneOut, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from flybloom import Encoding, FlyBloomClassifier, FlyBloomClassifierCV
from flybloom.core.counts.weight_unit import unit_for
from laws.strategies import labelled_rows

GRID = {"n_components": [24, 48], "n_connections": [1.0], "n_winners": [3, 0.25], "decay": [0.1, 1.0]}
SCORES = ["accuracy", "balanced_accuracy", "f1_macro", "neg_log_loss"]


def really_fitted(rows, cv, grid, scoring=None, seed=5, **parameters):
    """A search that fits a model for every setting and split."""
    model = FlyBloomClassifier(encoding="none", random_state=seed, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes that a small test set lacks
        return GridSearchCV(model, grid, cv=cv, scoring=scoring, error_score="raise").fit(*rows)


def subtracted(rows, cv, grid, scoring=None, seed=5, **parameters):
    """The same search in one pass."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = FlyBloomClassifierCV(**grid, cv=cv, scoring=scoring, encoding="none", random_state=seed, **parameters)
        return search.fit(*rows)


def assert_same_search(fast, slow):
    """Every column but the times, the choice, and the model."""
    assert list(fast.cv_results_) == list(slow.cv_results_)
    for name, column in slow.cv_results_.items():
        if not name.endswith("_time"):
            assert_array_equal(fast.cv_results_[name], column, err_msg=name)
    assert fast.best_params_ == slow.best_params_
    assert fast.best_index_ == slow.best_index_
    assert fast.best_score_ == slow.best_score_
    assert fast.n_splits_ == slow.n_splits_
    assert_same_model(fast.best_estimator_, slow.best_estimator_)


def assert_same_model(a, b):
    """All that is learned, and its type."""
    assert_array_equal(a.counts_, b.counts_)
    assert a.counts_.dtype == b.counts_.dtype
    for name in ("classes_", "class_count_", "n_components_", "n_connections_", "n_winners_", "seed_", "signed_"):
        assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


@st.composite
def splits(draw, y):
    """Some pairs of training and test rows: of any sizes, overlapping, with rows that are drawn several times."""
    n = len(y)
    rows = st.lists(st.integers(0, n - 1), min_size=1, max_size=n).map(np.array)
    folds = draw(st.booleans())
    if folds:
        of_row = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n).map(np.array))
        pairs = [(np.flatnonzero(of_row != k), np.flatnonzero(of_row == k)) for k in np.unique(of_row)]
    else:
        pairs = draw(st.lists(st.tuples(rows, rows), min_size=1, max_size=3))
    assume(all(np.unique(y[train]).size > 1 for train, _ in pairs))
    return pairs


@settings(max_examples=25)
@given(st.data(), labelled_rows(), st.sampled_from(SCORES), st.integers(0, 2**32 - 1))
def test_every_score_of_every_split_is_that_of_really_fitting(data, rows, scoring, seed):
    """Whatever the rows, the splits, the score and the seed; bit for bit."""
    cv = data.draw(splits(rows.y))
    if scoring == "neg_log_loss":  # which refuses a model that lacks a class of the test rows
        assume(all(np.isin(rows.y, rows.y[train]).all() for train, _ in cv))
        assume(all(np.unique(rows.y[test]).size == np.unique(rows.y[train]).size for train, test in cv))
    assert_same_search(subtracted(rows, cv, GRID, scoring, seed), really_fitted(rows, cv, GRID, scoring, seed))


@settings(max_examples=10)
@given(labelled_rows(), st.integers(0, 2**32 - 1))
def test_leaving_one_out_is_really_leaving_one_out(rows, seed):
    """The mean score of every setting, and every novelty of the best one."""
    counts = np.unique(rows.y, return_counts=True)[1]
    assume(counts.size - (counts == 1).any() > 1)
    fast, slow = subtracted(rows, "loo", GRID, seed=seed), really_fitted(rows, LeaveOneOut(), GRID, seed=seed)
    assert_array_equal(fast.cv_results_["mean_test_score"], slow.cv_results_["mean_test_score"])
    assert fast.best_params_ == slow.best_params_
    assert_same_model(fast.best_estimator_, slow.best_estimator_)
    for i in range(len(rows.y)):
        rest = np.arange(len(rows.y)) != i
        model = FlyBloomClassifier(**fast.best_params_, encoding="none", random_state=seed)
        model.fit(rows.X[rest], rows.y[rest])
        is_known = np.isin(fast.classes_, model.classes_)
        assert_array_equal(fast.oof_novelty_[i, is_known], model.novelty(rows.X[i : i + 1])[0])
        assert np.isinf(fast.oof_novelty_[i, ~is_known]).all()


@given(labelled_rows(least=6), st.sampled_from(["none", "center", "standard"]), st.sampled_from([0.2, 1.0]))
def test_the_best_model_is_that_of_a_fit(rows, scaling, decay):
    """Scaling included; and its probabilities have the fitted temperature."""
    search = FlyBloomClassifierCV(
        [24, 48], n_winners=[3, 6], n_connections=1.0, decay=decay, encoding=scaling, random_state=2
    )
    counts = np.unique(rows.y, return_counts=True)[1]
    assume(counts.size - (counts == 1).any() > 1)
    search.fit(*rows)
    model = FlyBloomClassifier(**search.best_params_, encoding=scaling, random_state=2).fit(*rows)
    model.temperature = search.temperature_
    assert_same_model(search.best_estimator_, model)
    assert_array_equal(search.predict_proba(rows.X), model.predict_proba(rows.X))
    assert_array_equal(search.predict(rows.X), model.predict(rows.X))


@given(st.data(), labelled_rows(least=12))
def test_order_and_threads_change_nothing(data, rows):
    """With leave-one-out, what is found does not depend on the order of the rows either."""
    rows = (np.tile(rows.X, (12, 1)), np.tile(rows.y, 12))
    order = np.array(data.draw(st.permutations(range(len(rows[1])))))
    one = subtracted(rows, "loo", GRID, "balanced_accuracy")
    other = subtracted((rows[0][order], rows[1][order]), "loo", GRID, "balanced_accuracy", n_jobs=2)
    assert_array_equal(one.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])
    assert_array_equal(one.oof_novelty_[order], other.oof_novelty_)
    assert one.temperature_ == other.temperature_
    assert_same_model(one.best_estimator_, other.best_estimator_)


@pytest.mark.parametrize("name", ["digits", "letter", "segment"])
@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy"])
def test_real_sets_are_scored_as_by_really_fitting(request, digits, name, scoring):
    """Standardised before; shuffled folds."""
    if name == "digits":
        X, y = digits
    else:
        with np.load(request.getfixturevalue("data_folder") / f"{name}.npz", allow_pickle=False) as file:
            X, y = file["X"], file["y"]
    rows = StandardScaler().fit_transform(X).astype(np.float32), y
    grid = {"n_components": [500, 2048], "n_connections": [3, 0.5], "n_winners": [8, 32], "decay": [0.3, 1.0]}
    folds = StratifiedKFold(3, shuffle=True, random_state=1)
    assert_same_search(subtracted(rows, folds, grid, scoring), really_fitted(rows, folds, grid, scoring))


@settings(max_examples=10)
@given(st.data(), labelled_rows(least=8))
def test_encodings_and_signs_are_searched_as_by_really_fitting(data, rows):
    """One that was fitted beforehand, none, and one that sees labels, which each fold fits to its own rows."""
    cv = data.draw(splits(rows.y))
    encodings = ["none", "none+relevance", Encoding(bins=3).fit(rows.X)]
    grid = {"n_components": [24], "n_connections": [1], "n_winners": [3], "decay": [0.1, 1.0]}
    grid |= {"encoding": encodings, "signed": [True, False]}
    fast = FlyBloomClassifierCV(**grid, cv=cv, random_state=5).fit(*rows)
    slow = GridSearchCV(FlyBloomClassifier(random_state=5), grid, cv=cv, error_score="raise").fit(*rows)
    for name in ("mean_test_score", "rank_test_score", "param_decay", "param_signed", "param_n_winners"):
        assert_array_equal(fast.cv_results_[name], slow.cv_results_[name], err_msg=name)
    assert [setting["encoding"] for setting in fast.cv_results_["params"]] == [
        setting["encoding"] for setting in slow.cv_results_["params"]
    ]
    assert fast.best_index_ == slow.best_index_
    assert_same_model(fast.best_estimator_, slow.best_estimator_)
    assert fast.best_estimator_.encoder_ == slow.best_estimator_.encoder_
    assert fast.n_tried_ == 12


@settings(max_examples=15)
@given(st.data(), labelled_rows(least=6), st.booleans(), st.sampled_from(["accuracy", "balanced_accuracy", "f1_macro"]))
def test_weights_are_learned_and_scored_as_by_really_fitting(data, rows, is_whole, scoring):
    """Whole and fractional ones; rows of weight 0 count nowhere."""
    n = len(rows.y)
    drawn = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).map(np.array))
    drawn = np.where(np.arange(n) % 2, drawn, 1)
    weights = drawn if is_whole else np.where(drawn > 0, drawn + 0.37, 0.0)
    cv = data.draw(splits(rows.y))
    for train, test in cv:
        assume(weights[test].any())
        assume(set(rows.y[train]) == set(rows.y[train][weights[train] > 0]))  # a fit knows classes that weigh nothing
    grid = {"n_components": [48], "n_connections": [1.0], "n_winners": [3, 6], "decay": [0.1, 1.0]}
    search = FlyBloomClassifierCV(**grid, cv=cv, encoding="none", scoring=scoring, random_state=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(*rows, sample_weight=weights)
        scorer = get_scorer(scoring)
        counted = unit_for("auto", weights)
        unit = {} if counted.per_row == 1 else {"weight_unit": counted.weight}
        assert search.best_estimator_.weight_unit_ == counted.weight
        for at, setting in enumerate(search.cv_results_["params"]):
            for k, (train, test) in enumerate(cv):
                model = FlyBloomClassifier(**setting, **unit, encoding="none", random_state=5)
                model.fit(rows.X[train], rows.y[train], weights[train])
                as_learned = counted.counted(weights, n)[test]
                score = scorer(model, rows.X[test], rows.y[test], sample_weight=as_learned)
                assert search.cv_results_[f"split{k}_test_score"][at] == pytest.approx(score, rel=1e-12)
    model = FlyBloomClassifier(**search.best_params_, **unit, encoding="none", random_state=5)
    assert_same_model(search.best_estimator_, model.fit(*rows, weights))
