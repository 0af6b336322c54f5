"""The laws of filling gaps: the slow truth, any order and blocks, files, and gaps that tell of the classes."""

from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, make_classification

import flybloom
import reference
from flybloom import Encoding, FlyBloomClassifier, FlyRidgeClassifier, distributed
from flybloom.audit import certify
from flybloom.core._kernels import _choice as loops
from flybloom.core.encoding import fill
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.sketch import Sketch
from flybloom.estimators.access import n_rows_learned
from flybloom.export.predictor import load
from laws.kinds import assert_same_state
from laws.strategies import block_cuts

SIZES = {"n_components": 48, "n_winners": 6, "random_state": 3}


def gappy(seed, n=80, d=4, share=0.2):
    """Rows of three classes whose columns go together, with gaps, and weights, of which some are 0."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 2.0 * rng.normal(size=(3, d))[y]
    X[rng.random(X.shape) < share] = np.nan
    return X, y, rng.integers(0, 3, n)


def sample_of(X, y, weights, parts):
    """What stands for the parts of rows together."""
    return reduce(add, [Sketch.of(X[p], y[p], weights[p]) for p in parts]).sample()


@pytest.mark.parametrize("way", ["rows", "classes"])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**16), d=st.integers(1, 5))
def test_filled_gaps_are_the_slow_truth(way, seed, d):
    """By another formula, from covariances: the library inverts precisions of what is missing."""
    X, y, weights = gappy(seed, d=d)
    encoder = Encoding(fill=way).fitted(Encoder(d), sample_of(X, y, weights, [slice(None)]))
    before = Encoder(d, steps=encoder.steps[:1]).encode(X, keeps_missing=True)
    expected = reference.fill(before, y, weights, by_class=way == "classes")
    found, is_filled = encoder.steps[1].apply(before), encoder.steps[1].columns
    assert_allclose(found[:, is_filled], expected[:, is_filled], atol=1e-4)
    assert_array_equal(found[~np.isnan(before)], before[~np.isnan(before)])


@pytest.mark.parametrize("way", ["rows", "classes"])
@settings(max_examples=20, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**16), most=st.sampled_from([5, 512]))
def test_no_order_and_no_blocks_matter(way, data, seed, most):
    """Also where samples are smaller than the rows."""
    X, y, weights = gappy(seed)
    order = np.array(data.draw(st.permutations(range(len(X)))))
    parts = [order[cut] for cut in data.draw(block_cuts(len(X)))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fill, "MAX_ROWS", most)
        patch.setattr(fill, "MIN_ROWS", 1)
        found = [
            Encoding(fill=way, bins=3).fitted(Encoder(4), sample_of(X, y, weights, p)) for p in ([slice(None)], parts)
        ]
    assert found[0] == found[1]
    assert_array_equal(found[0].encode(X), found[1].encode(X))
    one_by_one = np.concatenate([found[0].encode(X[i : i + 1]) for i in range(len(X))])
    assert_array_equal(one_by_one, found[0].encode(X))


@settings(max_examples=10, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**16))
def test_too_many_classes_are_not_told_apart_whatever_the_blocks(data, seed):
    """Then all rows have their normals together, as without labels."""
    X, y, weights = gappy(seed)
    parts = data.draw(block_cuts(len(X)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fill, "MAX_CLASSES", 2)
        found = [
            Encoding(fill="classes").fitted(Encoder(4), sample_of(X, y, weights, p)) for p in ([slice(None)], parts)
        ]
    assert found[0] == found[1] == Encoding(fill="rows").fitted(Encoder(4), sample_of(X, y, weights, [slice(None)]))


def test_models_are_the_same_by_fit_training_and_on_a_cluster(tmp_path):
    """And after a round trip through a file; compiled or not."""
    X, y, _ = gappy(0, 300)
    model = FlyBloomClassifier(**SIZES).fit(X, y)
    assert [step.kind for step in model.encoder_.steps] == ["standardise", "fill", "bins", "relevance"]
    order = np.random.default_rng(1).permutation(len(y))
    assert_same_state(
        flybloom.train(FlyBloomClassifier(**SIZES), (X[order], y[order]), block_rows=7, target="y"), model
    )
    dask = pytest.importorskip("dask")
    from dask import array as da  # noqa: PLC0415

    with dask.config.set(scheduler="synchronous"):
        rows, labels = da.from_array(X, chunks=(70, 4)), da.from_array(y, chunks=70)
        assert_same_state(distributed.fit(FlyBloomClassifier(**SIZES), rows, labels), model)
    model.save(tmp_path / "model.fly")
    loaded = flybloom.load(tmp_path / "model.fly")
    assert_same_state(loaded, model)
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert_array_equal(load(tmp_path / "model.fly").predict(X), model.predict(X))


def test_rows_of_which_nothing_is_missing_are_learned_as_ever():
    """The step is there only if it has something to do."""
    X, y = load_iris(return_X_y=True)
    kinds = [step.kind for step in FlyBloomClassifier(**SIZES).fit(X, y).encoder_.steps]
    assert kinds == ["standardise", "bins", "relevance"]


def test_gaps_that_tell_of_the_classes_stay():
    """What is missing more often in one class than in others says something; what is missing at random does not."""
    X, y, _ = gappy(3, 600)
    X[(y == 1) & (np.random.default_rng(0).random(600) < 0.5), 2] = np.nan
    step = FlyBloomClassifier(**SIZES).fit(X, y).encoder_.steps[1]
    assert_array_equal(step.columns, [True, True, False, True])
    assert np.isnan(step.apply(np.full((1, 4), np.nan, np.float32)))[0].tolist() == [False, False, True, False]


def test_columns_that_others_tell_nothing_of_keep_their_gaps():
    """Their gaps would become the mean, as if it were known."""
    X, y, _ = gappy(3, 600)
    X[:, 1] = np.where(np.isnan(X[:, 1]), np.nan, np.random.default_rng(1).normal(size=600))
    assert_array_equal(FlyBloomClassifier(**SIZES).fit(X, y).encoder_.steps[1].columns, [True, False, True, True])


def test_weights_of_fractions_are_rows_as_well():
    """A row of weight 1/2 is half a row where chance is judged, not 512."""
    X, y, _ = gappy(5, 400)
    whole = FlyBloomClassifier(**SIZES).fit(X, y)
    halves = FlyBloomClassifier(**SIZES).fit(np.r_[X, X], np.r_[y, y], sample_weight=np.full(800, 0.5))
    assert_array_equal(halves.encoder_.steps[1].columns, whole.encoder_.steps[1].columns)
    assert_allclose(halves.encoder_.steps[1].means, whole.encoder_.steps[1].means, atol=1e-6)


def test_what_other_columns_tell_is_used():
    """A tenth of all values is missing, and next to nothing is lost."""
    X, y = make_classification(3000, 20, n_informative=10, n_classes=4, random_state=7)
    gaps = X.copy()
    gaps[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    for kind in (FlyBloomClassifier, FlyRidgeClassifier):
        encodings = ("auto", "bins+passthrough+relevance=0.4")
        filled, plain = (kind(2048, encoding=e, random_state=0).fit(gaps[:2000], y[:2000]) for e in encodings)
        gain = filled.score(gaps[2000:], y[2000:]) - plain.score(gaps[2000:], y[2000:])
        assert gain > 0.02


def test_certificates_say_nothing_of_rows_with_gaps():
    """Their values follow from others, which may move."""
    X, y, _ = gappy(1, 300, share=0.1)
    model = FlyBloomClassifier(512, random_state=0).fit(X, y)
    certified = certify(model, X, 1e-6)
    assert certified.any()
    assert not certified[np.isnan(X).any(axis=1)].any()


def test_hostile_normals_are_refused():
    """A file may say anything."""
    X = gappy(2)[0]
    step = Encoding(fill="rows").fit(X).steps[1]
    stored = step.to_dict()
    assert fill.Fill.from_dict(stored, 4).fields() == step.fields()
    for name, wrong in (
        ("fill_means", step.means[:, :3]),
        ("fill_means", step.means.astype(np.float64)),
        ("fill_precisions", step.precisions * np.float32(np.inf)),
        ("fill_chances", step.chances[:1]),
    ):
        with pytest.raises(ValueError, match="fill_"):
            fill.Fill.from_dict({**stored, name: wrong}, 4)
    with pytest.raises(ValueError, match="fill_means"):
        fill.Fill.from_dict({"not_filled": []}, 4)
    for wrong in (None, [4], [-1], [1.0], "12"):
        with pytest.raises(ValueError, match="not columns"):
            fill.Fill.from_dict({**stored, "not_filled": wrong}, 4)


def test_it_goes_with_standardised_columns_and_not_too_many():
    """Said before any work."""
    with pytest.raises(ValueError, match="fill"):
        Encoding("none", fill="rows")
    with pytest.raises(ValueError, match="one of none, rows, classes"):
        Encoding(fill="means")
    with pytest.raises(ValueError, match="none for more than 100 columns"):
        Encoding(fill="rows").fit(np.zeros((3, 101)))
    assert Encoding.parse("fill") == Encoding(fill="rows")
    assert Encoding.parse("fill=classes+bins").fill == "classes"


@pytest.mark.parametrize("choice", ["plain", "compiled"])
def test_a_part_without_rows_is_filled_as_well(choice, monkeypatch):
    """As a part of a file may have none."""
    X, y, weights = gappy(4)
    monkeypatch.setattr(loops, "CHOICE", choice)
    encoder = Encoding(fill="classes").fitted(Encoder(4), sample_of(X, y, weights, [slice(0, 0), slice(None)]))
    assert encoder.encode(X[:0]).shape == (0, 4)
    assert encoder == Encoding(fill="classes").fitted(Encoder(4), sample_of(X, y, weights, [slice(None)]))


@pytest.mark.parametrize("seed", range(5))
def test_classes_of_the_same_rows_are_filled_alike_in_any_order(seed):
    """Two classes of six rows, in other multiplicities: where sums depended on the order, merging was refused."""
    rng = np.random.default_rng(seed)
    six = np.round(rng.standard_normal((6, 4)), 1)
    six[0, 1:3] = six[1, 0] = np.nan
    at = np.concatenate([np.repeat(np.arange(6), 1 + rng.multinomial(56, np.full(6, 1 / 6))) for _ in range(2)])
    X, y = six[at], np.repeat([0, 1], 62)
    first, second = np.array_split(rng.permutation(124), 2)
    models = [
        FlyBloomClassifier(64, encoding="standard+fill=classes", random_state=0).fit(X[order], y[order])
        for order in (np.concatenate([first, second]), np.concatenate([second, first]))
    ]
    assert n_rows_learned(models[0] + models[1]) == 2 * 124
