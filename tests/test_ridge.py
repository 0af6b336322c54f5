"""Pairs of winners read out by ridge regression, against dense numpy and against really leaving out."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, KFold

import flybloom
from flybloom import Encoding, FlyHash, FlyRidgeClassifier
from flybloom._internal.scores import reliability
from flybloom.core.counts import pairs
from flybloom.core.readout import penalty, ridge
from flybloom.paper import datasets
from flybloom.report import class_similarity


def small(**parameters):
    """A small classifier."""
    settings = {"n_components": 96, "n_winners": 12, "random_state": 0, "encoding": "none", "alpha": 0.1}
    return FlyRidgeClassifier(**{**settings, **parameters})


@pytest.fixture(scope="module")
def some(digits):
    """A few rows of all classes."""
    X, y = digits
    return X[:300], y[:300]


def hashes(model, X):
    """The hashes of rows as a dense matrix, from another estimator."""
    hasher = FlyHash(
        model.n_components_,
        n_connections=model.n_connections_,
        n_winners=model.n_winners_,
        encoding="none",
        random_state=0,
    )
    return hasher.fit(X).transform(X).toarray().astype(np.float64)


def test_counts_are_products_of_hashes(some):
    """G = H'H, q = H'Y: whole numbers, with weights as copies."""
    X, y = some
    weights = np.arange(300) % 4
    model = small().fit(X, y, sample_weight=weights)
    H = hashes(model, X)
    G = H.T @ (weights[:, None] * H)
    assert_array_equal(model.pair_counts_, G[np.tril_indices(96)])
    assert_array_equal(model.counts_, [(weights[:, None] * H)[y == label].sum(axis=0) for label in range(10)])


@pytest.mark.parametrize("m", [96, 600])
def test_weights_are_those_of_ridge_regression(some, m, monkeypatch):
    """scikit-learn's, on the hashes and the indicators of classes; in both precisions."""
    X, y = some
    monkeypatch.setattr(ridge, "MAX_DOUBLE", 300)
    model = small(n_components=m).fit(X, y)
    H = hashes(model, X)
    unit = np.trace(np.cov(H.T, bias=True)) * len(H) / m
    truth = Ridge(alpha=0.1 * unit).fit(H, np.eye(10)[y])
    assert_allclose(model.coef_, truth.coef_, atol=1e-6)
    assert_allclose(model.intercept_, truth.intercept_, atol=1e-8)
    assert_allclose(model._decision_scores(X), truth.predict(H), atol=1e-5)


def dense_criterion(model, X, y):
    """Generalised cross-validation and degrees of freedom of all penalties, from the rows."""
    H, n = hashes(model, X), len(X)
    Hc, Y = H - H.mean(axis=0), np.eye(10)[y] - np.eye(10)[y].mean(axis=0)
    unit = np.trace(Hc.T @ Hc) / H.shape[1]
    criterion, freedom = [], []
    for alpha in penalty.ALPHAS:
        smoother = Hc @ np.linalg.solve(Hc.T @ Hc + alpha * unit * np.eye(H.shape[1]), Hc.T)
        freedom.append(np.trace(smoother) + 1)
        criterion.append(n * ((Y - smoother @ Y) ** 2).sum() / (n - freedom[-1]) ** 2)
    return np.array(criterion), np.array(freedom)


@pytest.mark.parametrize("m", [200, 500])
def test_generalised_cross_validation_follows_from_the_counts(some, m):
    """N rss / (n - df)^2, with both from the rows; exact for few components, and so is the choice."""
    X, y = some
    model = small(n_components=m, alpha="gcv").fit(X, y)
    criterion, freedom = dense_criterion(model, X, y)
    assert_allclose(model.gcv_, np.column_stack([penalty.ALPHAS, criterion]), rtol=1e-8)
    assert model.alpha_ == penalty.ALPHAS[penalty.least(criterion, freedom, 300)]


@pytest.mark.parametrize("max_double", [0, 1024])
@pytest.mark.parametrize("n_rows", [30, 300, 1797])
def test_many_components_are_judged_nearly_as_well(digits, n_rows, max_double, monkeypatch):
    """Points for the eigenvalues, in both precisions: near the truth where a penalty may be chosen."""
    X, y = digits[0][:n_rows], digits[1][:n_rows]
    monkeypatch.setattr(ridge, "MAX_DOUBLE", max_double)
    model = small(n_components=600, alpha="gcv").fit(X, y)
    criterion, freedom = dense_criterion(model, X, y)
    chosen = penalty.least(criterion, freedom, n_rows)
    assert abs(penalty.ALPHAS.index(model.alpha_) - chosen) <= 1
    is_near = abs(np.arange(len(criterion)) - chosen) <= 1
    assert_allclose(model.gcv_[is_near, 1], criterion[is_near], rtol=0.05)


def test_many_classes_are_judged_by_mixtures(digits, monkeypatch):
    """Of the same squares in the mean, so that the penalty is about the same."""
    X, y = digits
    every = small(n_components=400, alpha="gcv").fit(X, y)
    gcv, alpha = every.gcv_, every.alpha_
    monkeypatch.setattr(penalty, "MAX_TARGETS", 8)
    some = small(n_components=400, alpha="gcv").fit(X, y)
    assert_allclose(some.gcv_[:, 1], gcv[:, 1], rtol=0.25)
    assert (some.gcv_ != gcv).any()
    assert abs(np.log10(some.alpha_ / alpha)) < 0.6


@pytest.mark.parametrize("best", range(10))
@pytest.mark.parametrize("first", [0, 4])
def test_the_least_is_found_wherever_it_is(best, first):
    """Among penalties that leave enough rows for each degree of freedom; then the smaller neighbour if it is near."""
    at = np.arange(10)
    criterion = 1.0 + np.abs(at - best) * np.where(at < best, 0.01, 0.1)
    freedom = np.where(at < first, 60.0, 50.0)
    assert penalty.least(criterion, freedom, 100) == max(first, best - 1)
    criterion[at < best] += 0.01  # no longer near
    assert penalty.least(criterion, freedom, 100) == max(first, best)
    assert penalty.least(criterion, freedom + 20.0, 100) == 9  # none leaves enough


@pytest.mark.parametrize("alpha", [1e-5, 1e-3, 0.1, 10.0])
@pytest.mark.parametrize("n_components", [200, 1100])  # solved in double precision, and in single
def test_rows_left_out_are_rows_not_learned(some, n_components, alpha):
    """For a penalty that stays, though one row less changes its unit; it was wrong by up to 0.006 at 1e-3."""
    X, y = some
    model = small(n_components=n_components, alpha=alpha).fit(X, y)
    left_out = model.leave_one_out_decision(X[:4], y[:4])
    H = hashes(model, X)
    penalty = alpha * np.trace(np.cov(H.T, bias=True)) * 300 / n_components
    for row in range(4):
        rest = np.arange(300) != row
        assert_allclose(left_out[row], fitted_scores(H[rest], np.eye(10)[y[rest]], penalty, H[row]), rtol=0, atol=1e-9)


def fitted_scores(H, truth, penalty, hashed):
    """The scores of ridge regression in its dual form, with one step of refinement."""
    mean, share = H.mean(axis=0), truth.mean(axis=0)
    centred = H - mean
    gram = centred @ centred.T + penalty * np.eye(len(H))
    dual = np.linalg.solve(gram, truth - share)
    dual += np.linalg.solve(gram, truth - share - gram @ dual)
    return share + (hashed - mean) @ centred.T @ dual


def test_rows_left_out_do_not_depend_on_what_was_solved_before(digits):
    """A few steps from the weights before kept the leverages before, which made it wrong by 0.57."""
    X, y = digits
    model = small().fit(X[:900], y[:900])
    model.predict(X[:1])
    model.partial_fit(X[900:], y[900:]).predict(X[:1])
    at_once = small().fit(X, y)
    assert_array_equal(model.leave_one_out_decision(X[:50], y[:50]), at_once.leave_one_out_decision(X[:50], y[:50]))
    assert model.fit(X, y).temperature_ == at_once.temperature_


def test_a_penalty_too_small_to_solve_with_is_refused(some):
    """It ended in a LinAlgError when rows were scored; nothing was learned, nothing is lost."""
    X, y = some
    with pytest.raises(ValueError, match=r"alpha=5e-324 is too small .* Choose a larger alpha"):
        small(alpha=5e-324).fit(X, y).predict(X)
    model = small().fit(X, y)
    before = model._decision_scores(X[:3])
    model = pickle.loads(pickle.dumps(model)).set_params(alpha=5e-324)  # noqa: S301 - nothing is solved yet
    for ask in (model.predict, lambda rows: model.leave_one_out_decision(rows, y[:3])):
        with pytest.raises(ValueError, match="alpha=5e-324 is too small"):
            ask(X[:3])
    assert_array_equal(model.set_params(alpha=0.1)._decision_scores(X[:3]), before)


def test_rows_whose_labels_shaped_the_encoding_are_not_left_out(some):
    """Unless that does not matter, or the encoding was fitted beforehand."""
    X, y = some
    model = small(encoding="relevance").fit(X, y)
    with pytest.raises(ValueError, match="its own label has a part in"):
        model.leave_one_out_decision(X, y)
    shared = model.leave_one_out_decision(X, y, shared_encoding=True)
    fixed = small(encoding=model.encoder_).fit(X, y)
    assert_array_equal(fixed.leave_one_out_decision(X, y), shared)


def test_similar_classes_are_those_whose_scores_are_alike(some):
    """Mean scores of the rows of each class, over the shares of the classes; without a row."""
    X, y = some
    model = small(n_components=200).partial_fit(X, y, classes=[*range(10), 77])
    share = np.bincount(y) / len(y)
    means = np.array([model._decision_scores(X[y == label]).mean(axis=0)[:10] for label in range(10)]) / share
    assert_allclose(means, means.T, atol=1e-4)
    lengths = np.sqrt(np.diag(means))
    similarity = class_similarity(model)
    assert_allclose(similarity[:10, :10], np.clip(means / np.outer(lengths, lengths), 0, 1), atol=1e-5)
    assert_array_equal(similarity[10], np.eye(11)[10])  # a class without rows is like none
    twins = small(n_components=200).fit(np.vstack([X, X]), np.r_[y, np.where(y == 3, 33, y)])
    assert class_similarity(twins)[3, 10] == pytest.approx(1.0)


def test_weights_follow_small_changes(some):
    """A few steps from the weights before arrive where solving anew does."""
    X, y = some
    model = small(n_components=400).fit(X[:290], y[:290])
    first = model.coef_
    for row in range(290, 300):
        model.partial_fit(X[row : row + 1], y[row : row + 1])
        model.predict(X[:1])
    anew = small(n_components=400).fit(X, y)
    assert (model.coef_ != first).any()
    assert_allclose(model.coef_, anew.coef_, atol=1e-6)
    model.forget(X[290:], y[290:])
    assert_allclose(model.coef_, first, atol=1e-6)


@pytest.mark.data
def test_forgetting_a_sixth_of_mnist_is_never_having_learned_it(data_folder):
    """Counts bit for bit, the penalty and the predictions that follow from them; whatever the order."""
    mnist = datasets.load("mnist", data_folder)
    order = np.random.default_rng(0).permutation(len(mnist.y))
    gone, kept = order[:10_000], order[10_000:]
    model = FlyRidgeClassifier(512, n_winners=32, n_connections=16, encoding="none", random_state=0)
    never = clone(model).fit(mnist.X[kept], mnist.y[kept])
    model.fit(mnist.X, mnist.y).forget(mnist.X[gone], mnist.y[gone])
    for name in ("pair_counts_", "counts_", "class_count_", "alpha_", "coef_", "intercept_"):
        assert_array_equal(getattr(model, name), getattr(never, name))
    assert_array_equal(model.predict(mnist.X_test), never.predict(mnist.X_test))


def test_folds_by_subtraction_are_those_of_a_search(some):
    """The recipe of docs/ridge.md: counts less those of a fold have never learned it, so nothing is learned again."""
    X, y = some
    folds, alphas = KFold(3, shuffle=True, random_state=0), [0.03, 0.3, 3.0]
    whole = small(n_components=200, encoding=Encoding("center").fit(X)).fit(X, y)
    scores = {alpha: [] for alpha in alphas}
    for _, fold in folds.split(X):
        rest = whole - (whole - whole).partial_fit(X[fold], y[fold])
        for alpha in alphas:
            scores[alpha].append(rest.set_params(alpha=alpha).score(X[fold], y[fold]))
    search = GridSearchCV(clone(whole), {"alpha": alphas}, cv=folds, refit=False).fit(X, y)
    found = np.array([search.cv_results_[f"split{k}_test_score"] for k in range(3)]).T
    assert_array_equal(found, list(scores.values()))


def test_many_rows_are_counted_a_block_at_a_time(digits, monkeypatch):
    """Whatever the size of the blocks that pairs are counted in, and with threads."""
    X, y = digits
    whole = small().fit(X, y)
    monkeypatch.setattr(flybloom.core._kernels.pairs, "LARGE_BLOCK", 50)
    for n_jobs in (1, 2):
        blocks = small(n_jobs=n_jobs).fit(X, y)
        assert_array_equal(blocks.pair_counts_, whole.pair_counts_)
        assert_array_equal(blocks.counts_, whole.counts_)
        halves = small(n_jobs=n_jobs).partial_fit(X[:900], y[:900]).partial_fit(X[900:], y[900:])
        assert_array_equal(halves.pair_counts_, whole.pair_counts_)


def test_digits_are_classified_well_and_the_probabilities_mean_it(digits):
    """Better than first-order counts, and calibrated by rows left out."""
    X, y = digits
    model = FlyRidgeClassifier(encoding="standard", random_state=0).fit(X[:1200], y[:1200])
    assert model.score(X[1200:], y[1200:]) > 0.94
    probability = model.predict_proba(X[1200:])
    assert_allclose(probability.sum(axis=1), 1.0)
    assert log_loss(y[1200:], probability) < 0.35
    is_right = probability.argmax(axis=1) == y[1200:]
    assert reliability(probability.max(axis=1), is_right).error < 0.06
    before = model.temperature_
    assert model.calibrate(X[1200:], y[1200:]).temperature_ != before


def test_explanations_add_up_to_the_score(some):
    """Of the class asked for, less its intercept."""
    X, y = some
    model = small(n_components=200).fit(X, y)
    shares = model.explain(X[:20], labels=3)
    assert_allclose(shares.sum(axis=1), model._decision_scores(X[:20])[:, 3] - model.intercept_[3], atol=1e-6)
    assert model.explain(X[:20]).shape == (20, 64)


def test_class_weights_shift_the_scores(digits):
    """Balanced ones find more of a rare class; they may be changed after fit."""
    X, y = digits
    is_kept = (y != 8) | (np.arange(len(y)) % 20 == 0)
    model = small(n_components=512, n_winners=32, encoding="standard+clip=inf").fit(X[is_kept], y[is_kept])
    held_out = ~is_kept & (y == 8)
    plain = model.score(X[held_out], y[held_out])
    assert model.set_params(class_weight="balanced").score(X[held_out], y[held_out]) > plain


def test_sizes_that_do_not_fit_into_memory_are_refused(some, monkeypatch):
    """Before anything is allocated, with what to do."""
    monkeypatch.setattr(pairs, "available_memory", lambda: 10**6)
    with pytest.raises(MemoryError, match=r"Pairs of n_components_=4096 need 0.0313 GiB, .* Lower n_components"):
        small(n_components=4096).fit(*some)
    assert small(n_components=4096).memory_usage(n_features=64) == {"counts": 4096 * 4097 * 2, "solving": 16 * 4096**2}


@pytest.mark.parametrize("change", ["diagonal", "off", "shape", "missing"])
def test_files_whose_pairs_do_not_add_up_are_refused(some, change):
    """Every invariant is checked."""
    model = small().fit(*some)
    hasher, facts, arrays = model._to_parts()
    triangle = arrays["pairs"].copy()
    if change == "diagonal":
        triangle[0] += 1
    elif change == "off":
        triangle[np.flatnonzero(triangle[: 96 * 20])[5]] -= 1
    elif change == "shape":
        triangle = triangle[:-1]
    arrays = {**arrays, "pairs": triangle}
    if change == "missing":
        del arrays["pairs"]
    with pytest.raises(ValueError, match="pairs"):
        clone(model)._from_parts(hasher, facts, arrays)


def test_a_single_class_is_refused_by_fit_and_learned_by_partial_fit(some):
    """Class after class."""
    X, y = some
    with pytest.raises(ValueError, match="at least 2 classes"):
        small().fit(X[y == 1], y[y == 1])
    model = small().partial_fit(X[y == 1], y[y == 1])
    assert set(model.predict(X)) == {1}
    assert model.partial_fit(X, y).score(X, y) > 0.8


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_frozen_model_predicts_the_same_and_is_small(digits, tmp_path, class_weight):
    """From a file of its own kind, without the counts."""
    X, y = digits
    model = FlyRidgeClassifier(512, encoding="standard+clip=inf", class_weight=class_weight, random_state=0).fit(X, y)
    model.save(tmp_path / "model.fly")
    model.freeze().save(tmp_path / "small.fly")
    frozen = flybloom.load(tmp_path / "small.fly", flybloom.FrozenClassifier)
    assert_array_equal(frozen.predict(X), model.predict(X))
    assert_array_equal(frozen._decision_scores(X), model._decision_scores(X))
    assert_array_equal(frozen.predict_proba(X), model.predict_proba(X))
    assert (tmp_path / "model.fly").stat().st_size > 9 * (tmp_path / "small.fly").stat().st_size
    assert_array_equal(pickle.loads(pickle.dumps(frozen)).predict(X), model.predict(X))  # noqa: S301
    with pytest.raises(NotFittedError):
        flybloom.FrozenClassifier().predict(X)
