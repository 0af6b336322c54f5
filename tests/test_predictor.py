"""The predictor: numpy and safetensors alone, and the labels of the model."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from flybloom import FlyBloomClassifier, FlyBloomNovelty, FlyHash, FlyRidgeClassifier
from flybloom.core._kernels import _choice as loops
from flybloom.exceptions import ModelFileError
from flybloom.export import predictor

ENCODINGS = [
    "auto",
    "none",
    "standard",
    "bins",
    "rotation+relevance",
    "bins+relevance",
    "bins+passthrough+relevance",
    "fill=classes",
    "columns=0,2+bins",
]
WITHOUT = """
import sys
sys.modules.update(dict.fromkeys(["numba", "llvmlite", "scipy", "sklearn", "joblib", "threadpoolctl"]))  # not there
import numpy as np
from flybloom.export import predictor
X = np.load(sys.argv[1])
for path in sys.argv[2:]:
    print(*predictor.load(path).predict(X))
"""


@pytest.fixture
def rows(rng):
    """Rows of three classes, some values of which are missing."""
    X = rng.standard_normal((150, 8)) + np.arange(150)[:, None] % 3
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, np.array(["ash", "birch", "cedar"])[np.arange(150) % 3]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("kind", [FlyBloomClassifier, FlyRidgeClassifier])
def test_the_same_labels_with_and_without_compiling(tmp_path, monkeypatch, rows, encoding, kind):
    """For every encoding, and for rows with missing values."""
    X, y = rows
    model = kind(256, n_winners=16, encoding=encoding, random_state=1).fit(X, y)
    (model.freeze() if kind is FlyRidgeClassifier else model).save(tmp_path / "model.fly")
    for choice in ("plain", "compiled"):
        monkeypatch.setattr(loops, "CHOICE", choice)
        small = predictor.load(tmp_path / "model.fly")
        assert_array_equal(small.predict(X), model.predict(X))
        assert_array_equal(small.predict(X[:1]), model.predict(X[:1]))
        scores = model._decision_scores(X) if kind is FlyRidgeClassifier else -model.novelty(X)
        assert_array_equal(small.decision_scores(X), scores)
        assert_allclose(small.predict_proba(X), model.predict_proba(X), rtol=1e-13)


def test_whole_numbers_windows_and_ties(tmp_path, monkeypatch, rng):
    """Integer rows of images, with a hash so small that classes tie."""
    X = rng.integers(0, 3, (90, 36))
    encoding = {"encoding": "none", "n_components": 12, "n_winners": 3}
    model = FlyBloomClassifier(random_state=2, **encoding).fit(X, np.arange(90) % 4)
    model.save(tmp_path / "model.fly")
    monkeypatch.setattr(loops, "CHOICE", "plain")
    assert_array_equal(predictor.load(tmp_path / "model.fly").predict(X), model.predict(X))


def test_nothing_else_need_be_installed(tmp_path, rows):
    """Loading and predicting import neither numba nor scipy nor scikit-learn."""
    X, y = rows
    first = FlyBloomClassifier(256, n_winners=16, random_state=1).fit(X, y)
    pairs = FlyRidgeClassifier(256, n_winners=16, random_state=1).fit(X, y)
    first.save(tmp_path / "first.fly")
    pairs.freeze().save(tmp_path / "pairs.fly")
    novelty = FlyBloomNovelty(256, n_winners=16, contamination=0.2).fit(X)
    novelty.freeze().save(tmp_path / "novelty.fly")
    np.save(tmp_path / "rows.npy", X)
    files = [tmp_path / name for name in ("rows.npy", "first.fly", "pairs.fly", "novelty.fly")]
    done = subprocess.run([sys.executable, "-c", WITHOUT, *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    expected = [first.predict(X), pairs.predict(X), novelty.predict(X).astype(str)]
    assert [line.split() for line in done.stdout.splitlines()] == [labels.tolist() for labels in expected]


def test_what_it_cannot_do_is_said(tmp_path, rows):
    """Other models, class weights, and rows of another shape or kind."""
    X, y = rows
    FlyHash(64, n_winners=4, random_state=0).fit(X).save(tmp_path / "hash.fly")
    with pytest.raises(ModelFileError, match=r"is a FlyHash. Expected a frozen model"):
        predictor.load(tmp_path / "hash.fly")
    FlyBloomClassifier(64, class_weight="balanced", random_state=0).fit(X, y).save(tmp_path / "weighed.fly")
    with pytest.raises(ModelFileError, match=r"has class weights, which only flybloom.load knows"):
        predictor.load(tmp_path / "weighed.fly")
    FlyBloomClassifier(64, random_state=0).fit(X, y).save(tmp_path / "model.fly")
    small = predictor.load(tmp_path / "model.fly")
    with pytest.raises(ValueError, match=r"rows of 8 features. Got shape \(150, 3\)"):
        small.predict(X[:, :3])
    with pytest.raises(ValueError, match=r"Expected dense rows of numbers. Got csr_matrix"):
        small.predict(sparse.csr_matrix(X))
    with pytest.raises(ValueError, match="Got infinity"):
        small.predict(np.full((1, 8), np.inf))
    content = bytearray((tmp_path / "model.fly").read_bytes())
    content[-1] ^= 1
    (tmp_path / "model.fly").write_bytes(content)
    with pytest.raises(ModelFileError, match="its checksum is wrong"):
        predictor.load(tmp_path / "model.fly")
