"""Components that have values instead of winning, as those of embeddings do."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import flybloom
import reference
from flybloom import Encoding, FlyBloomClassifier, FlyRidgeClassifier, FlyRidgeRegressor, SlidingWindow
from flybloom._internal.hashed import LARGEST
from flybloom.audit import certify, influence
from flybloom.estimators.access import reading_learned
from flybloom.exceptions import ModelFileError, NeverLearnedError
from flybloom.export import predictor, to_onnx
from flybloom.streams import novelty_rate
from test_embeddings import embeddings


@pytest.fixture(scope="module")
def rows():
    """Embeddings and labels."""
    return embeddings()


def small(rows, **settings):
    """A model with few components, whose encoding does not follow from its own rows."""
    encoder = Encoding("standard").fit(rows[0])
    return FlyRidgeClassifier(**{"n_components": 200, "n_winners": 0, "encoding": encoder, **settings})


def hashed(model, X):
    """The values of rows."""
    with reading_learned(model) as learned:
        return learned.hasher.winners(X)


def test_embeddings_have_values_unless_winners_are_asked_for(rows):
    """Of connections as well."""
    X, y = rows
    assert FlyRidgeClassifier().fit(X, y).n_winners_ == 0
    assert FlyRidgeClassifier().fit(X, y).n_connections_ == 2
    assert FlyRidgeClassifier(n_winners=16).fit(X, y).n_winners_ == 16
    assert FlyRidgeClassifier(n_connections=8).fit(X, y).n_winners_ > 0
    assert FlyRidgeClassifier().fit(1.1 * X, y).n_winners_ > 0
    assert FlyRidgeClassifier(n_winners=0).fit(1.1 * X, y).n_winners_ == 0
    assert FlyRidgeRegressor().fit(X, X[:, 0]).n_winners_ > 0


def test_sums_are_those_of_dense_matrices(rows):
    """Of values by class, and of products."""
    X, y = rows
    model = small(rows).fit(X, y)
    H = hashed(model, X).astype(np.int64)
    assert np.abs(H).max() <= LARGEST
    assert_array_equal(model.counts_, [H[y == label].sum(axis=0) for label in model.classes_])
    assert_array_equal(model.pair_counts_, reference.triangle(H.T @ H))


def test_weights_are_those_of_ridge_regression(rows):
    """Solved here from the values themselves."""
    X, y = rows
    model = small(rows, alpha=0.1).fit(X, y)
    H = hashed(model, X).astype(np.float64)
    centred, truth = H - H.mean(axis=0), (y[:, None] == model.classes_) - np.eye(3)[y].mean(axis=0)
    gram = centred.T @ centred
    penalty = 0.1 * np.trace(gram) / len(gram)
    expected = np.linalg.solve(gram + penalty * np.eye(len(gram)), centred.T @ truth)
    assert_allclose(model.coef_.T, expected, rtol=1e-4, atol=1e-7)


def test_blocks_threads_weights_and_order_do_not_matter(rows):
    """A row of weight 3 counts as three."""
    X, y = rows
    weights = np.arange(len(y)) % 4
    whole = small(rows).fit(X, y, weights)
    apart = small(rows, n_jobs=2)
    for some in np.array_split(np.random.default_rng(0).permutation(len(y)), 40):
        apart.partial_fit(X[some], y[some], sample_weight=weights[some])
    assert_array_equal(whole.pair_counts_, apart.pair_counts_)
    assert_array_equal(whole.counts_, apart.counts_)
    repeated = np.repeat(np.arange(len(y)), weights)
    copies = small(rows).fit(X[repeated], y[repeated])
    assert_array_equal(whole.pair_counts_, copies.pair_counts_)
    fractions = small(rows, weight_unit=1.0).fit(X, y, weights / 2)
    assert_array_equal(2 * fractions.pair_counts_, 1024 * whole.pair_counts_)


def test_rows_never_learned_are_refused(rows):
    """And nothing changes."""
    X, y = rows
    model = small(rows).fit(X[:20], y[:20])
    before = model.pair_counts_.copy()
    with pytest.raises(NeverLearnedError):
        model.forget(X[20:40], y[20:40])
    with pytest.raises(NeverLearnedError):
        model.like().partial_fit(X[:20], y[:20]).forget(X[20:30], y[20:30])
    assert_array_equal(model.pair_counts_, before)


def test_leave_one_out_is_leaving_one_out(rows):
    """With the same penalty, which is a multiple of a mean that changes a little."""
    X, y = rows
    model = small(rows, alpha=0.1).fit(X, y)
    with reading_learned(model) as learned:
        trace = np.trace(np.cov(hashed(model, X).T.astype(float), bias=True)) * len(y)
    rest = np.arange(len(y)) != 5
    other = np.trace(np.cov(hashed(model, X[rest]).T.astype(float), bias=True)) * rest.sum()
    alone = small(rows, alpha=0.1 * trace / other).fit(X[rest], y[rest])
    left_out = model.leave_one_out_decision(X, y)[5]
    assert_allclose(alone.decision_function(X[5:6])[0], left_out, atol=1e-6)  # of weights rounded to 24 bits
    found = influence(model, X, y, X[7:8])
    assert_allclose(found.now, model.decision_function(X[7:8])[0], atol=1e-6)
    assert learned.counts.n_rows == len(y)


def test_shares_of_features_add_up_to_the_score(rows):
    """Half of a product belongs to each of its columns."""
    X, y = rows
    model = small(rows).fit(X, y)
    scores = model.decision_function(X[:9])[:, 1] - model.intercept_[1]
    assert_allclose(model.explain(X[:9], 1).sum(axis=1), scores, atol=1e-9)


def test_files_pickles_and_frozen_models_predict_alike(rows, tmp_path):
    """In format 7, which older versions refuse."""
    X, y = rows
    model = FlyRidgeClassifier().fit(X, y)
    model.save(tmp_path / "model.fly")
    model.freeze().save(tmp_path / "frozen.fly")
    assert b'\\"format\\": 7' in (tmp_path / "model.fly").read_bytes()
    for again in (flybloom.load(tmp_path / "model.fly"), pickle.loads(pickle.dumps(model))):  # noqa: S301
        assert_array_equal(again.pair_counts_, model.pair_counts_)
        assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    for again in (flybloom.load(tmp_path / "frozen.fly"), predictor.load(tmp_path / "frozen.fly")):
        assert_array_equal(again.predict(X), model.predict(X))


def test_files_of_impossible_sums_are_refused(rows, tmp_path, monkeypatch):
    """Sums of squares below those of the means."""
    model = small(rows).fit(*rows)
    with reading_learned(model) as learned:
        monkeypatch.setattr(learned.counts, "triangle", np.zeros_like(learned.counts.triangle))
    model.save(tmp_path / "model.fly")
    with pytest.raises(ModelFileError, match="not those of any rows"):
        flybloom.load(tmp_path / "model.fly")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_onnx_gives_the_same_labels(rows, dtype):
    """Bit for bit, ties included."""
    onnxruntime = pytest.importorskip("onnxruntime")
    X, y = rows
    model = small(rows, alpha=1e6).fit(np.zeros_like(X[:4]), [0, 1, 2, 3])  # all classes tie
    other = FlyRidgeClassifier().fit(X, y)
    for one in (model, other):
        session = onnxruntime.InferenceSession(to_onnx(one, dtype=dtype).SerializeToString())
        labels, probabilities = session.run(None, {"X": X.astype(dtype)})
        assert_array_equal(labels, one.predict(X.astype(dtype)))
        assert_allclose(probabilities, one.predict_proba(X.astype(dtype)), atol=1e-6)
    assert np.unique(model.predict(X)).size > 1


def test_windows_keep_values(rows, tmp_path):
    """After a file as well."""
    X, y = rows
    window = SlidingWindow(small(rows), n_rows=100)
    for begin in range(0, 300, 7):
        window.partial_fit(X[begin : begin + 7], y[begin : begin + 7])
    alone = small(rows).fit(X[200:], y[200:])
    assert_array_equal(window.model_.pair_counts_, alone.pair_counts_)
    window.save(tmp_path / "window.fly")
    again = flybloom.load(tmp_path / "window.fly").partial_fit(X[:5], y[:5])
    assert_array_equal(again.model_.pair_counts_, window.partial_fit(X[:5], y[:5]).model_.pair_counts_)
    fading = SlidingWindow(small(rows), half_life=50).fit(X, y)
    assert fading.score(X, y) > 0.5


def test_what_has_no_meaning_for_values_is_refused(rows):
    """And says what to do."""
    X, y = rows
    model = small(rows).fit(X, y)
    with pytest.raises(ValueError, match="set n_winners"):
        certify(model, X[:1])
    with pytest.raises(ValueError, match="Set n_winners"):
        novelty_rate(model, X[:1])
    with pytest.raises(ValueError, match="multiplies two columns"):
        small(rows, n_connections=3).fit(X, y)
    with pytest.raises(ValueError, match="exceeds the 4608 columns and products"):
        small(rows, n_components=5000).fit(X, y)
    with pytest.raises(ValueError, match="'n_winners'"):
        FlyBloomClassifier(n_winners=0).fit(X, y)


def test_a_single_column_has_no_products(rows, tmp_path):
    """Its file is read all the same."""
    X, y = rows[0][:, :1].copy(), rows[1]
    model = FlyRidgeClassifier(1, n_winners=0, encoding="standard").fit(X, y)
    model.save(tmp_path / "model.fly")
    assert_array_equal(flybloom.load(tmp_path / "model.fly").predict(X), model.predict(X))
