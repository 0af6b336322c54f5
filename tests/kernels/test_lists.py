"""Scores by lists of classes, against scores by the table and against the reference, bit for bit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import reference
from flybloom.core.readout import filters as made
from flybloom.core.readout import linear
from flybloom.core.readout.filters import Filters, LookedUpWeights
from flybloom.core.readout.linear import ListedWeights, TableWeights

M, RHO, CLASSES = 40, 9, 70


@pytest.fixture
def hashed(rng):
    """Winners of 30 rows; some rows are the same but for their order."""
    winners = np.array([rng.permutation(M)[:RHO] for _ in range(30)], np.uint32)
    winners[20:] = winners[:10, ::-1]
    return winners


@pytest.fixture
def sparse_counts(rng):
    """Counts of which one in twenty is not zero; no row has won a component in the last class."""
    counts = np.where(rng.random((M, CLASSES)) < 0.05, rng.integers(1, 5, (M, CLASSES)), 0).astype(np.int32)
    counts[:, -1] = 0
    return counts


def by_lists(counts, decay, monkeypatch, n_jobs=None, weights=None, seed=5):
    """A read-out that makes lists however little they pay."""
    with monkeypatch.context() as patched:
        patched.setattr(made, "MANY_CLASSES", 1)
        patched.setattr(made, "MAX_LISTED", 1)
        read_out = Filters(counts, counts.max(axis=0), decay, weights).read_out(RHO, seed, 10**6, n_jobs)
    assert isinstance(read_out.weights, ListedWeights)
    return read_out


@pytest.mark.parametrize("weights", [None, np.linspace(0.2, 3, CLASSES)])
def test_lists_hold_what_is_not_zero(sparse_counts, weights, monkeypatch):
    """Every class with a win once, in order, and its weight, also of classes that count more; at any threads."""
    table = Filters(sparse_counts, sparse_counts.max(axis=0), 0.4, weights).in_units()
    for n_jobs in (1, 2):
        lists = by_lists(sparse_counts, 0.4, monkeypatch, n_jobs, weights).weights
        for j in range(M):
            at = slice(lists.starts[j], lists.starts[j + 1])
            assert_array_equal(lists.classes[at], np.flatnonzero(sparse_counts[j]))
            assert_array_equal(lists.weights[at], table[j, lists.classes[at]])
        assert lists.starts[-1] == lists.classes.size


@pytest.mark.parametrize("decay", [1e-300, 1e-15, 0.01, 0.4, 0.9, 1.0])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_scores_by_lists_are_those_of_the_reference(hashed, sparse_counts, decay, dtype, monkeypatch):
    """Novelty and class, ties included, whichever way they are found."""
    counts = sparse_counts.astype(dtype)
    filters = Filters(counts, counts.max(axis=0), decay)
    looked_up, table, lists = (
        filters.read_out(RHO, 5),
        filters.read_out(RHO, 5, M),
        by_lists(counts, decay, monkeypatch),
    )
    assert isinstance(looked_up.weights, LookedUpWeights)
    assert isinstance(table.weights, TableWeights)
    expected = reference.novelty(reference.filters(counts.T, decay), hashed)
    for read_out in (looked_up, table, lists):
        assert_array_equal(read_out.scores(hashed) / -RHO, expected)
        assert_array_equal(read_out.labels(hashed), linear.choose(-expected, hashed, 5))


def test_rows_that_nobody_has_met_tie_everywhere(hashed, monkeypatch):
    """No list has anything for them: all classes are as novel as can be, and all are chosen from."""
    read_out = by_lists(np.zeros((M, CLASSES), np.int32), 0.4, monkeypatch, seed=3)
    assert_array_equal(read_out.scores(hashed), np.full((30, CLASSES), -RHO))
    expected = linear.choose(np.ones((30, CLASSES)), hashed, 3)
    assert_array_equal(read_out.labels(hashed), expected)
    assert np.unique(expected).size > 10


def test_classes_are_chosen_a_few_rows_at_a_time(hashed, sparse_counts, monkeypatch):
    """The scores that are held meanwhile are bounded, and their number changes nothing."""
    read_out = by_lists(sparse_counts, 0.4, monkeypatch, seed=1)
    expected = read_out.labels(hashed)
    for n_values in (1, 7 * CLASSES):
        monkeypatch.setattr(linear, "VALUES_AT_ONCE", n_values)
        assert_array_equal(read_out.labels(hashed), expected)


def test_lists_are_made_only_where_they_pay(sparse_counts):
    """Enough classes, rows and zeros."""

    def kind(counts, n_lookups):
        return type(Filters(counts, counts.max(axis=0), 0.4).read_out(RHO, 0, n_lookups).weights)

    enough = made.WORTH_LISTING * M
    assert kind(sparse_counts, enough) is ListedWeights
    assert kind(sparse_counts, enough - 1) is TableWeights
    assert kind(np.ascontiguousarray(sparse_counts[:, : made.MANY_CLASSES - 1]), enough) is TableWeights
    assert kind(np.ones_like(sparse_counts), enough) is TableWeights
    assert kind(sparse_counts, M - 1) is LookedUpWeights
