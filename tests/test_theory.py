"""Theory against enumeration, against the library's own hash, and against itself backwards."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybloom import FlyBloomClassifier
from flybloom.paper import theory

SIZES = st.tuples(st.integers(2, 9), st.integers(1, 8), st.integers(1, 4)).filter(
    lambda t: t[1] < t[0] and t[2] <= t[1]
)


def components(d, s):
    """Every theta there is, as rows of zeros and ones."""
    return np.array([np.isin(np.arange(d), list(features)) for features in combinations(range(d), s)], np.int64)


def binary_row(draw, d, b):
    """A row of b ones."""
    return np.isin(np.arange(d), draw.draw(st.permutations(range(d)))[:b]).astype(np.int64)


@given(st.data(), SIZES)
def test_the_closed_form_is_what_counting_all_components_gives(data, sizes):
    """Winners are the components whose connections all hit ones."""
    d, b, s = sizes
    x, other = binary_row(data, d, b), binary_row(data, d, b)
    theta = components(d, s)
    wins, others_wins = theta @ x == s, theta @ other == s
    assert theory.binary_winner_share(d, b, s) == pytest.approx(wins.mean())
    assert theory.binary_collision(int(x @ other), b, s) == pytest.approx(others_wins[wins].mean())
    assert theory.binary_collision(int(x @ other), b, s) <= (x @ other / b) ** s + 1e-12  # the paper's approximation


@given(st.data(), SIZES)
def test_the_steps_of_the_proof_hold_without_its_approximations(data, sizes):
    """1 - q(x, x_NN) <= s eps, and q(x, x') <= rho / m for rows that share no more than b^2 / d ones with x."""
    d, b, s = sizes
    overlap = data.draw(st.integers(0, b))
    q = theory.binary_collision(overlap, b, s)
    assert 1 - q <= s * (b - overlap) / b + 1e-12
    if overlap <= b * b / d:
        assert q <= theory.binary_winner_share(d, b, s) + 1e-12


@given(st.data(), SIZES, st.integers(1, 5))
def test_lemma_1_encloses_the_exact_novelty(data, sizes, n):
    """The expected novelty of the binary filter, by counting all components."""
    d, b, s = sizes
    x, rows = binary_row(data, d, b), np.array([binary_row(data, d, b) for _ in range(n)])
    theta = components(d, s)
    is_new = (theta @ rows.T < s).all(axis=1)
    expected = is_new[theta @ x == s].mean()
    lower, upper = theory.novelty_bounds(theory.binary_collision(int(x @ row), b, s) for row in rows)
    assert lower - 1e-12 <= expected <= upper + 1e-12


def test_no_rows_leave_everything_novel():
    """Both bounds are one."""
    assert theory.novelty_bounds([]) == (1.0, 1.0)


def test_monte_carlo_agrees_with_the_closed_form():
    """Within what the number of drawn components allows."""
    rng = np.random.default_rng(0)
    x = np.isin(np.arange(60), rng.choice(60, 30, replace=False)).astype(float)
    rows = np.array([rng.permutation(x) for _ in range(4)])
    estimated = theory.collision(x, rows, 3, theory.binary_winner_share(60, 30, 3), n_samples=200_000, seed=1)
    exact = [theory.binary_collision(int(x @ row), 30, 3) for row in rows]
    np.testing.assert_allclose(estimated, exact, atol=0.02)


def test_drawn_components_are_different_features_each_as_likely():
    """Every pair of features, about equally often."""
    drawn = theory.random_components(5, 2, 20_000, seed=0)
    assert (drawn[:, 0] != drawn[:, 1]).all()
    pairs = np.unique(np.sort(drawn, axis=1), axis=0, return_counts=True)[1]
    assert pairs.size == 10
    assert (abs(pairs - 2000) < 300).all()


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=30), st.integers(1, 30))
def test_a_threshold_is_the_largest_value_that_enough_reach(sums, rank):
    """As tau is defined in the paper."""
    share = min(rank, len(sums)) / len(sums)
    value = theory.threshold(sums, share)
    assert np.mean(np.array(sums) >= value) >= share - 1e-9
    assert np.mean(np.array(sums) > value) < share


@given(st.integers(1, 200), st.integers(30, 400), st.floats(0.05, 0.5), st.floats(0.001, 0.9), st.integers(2, 20))
def test_binary_sizes_keep_their_promise(n, d, density, delta, n_classes):
    """Backwards, the sizes for delta grant at most delta; and m is at least what the paper demands."""
    b = max(1, int(density * d))
    try:
        m, s, rho = theory.binary_sizes(n, d, b, delta, n_classes)
    except ValueError:
        assert math.comb(d, b) * b < n * d  # even the largest s leaves too few subsets
        return
    assert theory.binary_delta(n, d, b, m, s, rho, n_classes) <= delta
    assert m >= d / b * n * rho - 1e-6
    if s > 1:
        assert math.comb(d, s - 1) * b < math.comb(b, s - 1) * n * d


@given(st.integers(1, 10_000), st.integers(1, 64), st.floats(0.001, 0.9), st.integers(2, 100))
def test_real_sizes_keep_their_promise(n, s, delta, n_classes):
    """Backwards, the sizes for delta grant at most delta."""
    m, _, rho = theory.real_sizes(n, s, delta, n_classes)
    assert theory.real_delta(n, m, rho, n_classes) <= delta
    assert m >= 14 * n * rho / delta


def test_sizes_that_no_theorem_speaks_of_grant_nothing():
    """Too many winners, too few components, too few connections."""
    assert theory.binary_delta(100, 1000, 100, 1000, 3, 120) == 1
    assert theory.binary_delta(100, 1000, 100, 10**6, 1, 120) == 1
    assert theory.real_delta(100, 1000, 120) == 1


def test_agreement_with_the_neighbour_at_the_demanded_sizes():
    """Ten projections of Theorem 3, the test row only just near enough; `flybloom reproduce agreement` has more."""
    d, b, n = 300, 30, 10
    sizes = theory.binary_sizes(n, d, b, delta=0.1)
    rng = np.random.default_rng(0)
    x = np.isin(np.arange(d), np.arange(b)).astype(np.uint8)
    X = np.zeros((2 * n, d), np.uint8)
    for row, kept in zip(
        X, [b - b * (1 - b / d) // (3 * sizes.n_connections)] + [b * b // d] * (2 * n - 1), strict=True
    ):
        row[rng.choice(b, int(kept), replace=False)] = 1
        row[b + rng.choice(d - b, b - int(kept), replace=False)] = 1
    y = np.repeat(["near", "far"], n)
    assert theory.binary_conditions(x, X, y, sizes.n_connections).holds
    for seed in range(10):
        model = FlyBloomClassifier(
            sizes.n_components, n_connections=sizes.n_connections, n_winners=sizes.n_winners, decay=1.0, signed=False,
            encoding="none", random_state=seed,
        )  # fmt: skip
        assert model.fit(X, y).predict(x[None]) == ["near"]


def test_conditions_that_fail_say_which():
    """A neighbour that is too far, another class that is too near."""
    x = np.array([1, 1, 1, 1, 0, 0, 0, 0])
    rows = np.array([[1, 1, 1, 0, 1, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1, 1]])
    far = theory.binary_conditions(x, rows, [0, 1], n_connections=2)
    assert (far.nearest, far.other, far.holds) == (2, 8, False)
    assert far.nearest > far.nearest_limit
    near = theory.binary_conditions(x, np.array([x, rows[0]]), [0, 1], n_connections=2)
    assert near.other < near.other_limit
    assert not near.holds


def test_theorem_4_asks_for_a_neighbour_that_keeps_half_the_winners():
    """Delta from rho / 2m and rho / m gives q >= 1/2, whatever the neighbour within it."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        x = rng.exponential(size=40)
        limit = theory.real_conditions(x, x[None], [0], 5, 0.02, seed=1).nearest_limit
        assert limit > 0
        rows = x + limit * rng.choice([-1, 1], (5, 40))
        assert (theory.collision(x, rows, 5, 0.02, seed=1) >= 0.5).all()


@given(st.integers(0, 3000), st.integers(1, 2000), st.floats(0.01, 1), st.data())
def test_the_capacity_meter_is_the_expectation_of_evenly_spread_winners(n, m, decay, data):
    """E (1 - c)^count with count ~ Binomial(n, rho / m); and it warns exactly from 80 % on."""
    rho = data.draw(st.integers(1, m))
    limit = theory.rows_until_saturated(m, rho, decay)
    if n >= 0.8 * limit:
        with pytest.warns(theory.SaturationWarning, match="Raise n_components"):
            meter = theory.capacity(n, m, rho, decay)
    else:
        meter = theory.capacity(n, m, rho, decay)
        assert meter.background > 0.5
    k = np.arange(n + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        if rho < m:
            logs = [math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in k]
            p = np.exp(logs + k * math.log(rho / m) + (n - k) * math.log1p(-rho / m))
            assert meter.background == pytest.approx(float(p @ (1 - decay) ** k), abs=1e-7)
            assert meter.occupancy == pytest.approx(1 - p[0], abs=1e-7)
    assert meter.load == n * rho / m


@given(st.floats(0.01, 1), st.floats(1e-6, 0.9))
def test_a_neighbourhood_decides_a_weight(decay, epsilon):
    """After so many wins the weight is at most epsilon."""
    assert (1 - decay) ** theory.neighborhood_size(decay, epsilon) <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.binary_collision(5, 4, 2), "overlap must be from 0 to n_ones=4. Got 5 instead"),
        (lambda: theory.binary_winner_share(4, 5, 2), "n_ones must be from 0 to n_features=4"),
        (lambda: theory.binary_sizes(10, 100, 100, 0.1), "n_ones must be from 1 to n_features - 1"),
        (lambda: theory.binary_sizes(10, 100, 10, 0), "delta must be above 0 and below 1. Got 0 instead"),
        (lambda: theory.binary_sizes(10**6, 10, 2, 0.1), "No number of connections tells 1000000 rows"),
        (lambda: theory.real_sizes(10, 5, 0.1, 1), "n_classes must be at least 2"),
        (lambda: theory.threshold([1, 2], 0), "share must be above 0 and up to 1. Got 0 instead"),
        (lambda: theory.collision([1, 2], [[1]], 1, 0.5), "others must have the 2 features of x"),
        (lambda: theory.random_components(3, 4, 1), "n_connections must be from 1 to 3. Got 4 instead"),
        (lambda: theory.binary_conditions([1, 0], [[1, 1]], [0], 1), "the same number of ones"),
    ],
)
def test_arguments_out_of_range_are_refused(call, message):
    """In one sentence."""
    with pytest.raises(ValueError, match=message):
        call()
