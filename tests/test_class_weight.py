"""The class_weight parameter: what it accepts, that it is kept, and that small classes are found."""

import json
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score
from sklearn.utils.class_weight import compute_class_weight

import flybloom
from flybloom import FlyBloomClassifier, FlyBloomClassifierCV, OpenSetClassifier
from flybloom.core.files.envelope import read_file, write_file
from flybloom.core.readout import class_weight as weighting
from flybloom.exceptions import ModelFileError


@pytest.fixture
def uneven(rng):
    """A large class around a small one."""
    X = np.concatenate([rng.normal(0, 1.5, (900, 6)), rng.normal(1, 0.5, (40, 6))])
    return X, np.repeat(["common", "rare"], [900, 40])


def small(**parameters):
    """A small classifier."""
    return FlyBloomClassifier(
        **{"n_components": 400, "n_winners": 16, "random_state": 0, "encoding": "standard+clip=inf", **parameters}
    )


def test_small_classes_are_found(uneven):
    """Balanced accuracy on new rows rises much; nothing was learned again."""
    X, y = uneven
    model = small().fit(X[::2], y[::2])
    before, counts = balanced_accuracy_score(y[1::2], model.predict(X[1::2])), model.counts_
    after = balanced_accuracy_score(y[1::2], model.set_params(class_weight="balanced").predict(X[1::2]))
    assert after > before + 0.1
    assert_array_equal(model.counts_, counts)


def test_balanced_weights_are_those_of_scikit_learn(uneven):
    """To the bit."""
    y = uneven[1]
    classes, rows = np.unique(y, return_counts=True)
    expected = compute_class_weight("balanced", classes=classes, y=y)
    assert_array_equal(weighting.class_weights("balanced", classes, rows), expected)


def test_labels_that_are_not_named_weigh_one(uneven):
    """And a weight may wait for rows of its class."""
    model = small(class_weight={"rare": 22.5}).fit(*uneven)
    named = small(class_weight={"rare": 22.5, "common": 1}).fit(*uneven)
    assert_array_equal(model.novelty(uneven[0]), named.novelty(uneven[0]))
    waiting = small(class_weight={"common": 1, "rare": 1, "later": 3}).fit(*uneven)
    assert_array_equal(waiting.novelty(uneven[0]), small().fit(*uneven).novelty(uneven[0]))


@pytest.mark.parametrize("estimator", [small(), FlyBloomClassifierCV(64, n_winners=4)])
@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ("even", "The 'class_weight' parameter of .* must be .*'balanced'"),
        ([1, 2], "The 'class_weight' parameter of .* must be "),
        ({"rare": 0}, "must hold a number above 0 for each label. Got 0 for 'rare'"),
        ({"rare": -1.5}, "Got -1.5 for 'rare'"),
        ({"rare": float("nan")}, "Got nan for 'rare'"),
        ({"rare": float("inf")}, "Got inf for 'rare'"),
        ({"rare": "2"}, "Got '2' for 'rare'"),
        ({"rare": True}, "Got True for 'rare'"),
        ({"rare": 2, 1: 3}, "must be all strings or all numbers"),
        ({"Rare": 2}, r"must name labels of y. Got \['Rare'\] instead, while \['common', 'rare'\] have no weight"),
        ({0: 1, 1: 3}, r"must name labels of y. Got \[0, 1\] instead"),
    ],
)
def test_other_weights_are_refused(uneven, estimator, class_weight, message):
    """By fit, which then leaves no trace; wrong values also where they are set later."""
    estimator = clone(estimator).set_params(class_weight=class_weight)
    with pytest.raises(ValueError, match=message):
        estimator.fit(*uneven)
    assert not hasattr(estimator, "classes_")


def test_wrong_weights_are_refused_when_scoring():
    """They may have been set after fit."""
    model = small().fit([[0.0], [1.0]], [0, 1]).set_params(class_weight={0: -1})
    with pytest.raises(ValueError, match="Got -1 for 0 instead"):
        model.predict([[0.0]])


def test_merging_keeps_the_weights_of_the_first(uneven):
    """Class weights matter only when scoring, so they do not hinder merging."""
    X, y = uneven
    first = small(encoding="none", class_weight="balanced").fit(X[::2], y[::2])
    other = small(encoding="none").fit(X[1::2], y[1::2])
    both = first + other
    assert both.class_weight == "balanced"
    assert (other + first).class_weight is None
    whole = small(encoding="none", class_weight="balanced").fit(X, y)
    assert_array_equal(both.novelty(X), whole.novelty(X))
    assert_array_equal((both - other).novelty(X), first.novelty(X))


@pytest.mark.parametrize(
    ("class_weight", "labels"),
    [
        ("balanced", ["a", "b"]),
        ({"a": 2, "b": 0.1}, ["a", "b"]),
        ({1: 2.5, 0: np.float32(0.5)}, [0, 1]),
        ({np.int64(1): np.int64(3)}, [0, 1]),
        ({1.0: 2.0, 2.0: 1}, [1.0, 2.0]),
        ({True: 3.0}, [False, True]),
        ({}, [0, 1]),
    ],
)
def test_weights_survive_files_pickles_and_clones(tmp_path, rng, class_weight, labels):
    """With their labels, and all scores."""
    X, y = rng.normal(size=(60, 3)), np.array(labels)[rng.integers(0, 2, 60) * rng.integers(0, 2, 60)]
    model = small(class_weight=class_weight).fit(X, y)
    model.save(tmp_path / "model.fly")
    for again in (flybloom.load(tmp_path / "model.fly"), pickle.loads(pickle.dumps(model))):  # noqa: S301
        assert again.class_weight == class_weight
        assert_array_equal(again.novelty(X), model.novelty(X))
    assert clone(model).class_weight == class_weight


def test_files_without_weights_are_as_before(tmp_path, uneven):
    """So that versions which know no class weights read them, and files of those are read."""
    small().fit(*uneven).save(tmp_path / "model.fly")
    assert "class_weight" not in read_file(tmp_path / "model.fly")[0]["parameters"]
    assert flybloom.load(tmp_path / "model.fly").class_weight is None


@pytest.mark.parametrize(
    "stored",
    [
        "even",
        3,
        [],
        {},
        {"labels": {"dtype": "str", "values": ["a"]}},
        {"labels": {"dtype": "str", "values": ["a", "b"]}, "weights": [1.0]},
        {"labels": {"dtype": "str", "values": ["a"]}, "weights": [-1.0]},
        {"labels": {"dtype": "str", "values": ["a"]}, "weights": ["1"]},
        {"labels": {"dtype": "str", "values": ["a"]}, "weights": 1},
        {"labels": {"dtype": "int64", "values": ["a"]}, "weights": [1.0]},
        {"labels": ["a"], "weights": [1.0]},
        {"labels": {"dtype": "int64", "values": [0]}, "weights": [10**400]},
    ],
)
def test_files_with_other_weights_are_refused(tmp_path, uneven, stored):
    """As damaged."""
    small(class_weight="balanced").fit(*uneven).save(tmp_path / "model.fly")
    description, arrays, _ = read_file(tmp_path / "model.fly")
    description["parameters"]["class_weight"] = json.loads(json.dumps(stored))
    write_file(tmp_path / "other.fly", description, arrays)
    with pytest.raises(ModelFileError, match=r"class weights are wrong|a parameter is wrong"):
        flybloom.load(tmp_path / "other.fly")


def test_an_open_set_uses_the_weighted_scores(uneven):
    """For its threshold and its labels."""
    X, y = uneven
    model = OpenSetClassifier(small(class_weight="balanced"), quantile=0.9).fit(X, y)
    inner = small(class_weight="balanced").fit(X, y)
    assert_array_equal(model.threshold_[0], np.quantile(inner.leave_one_out_novelty(X, y).min(axis=1), 0.9))
    is_known = model.predict(X) != "unknown"
    assert_array_equal(model.predict(X)[is_known], inner.predict(X)[is_known])


def test_a_search_hands_its_weights_to_the_best_model(uneven):
    """And needs a little more memory for their tables."""
    search = FlyBloomClassifierCV([64, 128], n_winners=4, class_weight={"rare": 9.0}, random_state=0).fit(*uneven)
    assert search.best_estimator_.class_weight == {"rare": 9.0}
    plain = clone(search).set_params(class_weight=None)
    assert search.estimate_memory(1000, 10, 3) - plain.estimate_memory(1000, 10, 3) == 64 * 1003


def test_a_cluster_predicts_with_the_weights(uneven):
    """Weights travel with the model, and follow from all rows, not from those of a block."""
    array = pytest.importorskip("dask.array")
    distributed = pytest.importorskip("flybloom.distributed")
    X, y = uneven
    model = small(class_weight="balanced").fit(X, y)
    assert_array_equal(distributed.predict(model, array.from_array(X, chunks=(100, 6))).compute(), model.predict(X))
