"""Embeddings: unit vectors are recognised, and a model on them is its rows."""

import numpy as np
import pytest

from flybloom import FlyBloomClassifier, FlyRidgeClassifier, FlyRidgeRegressor
from flybloom.core.encoding.unit_vectors import are_unit_vectors
from flybloom.estimators.access import reading_learned


def embeddings(n=300, d=96, n_classes=3, seed=0):
    """Unit vectors around a few directions, in float32."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    X = np.random.default_rng(1).standard_normal((n_classes, d))[y] + 2 * rng.standard_normal((n, d)) + 0.5
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32), y


def steps_of(model):
    """The encoding that a model chose, and its number of components."""
    with reading_learned(model) as learned:
        return [step.kind for step in learned.hasher.encoder.steps], learned.hasher.n_components


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_unit_vectors_are_recognised_in_any_float(dtype):
    X, _ = embeddings()
    assert are_unit_vectors(X.astype(dtype))
    assert are_unit_vectors(np.vstack([X, np.zeros_like(X[:1])]).astype(dtype)), "the embedding of an empty text"


@pytest.mark.parametrize(
    "rows",
    [
        embeddings()[0] * 1.1,
        np.vstack([embeddings()[0], 2 * embeddings()[0][:1]]),
        embeddings(d=63)[0],
        np.eye(100, dtype=np.uint8),
        np.zeros((5, 100)),
        np.full((5, 100), np.nan),
    ],
    ids=["longer", "one longer", "few columns", "whole numbers", "zeros", "missing"],
)
def test_other_rows_are_no_unit_vectors(rows):
    assert not are_unit_vectors(rows)


def test_pairs_centre_embeddings_and_take_more_components():
    X, y = embeddings()
    for kind, labels in ((FlyRidgeClassifier, y), (FlyRidgeRegressor, X[:, 0])):
        assert steps_of(kind().fit(X, labels)) == (["standardise"], 2048)
        assert steps_of(kind().fit(1.1 * X, labels))[1] == 1024
    assert "relevance" not in steps_of(FlyRidgeClassifier().fit(X, y))[0]
    assert steps_of(FlyBloomClassifier().fit(X, y))[1] == steps_of(FlyBloomClassifier().fit(1.1 * X, y))[1]


def test_classes_in_any_order_additions_and_deletions_leave_the_bits_of_a_fit(tmp_path):
    X, y = embeddings()
    model = FlyRidgeClassifier(random_state=0)
    for label in (2, 0, 1):
        model.partial_fit(X[y == label], y[y == label])
    model.forget(X[:50], y[:50])
    model.partial_fit(X[:20], y[:20]).forget(X[:20], y[:20])
    never = FlyRidgeClassifier(random_state=0).fit(X[50:], y[50:])
    for one, name in ((model, "model"), (never, "never")):
        one.save(tmp_path / name)
    assert (tmp_path / "model").read_bytes() == (tmp_path / "never").read_bytes()
