"""What files hold of rows: a sketch where one is wanted, and nothing otherwise."""

import numpy as np
import pytest

import flybloom
from flybloom import FlyBloomClassifier, FlyRidgeClassifier, OpenSetClassifier, SlidingWindow, export


@pytest.fixture(scope="module")
def secret():
    """Rows whose values are found in any file that holds them."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(300, 6)), np.arange(300) % 3


def holds_rows(path, X):
    """Whether the bytes of any value of the rows, of either precision, are in a file."""
    content = path.read_bytes()
    values = X[::7].ravel()
    return any(value.tobytes() in content for value in (*values, *values.astype(np.float32)))


@pytest.mark.parametrize("kind", [FlyBloomClassifier, FlyRidgeClassifier])
def test_a_file_holds_rows_only_where_it_says_so(kind, secret, tmp_path):
    """The sketch can be left out; frozen models and ONNX never have one."""
    X, y = secret
    model = kind(256, n_winners=16, random_state=0).fit(X, y)
    model.save(tmp_path / "whole.fly")
    assert holds_rows(tmp_path / "whole.fly", X)
    assert flybloom.load(tmp_path / "whole.fly").sketch_.n_distinct == len(X)
    model.save(tmp_path / "without.fly", sketch=False)
    assert not holds_rows(tmp_path / "without.fly", X)
    loaded = flybloom.load(tmp_path / "without.fly")
    assert loaded.sketch_ is None
    assert (loaded.predict_proba(X) == model.predict_proba(X)).all()
    assert loaded.forget(X[:3], y[:3]).extent == "counts only"
    model.freeze().save(tmp_path / "frozen.fly")
    assert not holds_rows(tmp_path / "frozen.fly", X)


def test_onnx_holds_no_rows(secret, tmp_path):
    """Weights and fitted numbers alone."""
    onnx = pytest.importorskip("onnx")
    X, y = secret
    model = FlyRidgeClassifier(256, n_winners=16, random_state=0).fit(X, y)
    onnx.save(export.to_onnx(model), tmp_path / "model.onnx")
    assert not holds_rows(tmp_path / "model.onnx", X)


def test_releases_hold_no_rows(secret, tmp_path):
    """They have counts with noise."""
    pytest.importorskip("opendp")
    X, y = secret
    model = FlyBloomClassifier(256, n_winners=16, random_state=0).fit(X, y)
    model.release(1.0, classes=range(3), public=["encoding"], random_state=0).save(tmp_path / "released.fly")
    assert not holds_rows(tmp_path / "released.fly", X)


def test_a_window_that_slides_holds_no_rows(secret, tmp_path):
    """It knows winners."""
    X, y = (np.concatenate([part, part]) for part in secret)
    SlidingWindow(FlyBloomClassifier(256, n_winners=16, random_state=0), n_rows=50).fit(X, y).save(tmp_path / "w.fly")
    assert not holds_rows(tmp_path / "w.fly", X)


def test_wrappers_leave_the_sketch_out_by_saving_what_is_inside(secret, tmp_path):
    """An open-set classifier holds what its classifier holds."""
    X, y = secret
    OpenSetClassifier(FlyBloomClassifier(256, n_winners=16, random_state=0)).fit(X, y).save(tmp_path / "open.fly")
    assert holds_rows(tmp_path / "open.fly", X)
