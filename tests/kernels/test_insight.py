"""The kernels behind insight, against the reference, with and without compilation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import reference
from flybloom.core._kernels.explain import add_products, add_profiles, add_shares
from flybloom.core.counts.by_class import ClassCounts
from flybloom.core.readout.filters import Filters
from flybloom.core.readout.leave_one_out import LeaveOneOut


@pytest.fixture
def learned(rng):
    """Counts of 12 components in 3 classes, and winners of 7 rows."""
    counts = rng.integers(0, 4, (12, 3)).astype(np.int32)
    winners = np.array([rng.permutation(12)[:4] for _ in range(7)], np.uint32)
    return counts, winners


@pytest.mark.parametrize("c", [0.3, 1.0])
def test_products(learned, c):
    """Inner products of the filters."""
    counts, _ = learned
    out = np.zeros((3, 3))
    weights = np.array([0.3, 1.0, 2.5])
    add_products(Filters(counts, counts.max(axis=0), c, weights).weights(), out)
    w = reference.weighted_filters(counts.T, c, weights)
    assert_allclose(out, w @ w.T, rtol=1e-14)


@pytest.mark.parametrize("c", [0.3, 1.0])
def test_left_out(learned, c):
    """One count less in the own class; where there is none to take, the score stays."""
    counts, winners = learned
    codes = np.array([0, 1, 2, 0, 1, 2, 0])
    out = LeaveOneOut(ClassCounts(np.arange(3), np.full(3, 8), counts, 4), c).novelty(winners, codes)
    for row in range(7):
        fewer = counts.copy()
        fewer[winners[row], codes[row]] = np.maximum(fewer[winners[row], codes[row]] - 1, 0)
        expected = Filters(fewer, np.full(3, 8), c).read_out(4, 0).scores(winners[row : row + 1]) / -4
        assert_array_equal(out[row], expected[0])


def test_shares_and_profiles(learned, rng):
    """Both traced back through signed connections."""
    counts, winners = learned
    rows = rng.integers(-2, 3, (7, 5)).astype(np.float64)
    connections = np.array([rng.permutation(5)[:3] for _ in range(12)], np.uint32)
    signs = rng.choice([-1, 1], (12, 3)).astype(np.int8)
    codes, weights, out = np.arange(7) % 3, np.array([0.3, 1.0, 2.5]), np.zeros((7, 5))
    w = reference.weighted_filters(counts.T, 0.4, weights)
    add_shares(rows, winners, codes, connections, signs, np.ascontiguousarray(w.T), out)
    expected = [
        reference.feature_shares(x, j, w[code] * 4, connections, signs)  # shares of a sum over 4 winners
        for x, j, code in zip(rows, winners, codes, strict=True)
    ]
    assert_array_equal(out, expected)
    values, profiles = rng.random((12, 3)), np.zeros((3, 5))
    add_profiles(values, connections, signs, profiles)
    assert_array_equal(profiles, reference.class_profiles(values.T, connections, signs, 5))
