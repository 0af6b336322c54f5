"""The search of many settings at once is compared with models that are fitted one by one."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import accuracy_score, balanced_accuracy_score

from flybloom import FlyBloomClassifier
from flybloom.estimators.densify import Densify
from flybloom.paper.fly_search import BayesianSpace, Space, search_bayesian, search_grid
from flybloom.paper.scores import folds, hold_out


@pytest.fixture(scope="module")
def data():
    """Unequal classes of few rows."""
    X, y = make_classification(120, 12, n_informative=8, n_classes=3, weights=[0.6, 0.3], random_state=0)
    return X.astype(np.float32), y


@pytest.mark.parametrize("signed", [False, True])
def test_scores_are_those_of_models_fitted_by_themselves(data, signed):
    """Every setting on every fold, one pass against many fits."""
    X, y = data
    weights = ("none", "balanced")
    space = Space((8, 20), (0.2, 0.5), (4, 16), (0.3, 1.0), "none", signed, (False, True), weights, projections=2)
    splits = folds(X, y, 3)
    records = search_grid(X, y, splits, space, seed=7)
    assert len(records) == 2**7
    for record in records:
        params = record["params"]
        rows = Densify(random_state=params["seed"]).fit_transform(X) if params["densify"] else X
        for at, (train, test) in enumerate(splits):
            model = FlyBloomClassifier(
                params["m"], n_connections=params["s"], n_winners=params["rho"], decay=params["c"], signed=signed,
                encoding="none", random_state=params["seed"],
                class_weight=None if params["class_weight"] == "none" else params["class_weight"],
            ).fit(rows[train], y[train])  # fmt: skip
            predicted = model.predict(rows[test])
            assert record["accuracy"][at] == accuracy_score(y[test], predicted)
            assert record["balanced_accuracy"][at] == pytest.approx(balanced_accuracy_score(y[test], predicted), 1e-12)


def test_sizes_follow_the_number_of_features():
    """Multiples and shares of d, within the bounds."""
    space = Space((2, 100), (0.0, 0.5, 0.9), (8,), (1.0,), most_components=500, most_connections=6)
    assert space.sizes(10) == [(20, 2), (20, 5), (20, 6), (500, 2), (500, 5), (500, 6)]
    assert space.winners_for(15) == []
    assert space.winners_for(16) == [8]


def test_the_hold_out_is_a_fifth_of_every_class():
    """And no row is lost."""
    y = np.repeat([0, 1], [50, 100])
    [(train, test)] = hold_out(y)
    assert np.bincount(y[test]).tolist() == [10, 20]
    assert sorted([*train, *test]) == list(range(150))


@pytest.mark.parametrize("binary", [False, True])
def test_the_bayesian_search_stays_in_the_authors_ranges(data, binary):
    """It asks for so many settings, all of them inside."""
    pytest.importorskip("skopt")
    X, y = data
    records = search_bayesian(X, y, folds(X, y, 3), BayesianSpace(16.0, binary=binary, n_calls=7, n_random=5), seed=0)
    assert len(records) == 7
    for record in records:
        params = record["params"]
        width = 16 if params["densify"] else 12
        assert 2 * width <= params["m"] <= 16 * width
        assert 2 <= params["s"] <= width / 2
        assert params["rho"] <= max(256, params["m"] // 2)
        assert (params["c"] == 1) if binary else (0.2 <= params["c"] <= 0.9)
