"""Regression on pairs: the weights of plain ridge regression, exact sums of targets, rows left out."""

from copy import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_friedman1
from sklearn.metrics import r2_score

import flybloom
from flybloom import FlyRidgeRegressor
from flybloom.core.counts.by_target import TargetSums, Totals
from flybloom.core.counts.target_grid import STEPS, TargetGrid
from flybloom.core.counts.trend import COLUMN_STEPS, VALUE_STEPS, Trend
from flybloom.core.readout.left_out import LeftOut
from flybloom.estimators.access import leaving_out, reading_learned, scoring
from flybloom.exceptions import IncompatibleHashError, NeverLearnedError
from forgetting import after_forgetting

X, Y = make_friedman1(300, noise=0.5, random_state=0)
TWO = np.column_stack([Y, 100 - 3 * Y + 40 * X[:, 0]])


def small(**settings):
    """A model with few components, whose encoding knows no rows."""
    return FlyRidgeRegressor(96, **{"n_winners": 12, "encoding": "none", "random_state": 0, "alpha": 0.1, **settings})


def hashes(model, rows):
    """The hashes as zeros and ones."""
    with scoring(model, rows) as (checked, learned):
        winners = learned.hasher.winners(checked)
    ones = np.zeros((len(rows), model.n_components_))
    np.put_along_axis(ones, winners.astype(int), 1.0, axis=1)
    return ones


def plain_ridge(H, Y, alpha):
    """What ridge regression predicts, in plain numpy."""
    mean = H.mean(axis=0)
    A = (H - mean).T @ (H - mean)
    unit = np.trace(A) / len(mean)
    weights = np.linalg.solve(A + alpha * unit * np.eye(len(mean)), (H - mean).T @ Y)
    return lambda rows: Y.mean(axis=0) + (rows - mean) @ weights


@pytest.mark.parametrize("targets", [Y, TWO, 1e6 + Y, 1e-12 * TWO], ids=["one", "two", "far", "small"])
def test_predictions_are_those_of_plain_ridge_regression(targets):
    """To the rounding of targets and weights."""
    model = small().fit(X[:200], targets[:200])
    H = hashes(model, X)
    expected = plain_ridge(H[:200], targets[:200], 0.1)(H[200:])
    assert_allclose(model.predict(X[200:]), expected, rtol=0, atol=2e-6 * targets.std(axis=0).max())
    assert model.predict(X[200:]).shape == targets[200:].shape


def test_weights_of_rows_are_copies():
    """Whole weights count copies; a weight of zero is no row."""
    weights = np.arange(300) % 3
    rows = np.repeat(np.arange(300), weights)
    weighted = small(target_scale=1.0).fit(X, Y, sample_weight=weights)
    assert_array_equal(weighted.counts_, small(target_scale=1.0).fit(X[rows], Y[rows]).counts_)


def test_weights_may_be_fractions():
    """Halves of all rows predict what whole ones do."""
    weighted = small(weight_unit=1.0).fit(X, Y, sample_weight=np.full(300, 0.5))
    assert_allclose(weighted.predict(X), small().fit(X, Y).predict(X), rtol=0, atol=1e-5)


def test_outputs_do_not_know_of_each_other():
    """With a fixed penalty, two outputs at once are the two of them apart."""
    both = small(target_scale=1.0).fit(X, TWO)
    for k in range(2):
        assert_array_equal(both.counts_[k], small(target_scale=1.0).fit(X, TWO[:, k]).counts_[0])


def test_rows_left_out_were_never_learned():
    """Own predictions, and those of others, to 1e-9 of a model of the other rows with the same penalty."""
    model = small().fit(X, TWO)
    with leaving_out(model, X, TWO) as rows:
        own = rows.own()
        changes = rows.left_out.changes(rows.winners[:5], rows.winners, rows.truth - own)
        now = rows.left_out.scores(rows.winners[:5])
        counts = rows.learned.counts
    for row in range(0, 300, 60):
        without = after_forgetting(copy(model), X[row : row + 1], TWO[row : row + 1])
        with reading_learned(without) as learned:
            alone = LeftOut(learned.counts, 0.1 * eigenvalue(counts) / eigenvalue(learned.counts))
        assert_allclose(alone.scores(rows.winners[row : row + 1])[0], own[row], rtol=0, atol=1e-9)
        assert_allclose(now + changes[:, row], alone.scores(rows.winners[:5]), rtol=0, atol=1e-9)
    assert_array_equal(model.leave_one_out_predict(X, TWO), counts.right.grid.targets(own))


def eigenvalue(counts):
    """The mean eigenvalue, of which penalties are multiples."""
    won = counts.won.astype(float)
    return float((won - won**2 / counts.n_rows).sum() / len(won))


def test_what_was_learned_in_parts_can_be_forgotten():
    """With a grid from the first rows; a model made by like() adds up, one with a grid of its own does not."""
    model = small().fit(X[:150], TWO[:150])
    before = model.counts_
    other = model.like().partial_fit(X[150:], TWO[150:])
    assert_array_equal((model + other - other).counts_, before)
    with pytest.raises(IncompatibleHashError, match="different steps"):
        model.like() + small().fit(X[150:], 1000 * TWO[150:]).like()
    with pytest.raises(NeverLearnedError):
        model.forget(X[:150], TWO[:150] + 1e3)
    assert_array_equal(model.counts_, before)


def test_targets_that_cannot_be_are_refused_and_change_nothing():
    """Far ones, other outputs, none at all."""
    model = small().fit(X, Y).like().partial_fit(X, Y)
    before = model.counts_
    for targets, message in (
        (np.where(np.arange(300) == 7, 1e12, Y), "Got 1000000000000.0 in row 7"),
        (TWO, "y has 2 outputs, those learned before have 1"),
        (np.where(np.arange(300) == 7, np.nan, Y), "y contains NaN"),
        (Y[:-1], "inconsistent numbers of samples"),
        (np.zeros((300, 0)), "0 feature"),
        (np.zeros((300, 2, 2)), "dim <= 2 is required"),
    ):
        with pytest.raises(ValueError, match=message):
            model.partial_fit(X, targets)
    assert_array_equal(model.counts_, before)


@pytest.mark.parametrize("targets", [np.zeros(300), np.full(300, -7.25), np.full(300, 1e300), 1e-250 * Y])
def test_odd_targets_are_learned(targets):
    """All alike, enormous or tiny."""
    predicted = small().fit(X, targets).predict(X)
    assert np.isfinite(predicted).all()
    assert_allclose(predicted.mean(), targets.mean(), rtol=1e-5, atol=0 if targets.any() else 1e-9)


def test_files_hold_targets_of_any_number_of_outputs(tmp_path):
    """And a file whose sums were changed is refused."""
    model = small(encoding="auto").fit(X, TWO)
    model.save(tmp_path / "model.fly")
    again = flybloom.load(tmp_path / "model.fly")
    assert_array_equal(again.predict(X), model.predict(X))
    with reading_learned(model) as learned:
        facts, arrays = learned.counts.right.to_parts()
    sizes = learned.counts.n_components, learned.counts.n_winners
    wrong_sums = arrays["targets"].copy()
    wrong_sums[0, 0] += np.uint64(1)
    for wrong in (
        ({**facts, "n_rows": 1}, arrays),
        ({**facts, "squares": ["0", "0"]}, arrays),
        ({**facts, "targets": {"origins": [0.0], "scales": [3.0]}}, arrays),
        (facts, {"targets": wrong_sums}),
        (facts, {"targets": arrays["targets"][:, :1]}),
    ):
        with pytest.raises(ValueError, match=r"targets|totals|sums|grid"):
            TargetSums.from_parts(*sizes, *wrong)
    assert_array_equal(TargetSums.from_parts(*sizes, facts, arrays).table, learned.counts.right.table)


@given(st.lists(st.tuples(st.integers(-(2**40), 2**40), st.integers(0, 2**29)), min_size=1, max_size=8))
def test_totals_are_exact(rows):
    """Beyond 64 bits as well."""
    targets, weights = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    totals = Totals.of(targets[:, None], weights)
    assert totals.sums == (sum(t * w for t, w in rows),)
    assert totals.squares == (sum(t * t * w for t, w in rows),)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30), st.randoms())
def test_a_grid_knows_no_order(values, random):
    """Scales are powers of two near the deviation, and targets survive their rounding."""
    targets = np.array(values)[:, None]
    grid = TargetGrid.of(targets, np.ones(len(values)))
    random.shuffle(values)
    assert TargetGrid.of(np.array(values)[:, None], np.ones(len(values))) == grid
    assert_allclose(grid.targets(grid.whole(targets) / STEPS), targets, rtol=0, atol=grid.scales[0] / STEPS)
    assert TargetGrid.from_json(grid.to_json()) == grid


def test_a_trend_is_taken_out_of_targets_exactly():
    """What a column does by itself is found where winners are coarse, and sums add up all the same."""
    slope = 10 * X[:, 3] - 4 * X[:, 7]
    model = FlyRidgeRegressor(random_state=0, encoding="standard").fit(X[:200], slope[:200])
    assert model.score(X[200:], slope[200:]) > 0.999
    with reading_learned(model) as learned:
        grid = learned.counts.right.grid
        assert grid.trend is not None
        assert TargetGrid.from_json(grid.to_json()) == grid
    parts = model.like().partial_fit(X[:100], slope[:100]) + model.like().partial_fit(X[100:], slope[100:])
    assert_array_equal(parts.counts_, model.like().partial_fit(X, slope).counts_)
    right = grid.trend.to_json()
    for wrong in (
        "none",
        {"knots": [], "slopes": []},
        {"knots": right["knots"]},
        {**right, "slopes": right["slopes"][1:]},
        {**right, "knots": [knots[::-1] for knots in right["knots"]]},
        {**right, "knots": [[0, *knots[1:]] for knots in right["knots"]]},
        {**right, "slopes": [[[1.5]] * len(some) for some in right["slopes"]]},
        {**right, "slopes": [[[1, 2]] * len(some) for some in right["slopes"]]},
        {**right, "slopes": [[[2**60]] * len(some) for some in right["slopes"]]},
    ):
        with pytest.raises(ValueError, match="trend"):
            TargetGrid.from_json({**grid.to_json(), "trend": wrong})


@pytest.mark.parametrize("n", [60, 400])
def test_a_trend_follows_functions_of_single_columns(n):
    """Of any form where there are enough rows, and it stays level beyond those that were seen."""
    rng = np.random.default_rng(0)
    columns = np.column_stack([rng.normal(size=n), rng.integers(0, 40, n), rng.exponential(size=n) ** 3, np.ones(n)])
    targets = np.column_stack([np.sin(3 * columns[:, 0]), (7 * columns[:, 1] % 11) / 5 + np.log1p(columns[:, 2])])
    trend = Trend.of(columns, targets, np.ones(n))
    assert trend is not None
    order = rng.permutation(n)
    assert Trend.of(columns[order], targets[order], np.ones(n)) == trend
    offsets = trend.offsets(columns)
    if n == 400:
        assert r2_score(targets - targets.mean(axis=0), offsets - offsets.mean(axis=0)) > 0.85
    assert_array_equal(trend.offsets(np.zeros((1, 4))), np.zeros((1, 2)))
    assert_array_equal(trend.offsets(np.full((2, 4), np.nan)), np.zeros((2, 2)))
    assert_array_equal(trend.offsets(np.full((1, 4), 1e9)), trend.offsets(np.full((1, 4), 1e12)))
    of = trend.segments()
    reach = np.clip(np.rint(columns * COLUMN_STEPS)[:, of.columns.astype(int)] - of.lefts, 0, of.widths)
    assert_array_equal((reach @ of.slopes + of.start) / VALUE_STEPS, offsets)
    assert Trend.from_json(trend.to_json(), 2) == trend


def test_relevance_follows_the_targets():
    """Columns that make targets weigh more than others."""
    model = FlyRidgeRegressor(random_state=0, encoding="standard+relevance").fit(X, Y)
    weights = model.encoder_.steps[-1].weights
    assert weights[:5].min() > weights[5:].max()
