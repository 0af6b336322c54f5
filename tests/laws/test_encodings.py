"""The laws of encodings: the slow truth, any order, blocks, threads, clusters and files."""

import pickle
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_score

import flybloom
import reference
from flybloom import Encoding, FlyBloomClassifier, FlyBloomClassifierCV, FlyBloomNovelty, FlyHash, FlyRidgeClassifier
from flybloom.core._kernels import _choice as loops
from flybloom.core.encoding import relevance
from flybloom.core.encoding.choice import fitted_encoder, wanted_encoding
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.encoding.relevance import relevant_shares
from flybloom.core.hashing.projection import Projection
from flybloom.core.sketch import Sketch
from flybloom.exceptions import IncompatibleHashError
from flybloom.report import class_profiles
from forgetting import after_forgetting
from laws.kinds import assert_same_state
from laws.strategies import block_cuts, labelled_rows

ENCODINGS = (
    "auto", "none", "whole", "center", "standard", "bins", "bins=3+relevance", "relevance", "relevance=1+clip=inf",
    "rotation=2", "rotation=3+standard", "bins=4+relevance+rotation=5", "bins=3+passthrough",
    "bins=4+passthrough=2+relevance", "fill", "fill=classes+bins=3", "unskew+bins=3", "columns=0+bins=4+relevance",
)  # fmt: skip
every_encoding = pytest.mark.parametrize("encoding", ENCODINGS)


def small(encoding, **options):
    """A model with few components."""
    return FlyBloomClassifier(48, n_winners=6, random_state=3, encoding=encoding, **options)


@st.composite
def rows_with_gaps(draw):
    """Rows of which some values are missing, and weights."""
    rows = draw(labelled_rows(least=3))
    X = rows.X.astype(float)
    X[draw(st.lists(st.integers(0, len(X) - 1), max_size=3)), draw(st.integers(0, X.shape[1] - 1))] = np.nan
    weights = draw(st.lists(st.integers(0, 3), min_size=len(X), max_size=len(X)).filter(any))
    return rows._replace(X=X), np.array(weights)


def fitted(encoding, X, y, weights):
    """An encoder of weighted rows."""
    return encoding.fitted(Encoder(X.shape[1]), Sketch.of(X, y, weights).sample())


@given(case=rows_with_gaps())
def test_clip_and_bins_are_the_slow_truth(case):
    """Bit for bit, missing values and weights included."""
    (X, y), weights = case
    encoder = fitted(Encoding(), X, y, weights)
    assert_array_equal(encoder.encode(X, keeps_missing=True), reference.clipped(X, weights))
    assert_array_equal(encoder.encode(X), np.nan_to_num(reference.clipped(X, weights)))
    binned = fitted(Encoding(bins=5), X, y, weights)
    assert_array_equal(binned.encode(X), reference.soft_bins(reference.clipped(X, weights), 5, 2.5, weights))
    beside = fitted(Encoding(bins=3, passthrough_scale=0.4), X, y, weights)
    assert_array_equal(beside.encode(X), reference.soft_bins(reference.clipped(X, weights), 3, 2.5, weights, 0.4))


@st.composite
def rows_with_outliers(draw):
    """Many rows by their weights, of which a few have values far out, or none."""
    (X, y), weights = draw(rows_with_gaps())
    weights = weights * draw(st.integers(1, 50))
    far = draw(st.lists(st.integers(0, len(X) - 1), max_size=2))
    X[far, draw(st.integers(0, X.shape[1] - 1))] *= draw(st.sampled_from([1e3, 1e6, -1e9]))
    weights[far] = np.minimum(weights[far], 2)
    return (X, y, weights) if weights.any() else (X, y, weights + 1)


@settings(max_examples=50)
@given(case=rows_with_outliers())
def test_columns_with_outliers_are_the_slow_truth(case):
    """Whether or not there are any, with a sample that is all rows."""
    X, y, weights = case
    encoder = fitted(Encoding(), X, y, weights)
    assert_array_equal(encoder.encode(X, keeps_missing=True), reference.clipped(X, weights))


def test_a_few_outliers_do_not_make_the_others_look_alike():
    """Two rows of 2000 are far out: the others are encoded as without them, nearly. Rare values are no outliers."""
    X = np.random.default_rng(0).normal(4000.0, 30.0, (2000, 2))
    X[:, 1] = np.arange(2000) % 100 == 0
    clean = Encoding().fit(X)
    X[[3, 1700], 0] = [7e5, -3e6]
    robust = Encoding().fit(X)
    others = np.delete(X, [3, 1700], axis=0)
    assert_allclose(robust.encode(others)[:, 0], clean.encode(others)[:, 0], atol=0.2)
    assert robust.encode(X)[3, 0] == np.float32(2.5)
    assert_array_equal(robust.encode(X)[:, 1], clean.encode(X)[:, 1])
    assert (
        abs(FlyHash(64, encoding="standard+clip=inf", random_state=0).fit(X).scale_[0]) > 1e4
    )  # the paper's: unclipped


@given(case=rows_with_gaps(), dtype=st.sampled_from([np.bool_, np.uint8, np.int8, np.uint16, np.int32, np.int64]))
def test_whole_centring_is_the_slow_truth(case, dtype):
    """Whole numbers stay whole, in any type, and floats become what they would be without rounding twice."""
    (X, y), weights = case
    encoder = fitted(Encoding("whole"), X, y, weights)
    assert_array_equal(encoder.encode(X), np.nan_to_num(reference.whole_center(X, X, weights).astype(np.float32)))
    whole = np.nan_to_num(X).astype(dtype)
    centred = encoder.encode(whole)
    assert centred.dtype.kind == "i"
    assert_array_equal(centred, reference.whole_center(X, whole, weights))


def test_bytes_stay_small_and_numbers_that_are_too_large_are_refused():
    """Bytes become 16 bits; beyond 2**52 a difference would not be exact."""
    rows = np.array([[0, 255], [7, 250]], np.uint8)
    encoder = Encoding("whole").fit(rows)
    assert encoder.encode(rows).dtype == np.int16
    assert encoder.encode(rows.astype(np.uint16)).dtype == np.int32
    with pytest.raises(ValueError, match=r"up to 2\*\*52. Got values from 0 to 9223372036854775807"):
        encoder.encode(np.array([[0, 2**63 - 1]]))
    with pytest.raises(ValueError, match=r"Means are rounded to whole numbers up to 2\*\*52. Got 1e\+20"):
        Encoding("whole").fit(np.array([[1e20, 0.0]]))
    with pytest.raises(ValueError, match="clip"):
        Encoding("whole", clip=2.0)


@given(case=rows_with_gaps(), power=st.sampled_from([0.5, 1.0]))
def test_relevance_is_the_slow_truth(case, power):
    """Up to the grain of the weights."""
    (X, y), weights = case
    encoder = fitted(Encoding(relevance=power), X, y, weights)
    expected = reference.relevance(reference.clipped(X, weights), y, power, 2.5, weights)
    found = encoder.steps[-1].weights
    is_tiny = (expected < 0.02) & (found < 0.04)  # no weight but 0 is below the grain
    assert_allclose(found[~is_tiny], expected[~is_tiny], atol=1 / 64 + 2e-3)


@settings(max_examples=50)
@given(case=rows_with_gaps(), times=st.sampled_from([1, 5, 25]), beside=st.sampled_from([0.0, 0.4, 0.8]))
def test_relevance_of_bins_is_the_slow_truth(case, times, beside):
    """Bins of a column tell together whether it counts, and each how much; with few rows none does."""
    (X, y), weights = case
    weights = weights * times
    encoder = fitted(Encoding(bins=4, passthrough_scale=beside, relevance=0.5), X, y, weights)
    binned = reference.soft_bins(reference.clipped(X, weights), 4, 2.5, weights, beside)
    largest, n_places = max(1.0, 2.5 * beside), 5 if beside else 4
    expected = reference.relevance(binned, y, 0.5, largest, weights, 4, n_places)
    found = encoder.steps[-1].weights
    is_tiny = (expected < 0.02) & (found < 0.1)  # shares that cancel to nothing
    assert_allclose(found[~is_tiny], expected[~is_tiny], atol=1 / 64 + 2e-3)


@given(case=rows_with_gaps())
def test_rotation_comes_from_the_exact_covariance(case):
    """It keeps the variance of the leading components; its columns are orthogonal, and zero where nothing varies."""
    (X, y), weights = case
    encoder = fitted(Encoding("standard", rotation=2), X, y, weights)
    matrix = encoder.steps[-1].matrix.astype(float)
    n, varies = matrix.shape[1], matrix.any(axis=0)
    truth = reference.covariance(reference.clipped(X, weights), weights)
    assert_allclose(matrix.T @ matrix, np.diag(varies.astype(float)), atol=1e-4)
    best = np.linalg.eigvalsh(truth)[::-1][:n]
    assert (best[~varies] < 1e-3 * max(1.0, abs(best).max())).all()
    assert_allclose(np.diag(matrix.T @ truth @ matrix), best, atol=1e-3 * max(1.0, abs(best).max()))
    one_by_one = np.concatenate([encoder.encode(X[i : i + 1]) for i in range(len(X))])
    assert_array_equal(one_by_one, encoder.encode(X))


@every_encoding
@settings(max_examples=20)
@given(data=st.data(), rows=labelled_rows(least=3))
def test_encoders_do_not_depend_on_order_blocks_or_threads(encoding, data, rows):
    """Sums over any parts, in any order, are those of the whole; so are the models."""
    order = np.array(data.draw(st.permutations(range(len(rows.y)))))
    whole = small(encoding).fit(rows.X, rows.y)
    assert_same_state(small(encoding, n_jobs=2).fit(rows.X[order], rows.y[order]), whole)
    cuts = data.draw(block_cuts(len(rows.y)))
    pairs = [(rows.X[cut], rows.y[cut]) for cut in cuts]
    again = flybloom.train(small(encoding), (np.concatenate([X for X, _ in pairs]), rows.y), block_rows=2, target="y")
    assert_same_state(again, whole)


@every_encoding
@settings(max_examples=5)
@given(data=st.data(), rows=labelled_rows(least=3))
def test_encoders_are_the_same_on_a_cluster(encoding, data, rows):
    """Whatever the blocks."""
    dask = pytest.importorskip("dask")
    da = pytest.importorskip("dask.array")
    from flybloom import distributed  # noqa: PLC0415

    sizes = tuple(np.diff([0, *sorted(data.draw(st.lists(st.integers(0, len(rows.y)), max_size=4))), len(rows.y)]))
    with dask.config.set(scheduler="synchronous"):
        blocks = da.from_array(rows.X, chunks=(tuple(map(int, sizes)), rows.X.shape[1]))
        model = distributed.fit(small(encoding), blocks, da.from_array(rows.y, chunks=(tuple(map(int, sizes)),)))
    assert_same_state(model, small(encoding).fit(rows.X, rows.y))


@every_encoding
def test_files_copies_and_clones_keep_encodings(encoding, digits, tmp_path):
    """And go on learning, forgetting and answering as the model does."""
    X, y = digits
    model = small(encoding).fit(X[:300], y[:300])
    model.save(tmp_path / "model.fly")
    loaded = flybloom.load(tmp_path / "model.fly")
    assert loaded.get_params() == model.get_params()
    for again in (loaded, pickle.loads(pickle.dumps(model))):  # noqa: S301
        again.partial_fit(X[300:400], y[300:400]).forget(X[300:400], y[300:400])
        assert_same_state(again, model)
        assert_array_equal(again.novelty(X), model.novelty(X))
    assert_same_state(clone(model).fit(X[:300], y[:300]), model)
    assert_allclose(model.explain(X[:20], labels=3).sum(axis=1), model.novelty(X[:20])[:, 3], atol=1e-6)
    assert class_profiles(model).shape == (10, 64)


@every_encoding
@pytest.mark.parametrize("choice", ["plain", "compiled"])
def test_parts_without_rows_change_nothing(encoding, choice, digits, monkeypatch):
    """As a part of a file may have none, on a worker that has compiled nothing yet."""
    X, y = digits[0][:, 20:30], digits[1]
    ones = np.ones(len(X), np.int64)
    monkeypatch.setattr(loops, "CHOICE", choice)

    def fitted_to(*parts):
        sketch = reduce(add, [Sketch.of(X[part], y[part], ones[part]) for part in parts])
        return fitted_encoder(wanted_encoding(encoding, uses_labels=True), Encoder(10), sketch.sample())

    encoder = fitted_to(slice(0), slice(None), slice(0))
    assert encoder.fields() == fitted_to(slice(None)).fields()
    assert encoder.encode(X[:0]).shape == (0, encoder.n_outputs)
    assert encoder.traced_back(np.empty((0, encoder.n_outputs))).shape == (0, 10)


def test_models_of_different_encodings_do_not_merge(digits):
    """The message names what differs."""
    X, y = digits
    for encoding, name in (
        ("bins", "bins"),
        ("relevance", "relevance"),
        ("rotation=9", "rotation"),
        ("grid=8x8", "grid"),
    ):
        with pytest.raises(IncompatibleHashError, match=name):
            small("standard").fit(X, y).merge(small(encoding).fit(X, y))


def test_an_encoding_that_was_fixed_beforehand_holds_nothing_of_the_rows(digits, tmp_path):
    """Models of different rows merge, and what is forgotten leaves no trace."""
    X, y = digits
    fixed = Encoding(bins=5, relevance=0.5).fit(X[:200], y[:200])
    a, b = small(fixed).fit(X[200:900], y[200:900]), small(fixed).fit(X[900:], y[900:])
    assert_same_state(a + b, small(fixed).fit(X[200:], y[200:]))
    assert_same_state(after_forgetting(a + b, X[200:900], y[200:900]), b)
    assert_same_state(small(a.encoder_).fit(X[200:900], y[200:900]), a)
    a.save(tmp_path / "a.fly")
    assert flybloom.load(tmp_path / "a.fly").encoding == fixed
    with pytest.raises(ValueError, match="3 features, but the encoding was fitted to 64"):
        small(fixed).fit(X[:, :3], y)


@given(
    shape=st.lists(st.integers(1, 9), min_size=1, max_size=3),
    share=st.floats(0.01, 1.0),
    seed=st.integers(0, 2**64 - 1),
)
def test_windows_are_the_slow_truth(shape, share, seed):
    """For images, signals and channels; all connections of a component are different."""
    d = int(np.prod(shape))
    s = max(1, round(share * d))
    grid = (*shape, 1, 1)[:3]
    features, signs = Projection(seed, d, 11, s, True, grid).connections()
    expected, expected_signs = reference.window_connections(seed, shape, 11, s)
    assert_array_equal(features, expected)
    assert_array_equal(signs, expected_signs)
    assert all(np.unique(row).size == s for row in features)


def test_windows_need_rows_of_their_shape(digits):
    """And are kept in files, with a version of their own."""
    X, y = digits
    model = small("grid=8x8+bins=3").fit(X, y)
    assert model.connections_.max() < 192
    with pytest.raises(ValueError, match="81 places, but X has 64 features"):
        small("grid=9x9").fit(X, y)


@pytest.mark.parametrize("encoding", ["auto", "none", "standard", "bins", "relevance", "rotation"])
def test_missing_values_add_nothing(encoding, digits):
    """A column that is always missing does not matter; infinity is refused."""
    X, y = digits
    gaps = X.copy()
    gaps[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    model = FlyBloomClassifier(2048, encoding=encoding, random_state=0).fit(gaps[:900], y[:900])
    assert model.score(gaps[900:], y[900:]) > 0.75
    assert FlyBloomNovelty(256, encoding="auto" if encoding == "relevance" else encoding).fit(gaps).predict(gaps).size
    with pytest.raises(ValueError, match="infinity"):
        model.predict(np.where(np.isnan(gaps), np.inf, gaps))


def test_missing_values_in_sparse_rows_count_as_zeros():
    """They add nothing to a sum."""
    X = sparse.random(60, 400, 0.02, format="csr", random_state=0)
    gaps = X.copy()
    gaps.data[::5] = np.nan
    zeros = X.copy()
    zeros.data[::5] = 0
    y = np.arange(60) % 3
    assert_array_equal(small("none").fit(gaps, y).counts_, small("none").fit(zeros, y).counts_)


def test_words_of_texts_are_told_apart():
    """Sparse rows of many columns stay as they are, with few connections; pairs weigh them."""
    X, y = sparse.random(60, 1025, 0.02, format="csr", random_state=0), np.arange(60) % 2
    model = FlyBloomClassifier(random_state=0).fit(X, y)
    assert (model.n_connections_, model.n_winners_, model.encoder_.steps) == (3, 384, ())
    fewer = FlyBloomClassifier(random_state=0).fit(X[:, :1024], y)
    assert (fewer.n_connections_, fewer.n_winners_, len(fewer.encoder_.steps)) == (64, 128, 1)
    pairs = FlyRidgeClassifier(random_state=0).fit(X, y)
    assert (pairs.n_connections_, len(pairs.encoder_.steps)) == (16, 1)


def test_sparse_rows_need_no_setting():
    """They stay sparse, and are weighted by relevance."""
    X = sparse.random(300, 500, 0.02, format="csr", random_state=0)
    y = np.arange(300) % 3
    X = sparse.csr_matrix(sparse.hstack([X, sparse.csr_matrix((y == 1).astype(float)[:, None])]))
    model = small("auto").fit(X, y)
    assert model.encoder_.takes_sparse
    assert model.encoder_.steps[0].weights.argmax() == 500
    assert_array_equal(model.novelty(X), model.novelty(X.toarray()))
    assert_array_equal(
        small("auto").fit(X, y).counts_, small("none+relevance", n_connections=64).fit(X.toarray(), y).counts_
    )


def test_columns_that_tell_nothing_all_weigh_the_same():
    """Otherwise every row would hash alike."""
    X = np.tile(np.eye(4), (10, 1))
    assert_array_equal(Encoding(relevance=0.5).fit(X, np.repeat([0, 1], 20)).steps[-1].weights, 1)


def test_a_column_that_is_beyond_chance_by_chance_does_not_drown_the_others():
    """Of 60 columns that tell nothing some look as if they did; one that does tell is found among them."""
    rng, n_right = np.random.default_rng(1), 0
    y = np.arange(400) % 2
    for _ in range(10):
        X = rng.normal(size=(400, 60))
        X[:, 7] += y
        weights = Encoding(relevance=0.5).fit(X, y).steps[-1].weights
        assert weights.argmax() == 7
        X[:, 7] -= y
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(relevance, "most_by_chance", lambda *_: 0.0)
            scaled = Sketch.of(X, y, np.ones(400, np.int64)).sample()
            assert relevant_shares(scaled, 2.5, 1, 1).any()  # some seem to be
        n_right += (Encoding(relevance=0.5).fit(X, y).steps[-1].weights == 1).all()
    assert n_right >= 8


def test_random_labels_give_no_gain():
    """Held-out rows are judged by encodings that never saw their labels."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 60)), rng.integers(0, 2, 300)
    for encoding in ("relevance=1", "bins+relevance"):
        assert (
            abs(cross_val_score(FlyBloomClassifier(2048, encoding=encoding, random_state=0), X, y, cv=5).mean() - 0.5)
            < 0.09
        )


def test_words_and_objects_say_the_same():
    """Short in code, on the command line, and when printed."""
    assert Encoding.parse("bins+relevance") == Encoding(bins=5, relevance=0.5)
    stored = Encoding(bins=5, passthrough_scale=0.4).to_json()
    stored["beside"] = stored.pop("passthrough_scale")  # as files of format 4 have it
    assert Encoding.from_json(stored) == Encoding(bins=5, passthrough_scale=0.4)
    assert Encoding.parse("bins+passthrough") == Encoding(bins=5, passthrough_scale=0.4)
    assert Encoding.parse("standard+clip=inf") == Encoding("standard", clip=np.inf)
    assert Encoding.parse("grid=28x28").grid_shape == (28, 28)
    assert repr(Encoding(bins=5, relevance=0.5)) == "Encoding(bins=5, relevance=0.5)"
    assert repr(Encoding("none")) == "Encoding(scaling='none')"
    assert hash(Encoding(bins=5)) == hash(Encoding(bins=5))
    for encoding in (Encoding(), Encoding("none"), Encoding(rotation=3), Encoding(clip=np.inf, grid_shape=(3, 4))):
        assert Encoding.from_json(encoding.to_json()) == encoding
    for wrong in ("bin", "bins=x", "grid", "", "bins=1", "passthrough", "bins+passthrough=-1", "bins+passthrough=inf"):
        with pytest.raises(ValueError, match=r"encoding|bins|passthrough"):
            FlyHash(encoding=wrong).fit(np.eye(3))


def test_what_does_not_go_together_is_refused(digits):
    """With the reason."""
    X, y = digits
    with pytest.raises(ValueError, match="an encoding or a scaling, not both"):
        small("bins", scaling="standard").fit(X, y)
    with pytest.raises(ValueError, match="FlyBloomNovelty learns without any"):
        FlyBloomNovelty(encoding="relevance").fit(X)
    with pytest.raises(ValueError, match="measured by labels"):
        FlyHash(encoding="relevance").fit(X)
    assert FlyHash(64, encoding="relevance", random_state=0).fit(X, y).winners(X).shape == (1797, 16)


@given(rows=labelled_rows(least=3))
def test_huge_weights_change_nothing_but_how_far_chance_goes(rows):
    """Means, deviations and the rotation are ratios."""
    light = np.ones(len(rows.y), np.int64)
    for encoding in (Encoding("standard", rotation=2), Encoding(bins=3)):
        one, many = (fitted(encoding, rows.X, rows.y, light * weight) for weight in (1, 2**29))
        assert_allclose(one.encode(rows.X), many.encode(rows.X), atol=1e-4)


def random_labels(seed, n=200, d=60):
    """Rows that have nothing to do with their labels."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.integers(0, 2, n)


def test_a_search_with_relevance_encodes_each_fold_by_its_own_rows(digits):
    """Its scores are those of models that never saw the labels of held-out rows; random labels give no gain."""
    X, y = digits[0][:300], digits[1][:300]
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    grid = {"n_components": [64, 128], "n_connections": 8, "n_winners": [4, 8], "decay": [0.4, 1.0]}
    search = FlyBloomClassifierCV(**grid, encoding="bins+relevance", cv=folds, random_state=3).fit(X, y)
    for i, params in enumerate(search.cv_results_["params"]):
        model = FlyBloomClassifier(**params, encoding="bins+relevance", random_state=3)
        scores = [clone(model).fit(X[a], y[a]).score(X[b], y[b]) for a, b in folds]
        assert_array_equal([search.cv_results_[f"split{k}_test_score"][i] for k in range(3)], scores)
    best = FlyBloomClassifier(**search.best_params_, encoding="bins+relevance", random_state=3)
    assert_array_equal(search.best_estimator_.counts_, clone(best).fit(X, y).counts_)
    for a, b in folds:
        assert_array_equal(search.oof_novelty_[b], clone(best).fit(X[a], y[a]).novelty(X[b]))


def test_a_search_gains_nothing_from_random_labels():
    """The mean over several draws is that of guessing."""
    options = {"n_connections": 16, "n_winners": 16, "decay": 0.4, "random_state": 0}
    search = FlyBloomClassifierCV(512, **options, encoding="relevance=1", cv=4)
    assert abs(np.mean([search.fit(*random_labels(seed)).best_score_ for seed in range(8)]) - 0.5) < 0.04


def test_leave_one_out_refuses_encodings_that_saw_the_labels(digits):
    """With the reason; "auto" then does without relevance, and an encoding of other rows is welcome."""
    X, y = digits[0][:300], digits[1][:300]
    options = {"n_components": 128, "n_winners": 8, "decay": 0.4, "random_state": 0}
    with pytest.raises(ValueError, match="its own label has a part in"):
        FlyBloomClassifierCV(**options, encoding="bins+relevance").fit(X, y)
    search = FlyBloomClassifierCV(**options).fit(X, y)
    assert [step.kind for step in search.encoder_.steps] == ["gradients", "standardise"]
    fixed = Encoding(bins=3, relevance=0.5).fit(digits[0][300:], digits[1][300:])
    assert FlyBloomClassifierCV(**options, encoding=fixed).fit(X, y).best_score_ > 0.8
    model = small("relevance").fit(X, y)
    with pytest.raises(ValueError, match="its own label has a part in"):
        model.leave_one_out_novelty(X, y)
    assert model.leave_one_out_novelty(X, y, shared_encoding=True).shape == (300, 10)
    assert small(fixed).fit(X, y).leave_one_out_novelty(X, y).shape == (300, 10)
