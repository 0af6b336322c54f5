"""Filling gaps: the kernel and its twin in numpy give the same bits, and elementary functions their values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from flybloom._internal.elementary import exponential, logarithm
from flybloom.core import _kernels
from flybloom.core._kernels import _plain


def normals(rng, n_normals, d):
    """Normals, and rows with gaps; one has nothing else, and one has none."""
    factors = rng.normal(size=(n_normals, d, d))
    precisions = np.linalg.inv(factors @ factors.transpose(0, 2, 1) + 0.05 * np.eye(d)).astype(np.float32)
    rows = rng.normal(size=(9, d)).astype(np.float32)
    rows[rng.random(rows.shape) < 0.4] = np.nan
    rows[0], rows[1] = np.nan, 1.0
    return rows, rng.normal(size=(n_normals, d)).astype(np.float32), precisions, rng.normal(size=n_normals)


@given(st.integers(0, 2**16), st.integers(1, 5), st.integers(1, 8))
@settings(max_examples=60, deadline=None)
def test_fill_missing(seed, n_normals, d):
    """Whatever is missing."""
    given_ = normals(np.random.default_rng(seed), n_normals, d)
    found = []
    for home in (_kernels.fill, _plain):
        out = np.empty_like(given_[0])
        home.fill_missing(*given_, out)
        found.append(out)
    assert_array_equal(found[0].view(np.int32), found[1].view(np.int32))
    assert np.isfinite(found[0]).all()
    there = ~np.isnan(given_[0])
    assert_array_equal(found[0][there], given_[0][there])


def test_rows_are_filled_in_parts(monkeypatch):
    """Matrices of few rows at a time, of any number, give the same."""
    given_ = normals(np.random.default_rng(0), 2, 5)
    whole, parts = np.empty_like(given_[0]), np.empty_like(given_[0])
    _plain.fill_missing(*given_, whole)
    monkeypatch.setattr(_plain, "VALUES_AT_ONCE", 60)
    _plain.fill_missing(*given_, parts)
    assert_array_equal(parts, whole)


@pytest.mark.parametrize("d", [1, 3, 6])
def test_inverse_determinant_and_direction(d):
    """Of a covariance, as numpy has them."""
    factor = np.random.default_rng(d).normal(size=(d, d))
    covariance = factor @ factor.T + 0.1 * np.eye(d)
    precision, direction = np.empty((d, d)), np.empty(d)
    log = _kernels.fill.invert_covariance(covariance, precision)
    assert_allclose(precision, np.linalg.inv(covariance), rtol=1e-9, atol=1e-9)
    assert_allclose(log, np.linalg.slogdet(covariance)[1], atol=1e-12)
    deviation = _kernels.fill.longest_direction(covariance, direction)
    assert_allclose(np.linalg.norm(direction), 1.0)
    assert_allclose(deviation**2, np.linalg.eigvalsh(covariance)[-1], rtol=0.02)


@given(st.lists(st.floats(-750, 0), min_size=1), st.lists(st.floats(1e-300, 1e300), min_size=1))
def test_elementary_functions_are_right_to_the_last_bits(small, positive):
    """The exponential of what is very small is 0."""
    small, positive = np.array(small), np.array(positive)
    assert_allclose(exponential(small), np.where(small < -700, 0.0, np.exp(small)), rtol=1e-15)
    assert_allclose(logarithm(positive), np.log(positive), rtol=2e-15, atol=1e-15)
