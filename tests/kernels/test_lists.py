"""Scores by lists of classes, against scores by the table and against the reference, bit for bit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import reference
from flybloom.core.readout import filters
from flybloom.core.readout import scorer as scoring
from flybloom.core.readout.scorer import Scorer, listed

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


def by_lists(counts, decay, monkeypatch):
    """A scorer that makes lists however little they pay."""
    monkeypatch.setattr(scoring, "MANY_CLASSES", 1)
    monkeypatch.setattr(scoring, "MAX_LISTED", 1)
    scorer = Scorer(counts, counts.max(axis=0), decay, n_lookups=10**6)
    assert scorer._lists is not None
    return scorer


def test_lists_hold_what_is_not_zero(sparse_counts, monkeypatch):
    """Every class with a win once, in order, and its place in a table that ends at two; at any number of threads."""
    monkeypatch.setattr(scoring, "MAX_LISTED", 1)
    for n_jobs in (1, 2):
        lists = listed(sparse_counts, 2, n_jobs)
        for j in range(M):
            at = slice(lists.starts[j], lists.starts[j + 1])
            assert_array_equal(lists.classes[at], np.flatnonzero(sparse_counts[j]))
            assert_array_equal(lists.places[at], np.minimum(sparse_counts[j][sparse_counts[j] > 0], 2))
        assert lists.starts[-1] == lists.classes.size


@pytest.mark.parametrize("decay", [1e-300, 1e-15, 0.01, 0.4, 0.9, 1.0])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_scores_by_lists_are_those_of_the_reference(hashed, sparse_counts, decay, dtype, monkeypatch):
    """Novelty and class, ties included, whichever way they are found."""
    counts = sparse_counts.astype(dtype)
    table, lists = Scorer(counts, counts.max(axis=0), decay), by_lists(counts, decay, monkeypatch)
    assert table._lists is None
    expected = reference.novelty(reference.filters(counts.T, decay), hashed)
    for scorer in (table, lists):
        assert_array_equal(scorer.novelty(hashed), expected)
        assert_array_equal(scorer.most_familiar(hashed, 5), filters.most_familiar(expected, hashed, 5))


def test_rows_that_nobody_has_met_tie_everywhere(hashed, monkeypatch):
    """No list has anything for them: all classes are as novel as can be, and all are chosen from."""
    counts = np.zeros((M, CLASSES), np.int32)
    scorer = by_lists(counts, 0.4, monkeypatch)
    assert_array_equal(scorer.novelty(hashed), np.ones((30, CLASSES)))
    expected = filters.most_familiar(np.ones((30, CLASSES)), hashed, 3)
    assert_array_equal(scorer.most_familiar(hashed, 3), expected)
    assert np.unique(expected).size > 10


def test_classes_are_chosen_a_few_rows_at_a_time(hashed, sparse_counts, monkeypatch):
    """The novelties that are held meanwhile are bounded, and their number changes nothing."""
    scorer = by_lists(sparse_counts, 0.4, monkeypatch)
    expected = scorer.most_familiar(hashed, 1)
    for n_values in (1, 7 * CLASSES):
        monkeypatch.setattr(scoring, "VALUES_AT_ONCE", n_values)
        assert_array_equal(scorer.most_familiar(hashed, 1), expected)
        assert_array_equal(Scorer(sparse_counts, sparse_counts.max(axis=0), 0.4).most_familiar(hashed, 1), expected)


def test_lists_are_made_only_where_they_pay(sparse_counts):
    """Enough classes, rows and zeros."""
    rows = sparse_counts.max(axis=0)
    enough = scoring.WORTH_LISTING * M
    assert Scorer(sparse_counts, rows, 0.4, n_lookups=enough)._lists is not None
    assert Scorer(sparse_counts, rows, 0.4, n_lookups=enough - 1)._lists is None
    few = np.ascontiguousarray(sparse_counts[:, : scoring.MANY_CLASSES - 1])
    assert Scorer(few, few.max(axis=0), 0.4, n_lookups=enough)._lists is None
    assert Scorer(np.ones_like(sparse_counts), np.ones(CLASSES, np.int64), 0.4, n_lookups=enough)._lists is None
