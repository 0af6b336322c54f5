"""The fast transform against three loops, bit for bit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.linalg import hadamard

import reference
from flybloom.estimators.densify import butterflies

SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 512]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", SIZES)
def test_butterflies_add_in_the_order_of_the_textbook(rng, size, dtype):
    """Values of all magnitudes, so that another order would round otherwise; each column on its own."""
    values = (rng.standard_normal((size, 3)) * 10.0 ** rng.integers(-3, 4, (size, 3))).astype(dtype)
    expected = np.column_stack([reference.hadamard(column) for column in values.T])
    butterflies(values)
    assert_array_equal(values, expected)


@pytest.mark.parametrize("size", SIZES)
def test_whole_numbers_give_the_product_with_the_matrix(rng, size):
    """Exactly, with the matrix that scipy writes down."""
    values = rng.integers(-99, 100, (size, 2)).astype(np.float64)
    expected = hadamard(size) @ values
    butterflies(values)
    assert_array_equal(values, expected)
