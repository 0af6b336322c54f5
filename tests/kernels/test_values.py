"""Sums of values and of their products, added in every way, against dense matrices of Python's integers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import reference
from flybloom._internal.hashed import LARGEST
from flybloom.core._kernels import values as kernels
from flybloom.core.counts.values import ROWS, TILE, add_products
from flybloom.core.hashing.products import Products
from flybloom.core.hashing.sizes import most_components


def triangle(values, weights):
    """The sums of products, in integers that have no limit."""
    values = values.astype(object)
    return reference.triangle((values.T * weights.astype(object)) @ values)


@st.composite
def blocks(draw):
    """Values of a block and weights of its rows."""
    n, m = draw(st.integers(1, 20)), draw(st.integers(1, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    largest = draw(st.sampled_from([1, 5, 2**29]))
    return rng.integers(-LARGEST, LARGEST, (n, m), np.int8, endpoint=True), rng.integers(0, largest, n, endpoint=True)


@given(blocks(), st.integers(1, 3))
def test_sums_are_exact_whatever_the_weights(block, n_classes):
    """Row by row, and by BLAS."""
    values, weights = block
    codes = np.arange(len(values)) % n_classes
    m = values.shape[1]
    sums, rows, products = (
        np.zeros((n_classes, m), np.int64),
        np.zeros(n_classes, np.int64),
        np.zeros(m * (m + 1) // 2, np.int64),
    )
    kernels.add_rows(values, codes, weights, sums, rows, products)
    expected = triangle(values, weights)
    assert_array_equal(products, expected)
    assert_array_equal(rows, np.bincount(codes, weights, n_classes))
    again = np.zeros_like(sums)
    kernels.add_sums(values, codes, weights, again)
    for k in range(n_classes):
        own = (values[codes == k].astype(object) * weights[codes == k, None]).sum(axis=0)
        assert sums[k].tolist() == again[k].tolist() == np.broadcast_to(own, m).tolist()
    by_blas = np.zeros_like(products)
    add_products(values, weights, by_blas)
    assert_array_equal(by_blas, expected)


@pytest.mark.parametrize("largest", [1, 2**29])
def test_the_largest_sums_of_a_block_are_exact(largest):
    """All values as large as they can be, in as many rows as BLAS adds together, in more than one tile."""
    m = TILE + 8
    values = np.full((ROWS, m), LARGEST, np.int8)
    values[:, 1::2] = -LARGEST
    values[:3, 5] = 1, -1, 3
    weights = np.full(ROWS, largest)
    products = np.zeros(m * (m + 1) // 2, np.int64)
    add_products(values, weights, products, 2)
    wide = values.astype(np.int64)
    assert_array_equal(products, reference.triangle(wide.T @ wide) * largest)


@given(st.integers(1, 12), st.integers(0, 2**64 - 1), st.data())
def test_values_are_those_of_the_reference(d, seed, data):
    """Columns first, then products of two that are some places apart."""
    m = data.draw(st.integers(1, most_components(d)))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    rows = (2 * rng.standard_normal((5, d))).astype(np.float32)
    products = Products(seed, d, m, 2, signed=False)
    assert sorted(products.shifts) == list(range(1, (d - 1) // 2 + 1))
    assert_array_equal(products.winners(rows, 0), reference.values(rows, m, products.shifts.tolist()))
    first, second = products.connections()[0].astype(int).T
    assert len({frozenset(pair) for pair in zip(first, second, strict=True)}) == m, "no pair comes twice"
