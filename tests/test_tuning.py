"""FlyBloomClassifierCV: grids, splits, out-of-sample outputs, memory, and what it refuses without harm."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import accuracy_score, log_loss, make_scorer
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
)

import flybloom
from flybloom import Encoding, FlyBloomClassifier, FlyBloomClassifierCV
from flybloom._internal import memory
from flybloom.core.hashing.hasher import Hasher
from flybloom.estimators.tuning.grids import ALL_ENCODINGS, Candidate
from flybloom.estimators.tuning.results import best_settings
from flybloom.estimators.tuning.search import in_order

SMALL = {"n_components": [64, 200], "n_connections": [4], "n_winners": [4, 8], "decay": [0.2, 1.0], "random_state": 0}
SMALL["encoding"] = "standard+clip=inf"  # the same for all folds


def small(**parameters):
    """A small search."""
    return FlyBloomClassifierCV(**{**SMALL, **parameters})


@pytest.fixture(scope="module")
def some(digits):
    """A few rows of Digits."""
    return digits[0][:300], digits[1][:300]


def test_digits_are_learned_better_than_by_the_worst_setting(digits):
    """The words are enough; what is found is no worse on new rows than the settings it did not choose."""
    X, y = digits
    search = FlyBloomClassifierCV([256, 2048], n_winners=[4, 64], random_state=0, n_jobs=2).fit(X[::2], y[::2])
    worst = search.cv_results_["params"][int(np.argmin(search.cv_results_["mean_test_score"]))]
    model = FlyBloomClassifier(**worst, random_state=0).fit(X[::2], y[::2])
    assert search.score(X[1::2], y[1::2]) > max(0.93, model.score(X[1::2], y[1::2]))


def test_single_values_need_no_list(some):
    """A number is a list of one."""
    search = FlyBloomClassifierCV(64, n_connections=0.1, n_winners=4, decay=0.5, random_state=0).fit(*some)
    assert search.best_params_ == {"decay": 0.5, "n_components": 64, "n_connections": 0.1, "n_winners": 4}
    arrays = FlyBloomClassifierCV(np.array([64]), n_connections=(0.1,), n_winners=range(4, 5), decay=[0.5])
    assert arrays.set_params(random_state=0).fit(*some).best_params_ == search.best_params_


@pytest.mark.parametrize("cv", [3, KFold(4), StratifiedKFold(3, shuffle=True, random_state=1)])
def test_held_out_outputs_are_those_of_cross_val_predict(some, cv):
    """Novelties as a decision, and probabilities at the temperature that was found."""
    search = small(encoding="none", cv=cv).fit(*some)
    model = FlyBloomClassifier(**search.best_params_, encoding="none", random_state=0)
    model.temperature = search.temperature_
    assert_array_equal(search.oof_decision_, cross_val_predict(model, *some, cv=cv, method="decision_function"))
    assert_array_equal(search.oof_predict_proba_, cross_val_predict(model, *some, cv=cv, method="predict_proba"))


def test_held_out_decisions_of_two_classes_are_one_column(some):
    """As decision_function gives them."""
    X, y = some
    search = small(encoding="none", cv=3).fit(X, y > 4)
    model = FlyBloomClassifier(**search.best_params_, encoding="none", random_state=0)
    assert_array_equal(search.oof_decision_, cross_val_predict(model, X, y > 4, cv=3, method="decision_function"))


def test_rows_that_are_tested_twice_get_the_mean_and_never_tested_ones_nan(some):
    """Repeated folds, and splits in time."""
    X, y = some
    one_setting = {"n_components": 64, "n_winners": 4, "decay": 0.2, "encoding": "none"}
    repeated = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    search = small(**one_setting, cv=repeated).fit(X, y)
    each = [small(**one_setting, cv=[split]).fit(X, y).oof_novelty_ for split in repeated.split(X, y)]
    assert_allclose(search.oof_novelty_, np.nanmean(each, axis=0), rtol=1e-14)
    in_time = small(**one_setting, cv=TimeSeriesSplit(3)).fit(X, y)
    assert np.isnan(in_time.oof_novelty_[:75]).all()
    assert np.isfinite(in_time.oof_novelty_[75:]).all()
    assert np.isfinite(in_time.temperature_)


def test_groups_are_handed_on(some):
    """To a splitter that asks for them."""
    X, y = some
    groups = np.arange(len(y)) % 7
    with_groups = small(cv=GroupKFold(3)).fit(X, y, groups=groups)
    as_pairs = small(cv=list(GroupKFold(3).split(X, y, groups))).fit(X, y)
    assert_array_equal(with_groups.cv_results_["mean_test_score"], as_pairs.cv_results_["mean_test_score"])


def test_splits_may_be_masks_or_count_from_the_end(some):
    """As they index an array."""
    X, y = some
    is_test = np.arange(300) % 3 == 0
    numbers = small(cv=[(np.flatnonzero(~is_test), np.flatnonzero(is_test))]).fit(X, y)
    for cv in ([(~is_test, is_test)], [(np.flatnonzero(~is_test) - 300, np.flatnonzero(is_test) - 300)]):
        search = small(cv=cv).fit(X, y)
        assert_array_equal(search.cv_results_["mean_test_score"], numbers.cv_results_["mean_test_score"])
        assert_array_equal(search.oof_novelty_, numbers.oof_novelty_)


def test_temperature_lowers_the_log_loss_of_held_out_rows(some):
    """Against temperature 1, and against its neighbours."""
    search = small(cv=4).fit(*some)
    y = some[1]

    def loss(temperature):
        search.temperature_ = temperature
        return log_loss(y, search.oof_predict_proba_)

    best = search.temperature_
    assert loss(best) < min(loss(1.0), loss(0.99 * best), loss(1.01 * best))


def test_a_scorer_may_be_a_function(some):
    """Of an estimator, rows and labels; it sees what the model says about the test rows."""
    by_name = small(cv=3).fit(*some)
    by_scorer = small(cv=3, scoring=make_scorer(accuracy_score)).fit(*some)
    seen = []

    def own(estimator, X, y):
        seen.append(X.shape)
        assert estimator.novelty(X).shape == (len(y), 10)
        return (estimator.predict(X) == y).mean()

    by_function = small(cv=3, scoring=own).fit(*some)
    for search in (by_scorer, by_function):
        assert_array_equal(search.cv_results_["mean_test_score"], by_name.cv_results_["mean_test_score"])
    assert seen == [(100, 64)] * 8 * 3


def test_leave_one_out_scores_all_rows_together(some):
    """One split; its accuracy is the mean over scikit-learn's splits of one row each."""
    search, splitter = small(cv="loo").fit(*some), small(cv=LeaveOneOut()).fit(*some)
    assert (search.n_splits_, splitter.n_splits_) == (1, 300)
    assert_array_equal(search.cv_results_["mean_test_score"], splitter.cv_results_["mean_test_score"])
    assert_array_equal(search.oof_novelty_, splitter.oof_novelty_)


def test_sparse_rows_equal_dense_rows():
    """Very sparse ones, which are hashed by a kernel of their own."""
    rng = np.random.default_rng(0)
    X = sparse.random(200, 900, density=0.01, random_state=0, format="csr")
    y = rng.integers(0, 3, 200)
    dense, from_sparse = (small(encoding="none").fit(rows, y) for rows in (X.toarray(), X))
    assert_array_equal(dense.cv_results_["mean_test_score"], from_sparse.cv_results_["mean_test_score"])
    assert_array_equal(dense.best_estimator_.counts_, from_sparse.best_estimator_.counts_)


def test_the_best_model_learns_on(some):
    """It is an ordinary classifier, and can be pickled without the search."""
    X, y = some
    search = small(encoding="none").fit(X[:200], y[:200])
    model = pickle.loads(pickle.dumps(search.best_estimator_))  # noqa: S301
    assert type(model) is FlyBloomClassifier
    model.partial_fit(X[200:], y[200:])
    whole = FlyBloomClassifier(**search.best_params_, encoding="none", random_state=0).fit(X, y)
    assert_array_equal(model.counts_, whole.counts_)


def test_searches_can_be_pickled(some):
    """With everything that was found."""
    search = small().fit(*some)
    again = pickle.loads(pickle.dumps(search))  # noqa: S301
    assert_array_equal(again.predict_proba(some[0]), search.predict_proba(some[0]))
    assert_array_equal(again.oof_decision_, search.oof_decision_)
    assert_array_equal(again.connections_, search.best_estimator_.connections_)


def test_feature_names_reach_the_best_model(some):
    """Frames with other names are refused."""
    frame = pd.DataFrame(some[0], columns=[f"p{i}" for i in range(64)])
    search = small().fit(frame, some[1])
    assert search.best_estimator_.feature_names_in_[0] == "p0"
    with pytest.raises(ValueError, match="feature names should match"):
        search.predict(frame.rename(columns={"p0": "other"}))


def test_the_table_of_best_settings_is_sorted(some):
    """Ranks, parameters and scores, the best first."""
    search = small().fit(*some)
    table = best_settings(search.cv_results_, most=3)
    assert [row["rank"] for row in table] == sorted(row["rank"] for row in table)
    assert table[0]["mean"] == search.best_score_
    assert {name: table[0][name] for name in search.best_params_} == search.best_params_
    assert len(best_settings(search.cv_results_)) == 8


def test_times_are_shares_of_the_whole(some):
    """Not negative, and one for each setting."""
    results = small(cv=3).fit(*some).cv_results_
    for name in ("mean_fit_time", "mean_score_time"):
        assert results[name].shape == (8,)
        assert (results[name] > 0).all()


def test_memory_is_estimated_and_refused_beforehand(some, monkeypatch):
    """By the formula; a fit that needs more is refused before anything is hashed."""
    search = FlyBloomClassifierCV([1000, 4000], n_connections=[2, 8], n_winners=[16, 50], decay=[0.1, 0.2, 1.0])
    expected = 4 * 300 * 50 + 5 * 4 * 4000 * 16 + 2 * 4000 * 8 + 2 * 8 * 300 * 16 + 8 * 300 + 24 * 2**20
    assert search.estimate_memory(300, 64, 10) == expected
    assert search.estimate_memory(300, 64, 10, sparse=True) == expected + 8 * 4000 * 8
    monkeypatch.setattr(Hasher, "winners", lambda *_: pytest.fail("hashed"))
    with pytest.raises(MemoryError, match=r"needs about 0.02 GiB, more than the 0.01 GiB available. Lower"):
        search.set_params(max_memory=10**7).fit(*some)
    monkeypatch.setattr(memory, "_of_machine", lambda: 10**7)
    with pytest.raises(MemoryError, match="raise max_memory"):
        search.set_params(max_memory=None).fit(*some)
    assert not hasattr(search, "classes_")


@pytest.mark.parametrize("cv", ["loo", 3])
def test_a_fit_needs_no_more_memory_than_estimated(rng, cv):
    """Measured; and the estimate is not a wild one."""
    X, y = rng.standard_normal((20_000, 6)).astype(np.float32), np.arange(20_000) % 30
    grid = {"n_components": [300, 600], "n_connections": [2], "n_winners": [40, 150], "decay": [0.2, 1.0]}
    search = FlyBloomClassifierCV(**grid, cv=cv, random_state=0)
    search.fit(X[:200], y[:200])  # compiles
    tracemalloc.start()
    search.fit(X, y)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    estimate = search.estimate_memory(*X.shape, 30)
    assert estimate / 2 < most < estimate


def test_available_memory_is_the_least_that_the_system_says(monkeypatch, tmp_path):
    """Of the machine and of the container; None where neither says."""
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 900 kB\nMemAvailable:    700 kB\n")
    monkeypatch.setattr(memory, "MEMINFO", meminfo)
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    assert memory.available_memory() == 700 * 1024
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("4500\n")
    (tmp_path / "memory.stat").write_text("anon 10\ninactive_file 200\n")
    assert memory.available_memory() == 700
    (tmp_path / "memory.max").write_text("max\n")
    meminfo.unlink()
    assert memory.available_memory() is None


BAD = [
    ({"n_components": [64, 0]}, ValueError, "The 'n_components' parameter of FlyBloomClassifierCV must be"),
    ({"n_components": []}, ValueError, "'n_components' parameter of FlyBloomClassifierCV must hold at least one value"),
    ({"n_connections": [65]}, ValueError, "n_connections=65 exceeds the 64 feature"),
    ({"n_winners": [65]}, ValueError, "n_winners=65 exceeds n_components_=64"),
    ({"decay": [0.2, 1.5]}, ValueError, "The 'decay' parameter of FlyBloomClassifierCV must be"),
    ({"decay": "best"}, ValueError, "The 'decay' parameter of FlyBloomClassifierCV must be"),
    ({"cv": "all"}, ValueError, "The 'cv' parameter of FlyBloomClassifierCV must be"),
    ({"scoring": "speed"}, ValueError, "The 'scoring' parameter of FlyBloomClassifierCV must be"),
    (
        {"cv": [(np.arange(5), np.arange(5, 9))], "y": np.arange(300) > 4},
        ValueError,
        "at least 2 classes outside of each",
    ),
    ({"y": np.arange(300) == 7}, ValueError, "at least 2 classes outside of each test set. Got 1 class"),
    ({"y": np.zeros(300)}, ValueError, "Got one class, .*0.0.*, instead. Add rows"),
]


@pytest.mark.parametrize(("parameters", "error", "message"), BAD)
def test_bad_searches_are_refused_and_leave_the_old_one(some, parameters, error, message):
    """One clear sentence; what was found before stays."""
    search = small().fit(*some)
    before = pickle.dumps(search.best_estimator_)
    y = parameters.get("y", some[1])
    search.set_params(**{name: value for name, value in parameters.items() if name != "y"})
    with pytest.raises(error, match=message):
        search.fit(some[0], y)
    assert pickle.dumps(search.best_estimator_) == before


def test_progress_is_shown_on_terminals_only(some, capsys, monkeypatch):
    """On standard error, if asked for."""
    small(verbose=True).fit(*some)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    small().fit(*some)
    assert capsys.readouterr().err == ""
    small(verbose=True).fit(*some)
    assert capsys.readouterr().err.endswith("\r8 of 8 settings\n")


def test_a_time_budget_stops_the_search_but_does_not_steer_it(some):
    """Whatever is tried has the score that it has without a budget; the rest has none."""
    grid = {
        "n_components": [32, 64],
        "n_winners": [4, 8],
        "n_connections": [2, 4],
        "decay": [0.2, 1.0],
        "random_state": 0,
    }
    whole = FlyBloomClassifierCV(**grid, encoding=["none", "bins"]).fit(*some)
    cut = FlyBloomClassifierCV(**grid, encoding=["none", "bins"], max_seconds=1e-9).fit(*some)
    assert whole.n_tried_ == 32
    assert cut.n_tried_ == 4  # one hash is always made
    scores, all_scores = cut.cv_results_["mean_test_score"], whole.cv_results_["mean_test_score"]
    tried = ~np.isnan(scores)
    np.testing.assert_array_equal(scores[tried], all_scores[tried])
    assert tried.sum() == 4
    assert cut.best_score_ == scores[tried].max()
    assert np.isnan(cut.cv_results_["mean_fit_time"][~tried]).all()
    assert len(best_settings(cut.cv_results_)) == 4
    assert cut.best_params_["n_components"] == 32


def test_what_is_likely_best_is_tried_first():
    """All ways with few components; then the best of them with the most."""
    settings = [Candidate({}, m, s, 4, way) for way in (0, 1) for m in (8, 64, 16) for s in (2, 3)]
    scores = np.full((len(settings), 1), np.nan)
    first_scores = {(0, 2): 0.5, (0, 3): 0.7, (1, 2): 0.9, (1, 3): 0.6}
    tried = []
    for (at,) in in_order(settings, scores):
        _, m, s, _, way = settings[at]
        tried.append((way, s, m))
        scores[at] = first_scores[way, s] if m == 8 else 0.0
    assert tried[:4] == [(0, 2, 8), (0, 3, 8), (1, 2, 8), (1, 3, 8)]
    best_first = [(1, 2), (0, 3), (1, 3), (0, 2)]
    assert tried[4:] == [(way, s, m) for way, s in best_first for m in (64, 16)]


def test_all_encodings_suit_the_rows(some):
    """Dense and sparse ones; relevance only where folds have encodings of their own."""
    X, y = some
    grid = {"n_components": 64, "n_winners": 4, "n_connections": 2, "decay": 0.2, "random_state": 0, "encoding": "all"}
    dense = FlyBloomClassifierCV(**grid, cv=3).fit(X, y)
    assert [setting["encoding"] for setting in dense.cv_results_["params"]] == list(ALL_ENCODINGS)
    rows = sparse.csr_matrix(X)
    assert [s["encoding"] for s in FlyBloomClassifierCV(**grid).fit(rows, y).cv_results_["params"]] == ["auto", "none"]


def test_a_search_among_encodings_can_be_saved(some, tmp_path):
    """Unless one was fitted beforehand."""
    X, y = some
    grid = {"n_components": [32, 64], "n_winners": 4, "n_connections": 2, "decay": 0.2, "random_state": 0}
    encodings = ["none", Encoding(bins=3)]
    search = FlyBloomClassifierCV(**grid, encoding=encodings, signed=[True, False], max_seconds=60.0).fit(X, y)
    search.save(tmp_path / "search.fly")
    loaded = flybloom.load(tmp_path / "search.fly")
    assert loaded.cv_results_["params"] == search.cv_results_["params"]
    assert loaded.best_params_ == search.best_params_
    assert loaded.n_tried_ == search.n_tried_ == 8
    np.testing.assert_array_equal(loaded.predict(X), search.predict(X))
    with pytest.raises(TypeError, match="fitted beforehand cannot be saved"):
        FlyBloomClassifierCV(**grid, encoding=["none", Encoding().fit(X)]).fit(X, y).save(tmp_path / "search.fly")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"encoding": []}, "'encoding' parameter of FlyBloomClassifierCV must hold at least one value"),
        ({"encoding": ["none", "nonsense"]}, "nonsense"),
        ({"signed": [True, 3]}, "'signed' parameter of FlyBloomClassifierCV must be"),
        ({"max_seconds": 0}, "'max_seconds' parameter"),
        ({"encoding": ["none", "none+relevance"]}, "weighs columns by the labels of all rows"),
    ],
)
def test_bad_ways_are_refused(some, parameters, message):
    """Before anything is hashed."""
    with pytest.raises(ValueError, match=message):
        FlyBloomClassifierCV(64, n_winners=4, **parameters).fit(*some)


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0}])
def test_rows_are_left_out_with_all_their_weight(some, class_weight):
    """As folds of one row; weights of one change nothing; the best model learns on in the same unit."""
    X, y = some[0][:60], some[1][:60]
    search = FlyBloomClassifierCV(
        64, n_winners=[4, 8], n_connections=2, random_state=0, encoding="none", class_weight=class_weight
    )
    assert_array_equal(search.fit(X, y).oof_novelty_, search.fit(X, y, sample_weight=np.ones(60)).oof_novelty_)
    for weights in (np.arange(60) % 4, np.arange(60) % 4 * 0.3):
        fast = clone(search).fit(X, y, sample_weight=weights)
        scores = fast.cv_results_["mean_test_score"]
        slow = clone(search).set_params(cv=LeaveOneOut()).fit(X, y, sample_weight=weights)
        is_right = np.array([slow.cv_results_[f"split{i}_test_score"] for i in range(60)])
        assert_allclose(scores, weights @ is_right / weights.sum(), rtol=2e-3)  # fractions are rounded
        fast.partial_fit(X, y, sample_weight=weights)
        assert_allclose(fast.best_estimator_.class_count_, 2 * slow.best_estimator_.class_count_)


def test_fractions_of_many_rows_need_folds(rng):
    """Leave-one-out would have to read counts one by one that models read in steps."""
    X, y = rng.random((2600, 2)), np.arange(2600) % 2
    with pytest.raises(ValueError, match=r"takes classes of up to 1024 rows. Got 13\d\d instead. Use folds"):
        FlyBloomClassifierCV(64, n_winners=4).fit(X, y, sample_weight=rng.random(2600))
