"""The baselines: equal to slow truths, and searches that share work equal to those that do not."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

import reference
from flybloom.paper.baselines import (
    BASELINES,
    PROFILES,
    PrototypeClassifier,
    SimHashBloomClassifier,
    best_of,
    nested_simhash,
)
from flybloom.paper.baselines import simhash as simhash_file
from flybloom.paper.baselines.grids import LR_FULL, MLPC_FULL, make_logistic_regression
from flybloom.paper.baselines.neighbours import predictions_for_each_k


@parametrize_with_checks([PrototypeClassifier(2), PrototypeClassifier(1), SimHashBloomClassifier()])
def test_scikit_learn_is_satisfied(estimator, check):
    """One check, one estimator."""
    check(estimator)


@pytest.fixture(autouse=True)
def one_thread():
    """So little work gains nothing from more."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def blobs(rng):
    """Rows of three classes that overlap, with labels that are not 0, 1, 2."""
    codes = np.repeat([0, 1, 2], [40, 30, 50])
    rows = rng.standard_normal((120, 20)) + 1.2 * rng.standard_normal((3, 20))[codes]
    shuffled = rng.permutation(120)
    return rows[shuffled], np.array(["b", "c", "a"])[codes[shuffled]]


def folds(y, n=3):
    """Stratified folds, as the authors make them."""
    return list(StratifiedKFold(n, shuffle=True, random_state=5489).split(np.zeros(len(y)), y))


def one_by_one(baseline, params, X, y, splits, seed):
    """Accuracy of each split with a fit for it alone."""
    models = [baseline.make(params, seed).fit(X[train], y[train]) for train, _ in splits]
    return tuple(model.score(X[test], y[test]) for model, (_, test) in zip(models, splits, strict=True))


# prototypes


@pytest.mark.filterwarnings("ignore:self.within_class_std_dev_")  # of columns that are constant, in Digits
def test_one_prototype_is_the_nearest_centroid(blobs, digits):
    """CC1, with the same centres and decisions."""
    for X, y in (blobs, digits):
        ours, theirs = PrototypeClassifier(1).fit(X, y), NearestCentroid().fit(X, y)
        assert_array_equal(ours.prototypes_, theirs.centroids_)
        assert_array_equal(ours.predict(X), theirs.predict(X))


def test_as_many_prototypes_as_rows_are_the_nearest_neighbour(rng):
    """Every row is its own prototype."""
    X, y = rng.standard_normal((60, 4)), np.arange(60) % 3
    queries = rng.standard_normal((200, 4))
    expected = KNeighborsClassifier(1).fit(X, y).predict(queries)
    assert_array_equal(PrototypeClassifier(20, random_state=0).fit(X, y).predict(queries), expected)


def test_the_label_is_that_of_the_closest_prototype(blobs):
    """By distances written out."""
    X, y = blobs
    model = PrototypeClassifier(4, random_state=0).fit(X[:90], y[:90])
    assert model.prototypes_.shape == (12, 20)
    distances = ((X[90:, None] - model.prototypes_) ** 2).sum(axis=2)
    assert_array_equal(model.predict(X[90:]), np.repeat(["a", "b", "c"], 4)[distances.argmin(axis=1)])


def test_a_class_with_too_few_rows_is_refused(blobs):
    """By name, and nothing is learned."""
    X, y = blobs
    model = PrototypeClassifier(31)
    with pytest.raises(
        ValueError, match=r"n_prototypes=31 samples of each class. Got 30 sample.s. of class 'c' instead"
    ):
        model.fit(X, y)
    assert not hasattr(model, "classes_")


# SimHash


def test_filters_and_scores_are_those_of_the_paper(blobs):
    """Equal to the filter written out, with the directions that the seed gives."""
    X, y = blobs
    model = SimHashBloomClassifier(300, random_state=5).fit(X[:90], y[:90])
    directions = np.random.Generator(np.random.Philox(key=5)).standard_normal((300, 20))
    h = X[:90] @ directions.T > 0
    assert_array_equal(model.filters_, reference.binary_filters(h, y[:90], ["a", "b", "c"]))
    scores = reference.simhash_scores(X[:90], y[:90], ["a", "b", "c"], directions, X[90:])
    assert_array_equal(model.novelty(X[90:]), scores)
    predicted = np.searchsorted(model.classes_, model.predict(X[90:]))
    assert_array_equal(scores[np.arange(30), predicted], scores.min(axis=1))


@pytest.mark.parametrize(("multiple", "expected"), [(0.05, 2), (0.3, 6), (0.99, 19), (2.0, 40), (7, 7)])
def test_sizes_down_and_up(blobs, multiple, expected):
    """A float is a multiple of the 20 features, cut off, and at least two."""
    model = SimHashBloomClassifier(multiple, random_state=0).fit(*blobs)
    assert model.filters_.shape == (3, expected)


def test_blocks_do_not_matter_and_sizes_are_nested(blobs, monkeypatch):
    """Filters of fewer components are the first of more, whatever is done at once."""
    X, y = blobs
    large = SimHashBloomClassifier(400, random_state=1).fit(X, y)
    monkeypatch.setattr(simhash_file, "MAX_AT_ONCE", 64)
    monkeypatch.setattr(simhash_file, "VALUES_AT_ONCE", 640)
    small = SimHashBloomClassifier(250, random_state=1).fit(X, y)
    assert_array_equal(small.filters_, large.filters_[:, :250])
    scores = small.novelty(X)
    monkeypatch.undo()
    assert_array_equal(small.novelty(X), scores)


def test_ties_are_reproducible_and_fair(rng):
    """Where all classes tie, each gets a share; the same row always gets the same."""
    X = rng.standard_normal((3000, 8))
    y = np.arange(3000) % 3  # many rows of each class: two components of the filters are known to all
    model = SimHashBloomClassifier(80, random_state=0).fit(X, y)
    assert not model.novelty(X).any()
    predicted = model.predict(X)
    assert_array_equal(model.predict(X[::-1])[::-1], predicted)
    assert np.bincount(predicted).min() > 800
    assert (SimHashBloomClassifier(80, random_state=1).fit(X, y).predict(X) != predicted).any()


@pytest.mark.parametrize("bits_at_once", [1, 120 * 100, 2**27])
def test_one_hash_decides_as_one_for_each_size(blobs, monkeypatch, bits_at_once):
    """For sizes that end within a block, at its end, and before all bits of the keys; in any order."""
    X, y = blobs
    monkeypatch.setattr(nested_simhash, "BITS_AT_ONCE", bits_at_once)
    sizes, splits = [300, 2, 63, 64, 65, 128, 5], [*folds(y), (np.arange(9), np.arange(9, 30))]
    results = nested_simhash.predictions_for_each_size(X, y, splits, sizes, 2)
    for size in sizes:
        for (train, test), predicted in zip(splits, results[size], strict=True):
            model = SimHashBloomClassifier(size, random_state=2).fit(X[train], y[train])
            assert_array_equal(predicted, model.predict(X[test]))


# neighbours


@pytest.mark.parametrize("d", [3, 20])  # a tree, and brute force
@pytest.mark.parametrize("kind", ["float64", "float32", "duplicates", "binary", "uint8"])
def test_one_search_decides_as_one_for_each_k(rng, kind, d):
    """With distances that tie, rows that repeat, and k up to all rows and beyond."""
    rows = rng.standard_normal((200, d))
    if kind == "duplicates":
        rows = rows[rng.integers(0, 40, 200)]
    if kind in ("binary", "uint8"):
        rows = (rows > 0.5) * 3.0
    X = rows.astype(kind if kind in ("float32", "uint8") else "float64")
    y = np.array(["p", "q", "r", "s"])[rng.integers(0, 4, 200)]
    ks = [1, 2, 4, 8, 16, 32, 64, 75, 128, 149, 150, 151, 256]
    results = predictions_for_each_k(X[:150], y[:150], X[150:], ks)
    for k in ks:
        if k > 150:
            assert isinstance(results[k], ValueError)
        else:
            expected = KNeighborsClassifier(k).fit(X[:150], y[:150]).predict(X[150:])
            assert_array_equal(results[k], expected, err_msg=f"k = {k}")


def test_the_smallest_label_wins_a_vote_that_ties():
    """As in scikit-learn."""
    X, y = np.array([[0.0], [1.0], [5.0], [6.0], [9.0]]), np.array(["z", "a", "m", "m", "k"])
    assert predictions_for_each_k(X, y, np.array([[0.1]]), [2])[2].tolist() == ["a"]


# grids


def test_the_grids_are_those_of_the_authors():
    """Names in the paper's order, and as many settings as they had; values at both ends."""
    assert list(BASELINES) == ["kNNC", "1NNC", "CC1", "CC", "SBFC", "LR", "MLPC"]
    sizes = {name: len(baseline.grids["full"]) for name, baseline in BASELINES.items()}
    assert sizes == {"kNNC": 9, "1NNC": 1, "CC1": 1, "CC": 7, "SBFC": 21, "LR": 960, "MLPC": 720}
    assert [params["n_components"] for params in BASELINES["SBFC"].grids["full"]][-2:] == [1024.0, 2048.0]
    assert {params["C"] for params in LR_FULL} >= {2.0**-10, 2.0**10}
    assert {params["batch_size"] for params in MLPC_FULL} == {2, 10, 50, 256}
    for baseline in BASELINES.values():
        assert tuple(baseline.grids) == PROFILES
        assert len(baseline.grids["quick"]) <= 5
        assert all(params in baseline.grids["full"] for params in baseline.grids["standard"])
        assert all(params in baseline.grids["standard"] for params in baseline.grids["quick"])


def combinations():
    """One setting of the authors' for each combination of penalty, solver and classes."""
    found = {}
    for params in LR_FULL:
        found.setdefault((params["penalty"], params["solver"], params["multi_class"]), params)
    return list(found.values())


def is_valid(params):
    """One solver knows a class against the rest alone, another the l2 penalty alone."""
    if params["solver"] == "liblinear":
        return params["multi_class"] == "ovr"
    return params["solver"] == "saga" or params["penalty"] == "l2"


def test_all_valid_settings_of_logistic_regression_can_be_made(blobs):
    """640 of 960; the others say why not. They fit without a warning but that one epoch is short."""
    n_valid = 0
    for params in LR_FULL:
        if is_valid(params):
            make_logistic_regression(params, 0)
            n_valid += 1
        else:
            with pytest.raises(ValueError, match="knows no"):
                make_logistic_regression(params, 0)
    assert n_valid == 640
    X, y = blobs
    for params in filter(is_valid, combinations()):
        for labels in (y, y == "a"):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = make_logistic_regression(params, 0).fit(X, labels)
            assert isinstance(model, OneVsRestClassifier) == (params["multi_class"] == "ovr")
            assert model.score(X, labels) > 0


# search


@pytest.mark.parametrize("name", ["kNNC", "1NNC", "CC1", "CC", "SBFC"])
def test_a_search_gives_what_each_setting_gives_alone(blobs, name):
    """Shared work or not, for folds and for a hold-out whose training rows are not all others."""
    X, y = blobs
    baseline = BASELINES[name]
    grid = tuple(
        params
        for params in baseline.grids["full"]
        if params.get("n_components", 0) <= 64 and params.get("n_prototypes") not in (4, 16)
    )
    baseline = replace(baseline, grids={"full": grid})
    for splits in (folds(y, 2), [(np.arange(50), np.arange(70, 120))]):
        search = best_of(baseline, "full", X, y, splits, seed=3)
        assert len(search.records) + len(search.skipped) == len(grid)
        for record in search.records:
            assert record.accuracy == one_by_one(baseline, record.params, X, y, splits, 3), record.params
            assert record.seconds > 0
        for params, reason in search.skipped:
            assert reason
            with pytest.raises(ValueError, match=r"n_prototypes|n_neighbors|k"):
                one_by_one(baseline, params, X, y, splits, 3)


def test_settings_that_are_not_valid_are_skipped_and_counted(blobs):
    """More neighbours than rows, more prototypes than rows of a class, penalties a solver does not know."""
    X, y = blobs
    skipped = best_of(BASELINES["kNNC"], "full", X, y, folds(y), 0).skipped
    assert [params["n_neighbors"] for params, _ in skipped] == [128, 256]
    clusters = replace(BASELINES["CC"], grids={"full": BASELINES["CC"].grids["full"][-3:]})
    skipped = best_of(clusters, "full", X, y, folds(y), 0).skipped
    assert [params["n_prototypes"] for params, _ in skipped] == [32, 64]
    grid = tuple(combinations())
    logistic = replace(BASELINES["LR"], grids={"full": grid})
    search = best_of(logistic, "full", X, y, folds(y), 0)
    assert (len(search.records), len(search.skipped)) == (8, 4)
    only_bad = replace(BASELINES["kNNC"], grids={"full": ({"n_neighbors": 256},)})
    with pytest.raises(ValueError, match=r"No setting was valid.*256|No setting was valid.*80"):
        best_of(only_bad, "full", X, y, folds(y), 0).best()


def test_both_measures_for_each_fold(blobs):
    """Balanced accuracy is scikit-learn's, accuracy the plain share; the best one has the largest mean."""
    X, y = blobs
    splits = folds(y)
    search = best_of(BASELINES["kNNC"], "full", X, y, splits, 0)
    for record in search.records:
        models = [KNeighborsClassifier(**record.params).fit(X[train], y[train]) for train, _ in splits]
        expected = [
            balanced_accuracy_score(y[test], model.predict(X[test]))
            for model, (_, test) in zip(models, splits, strict=True)
        ]
        assert record.balanced_accuracy == pytest.approx(expected, rel=1e-12)
    for measure in ("accuracy", "balanced_accuracy"):
        means = [np.mean(getattr(record, measure)) for record in search.records]
        assert search.best(measure) is search.records[int(np.argmax(means))]


@pytest.mark.parametrize("name", list(BASELINES))
def test_quick_grids_run_without_a_warning_and_beat_chance(blobs, name):
    """Any warning is an error here."""
    X, y = blobs
    search = best_of(BASELINES[name], "quick", X, y, folds(y), 0)
    assert not search.skipped
    assert np.mean(search.best().balanced_accuracy) > (0.36 if name == "SBFC" else 0.5)


def test_searches_are_reproducible(blobs):
    """The seed decides everything."""
    X, y = blobs
    for name in ("CC", "SBFC", "LR", "MLPC"):
        first, second = (best_of(BASELINES[name], "quick", X, y, folds(y, 2), 7) for _ in range(2))
        assert [record.accuracy for record in first.records] == [record.accuracy for record in second.records]


def test_an_unknown_profile_is_refused(blobs):
    """With those that exist."""
    with pytest.raises(
        ValueError, match=r"must be one of \['quick', 'images', 'standard', 'full'\]. Got 'fast' instead"
    ):
        best_of(BASELINES["LR"], "fast", *blobs, [], 0)
