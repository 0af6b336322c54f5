"""Scores from a weight for each component and class: exact sums, whatever the order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import reference
from flybloom.core.readout.linear import DerivedWeights, LinearReadout, TableWeights, in_units, unit_for


@given(st.integers(0, 9), st.integers(1, 60), st.integers(1, 40), st.integers(0, 2**32))
def test_scores_are_exact_sums(n, m, n_classes, seed):
    """Fractions, in the order of the winners and backwards, from a table and from what is derived."""
    rng = np.random.default_rng(seed)
    rho = rng.integers(1, m, endpoint=True)
    winners = np.array([rng.permutation(m)[:rho] for _ in range(n)], np.uint32).reshape(n, rho)
    scale = 10.0 ** rng.integers(-9, 9)
    weights, intercept = rng.standard_cauchy((m, n_classes)) * scale, rng.standard_normal(n_classes) * scale
    unit = unit_for(weights, intercept)
    weights, intercept = in_units(weights, unit), np.rint(intercept / unit)
    expected = reference.linear_scores(winners, weights * unit, intercept * unit)
    for stored in (TableWeights.of(weights), DerivedWeights(weights.__getitem__)):
        read_out = LinearReadout(stored, intercept, unit, seed)
        assert_array_equal(read_out.scores(winners), expected)
        assert_array_equal(read_out.scores(winners[:, ::-1].copy()), expected)
        assert_array_equal(expected[np.arange(n), read_out.labels(winners)], expected.max(axis=1))


@pytest.mark.parametrize("largest", [0.0, 1e-45, 1e-30, 0.3, 1.0, 1 - 2**-30, 1e30])
def test_weights_are_rounded_to_24_digits_of_the_largest(rng, largest):
    """As near as can be, and float32 holds them, as in files."""
    weights = rng.uniform(-1, 1, (50, 3)) * largest
    weights[0, 0] = largest
    unit = unit_for(weights, np.zeros(3))
    assert unit == 2.0 ** ((max(np.frexp(largest)[1], -100) if largest else -100) - 24)
    as_kept = in_units(weights, unit)
    assert_array_equal((as_kept * unit).astype(np.float32), as_kept * unit)
    assert (np.abs(as_kept * unit - weights) <= unit / 2).all()
    assert np.abs(as_kept).max() <= 2**24


@pytest.mark.parametrize("largest", [1e-9, 1.0, 1e9])
def test_an_intercept_has_room_beside_the_weights(largest):
    """A float64 holds each sum of weights and an intercept, however much larger that is."""
    unit = unit_for(np.array([1.0]), np.array([largest]))
    assert largest / unit <= 2**40
    assert unit == (2.0**-23 if largest <= 1 else 2.0**-10)


@pytest.mark.parametrize("n_classes", [1, 16, 17])
def test_padding_is_zeros_on_cache_lines(rng, n_classes):
    """A row of 16 classes is one line."""
    weights = rng.integers(-9, 10, (7, n_classes)).astype(np.int32)
    wide = TableWeights.of(weights).padded
    assert wide.shape == (7, 16 if n_classes <= 16 else 32)
    assert wide.ctypes.data % 64 == 0
    assert_array_equal(wide[:, :n_classes], weights)
    assert not wide[:, n_classes:].any()
