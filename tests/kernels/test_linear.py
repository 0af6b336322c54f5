"""Scores from a weight for each component and class: exact sums, whatever the order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import reference
from flybloom.core._kernels import linear
from flybloom.core.readout.linear_weights import padded, rounded


def scores(winners, weights, intercept):
    """What the kernel writes."""
    out = np.empty((len(winners), weights.shape[1]))
    linear.linear_scores(winners, padded(weights), intercept, out)
    return out


@given(st.integers(0, 9), st.integers(1, 60), st.integers(1, 40), st.integers(0, 2**32))
def test_scores_are_exact_sums_rounded_once(n, m, n_classes, seed):
    """Fractions, in the order of the winners and backwards."""
    rng = np.random.default_rng(seed)
    rho = rng.integers(1, m, endpoint=True)
    winners = np.array([rng.permutation(m)[:rho] for _ in range(n)], np.uint32).reshape(n, rho)
    scale = 10.0 ** rng.integers(-9, 9)
    weights = rounded(rng.standard_cauchy((m, n_classes)) * scale)
    intercept = rng.standard_normal(n_classes) * scale
    expected = reference.linear_scores(winners, weights, intercept)
    assert_array_equal(scores(winners, weights, intercept), expected)
    assert_array_equal(scores(winners[:, ::-1].copy(), weights, intercept), expected)


@pytest.mark.parametrize("largest", [0.0, 1e-45, 1e-30, 0.3, 1.0, 1 - 2**-30, 1e30])
def test_weights_are_rounded_to_24_digits_of_the_largest(rng, largest):
    """All are multiples of one unit, as near as can be, and the largest has at most 24 binary digits."""
    weights = rng.uniform(-1, 1, (50, 3)) * largest
    weights[0, 0] = largest
    as_kept = rounded(weights)
    assert as_kept.dtype == np.float32
    unit = 2.0 ** (max(np.frexp(largest)[1], -100) - 24)
    assert (np.abs(as_kept.astype(np.float64) - weights) <= unit / 2).all()
    whole = as_kept.astype(np.float64) / unit
    assert_array_equal(whole, np.rint(whole))
    assert np.abs(whole).max() <= 2**24


def test_rounding_twice_changes_nothing(rng):
    """Rounded weights are what they are; so are none at all."""
    weights = rounded(rng.standard_normal((40, 5)))
    assert_array_equal(rounded(weights), weights)
    assert rounded(np.empty((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("n_classes", [1, 16, 17])
def test_padding_is_zeros_on_cache_lines(rng, n_classes):
    """A row of 16 classes is one line."""
    weights = rounded(rng.standard_normal((7, n_classes)))
    wide = padded(weights)
    assert wide.shape == (7, 16 if n_classes <= 16 else 32)
    assert wide.ctypes.data % 64 == 0
    assert_array_equal(wide[:, :n_classes], weights)
    assert not wide[:, n_classes:].any()
