"""The fast transform against three loops, bit for bit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.linalg import hadamard

import reference
from flybloom.core import _kernels

SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 512]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", SIZES)
def test_butterflies_add_in_the_order_of_the_textbook(rng, size, dtype):
    """Values of all magnitudes, so that another order would round otherwise."""
    values = (rng.standard_normal(size) * 10.0 ** rng.integers(-3, 4, size)).astype(dtype)
    expected = reference.hadamard(values)
    _kernels.hadamard.butterflies(values)
    assert_array_equal(values, expected)


@pytest.mark.parametrize("factor", [2, 4, 8])
def test_more_values_than_a_chunk(rng, factor):
    """Distances within chunks come first, then those across; the order for each value stays."""
    values = rng.standard_normal(factor * _kernels.hadamard.CHUNK).astype(np.float32)
    expected = reference.hadamard(values)
    _kernels.hadamard.butterflies(values)
    assert_array_equal(values, expected)


@pytest.mark.parametrize("size", SIZES)
def test_whole_numbers_give_the_product_with_the_matrix(rng, size):
    """Exactly, with the matrix that scipy writes down."""
    values = rng.integers(-99, 100, size).astype(np.float64)
    expected = hadamard(size) @ values
    _kernels.hadamard.butterflies(values)
    assert_array_equal(values, expected)


@pytest.mark.parametrize(("d", "width"), [(5, 8), (8, 3), (1, 8), (8, 8), (17, 32)])
def test_rows_are_padded_multiplied_and_cut(rng, d, width):
    """Each row on its own, with nothing left over from the one before."""
    size = 1 << (max(d, width) - 1).bit_length()
    rows, before, after = rng.standard_normal((7, d)), rng.standard_normal(d), rng.standard_normal(width)
    out = np.full((7, width), np.nan)
    _kernels.hadamard.transform(rows, before, after, size, out)
    padded = np.zeros((7, size))
    padded[:, :d] = rows * before
    assert_array_equal(out, [reference.hadamard(row)[:width] * after for row in padded])
