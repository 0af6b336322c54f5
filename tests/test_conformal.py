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
    """The quantiles of predictions less and plus residuals, of fits to the other rows: their encoding, too."""
    model = FlyRidgeRegressor(128, random_state=0).fit(X[:n], Y[:n])
    found = CrossConformal(model, X[:n], Y[:n], n_folds=n_folds, random_state=5).predict_interval(X[n:], 0.8)
    order = np.random.default_rng(5).permutation(n)
    lower, upper = [], []
    for fold in range(n_folds):
        rows = order[fold::n_folds]
        rest = np.setdiff1d(np.arange(n), rows)
        left = FlyRidgeRegressor(128, random_state=0).fit(X[rest], Y[rest])
        apart = np.abs(Y[rows] - left.predict(X[rows]))
        lower += [left.predict(X[n:]) - one for one in apart]
        upper += [left.predict(X[n:]) + one for one in apart]
    rank = int(np.ceil(0.8 * (n + 1)))
    assert_allclose(found[:, 0], np.sort(lower, axis=0)[n - rank], rtol=0, atol=1e-12)
    assert_allclose(found[:, 1], np.sort(upper, axis=0)[rank - 1], rtol=0, atol=1e-12)


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
    """Coverage and sizes, and coverage of the least covered group by size, by the functions of MAPIE."""
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
    assert of_targets.regression_ssc_score(Y[400:], bounds[:, :, None], num_bins=3)[0] > 0.8
