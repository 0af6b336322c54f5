"""Table 1: what one pass says of a setting is what a model says that was fitted for it."""

import numpy as np
import pytest

from flybloom import FlyBloomClassifier, FlyRidgeClassifier
from flybloom.paper.experiments.vision import plan, summarise
from flybloom.paper.scores import hold_out
from flybloom.paper.vision_units import rows_of, run_pairs, searched

SPACE = {"components": [16], "connections": [0.1], "winners": [16, 64], "decays": [0.3, 0.8]}
SETTINGS = {"names": ["digits"], "seed": 3, "grids": {}, "paper": {"digits": [{**SPACE, "projections": 2}]}}


@pytest.fixture(scope="module")
def results():
    """What all units leave."""
    return {unit.key: unit.run(**unit.arguments) for unit in plan(SETTINGS, None)}


def test_scores_of_a_pass_are_those_of_fitted_models(results):
    """On held-out and on test rows."""
    X, y, X_test, y_test = rows_of("digits", None, None)
    [(train, held_out)] = hold_out(y)
    for result in results.values():
        assert len(result["settings"]) == 4
        for found in result["settings"]:
            params = found["params"]
            model = FlyBloomClassifier(
                params["m"], n_connections=params["s"], n_winners=params["rho"], decay=params["c"], signed=False,
                encoding="none", random_state=params["seed"],
            )  # fmt: skip
            rows = [part.astype(np.float32) for part in (X[train], X[held_out], X, X_test)]
            assert model.fit(rows[0], y[train]).score(rows[1], y[held_out]) == found["held_out"]["accuracy"]
            assert model.fit(rows[2], y).score(rows[3], y_test) == found["test"]["accuracy"]


def test_held_out_rows_choose_and_every_projection_is_shown(results):
    """The best on held-out rows is the one whose test counts."""
    summary = summarise(SETTINGS, results)
    settings = [found for result in results.values() for found in result["settings"]]
    chosen = max(settings, key=lambda found: found["held_out"]["balanced_accuracy"])
    assert summary.numbers["percent"]["digits"]["FBFC*"] == 100 * chosen["test"]["accuracy"]
    spread = summary.tables[1].rows
    assert [row[:3] for row in spread] == [["digits", "FBFC*", 2]]


def test_test_rows_have_no_part_in_the_authors_search():
    """With other test rows it chooses the same."""
    space = {"search": "bayesian", "most_components": 8.0, "n_calls": 4, "n_random": 4, "projections": 2}
    X, y, X_test, y_test = rows_of("digits", None, 300)
    labels, everything = np.concatenate([y, y_test]), np.arange(len(y) + len(y_test))
    splits = [*hold_out(y), (everything[: len(y)], everything[len(y) :])]
    found = [
        searched(np.concatenate([X, rows]).astype(np.float32), labels, splits, space, 0)
        for rows in (X_test, X_test[::-1] ** 2)
    ]
    first, second = [[record["params"] for record in records] for records in found]
    assert first == second
    assert [params["seed"] for params in first] == [0, 1]
    assert found[0][0]["accuracy"][1] != found[1][0]["accuracy"][1]


def test_pairs_learn_on_with_the_rows_that_were_held_out():
    """The model that is tested has learned all rows."""
    X, y, X_test, y_test = rows_of("digits", None, None)
    [(train, held_out)] = hold_out(y)
    [found] = run_pairs("digits", {"n_components": 256}, 5, None)["settings"]
    model = FlyRidgeClassifier(256, random_state=5).fit(X[train], y[train])
    assert model.score(X[held_out], y[held_out]) == found["held_out"]["accuracy"]
    assert model.partial_fit(X[held_out], y[held_out]).score(X_test, y_test) == found["test"]["accuracy"]
