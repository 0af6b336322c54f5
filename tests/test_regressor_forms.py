"""The forms in which a regressor is handed on: frozen, for numpy alone, as ONNX, in windows and in river."""

from copy import copy

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_friedman1
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler

import flybloom
from flybloom import FlyRidgeRegressor, FrozenRegressor, SlidingWindow
from flybloom.core._kernels import _choice as loops
from flybloom.exceptions import ModelFileError
from flybloom.export import predictor

X, Y = make_friedman1(300, noise=0.5, random_state=0)
GAPS = np.where(np.random.default_rng(0).random(X.shape) < 0.05, np.nan, X)
TWO = np.column_stack([Y, 1e3 - 3 * Y])
ENCODINGS = ["auto", "none", "standard", "bins+passthrough+relevance", "rotation+relevance", "fill+bins"]


def small(**settings):
    """A model with few components."""
    return FlyRidgeRegressor(96, **{"n_winners": 12, "alpha": 0.1, **settings})


@pytest.mark.parametrize("targets", [Y, TWO], ids=["one", "two"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_form_predicts_the_same(tmp_path, monkeypatch, encoding, targets):
    """Bit for bit, with missing values: frozen, loaded, by numpy alone."""
    model = small(encoding=encoding).fit(GAPS, targets)
    expected = model.predict(GAPS)
    frozen = model.freeze()
    frozen.save(tmp_path / "model.fly")
    assert_array_equal(frozen.predict(GAPS), expected)
    assert_array_equal(flybloom.load(tmp_path / "model.fly", FrozenRegressor).predict(GAPS), expected)
    assert copy(frozen).score(GAPS, targets) == model.score(GAPS, targets)
    for choice in ("plain", "compiled"):
        monkeypatch.setattr(loops, "CHOICE", choice)
        assert_array_equal(predictor.load(tmp_path / "model.fly").predict(GAPS), expected)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_onnx_predicts_the_same(encoding, dtype):
    """Bit for bit, in onnxruntime."""
    onnxruntime = pytest.importorskip("onnxruntime")
    from flybloom.export import to_onnx  # noqa: PLC0415

    rows = np.nan_to_num(10 * GAPS).astype(dtype) if dtype == "int64" else GAPS.astype(dtype)
    model = small(encoding=encoding).fit(rows, TWO)
    session = onnxruntime.InferenceSession(to_onnx(model, dtype=dtype).SerializeToString())
    assert_array_equal(session.run(["variable"], {"X": rows})[0], model.predict(rows))


def test_pipelines_convert_as_a_whole():
    """With skl2onnx."""
    onnxruntime, skl2onnx = pytest.importorskip("onnxruntime"), pytest.importorskip("skl2onnx")
    from flybloom import export  # noqa: PLC0415

    export.register()
    model = make_pipeline(RobustScaler(), small()).fit(X, Y)
    graph = skl2onnx.to_onnx(model, X[:1], target_opset=18)
    found = onnxruntime.InferenceSession(graph.SerializeToString()).run(None, {"X": X})[0]
    assert_array_equal(found[:, 0], model.predict(X))


def test_a_frozen_file_that_cannot_be_is_refused(tmp_path):
    """A trend of other columns; weights that are missing."""
    frozen = small(encoding="standard").fit(X, Y).freeze()
    hasher, facts, arrays = frozen._to_parts()
    trend = {name: values[1:] for name, values in facts["targets"]["trend"].items()}
    wrong = {**facts, "targets": {**facts["targets"], "trend": trend}}
    for parts, message in (
        ((hasher, wrong, arrays), "trend"),
        ((hasher, facts, {**arrays, "weights": arrays["weights"][:-1]}), "weights"),
        ((None, facts, arrays), "how it hashes"),
    ):
        with pytest.raises(ValueError, match=message):
            FrozenRegressor()._from_parts(*parts)
    small().fit(X, Y).save(tmp_path / "counts.fly")
    with pytest.raises(ModelFileError, match=r"freeze\(\)"):
        predictor.load(tmp_path / "counts.fly")


@pytest.mark.parametrize("encoding", ["none", "auto"])
@pytest.mark.parametrize("targets", [Y, TWO], ids=["one", "two"])
def test_a_window_knows_its_rows_alone(tmp_path, encoding, targets):
    """Bit for bit those of a model that hashes alike and never learned others; also from a file."""
    rows, values = np.tile(X, (3, 1)), np.tile(targets.T, 3).T
    rows = rows + np.arange(len(rows))[:, None] * 1e-3
    window = SlidingWindow(small(encoding=encoding), n_rows=250)
    for begin in range(0, 900, 90):
        window = window.partial_fit(rows[begin : begin + 90], values[begin : begin + 90])
        if begin == 450:
            window.save(tmp_path / "window.fly")
            window = flybloom.load(tmp_path / "window.fly")
    for row in range(3):  # one by one as well
        window.partial_fit(rows[row : row + 1], values[row : row + 1])
    kept = np.r_[653:900, 0:3]
    alone = window.model_.like().partial_fit(rows[kept], values[kept])
    assert_array_equal(window.model_.counts_, alone.counts_)
    assert_array_equal(window.model_.pair_counts_, alone.pair_counts_)
    assert_array_equal(window.predict(X), alone.predict(X))


def test_targets_fade():
    """With a half-life, older rows weigh less: predictions follow a target that has changed."""
    window = SlidingWindow(small(encoding="none"), half_life=50)
    for begin in range(0, 600, 50):
        some = slice(begin % 300, begin % 300 + 50)
        window.partial_fit(X[some], np.full(50, 0.0 if begin < 500 else 1.0))
    assert 0.6 < window.predict(X).mean() < 0.9


def test_river_learns_numbers():
    """River's own checks, and the model of partial_fit, row by row and in frames."""
    pytest.importorskip("river")
    pandas = pytest.importorskip("pandas")
    from river import checks  # noqa: PLC0415

    from flybloom.streams.river import FlyRegressor  # noqa: PLC0415

    for check in checks.yield_checks(FlyRegressor(small(encoding="none"), warm_up=20)):
        check(FlyRegressor(small(encoding="none"), warm_up=20))
    one, many = FlyRegressor(small(), warm_up=50), FlyRegressor(small(), warm_up=50)
    assert one.predict_one({"a": 1.0}) == 0.0
    names = [f"x{j}" for j in range(X.shape[1])]
    frame = pandas.DataFrame(X[:120], columns=names)
    for row, target in zip(frame.to_dict("records"), Y[:120].tolist(), strict=True):
        one.learn_one(row, target)
    many.learn_many(frame, pandas.Series(Y[:120]))
    expected = small().fit(X[:120], Y[:120]).predict(X[:120])
    assert_array_equal(many.predict_many(frame), expected)
    assert_array_equal([one.predict_one(row) for row in frame.to_dict("records")], expected)
    one.unlearn_one(frame.to_dict("records")[0], Y[0])
    assert_array_equal(one.predict_many(frame), small().fit(X[1:120], Y[1:120]).predict(X[:120]))
