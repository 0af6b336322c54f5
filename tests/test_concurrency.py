"""Threads that share a model: what one learns, the others see whole or not at all."""

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from flybloom import FlyBloomClassifier
from flybloom.estimators import counting
from flybloom.estimators.access import reading_learned


@pytest.fixture
def frequent_switches():
    """Threads take turns a thousand times as often as usual."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)
    yield
    sys.setswitchinterval(before)


def small():
    """A classifier for which learning a block takes about as long as scoring one."""
    return FlyBloomClassifier(300, n_winners=16, encoding="none", random_state=0)


def table_of(model):
    """The table of counts itself, without telling the model that somebody has it."""
    with reading_learned(model) as learned:
        return learned.counts.table


def blocks_of(digits):
    """Blocks of which each brings a new class, so that the shape of everything learned changes."""
    X, y = digits
    return [(X[y == label], y[y == label]) for label in range(10)]


@pytest.mark.usefixtures("frequent_switches")
def test_scores_are_those_of_some_number_of_whole_blocks(digits):
    """Each array of novelties that a thread gets is one that the model gives between two blocks."""
    X = np.tile(digits[0], (5, 1))  # several blocks of rows for each call
    blocks = blocks_of(digits) * 5
    model, allowed = small().partial_fit(*blocks[0]), []
    for i in range(len(blocks)):
        state = small()
        for block in blocks[: i + 1]:
            state.partial_fit(*block)
        allowed.append((state.novelty(X), state.predict(X)))
    done = Event()

    def score(method):
        seen = []
        while not done.is_set():
            seen.append(method(X))
        return seen

    with ThreadPoolExecutor(6) as pool:
        novelties = [pool.submit(score, model.novelty) for _ in range(3)]
        labels = [pool.submit(score, model.predict) for _ in range(3)]
        try:
            for block in blocks[1:]:
                model.partial_fit(*block)
        finally:
            done.set()
    for result in novelties:
        for seen in result.result():
            assert any(seen.shape == novelty.shape and (seen == novelty).all() for novelty, _ in allowed)
    for result in labels:
        for seen in result.result():
            assert any((seen == predicted).all() for _, predicted in allowed)
    assert_array_equal(model.novelty(X), allowed[-1][0])


@pytest.mark.usefixtures("frequent_switches")
def test_many_threads_may_learn_and_none_is_lost(digits):
    """In whatever order they come."""
    blocks = blocks_of(digits)
    model = small().partial_fit(*blocks[0])
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda block: model.partial_fit(*block), blocks[1:] * 5))
        list(pool.map(lambda block: model.forget(*block), blocks[1:] * 4))
    assert_array_equal(model.counts_, small().fit(*map(np.concatenate, zip(*blocks, strict=True))).counts_)


@pytest.mark.usefixtures("frequent_switches")
def test_a_copy_made_while_another_thread_learns_is_consistent(digits):
    """Counts, rows and classes of a pickle belong together."""
    blocks = blocks_of(digits)
    model = small().partial_fit(*blocks[0])
    done = Event()

    def copies():
        seen = []
        while not done.is_set():
            seen.append(pickle.loads(pickle.dumps(model)))  # noqa: S301
        return seen

    with ThreadPoolExecutor(2) as pool:
        result = pool.submit(copies)
        try:
            for block in blocks[1:] * 5:
                model.partial_fit(*block)
        finally:
            done.set()
    for seen in result.result():
        assert_array_equal(seen.counts_.sum(axis=1), 16 * seen.class_count_)
        assert seen.counts_.shape == (seen.classes_.size, 300)


def test_two_models_can_be_merged_into_each_other_at_the_same_time(digits):
    """Nobody waits for ever."""
    X, y = digits
    a, b = small().fit(X, y), small().fit(X, y)
    with ThreadPoolExecutor(2) as pool:
        for _ in range(20):
            for result in [pool.submit(a.merge, b), pool.submit(b.merge, a)]:
                result.result(timeout=60)
    assert_array_equal(a.counts_.sum(axis=1), 16 * a.class_count_)


def test_learning_a_row_copies_no_table_unless_somebody_reads_it(digits):
    """The table stays the same object between rows; a reader makes the learner take a new one."""
    X, y = digits
    model = small().fit(X, y)
    model.partial_fit(X[:1], y[:1])
    table = table_of(model)
    model.predict(X[:1])
    model.partial_fit(X[:1], y[:1])
    assert table_of(model) is table
    with reading_learned(model) as learned:
        before = learned.counts.table.copy()
        model.partial_fit(X[:1], y[:1])
        assert_array_equal(learned.counts.table, before)
    assert table_of(model) is not table


def test_a_failed_block_is_invisible_to_other_threads(digits):
    """Not even for a moment is an attribute missing."""
    X, y = digits
    model = small().fit(X, y)
    done = Event()

    def fail():
        while not done.is_set():
            with pytest.raises(ValueError, match="infinity"):
                model.partial_fit(np.full((1, 64), np.inf), [0])

    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(fail)
        try:
            for _ in range(300):
                model.predict(X[:5])
        finally:
            done.set()
        result.result()


def test_rows_are_hashed_and_scored_by_one_model(digits, monkeypatch):
    """Though another thread fits it anew between the look at the rows and their scores."""
    X, y = digits
    model = small().fit(X, y)
    before = model.predict(X[:50])
    check = counting.check_rows

    def fit_meanwhile(*arguments, **options):
        monkeypatch.undo()
        rows = check(*arguments, **options)
        model.set_params(n_components=40, random_state=1).fit(X, y)
        return rows

    monkeypatch.setattr(counting, "check_rows", fit_meanwhile)
    assert_array_equal(model.predict(X[:50]), before)
    assert model.n_components_ == 40
