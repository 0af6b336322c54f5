"""Histograms of gradients in place of pixels: the slow truth, whichever loops run, and all that models promise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

import flybloom
import reference
from flybloom import Encoding, FlyBloomClassifier, FlyRidgeClassifier
from flybloom.core.encoding.gradients import Gradients, hats
from flybloom.export import predictor, to_onnx
from forgetting import after_forgetting

SHAPES = [(8, 8), (2, 3), (9, 14), (8, 10, 3), (1, 1)]
KINDS = [FlyBloomClassifier, FlyRidgeClassifier]
pixels = st.one_of(
    st.integers(0, 255).map(float), st.floats(-1e3, 1e3, width=32), st.just(np.nan), st.sampled_from([1e30, -1e38])
)


@st.composite
def some_images(draw, elements=pixels):
    """A few images as rows, and their shape."""
    shape = draw(st.sampled_from(SHAPES))
    return shape, draw(
        arrays(np.float32, (draw(st.integers(1, 3)), int(np.prod(shape))), elements=elements, fill=pixels)
    )


@given(some_images())
@settings(max_examples=20, deadline=None)
def test_histograms_are_the_slow_truth(case):
    """Bit for bit, with missing and with very large values."""
    shape, rows = case
    step = Gradients(shape)
    expected = [
        reference.gradient_histograms(
            np.clip(row, -(2.0**59), 2.0**59).reshape(*shape, 1)[..., :3].reshape(*(*shape, 1)[:3])
        )
        for row in rows
    ]
    assert_array_equal(step.apply(rows), np.array(expected))


@given(some_images(st.integers(0, 255).map(float)), st.floats(0, 20), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_bounds_hold(case, radius, seed):
    """Of rows within a radius, nothing lies outside of the bounds; those of a row itself are its values."""
    shape, rows = case
    step = Gradients(shape)
    assert_array_equal(step.between(rows, rows)[1], step.apply(rows))
    low, high = step.between(rows - radius, rows + radius)
    moved = step.apply(rows + np.random.default_rng(seed).uniform(-radius, radius, rows.shape))
    assert (low <= moved).all()
    assert (moved <= high).all()


def test_cells_overlap_and_share_each_pixel():
    """The weights of a pixel add up to one, but for their rounding."""
    for side in (1, 2, 7, 28, 32):
        for n in range(1, min(8, side) + 1):
            weights = hats(n, side)
            assert_array_equal(weights, reference.cell_weights(n, side))
            assert_allclose(weights.sum(axis=0), 1, atol=1 / 64)
            assert (weights.sum(axis=1) > 0).all()


def test_directions_of_edges():
    """A vertical edge from dark to bright points right, in the cells that it passes; of no edge nothing is there."""
    image = np.zeros((12, 12))
    image[:, 6:] = 1
    step = Gradients((12, 12))
    found = step.apply(image.reshape(1, -1))[0, : 36 * 12].reshape(6, 6, 12)
    assert (found[:, 2:4, 0] > 0).all()
    assert not found[:, :, 1:].any()
    assert not step.apply(np.full((1, 144), 7.0))[0, : 36 * 12].any()


@pytest.fixture(scope="module")
def rows(digits):
    """Images, and their labels."""
    X, y = digits
    return X[:400], y[:400]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_onnx_and_predictor_give_the_same_labels(rows, kind, dtype, tmp_path):
    """With missing values, where a type has them."""
    onnxruntime = pytest.importorskip("onnxruntime")
    X, y = rows[0].astype(dtype), rows[1]
    if dtype != "int64":
        X[::7, 3] = np.nan
    model = kind(200, n_winners=12, random_state=3).fit(X[:300], y[:300])
    assert model.encoder_.step(Gradients) is not None
    session = onnxruntime.InferenceSession(to_onnx(model, dtype=dtype).SerializeToString())
    expected = model.predict(X)
    assert_array_equal(session.run(["label"], {"X": X})[0], expected)
    model.freeze().save(tmp_path / "model.fly")
    assert_array_equal(predictor.load(tmp_path / "model.fly").predict(X), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_models_add_up_and_forget(rows, kind, tmp_path):
    """The file of a merged model, and of one that forgot, is that of a plain fit."""
    X, y = rows

    def bytes_of(model):
        model.save(tmp_path / "model.fly")
        return (tmp_path / "model.fly").read_bytes()

    def new():
        return kind(64, n_winners=8, random_state=3)

    whole = bytes_of(new().fit(X[:200], y[:200]))
    assert bytes_of(new().fit(X[:90], y[:90]) + new().fit(X[90:200], y[90:200])) == whole
    assert bytes_of(after_forgetting(new().fit(X[:260], y[:260]), X[200:260], y[200:260])) == whole
    assert flybloom.load(tmp_path / "model.fly").encoder_ == new().fit(X[:200], y[:200]).encoder_


def test_explanations_and_certificates_reach_the_pixels(rows):
    """What a cell says is spread over its pixels."""
    X, y = rows
    model = FlyBloomClassifier(500, random_state=0).fit(X, y)
    assert model.explain(X[:2]).shape[-1] == X.shape[1]
    step = model.encoder_.step(Gradients)
    shares = np.random.default_rng(0).random((3, step.n_outputs(0)))
    assert_allclose(step.traced_back(shares, signed=False).sum(axis=1), shares.sum(axis=1))
    assert step.traced_back(shares, signed=True).shape == (3, 64)


@pytest.mark.parametrize(
    ("options", "keyword"),
    [
        ({"gradients": (28,)}, "gradients"),
        ({"gradients": (0, 4)}, "gradients"),
        ({"gradients": (8, 8), "grid_shape": (8, 8)}, "gradients"),
        ({"gradients": (8, 8), "columns": (1,)}, "gradients"),
    ],
)
def test_invalid_shapes_are_refused(options, keyword):
    """With the name of the parameter."""
    with pytest.raises(ValueError, match=keyword):
        Encoding(**options)


def test_rows_must_have_the_shape(rows):
    """Before anything is learned."""
    model = FlyBloomClassifier(64, encoding="gradients=7x9")
    with pytest.raises(ValueError, match=r"gradients=\(7, 9\) has 63 places"):
        model.fit(*rows)
    assert Encoding.from_json(Encoding(gradients=(8, 8)).to_json()) == Encoding.parse("gradients=8x8")
    for shape in ("8x8", [64], [8, 9], [8, 8.0]):
        with pytest.raises(ValueError, match="shape of its images"):
            Gradients.from_dict({"shape": shape}, 64)
