"""Densify: equal to three loops, and the laws of a rotation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

import reference
from flybloom import Densify
from flybloom.estimators.densify import random_signs


@parametrize_with_checks([Densify(), Densify(n_jobs=2)])
def test_scikit_learn_is_satisfied(estimator, check):
    """One check, one estimator."""
    check(estimator)


@pytest.mark.parametrize("d", [1, 2, 3, 7, 16, 19, 100])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equals_three_loops_bit_for_bit(rng, d, dtype):
    """For every width, in both types."""
    rows = rng.standard_normal((9, d)).astype(dtype)
    model = Densify(random_state=3).fit(rows)
    result = model.transform(rows)
    assert result.dtype == dtype
    assert_array_equal(result, reference.densify(rows, model.signs_))


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        (bool, np.float32),
        (np.uint8, np.float32),
        (np.int16, np.float32),
        (np.uint16, np.float32),
        (np.float16, np.float32),
        (np.int32, np.float64),
        (np.int64, np.float64),
    ],
)
def test_narrow_integers_give_float32(rng, dtype, expected):
    """Which holds them exactly; wider ones give float64."""
    rows = rng.integers(0, 2, (5, 6)).astype(dtype)
    result = Densify(random_state=0).fit_transform(rows)
    assert result.dtype == expected
    assert_array_equal(result, Densify(random_state=0).fit_transform(rows.astype(expected)))


def test_neither_threads_nor_blocks_nor_order_nor_sparsity_matter(rng):
    """A result depends on its row alone."""
    rows = rng.standard_normal((700, 12)) * (rng.random((700, 12)) < 0.3)
    model = Densify(random_state=1).fit(rows)
    whole = model.transform(rows)
    assert_array_equal(model.set_params(n_jobs=2).transform(rows), whole)
    assert_array_equal(model.transform(sparse.csr_array(rows)), whole)
    assert_array_equal(model.transform(np.asfortranarray(rows)), whole)
    assert_array_equal(np.vstack([model.transform(row[None]) for row in rows[:9]]), whole[:9])


@given(st.integers(0, 2**32 - 1), st.integers(1, 70), st.integers(0, 2**32 - 1))
def test_a_linear_map_that_keeps_lengths_and_undoes_itself(seed, d, data_seed):
    """Linear; lengths and products stay; twice gives the same up to signs."""
    a, b = np.random.default_rng(data_seed).standard_normal((2, 3, d))
    model = Densify(random_state=seed).fit(a)
    of_a, of_b = model.transform(a), model.transform(b)
    assert_allclose(model.transform(2.0 * a - b), 2.0 * of_a - of_b, atol=1e-12)
    assert_allclose(of_a @ of_b.T, a @ b.T, atol=1e-11)
    assert_allclose(np.linalg.norm(of_a, axis=1), np.linalg.norm(a, axis=1))
    assert_allclose(model.inverse_transform(of_a), a, atol=1e-12)
    again = np.array([reference.hadamard(row) for row in of_a]) / np.sqrt(model.n_features_out_)
    assert_allclose(again[:, :d] * model.signs_, a, atol=1e-12)
    assert_allclose(again[:, d:], 0, atol=1e-12)


def test_signs_follow_from_the_seed_alone():
    """Pinned, so that no version changes them unseen; nested; about as many of each; another seed, other signs."""
    assert random_signs(0, 8).tolist() == [-1, -1, 1, -1, -1, 1, 1, -1]
    assert_array_equal(random_signs(0, 300)[:70], random_signs(0, 70))
    assert set(random_signs(0, 300).tolist()) == {-1, 1}
    assert abs(int(random_signs(5, 10_000).sum())) < 400
    assert (random_signs(1, 300) != random_signs(0, 300)).any()


def test_names_of_columns(rng):
    """As many as there are, and the attributes say so."""
    model = Densify().fit(rng.standard_normal((4, 5)))
    assert model.n_features_in_ == 5
    assert model.get_feature_names_out().tolist() == [f"densify{i}" for i in range(8)]


def test_the_inverse_wants_what_transform_gives(rng):
    """Another width is refused with both numbers."""
    model = Densify().fit(rng.standard_normal((4, 5)))
    with pytest.raises(ValueError, match=r"must have the 8 columns .* Got 5 instead"):
        model.inverse_transform(rng.standard_normal((4, 5)))
