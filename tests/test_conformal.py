"""Prediction sets and intervals: the bounds of the slow definition, the coverage that is asked for, and refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, make_friedman1
from sklearn.linear_model import LinearRegression

from flybloom import CrossConformal, FlyBloomClassifier, FlyRidgeClassifier, FlyRidgeRegressor

X, Y = make_friedman1(700, noise=1.0, random_state=0)
DIGITS, LABELS = (part[np.random.default_rng(1).permutation(1797)] for part in load_digits(return_X_y=True))


@pytest.mark.parametrize(("n", "n_folds"), [(90, 3), (600, 10)])
def test_intervals_are_those_of_models_fitted_without_each_fold(n, n_folds):
    """A quantile of all residuals around the prediction of one of the fits to the other rows: their encoding, too."""
    model = FlyRidgeRegressor(128, random_state=0).fit(X[:n], Y[:n])
    found = CrossConformal(model, X[:n], Y[:n], n_folds=n_folds, random_state=5).predict_interval(X[n:], 0.8)
    order = np.random.default_rng(5).permutation(n)
    apart, predicted = [], []
    for fold in range(n_folds):
        rows = order[fold::n_folds]
        rest = np.setdiff1d(np.arange(n), rows)
        left = FlyRidgeRegressor(128, random_state=0).fit(X[rest], Y[rest])
        apart += np.abs(Y[rows] - left.predict(X[rows])).tolist()
        predicted.append(left.predict(X[n:]))
    far = np.sort(apart)[int(np.ceil(0.8 * (n + 1))) - 1]
    assert_allclose(found[:, 1] - found[:, 0], 2 * far, rtol=0, atol=1e-12)
    middle = np.abs(found.mean(axis=1) - predicted).argmin(axis=0)
    assert_allclose(found.mean(axis=1), np.array(predicted)[middle, np.arange(len(middle))], rtol=0, atol=1e-12)
    assert np.unique(middle).size == n_folds


def test_other_rows_do_not_matter():
    """Which model predicts a row follows from its values alone."""
    model = FlyRidgeRegressor(64, random_state=0).fit(X[:300], Y[:300])
    conformal, order = CrossConformal(model, X[:300], Y[:300], n_folds=4), np.random.default_rng(0).permutation(200)
    bounds = conformal.predict_interval(X[300:500])
    assert_array_equal(conformal.predict_interval(X[300:500][order]), bounds[order])
    assert_array_equal(conformal.predict_interval(X[307:308]), bounds[7:8])
    digits = FlyRidgeClassifier(64, encoding="standard", random_state=0).fit(DIGITS[:300], LABELS[:300])
    conformal = CrossConformal(digits, DIGITS[:300], LABELS[:300], n_folds=4)
    sets = conformal.predict_set(DIGITS[300:500])
    assert_array_equal(conformal.predict_set(DIGITS[300:500][order]), sets[order])


@pytest.mark.parametrize("coverage", [0.8, 0.9])
def test_intervals_cover_what_was_asked_for(coverage):
    """Of two outputs as well."""
    targets = np.column_stack([Y, -2 * Y])
    model = FlyRidgeRegressor(512, random_state=0).fit(X[:400], targets[:400])
    bounds = CrossConformal(model, X[:400], targets[:400]).predict_interval(X[400:], coverage)
    assert bounds.shape == (300, 2, 2)
    covered = ((bounds[..., 0] <= targets[400:]) & (targets[400:] <= bounds[..., 1])).mean(axis=0)
    assert (np.abs(covered - coverage) < 0.06).all()


@pytest.mark.parametrize("kind", [FlyRidgeClassifier, FlyBloomClassifier])
@pytest.mark.parametrize("by_class", [False, True])
def test_sets_cover_what_was_asked_for(kind, by_class):
    """With few labels in each."""
    model = kind(1024, random_state=0).fit(DIGITS[:900], LABELS[:900])
    sets = CrossConformal(model, DIGITS[:900], LABELS[:900], n_folds=5).predict_set(
        DIGITS[900:], 0.9, by_class=by_class
    )
    assert sets.shape == (897, 10)
    assert 0.85 < sets[np.arange(897), LABELS[900:]].mean() < 0.97
    assert sets.sum(axis=1).mean() < 2


def test_sets_by_class_count_rows_of_that_class():
    """Labels of a class of which there are too few rows to tell are always in the set."""
    few = np.flatnonzero((LABELS[:600] != 3) | (np.arange(600) < 60))
    model = FlyRidgeClassifier(256, encoding="standard", random_state=0).fit(DIGITS[few], LABELS[few])
    conformal = CrossConformal(model, DIGITS[few], LABELS[few], n_folds=5)
    assert conformal.predict_set(DIGITS[900:], 0.9, by_class=True)[:, 3].all()
    assert not conformal.predict_set(DIGITS[900:], 0.9)[:, 3].all()


def test_too_few_rows_know_no_bounds():
    """Nothing is sure of 99 % with thirty rows."""
    model = FlyRidgeRegressor(64, random_state=0).fit(X[:30], Y[:30])
    bounds = CrossConformal(model, X[:30], Y[:30], n_folds=3).predict_interval(X[30:40], 0.99)
    assert_array_equal(bounds, np.tile([-np.inf, np.inf], (10, 1)))


def test_what_cannot_be_is_refused():
    """Each with what to do."""
    regressor = FlyRidgeRegressor(64, random_state=0).fit(X, Y)
    conformal = CrossConformal(regressor, X, Y, n_folds=2)
    with pytest.raises(TypeError, match="predicts numbers"):
        conformal.predict_set(X)
    for coverage in (0, 1, 1.5):
        with pytest.raises(ValueError, match="coverage must be a number between 0 and 1"):
            conformal.predict_interval(X, coverage)
    with pytest.raises(ValueError, match="n_folds must be a whole number from 2 to 350"):
        CrossConformal(regressor, X, Y, n_folds=1)
    classifier = FlyRidgeClassifier(64, random_state=0).fit(X, Y > 14)
    with pytest.raises(TypeError, match="predicts labels"):
        CrossConformal(classifier, X, Y > 14, n_folds=2).predict_interval(X)
    with pytest.raises(TypeError, match="Got LinearRegression instead"):
        CrossConformal(LinearRegression().fit(X, Y), X, Y)


def test_metrics_of_mapie_say_the_same():
    """Coverage and sizes, by the functions of MAPIE."""
    of_labels = pytest.importorskip("mapie.metrics.classification")
    of_targets = pytest.importorskip("mapie.metrics.regression")
    model = FlyRidgeClassifier(512).fit(DIGITS[:900], LABELS[:900])
    conformal = CrossConformal(model, DIGITS[:900], LABELS[:900], n_folds=5)
    for by_class in (False, True):
        sets = conformal.predict_set(DIGITS[900:], 0.9, by_class=by_class)
        covered = of_labels.classification_coverage_score(LABELS[900:], sets[:, :, None])
        assert_allclose(covered, sets[np.arange(897), LABELS[900:]].mean())
        assert abs(covered[0] - 0.9) < 0.05
        assert_allclose(of_labels.classification_mean_width_score(sets[:, :, None]), sets.sum(axis=1).mean())
    regressor = FlyRidgeRegressor(512).fit(X[:400], Y[:400])
    bounds = CrossConformal(regressor, X[:400], Y[:400]).predict_interval(X[400:], 0.9)
    covered = of_targets.regression_coverage_score(Y[400:], bounds[:, :, None])
    assert_allclose(covered, ((bounds[:, 0] <= Y[400:]) & (Y[400:] <= bounds[:, 1])).mean())
    assert abs(covered[0] - 0.9) < 0.05
    assert_allclose(of_targets.regression_mean_width_score(bounds[:, :, None]), np.diff(bounds).mean())
