"""Powers, tables and novelties with a weight for each class, against the reference."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import reference
from flybloom.core._kernels.count import add_counts
from flybloom.core.readout.filters import Filters, decay_table, table_by_class
from flybloom.core.readout.leave_one_out import LeaveOneOut
from flybloom.core.readout.linear import choose
from flybloom.estimators.tuning.held_out import Hashed, Held, fold_splits, leave_one_out

M, DECAYS = 30, [0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0]
WEIGHTS = [1.0, 2.0, 3.0, 0.5, 0.3, 7.25, 1 / 3, 1000.0, 1e-4, 2.0**-41, 12345.678, 1e300]


@pytest.fixture
def hashed(rng):
    """Winners of 60 rows of four classes of very different sizes, the last of a single row."""
    winners = np.array([rng.permutation(M)[:6] for _ in range(60)], np.uint32)
    return winners, rng.permutation(np.repeat([0, 1, 2, 3], [40, 14, 5, 1]))


def novelty_without(winners, codes, train, test, c, weights=None):
    """Learn the training rows alone, with given weights or balanced ones; what they lack is infinitely novel."""
    z = reference.counts(reference.hashes(winners[train], M), codes[train], range(4))
    is_known = np.bincount(codes[train], minlength=4) > 0
    of_class = np.ones(4)
    of_class[is_known] = reference.balanced_weights(codes[train]) if weights is None else np.array(weights)[is_known]
    novelty = reference.novelty(reference.weighted_filters(z, c, of_class), winners[test])
    novelty[:, ~is_known] = np.inf
    return novelty


@pytest.mark.parametrize("c", [1e-3, 0.1, 0.4, 0.5, 0.99, 1.0])
@pytest.mark.parametrize("weight", WEIGHTS)
def test_weights_are_powers(c, weight):
    """As near as the grid has them, those of the reference, and ever less from one count to the next."""
    counts = np.arange(200)
    table = table_by_class(c, np.array([199]), np.array([weight]))
    found = table.values[np.minimum(counts, table.lasts[0])]
    assert_array_equal(found, reference.weighted_filters(counts[None], c, [weight])[0])
    assert_allclose(found, (1.0 - c) ** (counts * weight), rtol=0, atol=2.0**-23)
    assert (np.diff(found) <= 0).all()
    assert_array_equal(found * 2.0**30, np.rint(found * 2.0**30))


@pytest.mark.parametrize("c", [0.1, 0.4, 0.5, 1.0])
def test_tables_are_those_without_weights_where_all_weigh_one(c):
    """Each as long as its class needs; a class of billions needs no billions of entries."""
    most = np.array([0, 3, 10**18])
    tables, starts, lasts = table_by_class(c, most, np.ones(3))
    for start, last, n in zip(starts, lasts, most, strict=True):
        assert_array_equal(tables[start : start + last + 1], decay_table(c, n + 1))
    assert len(tables) == lasts.sum() + 3


@pytest.mark.parametrize("c", DECAYS)
def test_filters_and_novelty(hashed, c):
    """Of given weights; the shared table of no weights gives what weights of one give, bit for bit."""
    winners, codes = hashed
    rows = np.bincount(codes)
    counts = np.zeros((M, 4), np.int32)
    add_counts(winners, codes, np.ones(60, np.int64), counts, np.zeros(4, np.int64))
    for weights in (np.array([0.4, 1.1, 3.0, 15.0]), np.ones(4), None):
        w = reference.weighted_filters(counts.T, c, np.ones(4) if weights is None else weights)
        found = Filters(counts, rows, c, weights)
        assert_array_equal(found.weights(), w.T)
        assert_array_equal(found.read_out(6, 0).scores(winners) / -6, reference.novelty(w, winners))


@pytest.mark.parametrize("class_weight", ["balanced", {0: 0.2, 2: 5}])
@pytest.mark.parametrize("c", [0.3, 1.0])
def test_left_out(hashed, class_weight, c):
    """Without the row itself the other weights change as well; a class that is left without rows is one less."""
    winners, codes = hashed
    counts = Hashed(winners, codes, np.ones(60, np.int64), M).counts()
    found = LeaveOneOut(counts, c, class_weight).novelty(winners, codes)
    given = None if class_weight == "balanced" else [0.2, 1, 5, 1]
    for i in range(60):
        rest = np.flatnonzero(np.arange(60) != i)
        expected = novelty_without(winners, codes, rest, [i], c, given)[0]
        assert_array_equal(found[i], np.minimum(expected, 1.0))


@pytest.mark.parametrize("class_weight", ["balanced", {0: 0.2, 2: 5}])
def test_held_out(hashed, rng, class_weight):
    """Folds, draws with repetition, and single rows; all decays."""
    winners, codes = hashed
    order, ones = rng.permutation(60), np.ones(60, np.int64)
    pairs = [(order[20:], order[:20]), (order[:20], order[20:23]), (np.repeat(order[30:], 2), order[:30])]
    rows = Hashed(winners, codes, ones, M)
    given = None if class_weight == "balanced" else [0.2, 1, 5, 1]
    for split, (train, test) in zip(fold_splits(pairs, ones), pairs, strict=True):
        held = Held(rows, split, rows.without(rows.counts(), split), class_weight, seed=7)
        for c in DECAYS:
            expected = novelty_without(winners, codes, train, test, c, given)
            assert_array_equal(held.novelty(c, 4), expected)
            assert_array_equal(held.predict(c), choose(-expected, winners[test], 7))
    (split,) = leave_one_out(ones)
    for c in (0.1, 1.0):
        novelty = Held(rows, split, rows.counts(), class_weight, seed=7).novelty(c, 4)
        for i in range(60):
            rest = np.flatnonzero(np.arange(60) != i)
            assert_array_equal(novelty[i], novelty_without(winners, codes, rest, [i], c, given)[0])
