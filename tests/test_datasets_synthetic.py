"""Synthetic rows are the paper's, and label noise is what it says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.datasets import make_classification

from flybloom import FlyHash
from flybloom.paper import datasets


def test_real_rows_are_scikit_learns():
    """The authors' call, with a seed."""
    X, y = make_classification(
        1000, 100, n_informative=100, n_redundant=0, n_repeated=0, n_classes=5, n_clusters_per_class=3, class_sep=1.2,
        random_state=7,
    )  # fmt: skip
    found = datasets.make_real(random_state=7)
    assert_array_equal(found[0], X)
    assert_array_equal(found[1], y)


@given(n_features=st.integers(4, 12).map(lambda n: 10 * n), seed=st.integers(0, 2**31 - 1), data=st.data())
def test_binary_rows_are_hashes_with_exactly_b_ones(n_features, seed, data):
    """Of real rows with a tenth of the features, by components that sum half of them."""
    n_ones = data.draw(st.integers(1, n_features))
    X, y = datasets.make_binary(60, n_features, n_ones, random_state=seed)
    assert X.dtype == np.uint8
    assert (X.sum(axis=1) == n_ones).all()

    rng = np.random.RandomState(seed)
    rows, labels = datasets.make_real(60, n_features // 10, random_state=rng)
    hasher = FlyHash(
        10.0, n_connections=n_features // 20, n_winners=n_ones, signed=False, encoding="none", random_state=rng
    )
    assert_array_equal(X, hasher.fit_transform(rows).toarray())
    assert_array_equal(y, labels)
    assert hasher.n_components_ == n_features


def test_sizes_that_cannot_be_hashed_are_refused():
    """With the limits."""
    with pytest.raises(ValueError, match=r"multiple of 10, at least 40. Got 45"):
        datasets.make_binary(n_features=45, random_state=0)
    with pytest.raises(ValueError, match=r"from 1 to n_features=50. Got 51"):
        datasets.make_binary(n_features=50, n_ones=51, random_state=0)


@given(
    n_classes=st.integers(3, 7), share=st.floats(0, 1), seed=st.integers(0, 1000), skip_previous=st.booleans(),
    codes=st.lists(st.integers(0, 2), max_size=50),
)  # fmt: skip
def test_flipped_labels_are_others(n_classes, share, seed, skip_previous, codes):
    """Same seed, same noise; y stays; the class before is only chosen when that is not skipped."""
    y = np.array(codes, np.int64)
    before = y.copy()
    noisy = datasets.flip_labels(y, share, n_classes=n_classes, random_state=seed, skip_previous=skip_previous)
    again = datasets.flip_labels(y, share, n_classes=n_classes, random_state=seed, skip_previous=skip_previous)
    assert_array_equal(y, before)
    assert_array_equal(noisy, again)
    assert noisy.dtype == np.int64
    assert ((noisy >= 0) & (noisy < n_classes)).all()
    if share == 0:
        assert_array_equal(noisy, y)
    if share == 1:
        assert (noisy != y).all()
    if skip_previous:
        assert (noisy != (y - 1) % n_classes).all()


@pytest.mark.parametrize(("skip_previous", "n_reached"), [(False, 4), (True, 3)])
def test_noise_reaches_every_class_it_may(skip_previous, n_reached):
    """About equally often, and as many rows as asked for."""
    y = np.full(20_000, 2)
    noisy = datasets.flip_labels(y, 0.25, n_classes=5, random_state=0, skip_previous=skip_previous)
    counts = np.bincount(noisy, minlength=5)
    others = np.delete(counts, 2)
    assert (others > 0).sum() == n_reached
    assert abs(others.sum() - 5000) < 5 * np.sqrt(20_000 * 0.25 * 0.75)
    mean = 5000 / n_reached
    assert (abs(others[others > 0] - mean) < 6 * np.sqrt(mean)).all()


@pytest.mark.parametrize(
    ("y", "share", "n_classes", "skip_previous", "message"),
    [
        ([0, 1], 1.5, 2, False, "'share' parameter of flip_labels must be from 0 to 1. Got 1.5"),
        ([0, 3], 0.5, 3, False, "must exceed every label. Got 3, and 3"),
        ([0, 1], 0.5, 2, True, "at least 3 with skip_previous=True. Got 2"),
        ([0.5], 0.5, 2, False, "list of labels"),
        ([-1], 0.5, 2, False, "list of labels"),
    ],
)
def test_noise_that_makes_no_sense_is_refused(y, share, n_classes, skip_previous, message):
    """With what was expected."""
    with pytest.raises(ValueError, match=message):
        datasets.flip_labels(y, share, n_classes=n_classes, random_state=0, skip_previous=skip_previous)
