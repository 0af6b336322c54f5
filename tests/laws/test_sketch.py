"""The laws of sketches: the slow truth, any order and blocks, weights against copies, and rows that are taken out."""

from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import reference
from flybloom.core import _kernels, sketch
from flybloom.core._kernels import _plain
from flybloom.core.sketch import Sketch, content_hashes
from flybloom.exceptions import NeverLearnedError
from laws.strategies import block_cuts, labelled_rows


@st.composite
def weighted_rows(draw):
    """Labelled rows with missing values, negative zeros, copies, and weights of which some are 0."""
    X, y = draw(labelled_rows(least=3))
    X = X.astype(float)
    X[draw(st.lists(st.integers(0, len(X) - 1), max_size=3)), draw(st.integers(0, X.shape[1] - 1))] = np.nan
    X[X == 1.0] = -0.0
    weights = draw(st.lists(st.integers(0, 3), min_size=len(X), max_size=len(X)).filter(any))
    return X, y, np.array(weights)


@pytest.fixture(params=[(4, 0), (6, 2), (8192, 16)], ids=["4", "6 and 2 of a class", "all"], scope="module")
def limits(request):
    """How many rows are kept, of all and of each class."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sketch, "MAX_ROWS", request.param[0])
        patch.setattr(sketch, "MIN_OF_CLASS", request.param[1])
        yield request.param


def contents(found):
    """All that a sketch holds, as values that can be compared."""
    rows = found.rows.toarray() if sparse.issparse(found.rows) else found.rows
    labels = None if found.labels is None else found.labels.tolist()
    return np.nan_to_num(rows.astype(float), nan=1e300).tolist(), labels, found.weights.tolist(), found.n_rows


@given(case=weighted_rows(), data=st.data())
def test_any_order_and_blocks_give_the_slow_truth(limits, case, data):
    """Rows, labels and multiplicities."""
    X, y, weights = case
    order = np.array(data.draw(st.permutations(range(len(X)))))
    parts = [order[cut] for cut in data.draw(block_cuts(len(X)))]
    expected = reference.sketch(X, y, weights, *limits)
    for found in (Sketch.of(X, y, weights), reduce(add, [Sketch.of(X[p], y[p], weights[p]) for p in parts])):
        assert_array_equal(found.rows.astype(float), np.array([row for row, _, _ in expected]).reshape(-1, X.shape[1]))
        assert found.labels.tolist() == [label for _, label, _ in expected]
        assert found.weights.tolist() == [weight for _, _, weight in expected]
        assert found.n_rows == weights.sum()
        assert found.weights.sum() == weights.sum() or not found.is_all
        if limits[1]:  # otherwise a class may have no row
            assert_allclose(found.sample().weights.sum(), weights.sum(), rtol=0 if found.is_all else 1 / 32)


@pytest.mark.usefixtures("limits")
@given(case=weighted_rows())
def test_a_weight_is_as_many_copies_and_the_type_does_not_matter(case):
    """Nor whether rows are sparse."""
    X, y, weights = case
    whole = Sketch.of(X, y, weights)
    copies = Sketch.of(np.repeat(X, weights, axis=0), np.repeat(y, weights), np.ones(weights.sum(), np.int64))
    as_sparse = Sketch.of(sparse.csr_matrix(X), y.astype(float), weights)
    assert contents(whole) == contents(copies) == contents(as_sparse)
    small = np.nan_to_num(X).astype(np.int8)
    assert contents(Sketch.of(small, y, weights)) == contents(Sketch.of(small.astype(np.float32), y, weights))


@given(case=weighted_rows(), data=st.data())
def test_rows_that_are_taken_out_were_never_there(case, data):
    """While the sketch is all rows."""
    X, y, weights = case
    is_gone = np.array(data.draw(st.lists(st.booleans(), min_size=len(X), max_size=len(X))))
    left = Sketch.of(X, y, weights) - Sketch.of(X[is_gone], y[is_gone], weights[is_gone])
    assert contents(left) == contents(Sketch.of(X[~is_gone], y[~is_gone], weights[~is_gone]))


def test_rows_that_were_never_seen_cannot_be_taken_out():
    """Nor with another label, nor more often than they came."""
    X, y, ones = np.eye(3), np.array([0, 1, 1]), np.ones(3, np.int64)
    found = Sketch.of(X, y, ones)
    for rows, labels, weights in ((X + 1, y, ones), (X, 1 - y, ones), (X, y, 2 * ones)):
        with pytest.raises(NeverLearnedError, match="cannot all have been learned"):
            found - Sketch.of(rows, labels, weights)
    assert found.is_all


@given(case=weighted_rows())
def test_the_kernel_is_its_twin_and_the_slow_truth(case):
    """Bit for bit."""
    X, y, _ = case
    expected = [reference.content_hash(row, label) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    assert_array_equal(content_hashes(X, y), np.array(expected, np.uint64))
    bits, places = np.ascontiguousarray(X).view(np.uint64), sketch._places(X.shape[1])
    found = [np.zeros(len(X), np.uint64) for _ in range(2)]
    for home, out in zip((_kernels.content_hash, _plain), found, strict=True):
        home.hash_rows(bits, places, out)
    assert_array_equal(*found)


def test_missing_values_and_tiny_numbers_differ():
    """All NaN are one, and so are both zeros."""
    rows = np.array([[np.nan], [5e-324], [0.0], [-0.0], [np.float64("nan") * -1]])
    hashes = content_hashes(rows, None)
    assert np.unique(hashes).size == 3
    assert hashes[0] == hashes[4]
    assert hashes[2] == hashes[3]


def test_wide_rows_are_fewer():
    """Bytes are bounded: of 784 columns all rows are kept, of 50 000 fewer."""
    rng, n = np.random.default_rng(0), 400
    assert Sketch.of(rng.random((n, 784)), None, np.ones(n, np.int64)).is_all
    wide = Sketch.of(rng.random((n, 50_000), np.float32), None, np.ones(n, np.int64))
    assert not wide.is_all
    assert 100 < wide.n_distinct < 200
    assert_allclose(wide.sample().weights.sum(), n, rtol=1 / 32)
    thin = Sketch.of(sparse.random(n, 50_000, 1e-3, format="csr", random_state=0), None, np.ones(n, np.int64))
    assert thin.is_all
