"""Novelty of rows that are held out, against the reference with those rows really left out."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import reference
from flybloom.core.readout.linear import choose
from flybloom.estimators.tuning.held_out import HeldOutCounts, fold_splits, leave_one_out
from flybloom.estimators.tuning.held_out import most_rows as most_rows_of

M, DECAYS = 30, [0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0]


@pytest.fixture(params=[2, 3, 6])
def n_classes(request):
    """Even and odd numbers of classes, which are summed in pairs."""
    return request.param


@pytest.fixture
def hashed(rng, n_classes):
    """Winners of 60 rows, and their classes; the last class has a single row if there are more than two."""
    winners = np.array([rng.permutation(M)[:6] for _ in range(60)], np.uint32)
    codes = rng.integers(0, max(2, n_classes - 1), 60)
    codes[17] = n_classes - 1
    return winners, codes


def novelty_without(winners, codes, train, test, c):
    """Learn the training rows alone; what they lack is infinitely novel."""
    n_classes = codes.max() + 1
    z = reference.counts(reference.hashes(winners[train], M), codes[train], range(n_classes))
    novelty = reference.novelty(reference.filters(z, c), winners[test])
    novelty[:, np.bincount(codes[train], minlength=n_classes) == 0] = np.inf
    return novelty


@pytest.mark.parametrize(("rho", "most_rows"), [(1, 100), (4, 2**16), (6, 100), (6, 2**31)])
def test_folds_are_subtracted(hashed, rng, n_classes, rho, most_rows):
    """Every fold, every decay, fewer winners, counts of any width; and the counts are what they were afterwards."""
    winners, codes = hashed
    order = rng.permutation(60)
    pairs = [
        (order[20:], order[:20]),
        (order[:20], order[20:23]),
        (np.repeat(order[30:], 2), order[:30]),
        (order[[0, 1] * 50], order),
    ]
    held_out = HeldOutCounts(winners, codes, M, most_rows, 7, None)
    assert held_out.counts.itemsize == (2 if most_rows == 100 else 4 if most_rows == 2**16 else 8)
    held_out.grow(1)
    held_out.grow(rho)
    whole = held_out.counts.copy()
    assert_array_equal(whole.T, reference.counts(reference.hashes(winners[:, :rho], M), codes, range(n_classes)))
    for split, (train, test) in zip(fold_splits(pairs, codes), pairs, strict=True):
        with held_out.without(split):
            predicted = held_out.predict(split, DECAYS)
            for at, c in enumerate(DECAYS):
                expected = novelty_without(winners[:, :rho], codes, train, test, c)
                assert_array_equal(held_out.novelty(split, c), expected)
                first = np.ascontiguousarray(winners[test, :rho])
                assert_array_equal(predicted[at], choose(-expected, first, 7))
        assert_array_equal(held_out.counts, whole)


@pytest.mark.parametrize("rho", [1, 6])
def test_a_row_leaves_itself_out(hashed, rho):
    """As if every row had a model of its own; the only row of a class has none to be like."""
    winners, codes = hashed
    held_out = HeldOutCounts(winners, codes, M, 60, 7, None)
    held_out.grow(rho)
    (split,) = leave_one_out(codes)
    for c in (0.1, 1.0):
        novelty = held_out.novelty(split, c)
        for i in range(60):
            rest = np.flatnonzero(np.arange(60) != i)
            assert_array_equal(novelty[i], novelty_without(winners[:, :rho], codes, rest, [i], c)[0])
    assert np.isinf(novelty[17, -1]) == (codes.max() > 1)


def test_an_error_inside_gives_the_fold_back(hashed):
    """The counts are whole again whatever happens."""
    winners, codes = hashed
    held_out = HeldOutCounts(winners, codes, M, 60, 7, None)
    held_out.grow(6)
    whole = held_out.counts.copy()
    (split,) = fold_splits([(np.arange(30), np.arange(30, 60))], codes)

    def fail():
        with held_out.without(split):
            assert (held_out.counts != whole).any()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert_array_equal(held_out.counts, whole)


def test_most_rows_are_those_of_the_largest_split():
    """A row that is drawn several times counts as often."""
    codes = np.array([0, 0, 0, 1, 1])
    assert most_rows_of(leave_one_out(codes), codes) == 3
    assert most_rows_of(fold_splits([(np.array([3, 3, 4, 4, 4, 0]), np.array([1]))], codes), codes) == 5
