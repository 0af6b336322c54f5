"""The forms in which a detector is handed on: frozen, for numpy alone, as ONNX, and on the command line."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler

import flybloom
from flybloom import FlyBloomNovelty, FrozenNovelty
from flybloom.core._kernels import _choice as loops
from flybloom.exceptions import ModelFileError
from flybloom.export import predictor

ROWS = np.random.default_rng(0).standard_normal((250, 7)) * np.arange(1, 8)
ROWS[np.random.default_rng(1).random(ROWS.shape) < 0.05] = np.nan
KNOWN, NEW = ROWS[:200], 2 * ROWS[150:]
ENCODINGS = ["auto", "none", "standard", "bins+passthrough", "fill+bins"]
KINDS = [{"readout": "leverage"}, {"n_winners": 40}, {"readout": "filter"}, {"forget_after": 40}]


def small(**settings):
    """A detector with few components."""
    return FlyBloomNovelty(96, **{"n_winners": 12, "contamination": 0.2, **settings})


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_form_scores_the_same(tmp_path, monkeypatch, encoding, kind):
    """Bit for bit, with missing values: frozen, loaded, by numpy alone."""
    model = small(encoding=encoding, **kind).fit(KNOWN)
    novelty, labels = model.novelty(NEW), model.predict(NEW)
    assert 0 < novelty.max() <= 1
    frozen = model.freeze()
    frozen.save(tmp_path / "model.fly")
    for one in (frozen, flybloom.load(tmp_path / "model.fly", FrozenNovelty)):
        assert_array_equal(one.novelty(NEW), novelty)
        assert_array_equal(one.predict(NEW), labels)
        assert one.offset_ == model.offset_
    for choice in ("plain", "compiled"):
        monkeypatch.setattr(loops, "CHOICE", choice)
        loaded = predictor.load(tmp_path / "model.fly")
        assert_array_equal(loaded.novelty(NEW), novelty)
        assert_array_equal(loaded.predict(NEW), labels)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_onnx_scores_the_same(encoding, dtype, kind):
    """Bit for bit, in onnxruntime."""
    onnxruntime = pytest.importorskip("onnxruntime")
    from flybloom.export import to_onnx  # noqa: PLC0415

    known, new = (np.nan_to_num(10 * X).astype(dtype) if dtype == "int64" else X.astype(dtype) for X in (KNOWN, NEW))
    model = small(encoding=encoding, **kind).fit(known)
    session = onnxruntime.InferenceSession(to_onnx(model, dtype=dtype).SerializeToString())
    label, scores = session.run(["label", "scores"], {"X": new})
    assert_array_equal(label, model.predict(new))
    assert_array_equal(scores, model.decision_function(new))


def test_pipelines_convert_as_a_whole():
    """With skl2onnx."""
    onnxruntime, skl2onnx = pytest.importorskip("onnxruntime"), pytest.importorskip("skl2onnx")
    from flybloom import export  # noqa: PLC0415

    export.register()
    known, new = np.nan_to_num(KNOWN), np.nan_to_num(NEW)
    model = make_pipeline(RobustScaler(), small(encoding="none")).fit(known)
    graph = skl2onnx.to_onnx(model, known[:1], target_opset=18)
    found = onnxruntime.InferenceSession(graph.SerializeToString()).run(None, {"X": new})
    assert_array_equal(found[0], model.predict(new))
    assert_array_equal(found[1], model.decision_function(new))


def test_large_sums_stay_exact():
    """As many winners as leave weights fewer digits: sums over pairs are below 2^53 units."""
    model = FlyBloomNovelty(3000, n_winners=2900, encoding="standard", alpha=1e-3).fit(np.nan_to_num(KNOWN))
    form = model.freeze().frozen_readout.form
    most = np.abs(form.triangle.astype(np.int64)).sum() * 2
    assert most < 2**53
    assert form.unit < 1e-8 / model.alpha  # no part of a component is lost


def test_a_frozen_file_that_cannot_be_is_refused(tmp_path):
    """A threshold, weights or a unit that no detector has."""
    for kind, array in (({"readout": "leverage"}, "inverse"), ({"readout": "filter"}, "weights")):
        hasher, facts, arrays = small(**kind).fit(KNOWN).freeze()._to_parts()
        cases = [
            ((hasher, {**facts, "offset": 0.5}, arrays), "threshold"),
            ((hasher, facts, {array: arrays[array][:-1]}), "weights"),
            ((hasher, facts, {array: arrays[array].astype(np.int64)}), "weights"),
            ((None, facts, arrays), "how it hashes"),
        ]
        if array == "inverse":
            cases.append(((hasher, {**facts, "unit": 0.3}, arrays), "power of two"))
        else:
            cases.append(((hasher, facts, {array: arrays[array] | 2**31}), "from 0 to 1"))
        for parts, message in cases:
            with pytest.raises(ValueError, match=message):
                FrozenNovelty()._from_parts(*parts)
    small().fit(KNOWN).save(tmp_path / "counts.fly")
    with pytest.raises(ModelFileError, match=r"freeze\(\)"):
        predictor.load(tmp_path / "counts.fly")


def test_a_frozen_detector_stays_as_it_was():
    """Whatever the one that it comes from learns later; it can be copied, and is refused other rows."""
    model = small().fit(KNOWN)
    frozen, novelty = model.freeze(), model.novelty(NEW)
    model.partial_fit(NEW)
    assert_array_equal(frozen.novelty(NEW), novelty)
    with pytest.raises(ValueError, match="features"):
        frozen.novelty(NEW[:, :3])


@pytest.mark.parametrize("readout", ["leverage", "filter"])
def test_the_command_line_trains_scores_and_exports(tmp_path, readout):
    """Both read-outs, alpha, novelty beside labels, and a small file that says the same."""
    runner = pytest.importorskip("typer.testing").CliRunner()
    from flybloom.cli.app import app  # noqa: PLC0415 - an extra

    np.save(tmp_path / "rows.npy", KNOWN)
    model, small_file, table = (str(tmp_path / name) for name in ("model.fly", "small.fly", "found.csv"))
    options = ["--alpha", "7"] if readout == "leverage" else ["--decay", "0.3"]
    train = ["train", str(tmp_path / "rows.npy"), "--kind", "novelty", "--readout", readout, *options, "-o", model]
    expected = FlyBloomNovelty(readout=readout, random_state=0).set_params(
        **({"alpha": 7.0} if readout == "leverage" else {"decay": 0.3})
    )
    for arguments in (
        train,
        ["export", model, "-o", small_file],
        ["predict", small_file, str(tmp_path / "rows.npy"), "--scores", "-o", table],
    ):
        result = runner.invoke(app, arguments)
        assert result.exit_code == 0, result.output
    labels, novelty = np.genfromtxt(table, delimiter=",", skip_header=1).T
    expected.fit(KNOWN)
    np.testing.assert_allclose(novelty, expected.novelty(KNOWN), rtol=1e-12)
    assert_array_equal(labels, expected.predict(KNOWN))
    wrong = runner.invoke(app, [*train[:4], "--readout", "bayes", "-o", model])
    assert wrong.exit_code != 0
