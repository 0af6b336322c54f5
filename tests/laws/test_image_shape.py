"""The laws of telling images from tables: the slow truth, whatever the order of rows, and nothing by chance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.ndimage import gaussian_filter

import reference
from flybloom import FlyBloomClassifier, FlyBloomClassifierCV, FlyHash, FlyRidgeClassifier
from flybloom.core.encoding import image_shape as shapes
from flybloom.core.encoding.image_shape import image_shape
from flybloom.core.sketch import Sketch

SHAPES = [(8, 8), (16, 16), (28, 28), (16, 15), (12, 20), (16, 16, 3), (48, 16)]


def sample_of(rows):
    """What stands for the rows."""
    return sketch_of(rows).sample()


def sketch_of(rows):
    """The sketch of the rows."""
    return Sketch.of(np.asarray(rows, float), None, np.ones(len(rows), np.int64))


def images(shape, n=80, seed=0, smooth=1.0):
    """Noise that was smoothed within each image, as flat rows."""
    noise = np.random.default_rng(seed).standard_normal((n, *shape))
    sigma = (0, smooth, smooth, *(0 for _ in shape[2:]))
    return gaussian_filter(noise, sigma, mode="constant").reshape(n, -1)


@settings(max_examples=25, deadline=None)
@given(
    height=st.integers(8, 10),
    width=st.integers(8, 10),
    channels=st.sampled_from([1, 3]),
    seed=st.integers(0, 2**32 - 1),
)
def test_contrast_is_the_slow_truth(height, width, channels, seed):
    """Up to the whole numbers that stand for values; constant columns have no part."""
    rows = images((height, width, channels), 40, seed)
    rows[:, :3] = 7.0
    values = shapes._whole(rows)
    evened = values - values.sum(axis=1, keepdims=True) // values.shape[1]
    found = max(shapes._contrast(part, height, width, channels) for part in (values, evened)) / shapes.UNIT
    assert_allclose(found, reference.image_contrast(rows, height, width, channels), atol=0.02)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_shape_of_images_is_found(shape):
    """Whichever it is, also where images are brighter and darker as a whole, and with values missing."""
    rows = images(shape)
    assert image_shape(sample_of(rows)) == shape
    rng = np.random.default_rng(1)
    bright = rows + 0.3 * rng.standard_normal((len(rows), 1))
    assert image_shape(sample_of(bright)) == shape
    gaps = np.where(rng.random(rows.shape) < 0.02, np.nan, rows)
    assert image_shape(sample_of(gaps)) == shape


@pytest.mark.parametrize("n_columns", [64, 100, 256, 784])
def test_what_is_no_image_has_no_shape(n_columns):
    """Noise, signals in time, columns that follow from a few others, shuffled pixels, constants, few rows."""
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((400, n_columns))
    side = int(n_columns**0.5)
    shuffled = images((side, side), 400)[:, rng.permutation(n_columns)]
    for rows in (
        noise,
        noise.cumsum(axis=1),
        noise[:, :5] @ rng.standard_normal((5, n_columns)) + 0.3 * noise,
        shuffled,
        np.ones((400, n_columns)),
        images((side, side), 20),
    ):
        assert image_shape(sample_of(rows)) is None


def test_rows_of_no_possible_shape_are_not_looked_at():
    """A prime number of columns, or sides that are too short or too unequal."""
    for n_columns in (31, 63, 101, 8 * 29):
        assert list(shapes.possible_shapes(n_columns)) == []
    assert list(shapes.possible_shapes(64)) == [(8, 8, 1)]
    assert (32, 32, 3) in set(shapes.possible_shapes(3072))


@given(seed=st.integers(0, 2**32 - 1), cut=st.integers(1, 79))
@settings(max_examples=20, deadline=None)
def test_order_and_blocks_do_not_matter(seed, cut):
    """The sample of parts adds up to that of the whole."""
    rows = images((8, 8), smooth=0.6)
    order = np.random.default_rng(seed).permutation(len(rows))
    parts = sketch_of(rows[order[:cut]]) + sketch_of(rows[order[cut:]])
    assert image_shape(parts.sample()) == image_shape(sample_of(rows))


def steps(model):
    """The names of the steps of its encoder."""
    return [step.kind for step in model.encoder_.steps]


def test_auto_sees_images_as_images_and_tables_as_tables(digits):
    """Images become histograms of gradients; the same pixels in another order are a table."""
    X, y = digits
    rng = np.random.default_rng(0)
    large, labels = images((24, 24), 200), rng.integers(0, 3, 200)
    shuffle, other = rng.permutation(64), rng.permutation(576)
    for kind in (FlyBloomClassifier, FlyRidgeClassifier):
        ferns = ["cuts"] if kind is FlyRidgeClassifier else []
        assert steps(kind(64).fit(X, y)) == ["gradients", "standardise"]
        assert steps(kind(64).fit(large, labels)) == ["gradients", "standardise"]
        assert steps(kind(64).fit(X[:, shuffle], y)) == ["standardise", "relevance", *ferns]
        assert steps(kind(64).fit(X[:, :20], y)) == ["standardise", "bins", "relevance", *ferns]
        assert "gradients" not in steps(kind(64).fit(large[:, other], labels))
    assert steps(FlyHash(64).fit(X)) == ["gradients", "standardise"]  # without labels nothing is weighed
    assert steps(FlyHash(64).fit(X[:, shuffle])) == ["standardise"]


def test_folds_of_a_search_see_what_all_rows_see(digits):
    """Each fold has the columns that all rows have."""
    X, y = digits
    search = FlyBloomClassifierCV(n_components=128, n_winners=8, decay=0.3, cv=3, random_state=0).fit(X[:400], y[:400])
    assert steps(search) == ["gradients", "standardise"]
