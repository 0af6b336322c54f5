"""Test, then train: what is counted, and that nothing is learned before it was predicted."""

import numpy as np
import pytest
from scipy import sparse

import flybloom
from flybloom import FlyBloomClassifier, FlyBloomNovelty, FlyRidgeClassifier, SlidingWindow
from flybloom._internal.validation import NamedRows
from flybloom.streams import kappa, novelty_rate
from flybloom.streams import test_then_train as evaluate_stream

SMALL = {"n_components": 200, "n_winners": 8, "random_state": 0}


class Parrot:
    """Predicts the last label that it has learned."""

    def __init__(self):
        self.calls = []

    def predict(self, X):
        """The last label, or an error before there is one."""
        self.calls.append(("predict", len(X)))
        return np.full(len(X), self.last if hasattr(self, "last") else -1)

    def partial_fit(self, X, y):
        """Remember the last label."""
        self.calls.append(("learn", len(X)))
        self.last = y[-1]


def by_hand(y, block, window):
    """Accuracies of a parrot and of both baselines, and the last rolling ones, row by row."""
    right = []
    for i, label in enumerate(y):
        begin = i // block * block
        before = [*y[:i]]
        majority = max(
            dict.fromkeys(before), key=lambda known: (before.count(known), -last_rise(before, known)), default=None
        )
        right.append((begin > 0 and y[begin - 1] == label, i > 0 and y[i - 1] == label, label == majority))
    return np.mean(right, axis=0), np.mean(right[-window:], axis=0)


def last_rise(before, label):
    """When a label reached the number of rows it has now: who was first there stays the majority."""
    return max(i for i, known in enumerate(before) if known == label)


@pytest.mark.parametrize("block", [1, 7, 100])
def test_scores_are_those_counted_by_hand(rng, block):
    """Accuracy, baselines and rolling accuracies, whatever the size of blocks."""
    y, X = rng.integers(0, 3, 60), np.zeros((60, 2))
    model = Parrot()
    scores = evaluate_stream(
        model,
        [(X[:25], y[:25]), (X[25:], y[25:])] if block < 50 else [(X, y)],
        block_rows=1 if block == 1 else None,
        window=20,
    )
    if block == 7:
        model = Parrot()
        scores = evaluate_stream(model, [(X, y)], block_rows=7, window=20)
    expected, rolling = by_hand(y.tolist(), min(block, 60), 20)
    got = scores.accuracy, scores.no_change_accuracy, scores.majority_accuracy
    np.testing.assert_allclose(got, expected)
    last = scores.rolling_accuracy[-1], scores.rolling_no_change[-1], scores.rolling_majority[-1]
    np.testing.assert_allclose(last, rolling)
    assert scores.kappa_majority == kappa(scores.accuracy, scores.majority_accuracy)
    assert scores.n_rows == scores.rows[-1] == 60
    assert scores.memory is None
    assert [name for name, _ in model.calls] == ["predict", "learn"] * (len(model.calls) // 2)


def test_a_stream_ends_with_the_model_of_its_rows(digits):
    """Predicting changes nothing."""
    X, y = digits
    model = FlyBloomClassifier(**SMALL, encoding="none")
    scores = evaluate_stream(model, [(X, y)], block_rows=50, signals=True)
    assert (model.counts_ == FlyBloomClassifier(**SMALL, encoding="none").fit(X, y).counts_).all()
    assert scores.memory == sum(model.memory_usage().values())
    assert scores.novelty[0] == scores.novelty_rate[0] == 1
    assert scores.novelty_rate[-1] < 0.5


@pytest.mark.parametrize("kind", [FlyBloomClassifier, FlyRidgeClassifier])
def test_rows_of_any_source(kind, digits):
    """Blocks of read_blocks, sparse rows, rows with names, frames, windows."""
    pandas = pytest.importorskip("pandas")
    X, y = digits[0][:300], digits[1][:300]
    frame = pandas.DataFrame(X).add_prefix("p")
    named = NamedRows(X, [f"p{i}" for i in range(X.shape[1])])
    results = {
        evaluate_stream(kind(**SMALL, encoding="none"), source, block_rows=64).accuracy
        for source in ([(X, y)], [(sparse.csr_matrix(X), y)], [(frame, y)], [(named, y)], flybloom.read_blocks((X, y)))
    }
    assert len(results) == 1
    assert (
        evaluate_stream(SlidingWindow(kind(**SMALL), n_rows=200), [(X, y)], block_rows=64, signals=True).n_rows == 300
    )


@pytest.mark.parametrize(
    ("blocks", "options", "match"),
    [([], {}, "no rows"), ([(np.zeros((2, 2)), None)], {}, "without labels"), ([], {"window": 0}, "window"),
     ([], {"block_rows": 1.5}, "block_rows")],
)  # fmt: skip
def test_what_cannot_be_tested_is_refused(blocks, options, match):
    """With a word on what was expected."""
    with pytest.raises(ValueError, match=match):
        evaluate_stream(Parrot(), blocks, **options)


def test_kappa():
    """Against a baseline that is never wrong there is nothing to gain."""
    assert kappa(1.0, 0.5) == 1
    assert kappa(0.25, 0.5) == -0.5
    assert kappa(0.9, 1.0) == 0


@pytest.mark.parametrize("kind", [FlyBloomClassifier, FlyRidgeClassifier, FlyBloomNovelty])
def test_novelty_rate_are_those_that_never_won(kind, digits):
    """Counted one by one; all are, before anything is learned again in a window that has moved on."""
    X, y = digits
    model = kind(**SMALL, encoding="none")
    model = model.fit(X[:20]) if kind is FlyBloomNovelty else model.fit(X[:20], y[:20])
    winners = model._learned().hasher.winners(X[:100])
    won = {winner for row in winners[:20].tolist() for winner in row}
    expected = [np.mean([winner not in won for winner in row]) for row in winners.tolist()]
    assert (novelty_rate(model, X[:100]) == expected).all()
    assert (novelty_rate(model, X[:20]) == 0).all()
