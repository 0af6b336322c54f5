"""Classification of several outputs: ridge regression of each label, thresholds from rows left out, the algebra."""

from copy import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_multilabel_classification

import flybloom
from flybloom import FlyRidgeClassifier, FlyRidgeMultiOutputClassifier, SlidingWindow
from flybloom.core import sketch as sketches
from flybloom.core.counts.by_label import LabelColumns, LabelSums
from flybloom.core.readout.temperature import even_threshold
from flybloom.estimators.access import reading_learned
from flybloom.exceptions import IncompatibleHashError, NeverLearnedError

X, Y = make_multilabel_classification(300, n_features=12, n_classes=6, random_state=0)
WORDS = np.column_stack([np.where(Y[:, 0], "a", "b"), np.where(Y[:, 1], "u", np.where(Y[:, 2], "v", "w"))])


def small(**settings):
    """A model with few components."""
    return FlyRidgeMultiOutputClassifier(96, **{"n_winners": 12, "alpha": 0.1, **settings})


def test_each_label_is_that_of_a_classifier_alone():
    """Scores of each label are those of a classifier of that label; pairs are the same."""
    model = small(encoding="none").fit(X, Y)
    scores = model.decision_function(X) + model.thresholds_
    for k in range(6):
        alone = FlyRidgeClassifier(96, n_winners=12, alpha=0.1, encoding="none").fit(X, Y[:, k])
        assert_allclose(scores[:, k], alone._decision_scores(X)[:, 1], rtol=0, atol=1e-6)
        assert_array_equal(model.pair_counts_, alone.pair_counts_)
        assert_array_equal(model.counts_[k], alone.counts_[1])
    assert_array_equal(model.predict(X), model.decision_function(X) > 0)


def test_sparse_indicators_are_learned_as_dense_ones():
    """And bools, floats and lists."""
    expected = small().fit(X, Y)
    for labels in (sparse.csr_matrix(Y), sparse.csc_array(Y), Y.astype(bool), Y.astype(float), Y.tolist()):
        assert_array_equal(small().fit(X, labels).decision_function(X), expected.decision_function(X))
    assert expected.predict(X).dtype == np.int64
    assert expected.predict_proba(X).shape == Y.shape


def test_outputs_may_have_classes_of_their_own():
    """Strings or whole numbers, two or more for each output."""
    numbers = np.column_stack([Y[:, 0] * 7 - 2, Y[:, 1] + 2 * Y[:, 2]])
    for labels in (WORDS, numbers, WORDS.astype(object)):
        model = small(encoding="standard").fit(X, labels)
        assert set(model.predict(X)[:, 1]) <= set(labels[:, 1])
        assert [own.size for own in model.classes_] == [2, np.unique(labels[:, 1].astype(str)).size]
        for k, chances in enumerate(model.predict_proba(X)):
            assert_allclose(chances.sum(axis=1), 1)
            assert_array_equal(model.classes_[k][chances.argmax(axis=1)], model.predict(X)[:, k])
        assert 0 < model.score(X, labels) == (model.predict(X) == labels).all(axis=1).mean()


@pytest.mark.parametrize("labels", [Y, WORDS], ids=["indicator", "words"])
def test_the_algebra(tmp_path, labels):
    """Sums, differences, forgetting and files give, bit for bit, the model of the rows that remain."""

    def answers(model):
        chances = model.predict_proba(X)
        chances = np.column_stack(chances) if isinstance(chances, list) else chances
        return np.hstack([model.predict(X).astype(str), chances.astype(str)])

    whole = small(encoding="auto").fit(X, labels)
    first, second = (small().fit(X[some], labels[some]) for some in (slice(120), slice(120, None)))
    assert_array_equal(answers(first + second), answers(whole))
    assert_array_equal(answers(whole - second), answers(first))
    part = copy(whole)
    assert part.forget(X[120:], labels[120:]).extent == "complete"
    assert_array_equal(answers(part), answers(first))
    in_blocks = small().partial_fit(X[200:], labels[200:]).partial_fit(X[:200], labels[:200])
    assert_array_equal(answers(in_blocks), answers(whole))
    whole.save(tmp_path / "model.fly")
    assert_array_equal(answers(flybloom.load(tmp_path / "model.fly")), answers(whole))
    whole.save(tmp_path / "model.fly", sketch=False)
    assert_array_equal(answers(flybloom.load(tmp_path / "model.fly")), answers(whole))
    with pytest.raises(NeverLearnedError):
        whole.forget(X[:5], labels[5:10])
    window = SlidingWindow(small(encoding="none"), n_rows=150)
    for begin in range(0, 900, 100):
        at = np.arange(begin, begin + 100) % 300
        window.partial_fit(X[at], labels[at])
    alone = window.model_.like().partial_fit(X[150:], labels[150:])
    assert_array_equal(window.model_.counts_, alone.counts_)


def test_a_class_may_come_late_as_long_as_all_rows_are_at_hand():
    """Then columns follow from all rows; once they are fixed, it is refused, and nothing changes."""
    late = np.where(WORDS == "w", "v", WORDS)
    rows, labels = np.tile(X, (2, 1)) + np.arange(600)[:, None] / 1000, np.tile(late, (2, 1))
    model = small().partial_fit(rows, labels)
    model.predict(X)
    model.partial_fit(X[:50], WORDS[:50])
    assert model.classes_[1].tolist() == ["u", "v", "w"]
    together = small().fit(np.vstack([rows, X[:50]]), np.vstack([labels, WORDS[:50]]))
    assert_array_equal(model.predict(X), together.predict(X))
    fixed = small().fit(rows, labels).like().partial_fit(rows, labels)
    before = fixed.counts_
    with pytest.raises(ValueError, match=r"Output 1 has the classes \['u', 'v'\]. Got 'w'"):
        fixed.partial_fit(X, WORDS)
    assert_array_equal(fixed.counts_, before)
    with pytest.raises(IncompatibleHashError):
        fixed + small(encoding=fixed.encoder_).fit(X, WORDS).like()


def test_every_class_has_rows_in_a_sketch(monkeypatch):
    """However rare it is among all rows, and in whatever order sketches are added."""
    monkeypatch.setattr(sketches, "MAX_ROWS", 64)
    rare = np.zeros((300, 3), np.uint8)
    rare[::2, 0], rare[[7, 250], 1], rare[5:35, 2] = 1, 1, 1
    ones = np.ones(300, np.int64)
    whole = sketches.Sketch.of(X, rare, ones)
    assert whole.labels[:, 1].sum() == 2
    assert 16 <= whole.labels[:, 2].sum() < 30
    parts = [sketches.Sketch.of(X[some], rare[some], ones[some]) for some in (slice(200, None), slice(200))]
    assert (parts[0] + parts[1]).holds_same(whole)
    assert_allclose(whole.sample().weights.sum(), 300)


@given(st.lists(st.tuples(st.integers(0, 8), st.booleans(), st.integers(1, 3)), min_size=2, max_size=12))
def test_as_many_rows_exceed_a_threshold_as_have_the_label(rows):
    """As nearly as any threshold between two scores can."""
    scores, truth, weights = (np.array(column, float) for column in zip(*rows, strict=True))
    found = even_threshold(scores, truth, weights)
    levels = np.unique(scores)
    if truth.any() and not truth.all() and levels.size > 1:
        off = [abs(weights[scores > level].sum() - truth @ weights) for level in levels[:-1]]
        assert abs(weights[scores > found].sum() - truth @ weights) == min(off)
    else:
        assert found == 0.5


def test_labels_that_cannot_be_are_refused():
    """Numbers that are measured, other outputs, mixtures, none at all."""
    model = small().fit(X, Y)
    before = model.counts_
    for labels, message in (
        (X[:, :6] + 0.5, "continuous"),
        (Y[:, :5], "y has 5 outputs, those learned before have 6"),
        (Y.astype(str), "strings"),
        (None, "requires y"),
        (np.where(Y > 0, np.nan, 0.0), "NaN"),
    ):
        with pytest.raises(ValueError, match=message):
            model.partial_fit(X, labels)
    assert_array_equal(model.counts_, before)


def test_files_that_cannot_be_are_refused():
    """Counts of labels beyond those of rows; classes that are not sorted; thresholds that are no numbers."""
    model = small().fit(X, Y)
    with reading_learned(model) as learned:
        facts, arrays = learned.counts.right.to_parts()
    sizes = learned.counts.n_components, learned.counts.n_winners
    for wrong in ({"sums": [301] * 6, "squares": ["301"] * 6}, {"squares": ["7"] * 6}, {"targets": {"labels": 1}}):
        with pytest.raises(ValueError, match=r"targets|labels"):
            LabelSums.from_parts(*sizes, {**facts, **wrong}, arrays)
    for stored in ({"classes": [["b", "a"]]}, {"classes": [[1, "a"]]}, {"classes": [[]]}, {"labels": -1}, None):
        with pytest.raises(ValueError, match="sorted classes"):
            LabelColumns.from_json(stored)
    for tuned in ({"thresholds": [None]}, {"temperatures": [0.0]}, {"decay": 1}):
        with pytest.raises(ValueError, match="thresholds"):
            model._check_tuned(tuned)


def test_rows_left_out_were_never_learned():
    """Scores to 1e-9 of a model of the other rows, with the same penalty."""
    model = small(encoding="none").fit(X, Y)
    own = model.leave_one_out_decision(X, Y)
    assert own.shape == Y.shape
    assert np.abs(Y - own).mean() > np.abs(Y - model.decision_function(X) - model.thresholds_).mean()


@pytest.mark.parametrize("labels", [Y, WORDS], ids=["indicator", "words"])
def test_sources_and_clusters_give_the_same_model(labels):
    """Blocks of arrays by train, and Dask arrays by fit."""
    da = pytest.importorskip("dask.array")
    from flybloom.distributed import fit  # noqa: PLC0415

    expected = small().fit(X, labels)
    trained = flybloom.train(small(), [(X[:170], labels[:170]), (X[170:], labels[170:])], "labels")
    blocks = da.from_array(X, chunks=(100, 12)), da.from_array(labels, chunks=(100, labels.shape[1]))
    for model in (trained, fit(small(), *blocks)):
        assert_array_equal(model.pair_counts_, expected.pair_counts_)
        assert_array_equal(model.predict(X), expected.predict(X))
