"""Certificates are proofs: no attack within the radius changes a label that is certified."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flybloom import FlyBloomClassifier, FlyRidgeClassifier
from flybloom.audit import certify
from flybloom.core.hashing.bounds import SumBounds

ENCODINGS = [
    "none", "standard", "bins", "bins+relevance", "bins+passthrough", "rotation=3", "auto",
    "bins=4+relevance+rotation=5", "bins=4+passthrough+relevance+rotation=5", "fill=classes+bins",
    "columns=0,1+bins", "unskew+bins", "columns=1+relevance", "standard+ferns", "bins+passthrough+relevance+ferns",
]  # fmt: skip
NORMS = ["linf", "l2", "l1"]


@st.composite
def problems(draw):
    """A model of few components, rows of it, and a radius that matters."""
    seed = draw(st.integers(0, 2**16))
    rng = np.random.default_rng(seed)
    n, d = 60, draw(st.integers(2, 6))
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, d)) + 2.0 * rng.normal(size=(3, d))[y]
    encoding = draw(st.sampled_from(ENCODINGS))
    if encoding == "none" and draw(st.booleans()):
        X = np.rint(4 * X).astype(np.int64)
    kind = draw(st.sampled_from([FlyBloomClassifier, FlyRidgeClassifier]))
    sizes = {"n_components": 64, "n_winners": draw(st.sampled_from([2, 5, 16])), "random_state": seed}
    return kind(encoding=encoding, **sizes).fit(X, y), X, rng


def inside(rng, shape, radius, norm, *, is_whole):
    """Changes within the radius: many at its rim, some at the corners."""
    radius = np.asarray(radius, float)[:, None]
    if norm == "linf":
        steps = rng.uniform(-1, 1, shape)
        steps = np.where(rng.random((shape[0], 1)) < 0.5, np.sign(steps), steps)
    else:
        steps = rng.normal(size=shape) * (rng.random(shape) < rng.choice([0.3, 1.0]))
        power = 1 if norm == "l1" else 2
        steps /= np.maximum((np.abs(steps) ** power).sum(axis=1, keepdims=True) ** (1 / power), 1e-300)
        steps *= 1 - 2.0**-40  # not outside by rounding
    changes = steps * radius
    return np.trunc(changes).astype(np.int64) if is_whole else changes


@pytest.mark.parametrize("norm", NORMS)
@settings(max_examples=25)
@given(problem=problems(), share=st.sampled_from([0.5, 1.0]))
def test_no_attack_within_the_radius_changes_a_certified_label(norm, problem, share):
    """Neither random ones, nor those that go on from the best one so far."""
    model, X, rng = problem
    is_whole = X.dtype.kind == "i"
    radius = certify(model, X, norm=norm)
    radius = np.where(np.isinf(radius), 3.0, radius) * share
    labels = model.predict(X)
    best = X.copy()
    for _ in range(12):
        tried = X + inside(rng, X.shape, radius, norm, is_whole=is_whole)
        assert (model.predict(tried) == labels)[radius > 0].all()
        if norm == "linf":  # of the one that came closest and this one, some features of each: inside as well
            mixed = np.where(rng.random(X.shape) < 0.5, tried, best)
            assert (model.predict(mixed) == labels)[radius > 0].all()
            is_closer = margin(model, mixed) < margin(model, best)
            best[is_closer] = mixed[is_closer]


def margin(model, X):
    """How far the best class is ahead of the second."""
    scores = -model.novelty(X) if isinstance(model, FlyBloomClassifier) else model._decision_scores(X)
    scores = np.sort(scores, axis=1)
    return scores[:, -1] - scores[:, -2]


@pytest.mark.parametrize("norm", NORMS)
@settings(max_examples=25)
@given(problem=problems(), radius=st.sampled_from([0.0, 0.01, 0.3, 2.0]))
def test_sums_stay_between_their_bounds(norm, problem, radius):
    """As they are computed, bit for bit, for every component; and cells of ferns are among those that are possible."""
    model, X, rng = problem
    hasher = model._hasher
    radii = np.full(len(X), radius)
    low, high, possible = SumBounds(hasher, norm).of(X, radii)
    for _ in range(6):
        tried = X + inside(rng, X.shape, radii, norm, is_whole=X.dtype.kind == "i")
        sums = computed_sums(hasher, tried)
        assert (low <= sums).all()
        assert (sums <= high).all()
        cells = hasher.winners(tried)[:, hasher.n_summed_winners :].astype(int) - low.shape[1]
        assert np.take_along_axis(possible, cells, axis=1).all()


def computed_sums(hasher, X):
    """What the hash compares: sums in the order of the connections, in float32 or whole."""
    rows = hasher.encoder.encode(X)
    rows = rows.astype(np.float32) if rows.dtype.kind == "f" else rows
    connections, signs = hasher.projection.connections()
    total = np.zeros((len(rows), len(connections)), rows.dtype)
    for k in range(connections.shape[1]):
        total = total + rows[:, connections[:, k]] * signs[:, k].astype(rows.dtype)
    return total


@settings(max_examples=15)
@given(problem=problems())
def test_what_holds_at_a_radius_holds_at_a_smaller_one(problem):
    """And without a radius it tells where it ends."""
    model, X, _ = problem
    radius = certify(model, X)
    finite = X[np.isfinite(radius)]
    for row, found in zip(finite[:10], radius[np.isfinite(radius)][:10], strict=False):
        if found > 0:
            assert certify(model, row[None], found)[0]
            assert certify(model, row[None], found / 3)[0]
        assert not certify(model, row[None], max(found, 1e-9) * 1.5 + 1e-9)[0] or found == 0
