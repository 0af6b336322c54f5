"""The laws of the k-NN check of "auto", and of columns that are left out."""

from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.datasets import make_classification
from sklearn.neighbors import KNeighborsClassifier

import flybloom
from flybloom import Encoding, FlyBloomClassifier, FlyBloomClassifierCV, FlyRidgeClassifier
from flybloom.core.encoding import neighbours
from flybloom.core.encoding.columns import Select
from flybloom.core.encoding.neighbours import is_behind
from flybloom.core.sketch import Sketch
from laws.kinds import assert_same_state
from laws.strategies import block_cuts, labelled_rows

PLAIN, BINNED = Encoding("standard"), Encoding(bins=5)


def askew(seed=0):
    """Rotated clusters in 15 columns, which bins do not see well."""
    return make_classification(3000, 15, n_informative=15, n_redundant=0, n_classes=4, random_state=seed)


def few_that_tell(seed=0, n=1500, d=40):
    """Three of many columns tell the class, by how far out they are."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X, (X[:, [3, 17, 30]] ** 2).sum(axis=1) > 2.4


def kinds(model):
    """The steps of a model's encoding."""
    return [step.kind for step in model.encoder_.steps]


@settings(max_examples=40)
@given(rows=labelled_rows(least=3), data=st.data(), most=st.sampled_from([4, 1536]))
def test_the_answer_does_not_depend_on_order_and_blocks(rows, data, most):
    """Also where the sample is smaller than the rows."""
    order = np.array(data.draw(st.permutations(range(len(rows.y)))))
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(order), max_size=len(order)).filter(any)))
    cuts = data.draw(block_cuts(len(order)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "SAMPLED", most)
        patch.setattr(neighbours, "MIN_SAMPLED", most)
        answers = [
            is_behind(reduce(add, [Sketch.of(rows.X[p], rows.y[p], weights[p]) for p in parts]).sample(), PLAIN, BINNED)
            for parts in ([slice(None)], [order[cut] for cut in cuts])
        ]
    assert answers[0] == answers[1]


def test_neighbours_are_those_of_scikit_learn():
    """By the angle between rows; votes that are equal go to the nearer rows there as well, where these are ahead."""
    X, y = askew()
    X, y = X[:400], y[:400]
    sample = Sketch.of(X, y, np.ones(400, np.int64)).sample()
    whole, y = neighbours._directions(PLAIN, sample), sample.labels
    distances = np.linalg.norm(whole.astype(np.float64)[:, None] - whole, axis=2)
    found = neighbours._are_right(whole, y)
    for i in range(0, 400, 7):
        rest = np.delete(np.arange(400), i)
        knn = KNeighborsClassifier(5).fit(whole[rest], y[rest])
        votes = knn.predict_proba(whole[i : i + 1])[0]
        if np.sort(votes)[-1] > np.sort(votes)[-2]:  # no tie
            assert found[i] == (votes.argmax() == y[i])
        assert distances[i, rest].min() > 0


def test_clouds_that_lie_askew_stay_columns():
    """Because neighbours say so; circles become bins, and few rows say nothing."""
    X, y = askew()
    for kind in (FlyBloomClassifier, FlyRidgeClassifier):
        ferns = ["cuts"] if kind is FlyRidgeClassifier else []
        assert kinds(kind(64, random_state=0).fit(X, y)) == ["standardise", "relevance", *ferns]
        assert kinds(kind(64, random_state=0).fit(X[:60], y[:60])) == ["standardise", "bins", "relevance", *ferns]
    rows, labels = few_that_tell()
    rows = rows[:, [3, 17, 30, 0, 1, 2, 4, 5]]
    assert kinds(FlyBloomClassifier(64, random_state=0).fit(rows, labels)) == ["standardise", "bins", "relevance"]


def test_few_columns_that_tell_are_seen_alone(tmp_path):
    """Of many; and files, blocks, explanations and forgetting know of it."""
    X, y = few_that_tell()
    model = FlyBloomClassifier(256, random_state=0).fit(X, y)
    assert kinds(model) == ["standardise", "select", "bins", "relevance"]
    assert {3, 17, 30} <= set(model.encoder_.step(Select).columns.tolist())
    trained = flybloom.train(FlyBloomClassifier(256, random_state=0), (X[::-1], y[::-1]), block_rows=100, target="y")
    assert_same_state(trained, model)
    model.save(tmp_path / "model.fly")
    loaded = flybloom.load(tmp_path / "model.fly")
    assert_same_state(loaded, model)
    assert_array_equal(loaded.predict(X), model.predict(X))
    shares = model.explain(X[:3])
    assert shares.shape == (3, 40)
    assert (shares[:, np.setdiff1d(np.arange(40), model.encoder_.step(Select).columns)] == 0).all()
    twice = FlyBloomClassifier(2048, random_state=0).fit(X[:1000], y[:1000])
    plain = FlyBloomClassifier(2048, encoding="standard+relevance=0.4", random_state=0).fit(X[:1000], y[:1000])
    assert twice.score(X[1000:], y[1000:]) > plain.score(X[1000:], y[1000:]) + 0.05


def test_a_search_has_the_same_columns_in_every_fold():
    """So "auto" leaves none out there."""
    X, y = few_that_tell()
    search = FlyBloomClassifierCV(128, n_winners=8, decay=0.4, cv=3, random_state=0).fit(X, y)
    assert [step.kind for step in search.encoder_.steps] == ["standardise", "relevance"]


def test_columns_that_are_none_are_refused():
    """In words, and in files."""
    assert Encoding.parse("columns=0,2+bins") == Encoding(columns=(0, 2), bins=5)
    assert Encoding.from_json(Encoding(columns=(0, 2)).to_json()) == Encoding(columns=(0, 2))
    for wrong in ((), (1, 1), (2, 0), (-1,), (0.5,), "01"):
        with pytest.raises(ValueError, match="columns"):
            Encoding(columns=wrong)
        with pytest.raises(ValueError, match="ascending"):
            Select.from_dict({"columns": list(wrong)}, 3)
    for given_ in ({"scaling": "none"}, {"grid_shape": (2, 2)}):
        with pytest.raises(ValueError, match="columns"):
            Encoding(columns=(0,), **given_)
    with pytest.raises(ValueError, match=r"below the number of columns, 2\. Got 2"):
        Encoding(columns=(0, 2)).fit(np.eye(2))
    with pytest.raises(ValueError, match="ascending"):
        Select.from_dict({"columns": [0, 3]}, 3)
