"""Leverage of many rows, from the inverse of a factor, is that of its definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg

from flybloom.core.readout.leverage import Leverages


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-12)])
@pytest.mark.parametrize(("m", "rho", "n"), [(5, 2, 30), (32, 32, 40), (64, 8, 50), (131, 16, 90)])
def test_leverage_is_that_of_dense_hashes(dtype, tolerance, m, rho, n):
    """For less than a strip of components, whole strips, and rows whose components all win."""
    rng = np.random.default_rng(m)
    winners = np.sort(rng.permuted(np.tile(np.arange(m, dtype=np.uint32), (n, 1)), axis=1)[:, :rho], axis=1)
    hashes = np.zeros((n, m))
    np.put_along_axis(hashes, winners.astype(np.int64), 1.0, axis=1)
    mean = hashes.mean(axis=0)
    centred = hashes - mean
    equations = centred.T @ centred + np.eye(m)
    factor = np.asfortranarray(linalg.cholesky(equations).astype(dtype))
    expected = np.einsum("ij,ij->i", centred @ np.linalg.inv(equations), centred) + 1 / n
    assert_allclose(Leverages(factor, mean, n).of_rows(winners), expected, rtol=0, atol=tolerance)
