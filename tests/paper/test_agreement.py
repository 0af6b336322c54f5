"""Agreement with the nearest neighbour: the problems only just satisfy the theorems, and the promise is checked."""

import numpy as np
import pytest

from flybloom.paper.experiments import agreement
from flybloom.paper.theory import binary_conditions

BINARY = {"n_rows": 10, "n_features": 300, "n_ones": 30}
REAL = {"n_rows": 2, "n_features": 30, "n_connections": 8}
SETTINGS = {"n_trials": 4, "deltas": [0.4, 0.1], "fewer_winners": [1, 8], "binary": BINARY, "real": REAL}


def test_units_have_names_of_their_own_and_the_sizes_that_are_demanded():
    """One for each delta and each smaller number of winners, which keeps the proportions."""
    units = {unit.key: unit.arguments["sizes"] for unit in agreement.plan(SETTINGS, None)}
    assert len(units) == len(agreement.plan(SETTINGS, None)) == 3 * (2 + 2)
    m, s, rho = units["theorem-3/delta0.4"]
    small = units["theorem-3/winners8"]
    assert small[1:] == [s, 8]
    assert small[0] == pytest.approx(m / rho * 8, abs=1)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_binary_rows_are_at_the_edge_of_the_theorem(n_classes, rng):
    """The conditions hold, and would not with a neighbour any farther."""
    s = 2
    x, X, y = agreement.binary_problem(BINARY, s, n_classes, rng)
    found = binary_conditions(x, X, y, s)
    assert found.holds
    assert found.nearest_limit - found.nearest < 2  # ones move in pairs
    assert set(X.sum(axis=1)) == {30}
    assert np.bincount(y).tolist() == [10] * n_classes


def test_real_rows_have_their_neighbour_first(rng):
    """It is near in every feature, but not equal."""
    x, X, y = agreement.real_problem(REAL, agreement.sizes_for("theorem-4", REAL, 0.4), rng)
    distances = np.abs(X - x).max(axis=1)
    assert distances.argmin() == 0
    assert 0 < distances[0] < distances[1:].min()
    assert X.shape == (4, 30)
    assert sorted(y) == [0, 0, 1, 1]


@pytest.mark.parametrize("statement", list(agreement.TITLES))
def test_a_unit_counts_trials(statement):
    """With 32 winners both trials agree."""
    rows = REAL if statement == "theorem-4" else BINARY
    found = agreement.run(statement, rows, 2, list(agreement.fewer(agreement.sizes_for(statement, rows, 0.4), 32)))
    assert found == {"n_equal": 2, "n_met": 2}


@pytest.fixture
def results():
    """All trials agree at the demanded sizes, half of them below."""
    return {
        unit.key: {"n_equal": 4 if "delta" in unit.key else 2, "n_met": 4} for unit in agreement.plan(SETTINGS, None)
    }


def test_the_promise_is_checked(results):
    """One trial too few, or one that does not meet the conditions, breaks it."""
    assert [check.holds for check in agreement.summarise(SETTINGS, results).checks] == [True] * 3
    results["theorem-3/delta0.1"]["n_equal"] = 3
    results["theorem-4/delta0.4"]["n_met"] = 3
    assert [check.holds for check in agreement.summarise(SETTINGS, results).checks] == [False, True, False]


def test_the_figure_shows_what_was_measured_and_promised(results):
    """Fewer winners first, then those that are demanded."""
    axes = agreement.draw(agreement.summarise(SETTINGS, results))["agreement"].axes
    assert [len(ax.lines) for ax in axes] == [2, 2, 2]
    measured, promised = axes[0].lines
    assert measured.get_ydata().tolist() == [0.5, 0.5, 1.0, 1.0]
    assert promised.get_ydata().tolist() == [0.6, 0.9]
