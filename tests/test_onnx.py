"""ONNX: onnxruntime gives the labels of the model, bit for bit; in standard operators, alone and in pipelines."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from flybloom import Encoding, FlyBloomClassifier, FlyHash, FlyRidgeClassifier, OpenSetClassifier
from flybloom.core.encoding.encoder import STEPS
from flybloom.export import register, to_onnx
from flybloom.export.encoding import WRITERS

onnxruntime = pytest.importorskip("onnxruntime")
KINDS = [FlyBloomClassifier, FlyRidgeClassifier]
ENCODINGS = [
    "auto",
    "none",
    "whole",
    "standard",
    "bins",
    "none+relevance",
    "rotation+relevance",
    "bins+relevance",
    "bins+passthrough+relevance",
    "fill",
    "fill=classes+bins",
    "columns=1,4+fill+bins",
]
TYPES = ["float64", "float32", "int64"]


@pytest.fixture
def rows(rng):
    """Rows of three classes, some values of which are missing."""
    X = rng.standard_normal((120, 7)) * 3 + np.arange(120)[:, None] % 3
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, np.arange(120) % 3


def answers(graph, X):
    """What onnxruntime says."""
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, {"X": X}), strict=True))


def as_type(X, dtype):
    """Rows of a type; whole numbers cannot be missing."""
    return np.nan_to_num(X * 10).astype(dtype) if dtype == "int64" else X.astype(dtype)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("dtype", TYPES)
def test_the_same_labels(rows, kind, encoding, dtype):
    """For every encoding and every type of rows, with missing values."""
    X, y = as_type(rows[0], dtype), rows[1]
    model = kind(200, n_winners=12, encoding=encoding, random_state=3).fit(X, y)
    found = answers(to_onnx(model, dtype=dtype), X)
    assert_array_equal(found["label"], model.predict(X))
    assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-6)
    assert found["label"].dtype == y.dtype


@pytest.mark.parametrize("dtype", TYPES)
def test_the_same_winners_in_the_same_order(rows, dtype):
    """And the hashes of `transform`."""
    X = as_type(rows[0], dtype)
    for encoding in ("auto", "none"):
        model = FlyHash(300, n_winners=9, encoding=encoding, random_state=3).fit(X)
        found = answers(to_onnx(model, dtype=dtype), X)
        assert_array_equal(found["winners"], model.winners(X))
        assert_array_equal(found["hash"], model.transform(X).toarray())


def test_windows_bias_columns_and_steps_of_one_s_own(rng):
    """Connections within windows of images, constant columns, and all that an encoding can be asked for."""
    X = rng.integers(0, 50, (90, 36)).astype(np.float64)
    y = np.arange(90) % 2
    for encoding in (
        Encoding(grid_shape=(6, 6)),
        Encoding(scaling="common", clip=1.5, bias=0.5),
        Encoding(scaling="center", clip=None),
    ):
        model = FlyBloomClassifier(150, n_winners=10, encoding=encoding, random_state=0).fit(X, y)
        assert_array_equal(answers(to_onnx(model), X)["label"], model.predict(X))


@pytest.mark.parametrize("signed", [True, False])
def test_ties_are_broken_alike(rng, signed):
    """Rows so alike, and a hash so small, that most classes tie."""
    X = rng.integers(0, 2, (200, 5))
    model = FlyBloomClassifier(8, n_winners=2, encoding="none", signed=signed, random_state=2**31 - 1)
    model.fit(X, rng.integers(0, 6, 200))
    model.decay = 1.0
    n_least = (model.novelty(X) == model.novelty(X).min(axis=1, keepdims=True)).sum(axis=1)
    assert (n_least > 1).mean() > 0.5
    assert_array_equal(answers(to_onnx(model, dtype="int64"), X)["label"], model.predict(X))


@pytest.mark.parametrize("labels", [["a", "bb", "c"], [2.0, -1.0, 0.0], [True, False, True]])
@pytest.mark.parametrize("kind", KINDS)
def test_labels_and_class_weights(rows, kind, labels):
    """Labels of any type come back; weights of classes count."""
    X, y = np.nan_to_num(rows[0]), np.array(labels)[rows[1]]
    model = kind(200, n_winners=12, class_weight="balanced", random_state=3).fit(X[40:], y[40:])
    assert_array_equal(answers(to_onnx(model), X)["label"], model.predict(X))


def test_only_standard_operators(rows):
    """No domain but that of ONNX itself, and no loop or function inside."""
    for kind in (*KINDS, FlyHash):
        graph = to_onnx(kind(64, n_winners=4, random_state=0).fit(*rows))
        assert [(entry.domain, entry.version) for entry in graph.opset_import] == [("", 18)]
        assert not graph.functions
        assert {node.domain for node in graph.graph.node} == {""}


def test_every_step_of_an_encoding_is_written_or_refused_by_name(rows, monkeypatch):
    """A step that nobody wrote operators for is named."""
    assert set(WRITERS) <= set(STEPS)
    model = FlyBloomClassifier(64, n_winners=4, encoding="standard", random_state=0).fit(*rows)
    monkeypatch.delitem(WRITERS, "standardise")
    with pytest.raises(ValueError, match=r"The step 'standardise' of the encoding has no operators of ONNX"):
        to_onnx(model)


def test_other_models_and_types_are_refused(rows):
    """With what is expected."""
    with pytest.raises(TypeError, match=r"Only FlyBloomClassifier, .* Got OpenSetClassifier instead"):
        to_onnx(OpenSetClassifier(FlyBloomClassifier(64, random_state=0)).fit(*rows))
    with pytest.raises(ValueError, match="must be one of"):
        to_onnx(FlyHash(64, random_state=0).fit(rows[0]), dtype="float16")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_pipelines_convert_with_skl2onnx(rows, kind, dtype):
    """A scaler before, and text as labels."""
    skl2onnx = pytest.importorskip("skl2onnx")
    register()
    X, y = np.nan_to_num(rows[0]).astype(dtype), np.array(["x", "y", "z"])[rows[1]]
    model = make_pipeline(StandardScaler(), kind(200, n_winners=12, encoding="none", random_state=0)).fit(X, y)
    graph = skl2onnx.to_onnx(model, X[:1], target_opset=18, options={"zipmap": False})
    found = answers(graph, X)
    assert (found["label"] == model.predict(X)).mean() > 0.98  # the scaler is not ours: its last bits may differ
    assert_allclose(found["probabilities"].sum(axis=1), 1, rtol=1e-5)


def test_a_hash_within_a_pipeline(rows):
    """Something that learns from hashes converts as well."""
    skl2onnx = pytest.importorskip("skl2onnx")
    register()
    X, y = np.nan_to_num(rows[0]).astype(np.float32), rows[1]
    model = make_pipeline(FlyHash(128, n_winners=8, random_state=0), LogisticRegression()).fit(X, y)
    graph = skl2onnx.to_onnx(model, X[:1], target_opset=18, options={"zipmap": False})
    assert_array_equal(answers(graph, X)["label"], model.predict(X))


def test_the_command_writes_it(tmp_path, rows):
    """For classifiers and hashes; other models are refused and nothing is written."""
    typer_testing = pytest.importorskip("typer.testing")
    from flybloom.cli.app import app  # noqa: PLC0415 - an extra

    X, y = as_type(rows[0], "float32"), rows[1]
    model = FlyBloomClassifier(200, n_winners=12, random_state=3).fit(X, y)
    model.save(tmp_path / "model.fly")
    OpenSetClassifier(FlyBloomClassifier(64, random_state=0)).fit(X, y).save(tmp_path / "other.fly")

    def export(name, *options):
        files = [str(tmp_path / name), "--output", str(tmp_path / "model.onnx"), "--format", "onnx"]
        return typer_testing.CliRunner().invoke(app, ["export", *files, *options])

    assert export("other.fly").exit_code != 0
    assert not (tmp_path / "model.onnx").exists()
    assert export("model.fly", "--input-type", "float32").exit_code == 0
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    assert_array_equal(session.run(["label"], {"X": X})[0], model.predict(X))
