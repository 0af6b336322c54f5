"""Private releases: the noise is what it says, a row changes what it says, and budgets hold."""

import math
import pickle
from copy import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import clone

import flybloom
from flybloom import AdaptiveWindow, Encoding, FlyBloomClassifier, ReleasedClassifier, SlidingWindow
from flybloom.core.files.envelope import read_file, write_file
from flybloom.estimators.releasing import privacy_spent
from flybloom.exceptions import IncompatibleHashError, ModelFileError, PrivacyError
from laws.strategies import labelled_rows

pytest.importorskip("opendp")
mechanisms = pytest.importorskip("flybloom.core.privacy.mechanisms")
budget = pytest.importorskip("flybloom.core.privacy.budget")

Request, noisy = mechanisms.Request, mechanisms.noisy
SEEDS = [None, 0]  # the randomness of the system, and that of a seed


@pytest.fixture
def model(digits):
    """A classifier whose encoding knows nothing of its rows."""
    X, y = digits
    return FlyBloomClassifier(256, n_winners=16, encoding="none", random_state=0).fit(X[:1000], y[:1000])


def generator(seed):
    """A generator, or None for OpenDP."""
    return None if seed is None else np.random.default_rng(seed)


def probabilities(mechanism, scale, values):
    """The discrete Laplace or Gaussian law at whole numbers."""
    far = np.arange(-4000, 4001)
    weight = (
        (lambda k: np.exp(-np.abs(k) / scale))
        if mechanism == "laplace"
        else (lambda k: np.exp(-(k**2) / (2 * scale**2)))
    )
    return weight(values.astype(float)) / weight(far.astype(float)).sum()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("mechanism", "delta"), [("laplace", 0.0), ("gaussian", 1e-5)])
def test_noise_has_the_law_that_it_should(mechanism, delta, seed):
    """Counted over 20 000 draws: every frequent value within 6 deviations; a scale that is 5 % off would fail."""
    n = 20_000
    request = Request(1.0, delta, mechanism, 4)
    noised, spent = noisy(np.zeros((n, 1), np.int64), request, generator(seed))
    scale = math.sqrt(spent.variance / (2 if mechanism == "laplace" else 1))
    if mechanism == "laplace":
        assert scale == pytest.approx(4.0, rel=1e-6)  # L1 sensitivity over epsilon
    values = np.arange(-12, 13)
    expected = n * probabilities(mechanism, scale, values)
    found = np.array([(noised == value).sum() for value in values])
    assert (np.abs(found - expected) < 6 * np.sqrt(expected)).all()
    true_variance = (probabilities(mechanism, scale, np.arange(-2000, 2001)) * np.arange(-2000, 2001.0) ** 2).sum()
    assert noised.var() == pytest.approx(true_variance, rel=0.12)
    assert abs(noised.mean()) < 6 * math.sqrt(true_variance / n)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_top_keeps_the_largest_counts(seed, delta):
    """With a large budget the largest, with a small one any; never more than asked for."""
    counts = np.zeros((100, 3), np.int64)
    counts[:5] = 10_000
    told, _ = noisy(counts, Request(50.0, delta, "top", 4, n_kept=15), generator(seed))
    assert set(np.flatnonzero(told.ravel())) <= set(range(15))
    assert np.abs(told[:5] - 10_000).max() < 200
    told, _ = noisy(counts, Request(1e-4, delta, "top", 4, n_kept=15), generator(seed))
    assert np.count_nonzero(told) <= 15
    assert not set(np.flatnonzero(told.ravel())) <= set(range(15))


@pytest.mark.parametrize("is_pure", [True, False])
def test_choosing_counts_has_the_law_of_the_exponential_mechanism(is_pure):
    """Of two counts that differ by one, the larger is chosen first with the odds that the scale gives, or surer."""
    n, scale = 3000, 2.0
    rng = np.random.default_rng(0)
    values = np.array([3, 4])
    for source in (None, rng):
        n_draws = n if source is not None else 600
        first = [mechanisms._largest(values, 1, scale, 1, source, is_pure=is_pure)[0] for _ in range(n_draws)]
        share, gumbel = np.mean(first), 1 / (1 + math.exp(-1 / scale))
        flip = 1 - 0.5 * math.exp(-1 / scale)  # exponential noise, which OpenDP takes where there is no delta
        expected = flip if is_pure and source is None else gumbel
        assert abs(share - expected) < 6 * math.sqrt(0.25 / n_draws)


@settings(max_examples=40)
@given(rows=labelled_rows(least=3), data=st.data())
def test_a_row_changes_rho_counts_of_its_class_by_one(rows, data):
    """So L1 is rho, L2 its root, and no count changes by more than one, whatever the row; weights multiply."""
    at, weight = data.draw(st.integers(0, len(rows.y) - 1)), data.draw(st.integers(1, 4))
    rho = data.draw(st.integers(1, 12))
    settings_ = {"n_winners": rho, "encoding": "none", "random_state": 1}
    weights = np.ones(len(rows.y), np.int64)
    weights[at] = weight
    classes = np.unique(rows.y)
    with_row = FlyBloomClassifier(24, **settings_).partial_fit(rows.X, rows.y, classes, weights)
    weights[at] = 0
    without = FlyBloomClassifier(24, **settings_).partial_fit(rows.X, rows.y, classes, weights)
    change = with_row.counts_ - without.counts_
    request = Request(1.0, 0.0, "laplace", rho, max_rows=weight)
    assert np.abs(change).sum() == request.l1
    assert np.sqrt((change.astype(float) ** 2).sum()) <= request.l2
    assert set(np.unique(change)) <= {0, weight}
    assert not change[classes != rows.y[at]].any()


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.0), (8.0, 0.0), (0.1, 1e-6), (1.0, 1e-5), (8.0, 1e-3)])
def test_noise_suffices_by_the_definition(epsilon, delta):
    """For neighbours as far apart as they can be; and with no more noise than needed."""
    rho = 3
    if delta == 0:
        scale = mechanisms.laplace_scale(epsilon, rho)
        assert rho / scale <= epsilon * (1 + 1e-9)
        assert rho / scale > 0.99 * epsilon  # and no more noise than needed
        return
    scale = mechanisms.gaussian_scale(epsilon, delta, math.sqrt(rho))
    # along the line that joins the two, continuous noise of this scale: delta by Balle and Wang (2018)
    a, b = math.sqrt(rho) / (2 * scale), epsilon * scale / math.sqrt(rho)
    normal = lambda x: 0.5 * math.erfc(-x / math.sqrt(2))  # noqa: E731
    assert normal(a - b) - math.exp(epsilon) * normal(-a - b) <= delta


def test_a_release_predicts_and_is_far_better_than_chance(model, digits):
    """With a budget that is generous for a thousand rows."""
    X, y = digits
    released = model.release(8.0, delta=1e-5, classes=range(10), random_state=0)
    assert released.score(X[1000:], y[1000:]) > 0.6
    assert released.predict_proba(X[:5]).sum(axis=1) == pytest.approx(1)
    assert_array_equal(released.decision_function(X[:5]), -released.novelty(X[:5]))
    assert np.abs(released.class_count_ - model.class_count_).max() < 60


def test_a_seed_repeats_the_noise_and_none_does_not(model):
    """And the record says which it was."""
    a, b = (model.release(1.0, classes=range(10), random_state=5) for _ in range(2))
    assert_array_equal(a.counts_, b.counts_)
    assert a.releases_[0]["is_seeded"]
    c, d = (model.release(1.0, classes=range(10)) for _ in range(2))
    assert (c.counts_ != d.counts_).any()
    assert not c.releases_[0]["is_seeded"]


def test_labels_and_encoding_must_be_known_beforehand(digits):
    """Or stated to be no secret."""
    X, y = digits
    fitted = FlyBloomClassifier(64, encoding="standard", random_state=0).fit(X, y)
    with pytest.raises(PrivacyError, match=r"encoding of this model \(standardise\) was fitted to its rows"):
        fitted.release(1.0, classes=range(10))
    with pytest.raises(PrivacyError, match=r"Which labels there are was learned from the rows"):
        fitted.release(1.0, public=["encoding"])
    assert privacy_spent(fitted) == 0
    fitted.release(1.0, public=["encoding", "classes"])
    beforehand = Encoding("standard").fit(X[:100])
    FlyBloomClassifier(64, encoding=beforehand, random_state=0).fit(X, y).release(1.0, classes=range(12))
    with pytest.raises(PrivacyError, match="not among the classes given, such as 9"):
        fitted.release(1.0, public=["encoding"], classes=range(9))
    with pytest.raises(PrivacyError, match="must be a list of"):
        fitted.release(1.0, public="encoding")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": 0.0}, "must be a number above 0"),
        ({"epsilon": math.nan}, "must be a number above 0"),
        ({"epsilon": 1.0, "delta": 1.0}, "from 0 to below 1"),
        ({"epsilon": 1.0, "mechanism": "gaussian"}, "needs a delta above 0"),
        ({"epsilon": 1.0, "mechanism": "laplace", "delta": 1e-5}, "needs no delta"),
        ({"epsilon": 1.0, "mechanism": "top"}, "keeps n_kept of the 2560 counts"),
        ({"epsilon": 1.0, "mechanism": "hope"}, "must be 'auto' or one of"),
        ({"epsilon": 1.0, "max_rows": 0}, "whole number from 1 on"),
        ({"epsilon": "1"}, "'epsilon' parameter .* above 0. Got '1'"),
        ({"epsilon": None}, "'epsilon' parameter"),
        ({"epsilon": math.nan}, "'epsilon' parameter"),
        ({"epsilon": 1.0, "delta": "0"}, "'delta' parameter"),
        ({"epsilon": 1.0, "mechanism": ["laplace"]}, "must be 'auto' or one of"),
        ({"epsilon": 1.0, "mechanism": "top", "n_kept": "3"}, "keeps n_kept of the 2560 counts"),
        ({"epsilon": 1.0, "limit": 3.0}, "'limit' parameter .* pair"),
        ({"epsilon": 1.0, "limit": ("3", 0.0)}, "'limit' parameter .* pair"),
        ({"epsilon": 1.0, "limit": (0.0, 0.0)}, "'limit' parameter .* pair"),
    ],
)
def test_what_cannot_be_is_refused(model, options, message):
    """And costs nothing."""
    with pytest.raises(PrivacyError, match=message):
        model.release(**options, classes=range(10))
    assert privacy_spent(model) == 0


def test_a_budget_is_kept_with_the_model_and_refuses_more(model, tmp_path):
    """Through files, learning on, and copies; a limit is never raised."""
    model.release(1.0, classes=range(10), limit=(2.5, 0.0), random_state=0)
    model.save(tmp_path / "model.fly")
    model = flybloom.load(tmp_path / "model.fly", FlyBloomClassifier)
    model.release(1.0, classes=range(10), random_state=1)
    assert privacy_spent(model) == 2.0
    with pytest.raises(PrivacyError, match=r"would make epsilon=3 .* the limit is 2.5, and 2 are spent"):
        model.release(1.0, classes=range(10), random_state=2)
    with pytest.raises(PrivacyError, match="A limit can only be lowered"):
        model.release(0.1, classes=range(10), limit=(9.0, 0.0), random_state=2)
    model.release(0.5, classes=range(10), random_state=2)
    assert privacy_spent(model) == 2.5


@pytest.mark.parametrize("window", [{"n_rows": 100}, {"seconds": 1e9}, {"half_life": 50}])
def test_models_of_windows_are_not_released(digits, tmp_path, window):
    """With half_life=50, one row changed the counts by 50 736 where a release accounts for 8."""
    X, y = digits
    classifier = FlyBloomClassifier(64, n_winners=8, encoding="none", random_state=0)
    following = SlidingWindow(classifier, **window).partial_fit(X[:300], y[:300])
    following.partial_fit(X[300:301], y[300:301]).partial_fit(X[301:500], y[301:500])
    following.save(tmp_path / "window.fly")
    following.model_.save(tmp_path / "model.fly")
    learned_alone = clone(following.model_).fit(X[500:600], y[500:600])
    for model in (
        following.model_,
        copy(following).model_,
        pickle.loads(pickle.dumps(following)).model_,  # noqa: S301
        flybloom.load(tmp_path / "window.fly").model_,
        flybloom.load(tmp_path / "model.fly"),
        learned_alone + following.model_,
        following.model_ + learned_alone,
    ):
        with pytest.raises(PrivacyError, match=r"learned through a window.*fit"):
            model.release(1.0, classes=range(10), random_state=0)
        assert privacy_spent(model) == 0
    assert learned_alone.release(1.0, classes=range(10), random_state=0).epsilon_ == 1.0


def test_windows_that_were_saved_before_are_not_released_either(digits, tmp_path):
    """0.2.0 kept no account in their files."""
    X, y = digits
    SlidingWindow(FlyBloomClassifier(64, encoding="none", random_state=0), n_rows=100).fit(X, y).save(
        tmp_path / "window.fly"
    )
    facts, arrays, _ = read_file(tmp_path / "window.fly")
    del facts["inside"]["tuned"]
    write_file(tmp_path / "window.fly", facts, arrays)
    with pytest.raises(PrivacyError, match="learned through a window"):
        flybloom.load(tmp_path / "window.fly").model_.release(1.0, classes=range(10))


def test_models_of_rival_windows_are_not_released(digits):
    """Which one answers was chosen by rows, and each has rows that others drove out."""
    X, y = digits
    windows = AdaptiveWindow(FlyBloomClassifier(64, encoding="none", random_state=0), (50, None)).fit(X[:300], y[:300])
    for model in (windows.model_, *windows.windows_.values()):
        with pytest.raises(PrivacyError, match="learned through a window"):
            model.release(1.0, classes=range(10))


def test_a_temperature_that_was_fitted_to_rows_is_not_told(model):
    """It was released as it was."""
    model.temperature = 0.0123
    assert model.release(1.0, classes=range(10), random_state=0).temperature == 0.1


def test_what_was_released_counts_for_sums_and_survives_learning(digits):
    """Whoever merges models takes over what their rows have cost."""
    X, y = digits

    def learned(rows):
        return FlyBloomClassifier(64, encoding="none", random_state=0).fit(X[rows], y[rows])

    a, b = learned(slice(900)), learned(slice(900, None))
    a.release(1.0, classes=range(10), random_state=0)
    b.release(0.5, classes=range(10), random_state=0)
    assert privacy_spent(a + b) == 1.5
    a.partial_fit(X[:5], y[:5]).forget(X[:5], y[:5])
    assert privacy_spent(a) == 1.0
    assert privacy_spent(learned(slice(900))) == 0.0


def test_many_gaussian_releases_cost_less_than_their_sum(model):
    """Zero-concentrated costs add up more closely; never to less than the most expensive one."""
    for seed in range(16):
        model.release(0.5, delta=1e-6, classes=range(10), random_state=seed)
    assert 0.5 < privacy_spent(model, 1e-5) < 0.4 * 16 * 0.5
    assert privacy_spent(model, 0.0) == math.inf


def test_releases_add_up_and_refuse_to_change(digits):
    """Of disjoint rows the dearest counts."""
    X, y = digits

    def released(rows, epsilon, seed):
        model = FlyBloomClassifier(128, n_winners=8, encoding="none", random_state=0).fit(X[rows], y[rows])
        return model.release(epsilon, classes=range(10), random_state=seed)

    a, b = released(slice(900), 2.0, 0), released(slice(900, None), 3.0, 1)
    both = a + b
    assert_array_equal(both.counts_, a.counts_ + b.counts_)
    assert both.epsilon_ == 3.0
    assert len(sum([a, b]).releases_) == 2
    for change in (both.fit, both.partial_fit, both.forget):
        with pytest.raises(PrivacyError, match="A release cannot"):
            change(X, y)
    other = FlyBloomClassifier(128, n_winners=8, encoding="none", random_state=1).fit(X, y)
    with pytest.raises(IncompatibleHashError, match="seed_"):
        both.merge(other.release(1.0, classes=range(10), random_state=0))
    with pytest.raises(TypeError, match="expected another ReleasedClassifier"):
        both.merge(other)


def test_files_of_releases(model, digits, tmp_path):
    """Hold negative counts and what they cost; damage is refused."""
    path = tmp_path / "released.fly"
    released = model.release(0.5, classes=range(10), random_state=0)
    assert (released.counts_ < 0).any()
    released.save(path)
    again = flybloom.load(path, ReleasedClassifier)
    assert_array_equal(again.counts_, released.counts_)
    assert again.releases_ == released.releases_
    assert_array_equal(again.predict(digits[0]), released.predict(digits[0]))
    description, arrays, _ = read_file(path)
    for name, value in (("releases", []), ("releases", [{"epsilon": 1}]), ("lowest", "0"), ("classes", [1])):
        write_file(path, {**description, name: value}, arrays)
        with pytest.raises(ModelFileError, match="is damaged"):
            flybloom.load(path)


def test_a_damaged_ledger_is_refused(model, tmp_path):
    """It cannot be emptied by writing nonsense into it."""
    model.release(1.0, classes=range(10), random_state=0)
    model.save(tmp_path / "model.fly")
    description, arrays, _ = read_file(tmp_path / "model.fly")
    for ledger in ({}, {"releases": [{}], "limit": None}, {"releases": [], "limit": [1]}):
        write_file(tmp_path / "bad.fly", {**description, "tuned": {"released": ledger}}, arrays)
        with pytest.raises(ModelFileError, match="is damaged"):
            flybloom.load(tmp_path / "bad.fly")
