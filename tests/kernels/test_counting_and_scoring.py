"""Counts, weights, novelty and the choice between ties, against the reference."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import reference
from flybloom.core._kernels.count import add_counts, take_counts
from flybloom.core.counts.columns import align_columns, count_dtype
from flybloom.core.readout.filters import Filters
from flybloom.core.readout.linear import choose


def weights_of(counts, c):
    """The filters of counts."""
    return Filters(counts, counts.max(axis=0), c).weights()


def novelty_of(counts, rows, c, winners):
    """The novelty of rows."""
    return Filters(counts, rows, c).read_out(winners.shape[1], 0).scores(winners) / -winners.shape[1]


@pytest.fixture
def learned(rng):
    """Winners of 60 rows, their codes, and their counts."""
    winners = np.array([rng.permutation(30)[:6] for _ in range(60)], np.uint32)
    codes = rng.integers(0, 3, 60)
    counts = np.zeros((30, 3), np.int32)
    add_counts(winners, codes, np.ones(60, np.int64), counts, np.zeros(3, np.int64))
    return winners, codes, counts


def test_counts_are_those_of_the_reference(learned):
    """How often each component won in each class."""
    winners, codes, counts = learned
    assert_array_equal(counts.T, reference.counts(reference.hashes(winners, 30), codes, range(3)))


def test_taking_away_restores(learned, rng):
    """What is added and taken away again leaves no trace."""
    _, codes, counts = learned
    before, rows = counts.copy(), np.zeros(3, np.int64)
    more, weights = np.array([rng.permutation(30)[:6] for _ in range(5)], np.uint32), np.arange(5)
    add_counts(more, codes[:5], weights, counts, rows)
    assert_array_equal(rows, np.bincount(codes[:5], weights, 3))
    assert (counts != before).any()
    add_counts(more, codes[:5], -weights, counts, rows)
    assert not rows.any()
    assert_array_equal(counts, before)


def test_what_was_counted_can_be_taken_away_and_nothing_else(learned):
    """Rows leave as they came; a row too many, or one that leaves a count above the rows that remain, changes none."""
    winners, codes, counts = learned
    weights, rows = np.ones(60, np.int64), np.bincount(codes, minlength=3)
    assert take_counts(winners[:20], codes[:20], weights[:20], counts, rows)
    assert_array_equal(counts.T, reference.counts(reference.hashes(winners[20:], 30), codes[20:], range(3)))
    assert_array_equal(rows, np.bincount(codes[20:], minlength=3))
    before, rows_before = counts.copy(), rows.copy()
    assert not take_counts(winners, codes, weights, counts, rows)
    only = np.zeros((30, 3), np.int32)
    add_counts(np.array([[0, 1]], np.uint32), np.array([1]), np.array([2]), only, np.zeros(3, np.int64))
    assert not take_counts(np.array([[0, 2]], np.uint32), np.array([1]), np.array([1]), only, np.array([0, 2, 0]))
    only[2, 1] = 1  # now each winner has been counted, but the other one of the row that remains twice
    assert not take_counts(np.array([[0, 2]], np.uint32), np.array([1]), np.array([1]), only, np.array([0, 2, 0]))
    assert only[:3, 1].tolist() == [2, 2, 1]
    assert_array_equal(counts, before)
    assert_array_equal(rows, rows_before)


@pytest.mark.parametrize("c", [0.01, 0.4, 0.9, 1.0])
def test_novelty_is_that_of_the_reference(learned, c):
    """Bit for bit, weights included."""
    winners, codes, counts = learned
    w = reference.filters(counts.T, c)
    assert_array_equal(weights_of(counts, c), w.T)
    assert_array_equal(novelty_of(counts, np.bincount(codes), c, winners), reference.novelty(w, winners))


def test_weights_of_large_counts_fall_slowly_to_zero():
    """So that classes in which a component has won very often still differ in how often."""
    counts = np.array([[0, 10**6], [1, 5], [30, 60], [1000, 2000]], np.int32)
    weights = weights_of(counts, 0.9)
    assert_allclose(weights, (1 - 0.9) ** counts.astype(float), rtol=0, atol=2.0**-23)
    assert weights[0, 1] == 0
    assert weights[2, 0] - weights[2, 1] == 15 / 2**30
    assert 0 == weights[3, 1] < weights[3, 0] < weights[2, 1]


@pytest.mark.parametrize("c", [0.1, 0.4, 0.5, 0.9, 1.0, 1e-300])
def test_the_table_of_weights_is_no_longer_than_it_must_be(learned, c):
    """Billions of rows of a class need no billions of weights; what lies beyond the table equals its end."""
    winners, codes, counts = learned
    rows = np.bincount(codes)
    expected = novelty_of(counts, rows, c, winners)
    assert_array_equal(novelty_of(counts, rows + 2**62, c, winners), expected)
    many = np.array([[0, 20_000], [1, 19_999]])
    assert_array_equal(weights_of(many, c), reference.filters(many, c))


def test_the_least_novel_class_is_chosen(learned):
    """Where there is no tie, it is the smallest novelty."""
    winners, _, _ = learned
    novelty = np.linspace(0, 1, 180).reshape(60, 3)[:, ::-1].copy()
    assert_array_equal(choose(-novelty, winners, 5), np.full(60, 2))


def test_ties_are_broken_evenly_and_only_among_the_tied(rng):
    """Two of three classes tie: each gets half of many rows, the third none."""
    winners = rng.integers(0, 10**6, (4000, 8)).astype(np.uint32)
    novelty = np.tile([0.25, 0.5, 0.25], (4000, 1))
    share = np.bincount(choose(-novelty, winners, 1), minlength=3) / 4000
    assert share[1] == 0
    assert abs(share[0] - 0.5) < 0.04


def test_ties_depend_on_seed_and_winners_but_not_on_their_order(rng):
    """The same row always gets the same class; another seed may choose another."""
    winners = rng.integers(0, 10**6, (200, 8)).astype(np.uint32)
    novelty = np.full((200, 4), 0.5)
    chosen = choose(-novelty, winners, 1)
    assert_array_equal(choose(-novelty, winners[:, ::-1].copy(), 1), chosen)
    assert_array_equal(choose(-novelty[7:8], winners[7:8], 1), chosen[7:8])
    assert (choose(-novelty, winners, 2) != chosen).any()


@given(st.integers(0, 2**32), st.floats(0.001, 1.0))
def test_the_order_of_winners_changes_no_bit(seed, c):
    """Weights lie on a grid, so no sum is rounded: classes with the same counts at other winners tie exactly."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 40, (30, 3)).astype(np.int32)
    winners = rng.permutation(30)[:12].astype(np.uint32)[None]
    counts[winners[0], 1] = counts[rng.permutation(winners[0]), 0]
    novelty = novelty_of(counts, counts.max(axis=0), c, winners)
    assert novelty[0, 0] == novelty[0, 1]
    assert_array_equal(novelty_of(counts, counts.max(axis=0), c, rng.permuted(winners, axis=1)), novelty)


def test_counts_become_wider_before_they_could_overflow():
    """A class of more than 2^31 - 1 rows gets 64-bit counts."""
    assert count_dtype(np.array([2**31 - 1])) is np.int32
    assert count_dtype(np.array([1, 2**31])) is np.int64


def test_new_classes_get_zeros_in_their_place():
    """Counts of known classes move to where their labels are sorted now."""
    counts = np.array([[1, 2], [3, 4]])
    arranged = align_columns(counts, np.array(["b", "d"]), np.array(["a", "b", "c", "d"]), axis=1)
    assert_array_equal(arranged, [[0, 1, 0, 2], [0, 3, 0, 4]])
