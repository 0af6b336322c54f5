"""Random ferns beside the hash: what a model with them promises is what every model promises."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer

import reference
from flybloom import (
    Encoding,
    FlyBloomClassifier,
    FlyBloomClassifierCV,
    FlyBloomNovelty,
    FlyHash,
    FlyRidgeClassifier,
    FlyRidgeMultiOutputClassifier,
    FlyRidgeRegressor,
    distributed,
    load,
)
from flybloom.core import _kernels
from flybloom.core._kernels import _plain
from flybloom.core.encoding.cuts import N_CUTS, Cuts
from flybloom.core.hashing.ferns import Ferns
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.readout.ridge import System
from flybloom.estimators.access import hasher_of, reading_learned
from flybloom.export import predictor, to_onnx
from flybloom.report import class_profiles

FERNS = "bins+passthrough+relevance+ferns"


@pytest.fixture(scope="module")
def cancer():
    """A table that is no image."""
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :25], y


@pytest.fixture(scope="module")
def model(cancer):
    """A model with ferns, by default."""
    X, y = cancer
    return FlyRidgeClassifier(256, n_winners=32, random_state=3).fit(X[:300], y[:300])


def test_some_of_the_winners_are_those_of_ferns(model, cancer):
    """One of each fern, and sizes are those that were asked for."""
    hasher = hasher_of(model)
    assert (hasher.ferns.n_ferns, hasher.ferns.n_tests) == (12, 3)
    assert (model.n_components_, model.n_winners_) == (256, 32)
    winners = hasher.winners(cancer[0])
    assert winners.shape == (569, 32)
    assert (np.diff(winners.astype(int), axis=1) > 0).all()
    assert_array_equal((winners[:, 20:] - 160) // 8, np.tile(np.arange(12), (569, 1)))


def test_winners_are_those_of_the_reference(model, cancer):
    """Cuts, draws and cells, from encoded rows."""
    hasher, X = hasher_of(model), cancer[0]
    encoded = hasher.encoder.encode(X)[:, 5::6]
    step = hasher.encoder.step(Cuts)
    expected = np.array([reference.cuts(column) for column in encoded[:300].T], np.float32)
    assert_array_equal(step.cuts, np.where(step.chances[:, None] > 0, expected, 0))
    drawn = reference.ferns(3, step.chances.tolist(), 12, 3)
    cells = [reference.fern_cells(row, drawn, step.cuts, 160) for row in encoded]
    assert_array_equal(hasher.winners(X)[:, 20:], cells)
    assert_array_equal(np.vstack([hasher.winners(X[i : i + 1]) for i in range(9)]), hasher.winners(X)[:9])


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 6), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_kernel_twin_and_reference(seed, d, n_ferns, n_tests):
    """The same cells, whatever the numbers of ferns and tests."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(7, d)).astype(np.float32)
    cuts, chances = rng.normal(size=(d, N_CUTS)).astype(np.float32), rng.integers(0, 4, d).astype(np.uint8)
    chances[rng.integers(d)] = 2
    ferns = Ferns(Cuts(1, cuts, chances), seed, n_ferns, n_tests)
    found = []
    for loops in (_kernels.ferns, _plain):
        out = np.zeros((7, n_ferns + 2), np.uint32)
        loops.write_cells(rows, *ferns.tests, 9, out)
        found.append(out)
    assert_array_equal(*found)
    drawn = reference.ferns(seed, chances.tolist(), n_ferns, n_tests)
    assert_array_equal(found[0][:, 2:], [reference.fern_cells(row, drawn, cuts, 9) for row in rows])
    fewer = Ferns(ferns.cuts, seed, max(1, n_ferns - 1), max(1, n_tests - 1))
    for part, whole in zip(fewer.tests, ferns.tests, strict=True):
        assert_array_equal(part, whole[: fewer.n_ferns, : fewer.n_tests])


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=40), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_cuts_divide_columns_of_few_values(values, weight):
    """Of two values, every cut lies between them; the reference counts copies one by one."""
    column = np.array(values, np.float32)[:, None]
    weights = np.full(len(values), weight)
    fitted = Encoding("standard", ferns=True).fit(np.repeat(column, weights, axis=0))
    encoded = Encoding("standard").fit(np.repeat(column, weights, axis=0)).encode(column)[:, 0]
    found = fitted.step(Cuts).cuts[0]
    assert_array_equal(found, np.float32(reference.cuts(encoded, weights)))
    distinct = np.unique(encoded)
    if distinct.size == 2:
        assert ((distinct[0] <= found) & (found < distinct[1])).all()


def test_files_frozen_predictor_and_pickles(model, cancer, tmp_path):
    """All give the same scores."""
    X = cancer[0]
    expected = model.decision_function(X)
    model.save(tmp_path / "model.fly")
    model.freeze().save(tmp_path / "frozen.fly")
    again = load(tmp_path / "model.fly")
    assert_array_equal(again.decision_function(X), expected)
    assert again._hasher.fields == model._hasher.fields
    assert_array_equal(copy.deepcopy(model).decision_function(X), expected)
    assert_array_equal(model.freeze().predict(X), model.predict(X))
    assert_array_equal(predictor.load(tmp_path / "frozen.fly").predict(X), model.predict(X))


@pytest.mark.parametrize("encoding", ["auto", FERNS, "standard+ferns"])
@pytest.mark.parametrize("kind", [FlyRidgeClassifier, FlyBloomClassifier])
def test_onnx(cancer, encoding, kind):
    """A runtime gives the same labels, with missing values too."""
    onnxruntime = pytest.importorskip("onnxruntime")
    X, y = cancer[0].copy(), cancer[1]
    X[::7, 3] = np.nan
    model = kind(256, n_winners=32, encoding=encoding, random_state=3).fit(X[:300], y[:300])
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    assert_array_equal(session.run(None, {"X": X})[0], model.predict(X))


def test_onnx_of_a_hash(cancer):
    """Winners by descending sum, then those of ferns."""
    onnxruntime = pytest.importorskip("onnxruntime")
    hasher = FlyHash(128, n_winners=16, encoding="standard+ferns", random_state=3).fit(cancer[0])
    session = onnxruntime.InferenceSession(to_onnx(hasher).SerializeToString())
    assert_array_equal(session.run(["winners"], {"X": cancer[0]})[0], hasher.winners(cancer[0]))


def test_explanations_add_up(model, cancer):
    """What ferns add to a score is divided among the features of their tests."""
    X = cancer[0][300:]
    labels = model.predict(X)
    scores = model._decision_scores(X)[np.arange(len(X)), labels] - model.intercept_[labels]
    shares = model.explain(X)
    assert_allclose(shares.sum(axis=1), scores, atol=1e-7)  # intercepts are on the grid of the weights
    hasher = hasher_of(model)
    places, _ = hasher.ferns.tests
    winners, weights = hasher.winners(X)[:, 20:], model.coef_
    encoded = hasher.encoder.encode_dense(X)
    connections, signs = hasher.projection.connections()
    for i in range(5):
        own = weights[labels[i]]
        summed = hasher.winners(X)[i, :20]
        expected = 20 * np.array(reference.feature_shares(encoded[i], summed, own, connections, signs))
        for fern, cell in enumerate(winners[i]):
            np.add.at(expected, places[fern], own[cell] / 3)
        assert_allclose(shares[i], hasher.encoder.traced_back(expected[None], signed=False)[0], atol=1e-9)


def test_profiles_of_classes():
    """Tests that are passed count for their column, others against it."""
    X = np.vstack([np.arange(100.0), np.zeros(100)]).T
    y = (X[:, 0] >= 50).astype(int)
    model = FlyBloomClassifier(64, n_winners=8, encoding="standard+ferns", random_state=0).fit(X, y)
    profiles = class_profiles(model)
    assert profiles[0, 0] < 0 < profiles[1, 0]


def test_leave_one_out(cancer):
    """As a model that never met the row, with the encoding of all and the same penalty."""
    X, y = cancer[0][:120], cancer[1][:120]
    fixed = Encoding.parse(FERNS).fit(X, y)

    def learned(rows, alpha):
        return FlyRidgeClassifier(64, n_winners=8, encoding=fixed, alpha=alpha, random_state=0).fit(X[rows], y[rows])

    model = learned(np.arange(120), 0.1)
    scores = model.leave_one_out_decision(X, y, shared_encoding=True)
    for i in (0, 50, 119):
        others = np.arange(120) != i
        alpha = 0.1 * mean_eigenvalue(model) / mean_eigenvalue(learned(others, 0.1))
        assert_allclose(scores[i], learned(others, alpha)._decision_scores(X[i : i + 1])[0], atol=1e-6)


def mean_eigenvalue(model):
    """What penalties are multiples of."""
    with reading_learned(model) as learned:
        return System(learned.counts).unit


def test_no_ferns_where_no_column_is_relevant():
    """Tests that are drawn by relevance need some."""
    X = np.repeat([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], 50, axis=0)
    y = X[:, 0] != X[:, 1]
    assert hasher_of(FlyRidgeClassifier(random_state=0).fit(X, y)).ferns is None
    assert hasher_of(FlyRidgeClassifier(encoding="standard+ferns", random_state=0).fit(X, y)).ferns is not None


@pytest.mark.parametrize(("m", "rho"), [(8, 2), (8, 8), (15, 8)])
def test_sizes_without_room_for_ferns(cancer, m, rho):
    """Two winners, or fewer than two components for each."""
    model = FlyRidgeClassifier(m, n_winners=rho, encoding="standard+ferns", random_state=0).fit(*cancer)
    assert hasher_of(model).ferns is None
    assert (model.n_components_, model.n_winners_) == (m, rho)


@given(st.integers(1, 600), st.integers(1, 80))
def test_sizes_are_kept(m, rho):
    """Whatever they are, components and winners of both kinds are as many as were asked for."""
    encoder = Encoding("standard", ferns=True).fit(np.arange(12.0).reshape(6, 2))
    hasher = Hasher.of(encoder, 0, (m, 1, min(rho, m)), signed=True)
    assert hasher.n_components == m
    assert hasher.n_winners == min(rho, m)
    assert hasher.projection.n_components >= hasher.n_summed_winners > 0


@pytest.mark.parametrize("encoding", ["none+ferns", "rotation+ferns", "standard+grid=5x5+ferns", "whole+ferns"])
def test_encodings_that_have_no_ferns(cancer, encoding):
    """The message says what is expected."""
    with pytest.raises(ValueError, match="'ferns' parameter of Encoding must be false"):
        FlyRidgeClassifier(encoding=encoding).fit(*cancer)


@pytest.mark.parametrize("is_fitted", [True, False])
def test_a_search_refuses_ferns(cancer, is_fitted):
    """Its numbers of winners share a hash."""
    encoding = Encoding("standard", ferns=True)
    with pytest.raises(ValueError, match="Expected an encoding without"):
        FlyBloomClassifierCV(64, n_winners=8, encoding=encoding.fit(*cancer) if is_fitted else encoding).fit(*cancer)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stride": 0}, "stride"),
        ({"stride": 2}, "stride"),
        ({"cuts": np.full((3, N_CUTS), np.nan, np.float32)}, "not finite"),
        ({"cuts": np.zeros((3, 2), np.float32)}, "shape"),
        ({"chances": np.zeros(3, np.uint8)}, "none of its cuts"),
    ],
)
def test_damaged_steps(change, message):
    """What a file says is checked."""
    stored = Cuts(1, np.zeros((3, N_CUTS), np.float32), np.ones(3, np.uint8)).to_dict()
    with pytest.raises(ValueError, match=message):
        Cuts.from_dict({**stored, **change}, 3)


def test_targets_and_several_labels(cancer, tmp_path):
    """Regressors and several outputs take ferns that are asked for, with ONNX and the predictor."""
    onnxruntime = pytest.importorskip("onnxruntime")
    X, targets = cancer[0], cancer[0][:, 3]
    model = FlyRidgeRegressor(256, n_winners=32, encoding=FERNS, random_state=3).fit(X[:, 4:], targets)
    assert hasher_of(model).ferns is not None
    expected = model.predict(X[:, 4:])
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    assert_array_equal(session.run(None, {"X": X[:, 4:]})[0].ravel(), expected)
    model.freeze().save(tmp_path / "frozen.fly")
    assert_array_equal(predictor.load(tmp_path / "frozen.fly").predict(X[:, 4:]), expected)
    labels = np.column_stack([targets > 500, cancer[1]])
    several = FlyRidgeMultiOutputClassifier(256, n_winners=32, encoding=FERNS, random_state=3).fit(X, labels)
    assert hasher_of(several).ferns is not None
    assert several.score(X, labels) > 0.8


def test_on_dask(cancer):
    """The same counts as from arrays."""
    array = pytest.importorskip("dask.array")
    X, y = cancer
    apart = distributed.fit(
        FlyRidgeClassifier(64, n_winners=16), array.from_array(X, chunks=(100, 25)), array.from_array(y, chunks=100)
    )
    whole = FlyRidgeClassifier(64, n_winners=16).fit(X, y)
    assert hasher_of(apart).fields == hasher_of(whole).fields
    assert hasher_of(whole).ferns is not None
    assert_array_equal(apart.pair_counts_, whole.pair_counts_)


def test_detectors_say_that_they_have_none(cancer):
    """Their constant columns stand in the way."""
    with pytest.raises(ValueError, match="'ferns' parameter of Encoding must be false"):
        FlyBloomNovelty(256, encoding=FERNS).fit(cancer[0])
