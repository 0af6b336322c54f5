"""Windows of several lengths: each exact, and chosen between by what was right, whatever happens."""

import pickle
import threading
from copy import copy

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

import flybloom
from flybloom import AdaptiveWindow, FlyBloomClassifier, FlyRidgeClassifier
from flybloom.core.files.parameters import estimator_from_json, parameters_to_json
from flybloom.core.files.registry import estimator_of
from flybloom.core.readout import rivals
from flybloom.estimators import stream_follower
from flybloom.estimators.access import reading_learned
from flybloom.exceptions import ModelFileError
from flybloom.streams import test_then_train as evaluate_stream
from laws.kinds import assert_same_state
from mutations import described, parts, repaired

SMALL = {"n_components": 60, "n_winners": 6, "random_state": 0}
LENGTHS = (7, 40, None)
JUDGED = 25


@pytest.fixture
def rows(rng):
    """Rows of classes that come and go, with a change of labels in the middle."""
    X = rng.standard_normal((260, 4)).round(1)
    kinds = (X[:, 0] > 0).astype(int) + 2 * (X[:, 1] > 0.8)
    y = np.where(np.arange(260) < 130, np.array(["a", "b", "c", "d"])[kinds], np.array(["b", "a", "e", "e"])[kinds])
    return X, y, rng.integers(0, 3, 260)


def by_hand(model, X, y, weights, lengths=LENGTHS, n_judged=JUDGED):
    """The same row by row, with models that are learned anew for every row: answers, and the models in the end."""
    answers, rights = [], []
    for i in range(len(y) + 1):
        before = [j for j in range(i) if weights[j] > 0]
        models = []
        for n_rows in lengths:
            last = before if n_rows is None else before[-n_rows:]
            models.append(copy(model).partial_fit(X[last], y[last], sample_weight=weights[last]) if last else None)
        said = [None if one is None or i == len(y) else one.predict(X[i : i + 1])[0] for one in models]
        right = np.sum(rights[-n_judged:], axis=0) if rights else np.zeros(len(lengths))
        best = len(lengths) - 1 - int(np.argmax(right[::-1]))
        answers.append(said[best])
        if i < len(y) and weights[i] > 0:
            rights.append([answer == y[i] for answer in said])
    return answers[:-1], models, best


@pytest.mark.parametrize("decay", ["auto", 0.3])
def test_answers_and_windows_are_those_of_single_rows(rows, decay):
    """Learned anew for each row and window; blocks change nothing, and rows of no weight are only answered."""
    X, y, weights = (array[50:210] for array in rows)
    weights[0] = 1
    model = FlyBloomClassifier(**SMALL, decay=decay, encoding="none")
    expected, models, best = by_hand(model, X, y, weights)
    assert len({*expected}) > 3
    for size in (1, 7, 159):
        window = AdaptiveWindow(model, LENGTHS, evaluation_window=JUDGED).partial_fit(X[:1], y[:1])
        answers = []
        for at in range(1, 160, size):
            some = slice(at, at + size)
            if weights[some].any():
                answers.extend(window.predict_then_learn(X[some], y[some], weights[some]))
            else:
                answers.extend(window.predict(X[some]))
        assert answers == expected[1:]
        assert window.n_rows_ == LENGTHS[best]
        for n_rows, alone in zip(LENGTHS, models, strict=True):
            assert_same_state(window.windows_[n_rows], alone)
        assert_array_equal(window.predict(X), models[best].predict(X))
    again = AdaptiveWindow(model, LENGTHS, evaluation_window=JUDGED).fit(X, y, weights)
    assert_same_state(again.model_, window.model_)


def test_old_names_warn_and_work():
    """The class, its parameter, and files that have both."""
    with pytest.warns(FutureWarning, match="AdaptiveWindow"):
        assert flybloom.BestWindow is AdaptiveWindow
    with pytest.warns(FutureWarning, match="evaluation_window"):
        model = AdaptiveWindow(FlyBloomClassifier(**SMALL, encoding="none"), judged_rows=20)
    with pytest.warns(FutureWarning, match="evaluation_window"):
        model.set_params(judged_rows=JUDGED)
    assert model.evaluation_window == JUDGED
    assert "judged_rows" not in model.get_params()
    parameters = model.get_params(deep=False)
    stored = {**parameters_to_json(model), "judged_rows": 7}
    del stored["evaluation_window"]
    again = estimator_from_json(estimator_of("BestWindow"), stored)
    assert type(again) is AdaptiveWindow
    assert again.evaluation_window == 7
    assert set(again.get_params(deep=False)) == set(parameters)


def test_one_window_is_chosen_after_the_other():
    """The law would say little of windows that are all alike."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((900, 4)), np.zeros(900, int)
    y[:] = (X[:, 0] > 0) ^ ((np.arange(900) > 300) & (np.arange(900) < 600))
    window = AdaptiveWindow(FlyBloomClassifier(512, encoding="none", random_state=0), (30, None), evaluation_window=50)
    window.partial_fit(X[:1], y[:1])
    chosen, right = [], []
    for i in range(1, 900):
        chosen.append(window.n_rows_)
        right.append(window.predict(X[i : i + 1])[0] == y[i])
        window.partial_fit(X[i : i + 1], y[i : i + 1])
    assert chosen[290] is None
    assert chosen[380:500] == [30] * 120
    assert np.mean(right[400:600]) > 0.8


@pytest.mark.parametrize("n", [60, 130])
def test_files_pickles_and_copies_follow_on(rows, n, tmp_path):
    """Before and after the hash is fixed; the original stays as it was."""
    X, y, _ = rows
    window = AdaptiveWindow(FlyBloomClassifier(**SMALL), LENGTHS, evaluation_window=JUDGED)
    window.partial_fit(X[:50], y[:50]).partial_fit(X[50:n], y[50:n])
    window.save(tmp_path / "w.fly")
    again = [flybloom.load(tmp_path / "w.fly", AdaptiveWindow), pickle.loads(pickle.dumps(window)), copy(window)]  # noqa: S301
    answers = window.predict_then_learn(X[n:], y[n:])
    for twin in again:
        assert_array_equal(twin.predict_then_learn(X[n:], y[n:]), answers)
        assert twin.n_rows_ == window.n_rows_
        for n_rows, model in window.windows_.items():
            assert_same_state(twin.windows_[n_rows], model)
        assert twin.memory_usage() == window.memory_usage()


def test_the_first_rows_fix_the_hash(rows, monkeypatch):
    """Until then all rows are known, and blocks still change nothing."""
    X, y, _ = rows
    monkeypatch.setattr(stream_follower, "FIRST_ROWS", 100)
    model = FlyBloomClassifier(**SMALL)
    at_once, one_by_one = (AdaptiveWindow(model, LENGTHS).partial_fit(X[:1], y[:1]) for _ in range(2))
    answers = at_once.predict_then_learn(X[1:], y[1:])
    for i in range(1, 260):
        assert one_by_one.predict(X[i : i + 1])[0] == answers[i - 1]
        one_by_one.partial_fit(X[i : i + 1], y[i : i + 1])
    first = FlyBloomClassifier(**SMALL).fit(X[:100], y[:100])
    alone = FlyBloomClassifier(**SMALL, encoding=first.encoder_).fit(X[220:], y[220:])
    for window in (at_once, one_by_one):
        assert_same_state(window.windows_[40], alone)


def test_streams_are_tested_at_once_as_row_by_row(rows):
    """`test_then_train` with blocks of one row asks for many at a time, and finds the same."""
    X, y, _ = rows
    window = AdaptiveWindow(FlyBloomClassifier(**SMALL), LENGTHS, evaluation_window=JUDGED)

    class OneByOne:
        """The same window, of which only `predict` and `partial_fit` are seen."""

        def __init__(self):
            self.window = copy(window)
            self.predict, self.partial_fit = self.window.predict, self.window.partial_fit

    expected = evaluate_stream(OneByOne(), [(X[:200], y[:200]), (X[200:], y[200:])], block_rows=1)
    found = evaluate_stream(copy(window), [(X[:200], y[:200]), (X[200:], y[200:])], block_rows=1)
    for name in ("n_rows", "accuracy", "rows", "rolling_accuracy", "kappa_no_change", "rolling_majority"):
        assert getattr(found, name) == getattr(expected, name)


def test_what_is_refused_changes_nothing(rows):
    """Rows, labels and parameters that are wrong."""
    X, y, _ = rows
    window = AdaptiveWindow(FlyBloomClassifier(**SMALL, encoding="none"), LENGTHS).partial_fit(X[:90], y[:90])
    before = copy(window)
    for bad in ((X[:3, :2], y[:3]), (X[:3], y[:2]), (X[:3], [1, 2, 3]), (np.full((1, 4), np.inf), y[:1])):
        with pytest.raises(ValueError, match=r"."):
            window.predict_then_learn(*bad)
    assert_array_equal(window.predict_then_learn(X[90:], y[90:]), before.predict_then_learn(X[90:], y[90:]))
    for wrong in ((), (3, 3), (0, None), (2.5,)):
        with pytest.raises(ValueError, match="n_rows"):
            AdaptiveWindow(FlyBloomClassifier(), wrong).partial_fit(X, y)
    for model in (FlyRidgeClassifier(), FlyBloomClassifier(class_weight="balanced")):
        with pytest.raises(TypeError, match="Use SlidingWindow"):
            AdaptiveWindow(model).partial_fit(X, y)
    with pytest.raises(NotFittedError, match="not fitted"):
        AdaptiveWindow(FlyBloomClassifier()).predict_then_learn(X, y)


def test_a_file_whose_rows_are_not_those_of_its_model_is_refused(rows, tmp_path):
    """Forgetting by them would go wrong later."""
    X, y, _ = rows
    window = AdaptiveWindow(FlyBloomClassifier(**SMALL, encoding="none"), (5, None)).partial_fit(X[:60], y[:60])
    rivals = window._following.memory
    for changed in ({"kept": rivals.kept + 1}, {"kept_weights": rivals.kept_weights + 99}, {"seen": rivals.seen * 0}):
        window._following = window._following._replace(memory=rivals._replace(**changed))
        window.save(tmp_path / "w.fly")
        with pytest.raises(ModelFileError, match=r"latest rows|no rows have|winners"):
            flybloom.load(tmp_path / "w.fly")


def test_who_looks_sees_rows_whole(rows):
    """While rows come one by one in another thread: the counts of every window belong together."""
    X, y, _ = rows
    window = AdaptiveWindow(FlyBloomClassifier(**SMALL, encoding="none"), (5, 30)).partial_fit(X[:60], y[:60])
    ends, wrong = threading.Event(), []

    def look():
        while not ends.is_set():
            for n_rows, model in window.windows_.items():
                with reading_learned(model) as learned:
                    if learned.counts.n_rows != n_rows or learned.counts.table.sum() != 6 * n_rows:
                        wrong.append(n_rows)

    thread = threading.Thread(target=look)
    thread.start()
    for i in range(60, 260):
        window.partial_fit(X[i : i + 1], y[i : i + 1])
    ends.set()
    thread.join()
    assert not wrong


def test_memory_stays(rng):
    """However many rows pass."""
    window = AdaptiveWindow(FlyBloomClassifier(500, n_winners=20, encoding="none", random_state=0), (50, 300))
    used = []
    for _ in range(12):
        window.partial_fit(rng.standard_normal((200, 5)), rng.integers(0, 3, 200))
        used.append(window.memory_usage()["windows"])
    assert used[1] == used[-1] < 2 * 500 * 3 * 4 + 300 * (2 * 20 + 8) + 1000 * 2 + 1000


@pytest.mark.parametrize("settings", [{"n_rows": (10, 2**31)}, {"n_rows": (10, 2**63)}, {"evaluation_window": 2**31}])
def test_windows_too_long_to_keep_are_refused(settings, tmp_path):
    """A file that asked for them took all memory, or ended in an OverflowError."""
    X, y = np.random.default_rng(0).standard_normal((40, 4)), np.arange(40) % 2
    model = FlyBloomClassifier(40, n_winners=4, encoding="none", random_state=0)
    with pytest.raises(ValueError, match=r"n_rows|evaluation_window"):
        AdaptiveWindow(model, **settings).fit(X, y)
    AdaptiveWindow(model, (5, 10)).fit(X, y).save(tmp_path / "window.fly")
    header, arrays = parts((tmp_path / "window.fly").read_bytes())
    description = described(header)
    description["parameters"].update({name: list(n) if name == "n_rows" else n for name, n in settings.items()})
    (tmp_path / "window.fly").write_bytes(repaired(header, description, arrays))
    with pytest.raises(ModelFileError):
        flybloom.load(tmp_path / "window.fly")


def test_windows_for_which_there_is_no_memory_are_refused(monkeypatch):
    """Before anything is allocated."""
    X, y = np.random.default_rng(0).standard_normal((40, 4)), np.arange(40) % 2
    monkeypatch.setattr(rivals, "available_memory", lambda: 10_000)
    with pytest.raises(ValueError, match="Choose shorter windows"):
        AdaptiveWindow(FlyBloomClassifier(40, n_winners=4, encoding="none", random_state=0), (10, 1000)).fit(X, y)
