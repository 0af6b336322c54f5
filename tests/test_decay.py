"""decay="auto": a read-out of the counts, which follows them as they grow, shrink and merge."""

from copy import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from flybloom import FlyBloomClassifier, load
from flybloom.core.readout.filters import MOST_DECAY, auto_decay
from flybloom.report import class_similarity
from laws.strategies import block_cuts, labelled_rows


def model(**parameters):
    """A classifier so small that counts go beyond one digit."""
    return FlyBloomClassifier(
        **{"n_components": 24, "n_winners": 6, "encoding": "none", "random_state": 3, **parameters}
    )


def mean_of(table):
    """The mean of all counts; classes come first."""
    table = np.asarray(table)
    n_met = int((table.sum(axis=1) > 0).sum())
    return table.sum() / (table.shape[1] * max(n_met, 1))


@given(st.floats(1e-3, 1e9))
def test_it_falls_with_the_mean(mean):
    """Rounded by less than three steps of an eighth of a factor 2, and at most 0.6."""
    found = auto_decay(mean)
    expected = 16 / mean ** (11 / 8)
    assert min(MOST_DECAY, expected * 0.9999) <= found <= min(MOST_DECAY, expected * 2 ** (3 / 8) * 1.0001)


@given(st.floats(0.01, 1e6), st.floats(1, 4))
def test_it_never_rises_with_the_mean(mean, factor):
    """So it falls as rows come."""
    assert auto_decay(mean * factor) <= auto_decay(mean)


def test_counts_of_nothing_have_the_largest_decay():
    """As a model that has announced its classes has none."""
    assert auto_decay(0.0) == MOST_DECAY


def test_few_hashes_that_won_often_do_not_vanish():
    """Where rows are alike, few components win all the time: their weights must not all be 0."""
    X = np.tile(np.eye(2, 6), (5000, 1))
    y = np.arange(len(X)) % 2 ^ (np.arange(len(X)) % 7 == 0)
    learner = FlyBloomClassifier(4096, n_winners=4, random_state=0).fit(X, y)
    assert (learner.novelty(X[:2]) > 0).any(axis=1).all()
    assert_array_equal(learner.predict(X[:2]), [0, 1])


@given(labelled_rows(), st.data())
def test_it_follows_counts_that_grow_and_shrink(rows, data):
    """Row by row and in blocks, learned and forgotten: as the counts stand, so does the decay."""
    learner = model()
    for block in data.draw(block_cuts(len(rows.y))):
        learner.partial_fit(rows.X[block], rows.y[block])
        assert learner.decay_ == auto_decay(mean_of(learner.counts_))
    for i in range(0, len(rows.y) - 1, 3):
        learner.forget(rows.X[i : i + 1], rows.y[i : i + 1])
        learner.novelty(rows.X[:1])  # looks without a copy, so that the next change is made in place
        assert learner.decay_ == auto_decay(mean_of(learner.counts_))


@given(labelled_rows(least=6))
def test_merged_models_read_as_one(rows):
    """The decay of a sum is that of all rows at once."""
    middle = len(rows.y) // 2
    parts = [model().partial_fit(rows.X[part], rows.y[part]) for part in (slice(middle), slice(middle, None))]
    whole = model().fit(rows.X, rows.y)
    assert (parts[0] + parts[1]).decay_ == whole.decay_


@given(labelled_rows(least=4))
def test_scores_are_those_of_the_number(rows):
    """A model with that decay as a number says the same, bit for bit."""
    follows = model(n_components=8).fit(np.tile(rows.X, (4, 1)), np.tile(rows.y, 4))
    fixed = copy(follows).set_params(decay=follows.decay_)
    assert_array_equal(follows.novelty(rows.X), fixed.novelty(rows.X))
    assert_array_equal(follows.predict(rows.X), fixed.predict(rows.X))
    assert_array_equal(follows.filters_, fixed.filters_)
    assert_array_equal(follows.explain(rows.X), fixed.explain(rows.X))
    assert_array_equal(class_similarity(follows), class_similarity(fixed))


@given(labelled_rows(least=5), st.sampled_from([None, "balanced"]))
def test_a_row_left_out_is_left_out_of_the_decay_as_well(rows, class_weight):
    """Leave-one-out equals learning all other rows, and their decay."""
    X, y = np.tile(rows.X, (3, 1)), np.tile(rows.y, 3)
    whole = model(n_components=8, class_weight=class_weight).fit(X, y)
    found = whole.leave_one_out_novelty(X, y)
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        without = model(n_components=8, class_weight=class_weight).fit(X[others], y[others])
        assert_array_equal(found[i], without.novelty(X[i : i + 1])[0])


def test_files_keep_the_word(tmp_path):
    """A model that is loaded goes on following its counts."""
    X, y = np.random.default_rng(0).normal(size=(400, 3)), np.arange(400) % 2
    saved = model(encoding="none").fit(X, y)
    saved.save(tmp_path / "model.fly")
    again = load(tmp_path / "model.fly")
    assert again.decay == "auto"
    assert again.decay_ == saved.decay_
    again.partial_fit(X, y)
    assert again.decay_ < saved.decay_


@pytest.mark.data
@pytest.mark.parametrize("name", ["segment", "wall_robot_navigation", "page_blocks", "letter"])
def test_accuracy_does_not_fall_as_rows_come(name, data_folder):
    """A tenth of the rows is no better than all of them, but for the noise of some hundred test rows."""
    stored = np.load(data_folder / f"{name}.npz")
    order = np.random.default_rng(0).permutation(len(stored["y"]))[:4500]
    X, y = stored["X"][order], stored["y"][order]
    scores = [
        FlyBloomClassifier(8192, n_winners=64, random_state=0).fit(X[:n], y[:n]).score(X[-1000:], y[-1000:])
        for n in (len(y) // 10, len(y) - 1000)
    ]
    assert scores[1] > scores[0] - 0.01
