"""Novelty of rows that are held out, against the reference with those rows really left out."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import reference
from flybloom.core.readout.linear import choose
from flybloom.estimators.tuning.held_out import Hashed, Held, fold_splits, leave_one_out

M, DECAYS, ONES = 30, [0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0], np.ones(60, np.int64)


@pytest.fixture(params=[2, 3, 6])
def n_classes(request):
    """Few classes, and some more."""
    return request.param


@pytest.fixture
def hashed(rng, n_classes):
    """60 rows; the last class has a single one if there are more than two."""
    winners = np.array([rng.permutation(M)[:6] for _ in range(60)], np.uint32)
    codes = rng.integers(0, max(2, n_classes - 1), 60)
    codes[17] = n_classes - 1
    return Hashed(winners, codes, ONES, M)


def novelty_without(hashed, train, test, c):
    """Learn the training rows alone; what they lack is infinitely novel."""
    winners, codes = hashed[:2]
    n_classes = codes.max() + 1
    z = reference.counts(reference.hashes(winners[train], M), codes[train], range(n_classes))
    novelty = reference.novelty(reference.filters(z, c), winners[test])
    novelty[:, np.bincount(codes[train], minlength=n_classes) == 0] = np.inf
    return novelty


def test_folds_are_subtracted(hashed, rng, n_classes):
    """Every fold, every decay; and the counts of all rows stay as they are."""
    order = rng.permutation(60)
    pairs = [
        (order[20:], order[:20]),
        (order[:20], order[20:23]),
        (np.repeat(order[30:], 2), order[:30]),
        (order[[0, 1] * 50], order),
    ]
    counts = hashed.counts()
    expected = reference.counts(reference.hashes(hashed.winners, M), hashed.codes, range(n_classes))
    for split, (train, test) in zip(fold_splits(pairs, ONES), pairs, strict=True):
        held = Held(hashed, split, hashed.without(counts, split), seed=7)
        for c in DECAYS:
            novelty = novelty_without(hashed, train, test, c)
            assert_array_equal(held.novelty(c, n_classes), novelty)
            assert_array_equal(held.predict(c), choose(-novelty, hashed.winners[test], 7))
        assert_array_equal(counts.table.T, expected)


def test_a_row_leaves_itself_out(hashed):
    """As if every row had a model of its own; the only row of a class has none to be like."""
    (split,), n_classes = leave_one_out(ONES), hashed.codes.max() + 1
    held = Held(hashed, split, hashed.without(hashed.counts(), split), seed=7)
    for c in (0.1, 1.0):
        novelty = held.novelty(c, n_classes)
        for i in range(60):
            rest = np.flatnonzero(np.arange(60) != i)
            assert_array_equal(novelty[i], novelty_without(hashed, rest, [i], c)[0])
    assert np.isinf(novelty[17, -1]) == (n_classes > 2)
