"""Weights of rows: which unit they are counted in, what is refused, and who in scikit-learn needs fractions."""

import pickle

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.utils.class_weight import compute_sample_weight

import flybloom
from flybloom import AdaptiveWindow, FlyBloomClassifier, FlyBloomClassifierCV, FlyRidgeClassifier
from flybloom.core.files.receipt import Receipt, forget_with_receipt, verify
from flybloom.estimators.access import n_rows_learned
from flybloom.exceptions import IncompatibleHashError, NeverLearnedError
from flybloom.export import predictor
from flybloom.federated.vectors import counts_to_vector, like, vector_to_model
from flybloom.report import class_similarity
from forgetting import after_forgetting

CLASSIFIERS = (FlyBloomClassifier, FlyRidgeClassifier)


@pytest.fixture(scope="module")
def weighted(digits):
    """Rows, labels, and weights that are arbitrary fractions."""
    X, y = digits
    return X[:600], y[:600], np.random.default_rng(0).random(600)


def small(estimator=FlyBloomClassifier, **settings):
    """A classifier with few components."""
    return estimator(**{"n_components": 256, "n_winners": 16, "random_state": 0, **settings})


def test_auto_counts_whole_numbers_as_they_are(weighted):
    """So nothing changes for those who have whole weights, of whatever type."""
    X, y, _ = weighted
    plain = small().fit(X, y)
    for ones in (np.ones(600), np.ones(600, int), np.ones(600, bool), 1.0):
        model = small().fit(X, y, sample_weight=ones)
        np.testing.assert_array_equal(model.counts_, plain.counts_)
        assert (model.weight_unit_, model.counts_per_row_) == (1.0, 1)
        assert model.class_count_.dtype == np.int64


def test_auto_takes_the_mean_of_fractions_in_any_order(weighted):
    """Rows of weight zero have no part in it."""
    X, y, w = weighted
    order = np.random.default_rng(1).permutation(600)
    w = np.where(np.arange(600) < 50, 0.0, w)
    model, other = small().fit(X, y, w), small().fit(X[order], y[order], w[order])
    assert model.weight_unit_ == other.weight_unit_ == pytest.approx(w[50:].mean())
    assert model.counts_per_row_ == 1024
    np.testing.assert_array_equal(model.counts_, other.counts_)
    assert model.class_count_.sum() == pytest.approx(550, rel=1e-3)
    assert n_rows_learned(model) == model.class_count_.sum()


@pytest.mark.parametrize("encoding", ["none", "auto"])
@pytest.mark.parametrize("estimator", [*CLASSIFIERS, FlyBloomClassifierCV])
def test_a_class_of_weight_zero_was_never_learned(estimator, encoding, digits):
    """As it is not once its rows are forgotten; fit, blocks, search and forget agree."""
    X, y = digits[0][:300], digits[1][:300] % 4
    is_kept = y != 3
    settings = {"n_components": 64, "n_winners": 8, "encoding": encoding, "random_state": 0}
    model = estimator(**settings).fit(X, y, sample_weight=is_kept)
    never = estimator(**settings).fit(X[is_kept], y[is_kept])
    assert model.classes_.tolist() == never.classes_.tolist() == [0, 1, 2]
    if estimator is FlyBloomClassifierCV:  # whose folds are other ones
        return
    np.testing.assert_array_equal(model.predict_proba(X), never.predict_proba(X))
    blocks = model.like().partial_fit(X[:100], y[:100], sample_weight=is_kept[:100])
    blocks.partial_fit(X[100:], y[100:], sample_weight=is_kept[100:])
    after_forgetting(blocks.partial_fit(X, y), X, y).forget(X, np.where(is_kept, y, 99), sample_weight=y == 1)
    left = model.like().partial_fit(X, y, sample_weight=is_kept & (y != 1))
    assert left.classes_.tolist() == blocks.classes_.tolist() == [0, 2]
    np.testing.assert_array_equal(left.counts_, blocks.counts_)


@pytest.mark.parametrize("estimator", CLASSIFIERS)
def test_the_unit_stays_with_the_model(estimator, weighted, tmp_path):
    """In files, pickles, copies, and while the first rows are held back; later rows are counted in it."""
    X, y, w = weighted
    model = small(estimator).partial_fit(X[:100], y[:100], sample_weight=w[:100])
    for part in (slice(100, 300), slice(300, 600)):
        model.save(tmp_path / "model.fly")
        model = pickle.loads(pickle.dumps(flybloom.load(tmp_path / "model.fly")))  # noqa: S301
        model.partial_fit(X[part], y[part], sample_weight=w[part])
    unit = w[:100].mean()
    assert model.weight_unit_ == pytest.approx(unit)
    fixed = small(estimator, weight_unit=model.weight_unit_).fit(X, y, w)
    np.testing.assert_array_equal(model.counts_, fixed.counts_)
    np.testing.assert_array_equal(model.predict(X), fixed.predict(X))


def test_units_that_differ_are_refused_by_name(weighted):
    """Whole rows and fractions, and fractions of different weights; nothing changes."""
    X, y, w = weighted
    models = [small(encoding="none", weight_unit=unit).fit(X, y, np.ceil(w)) for unit in ("auto", 1.0, 0.5)]
    for i, j in ((0, 1), (1, 0), (1, 2)):
        before = models[i].counts_.copy()
        with pytest.raises(IncompatibleHashError, match=r"Cannot merge: .* weight_unit_ differs \(.*1/1024 of"):
            models[i].merge(models[j])
        with pytest.raises(IncompatibleHashError, match=r"Cannot subtract: .* weight_unit_ differs"):
            models[i] - models[j]
        np.testing.assert_array_equal(models[i].counts_, before)
    held = small(weight_unit=1.0).partial_fit(X[:9], y[:9])
    with pytest.raises(IncompatibleHashError, match="weight_unit_ differs"):
        held.merge(small(weight_unit=2.0).partial_fit(X[:9], y[:9]))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (1e9, r"fit weight_unit_=1, the weight of one row: at most 524288 times .* Got weights from 1e\+09 to 1e\+09"),
        (1e-4, r"not less than 1 / 2048 of it for all rows. Got weights from 0.0001 to 0.0001 instead. Rescale them"),
        (0.0, "must not be zero for every row"),
        (-0.5, "finite numbers that are not negative. Got -0.5"),
        (np.nan, "finite numbers that are not negative. Got nan"),
    ],
)
def test_weights_beyond_the_unit_are_refused(weighted, weights, message):
    """Too large, too small, or no weights at all; the model stays as it was."""
    X, y, w = weighted
    model = small(weight_unit=1.0).fit(X, y, w)
    before = model.counts_.copy()
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, y, sample_weight=np.full(600, weights))
    np.testing.assert_array_equal(model.counts_, before)


def test_fractions_after_whole_numbers_are_refused_with_the_remedy(weighted):
    """The first rows have fixed the unit."""
    X, y, w = weighted
    with pytest.raises(ValueError, match=r"whole numbers .* set weight_unit before the first rows are learned"):
        small().partial_fit(X, y).partial_fit(X, y, sample_weight=w)


def test_forgetting_gives_receipts_and_refuses_too_much(weighted, tmp_path):
    """In rows, which may be fractions."""
    X, y, w = weighted
    model = small().fit(X, y, w)
    with pytest.raises(NeverLearnedError, match=r"Cannot forget \d+\.\d+ rows of class"):
        model.forget(X, y, 2 * w)
    receipt = forget_with_receipt(model, X[:9], y[:9], w[:9])
    assert receipt.rows == pytest.approx(w[:9].sum() / model.weight_unit_, rel=1e-3)
    receipt.save(tmp_path / "receipt.json")
    assert verify(Receipt.load(tmp_path / "receipt.json"), model) == {"model": True, "rows": False}


def test_what_needs_the_weight_of_a_single_row_is_refused(weighted):
    """Leaving rows out, releases, whose noise hides one row, and windows that compete."""
    X, y, w = weighted
    model = small(encoding="none").fit(X, y, w)
    with pytest.raises(ValueError, match="Cannot leave rows out: the model has learned fractional weights"):
        model.leave_one_out_novelty(X, y)
    with pytest.raises(ValueError, match="Cannot leave rows out"):
        small(FlyRidgeClassifier, encoding="none").fit(X, y, w).leave_one_out_decision(X, y)
    with pytest.raises(ValueError, match="Cannot release"):
        model.release(1.0, classes=range(10))
    with pytest.raises(ValueError, match="Cannot compare windows"):
        AdaptiveWindow(small(encoding="none")).partial_fit(X, y, sample_weight=w)


def test_other_readers_of_the_counts_agree(weighted, tmp_path):
    """The numpy predictor, the report's filters, and sums of parties."""
    X, y, w = weighted
    model = small(encoding="none", weight_unit=0.4).fit(X, y, w)
    model.save(tmp_path / "model.fly")
    loaded = predictor.load(tmp_path / "model.fly")
    np.testing.assert_array_equal(loaded.decision_scores(X), -model.novelty(X))
    from flybloom.report.summary import ClassFilters  # noqa: PLC0415

    np.testing.assert_array_equal(
        ClassFilters(model).similarity(np.arange(10), "familiarity"), class_similarity(model, kind="familiarity")
    )
    party = like(small(encoding="none", weight_unit=0.4), X.shape[1]).partial_fit(X, y, sample_weight=w)
    again = vector_to_model(like(party, X.shape[1]), range(10), counts_to_vector(party, range(10)))
    np.testing.assert_array_equal(again.novelty(X), model.novelty(X))


@pytest.mark.parametrize("estimator", CLASSIFIERS)
def test_boosting_bagging_and_balanced_weights(estimator, digits):
    """What scikit-learn gives as weights is learned from: boosting helps small models."""
    X, y = digits
    model = small(estimator, n_components=128)
    alone = model.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:])
    boosted = AdaBoostClassifier(model, n_estimators=8, random_state=0).fit(X[:1000], y[:1000])
    assert boosted.score(X[1000:], y[1000:]) > alone
    assert len(boosted.estimators_) > 1
    bagged = BaggingClassifier(model, n_estimators=3, random_state=0).fit(X[:1000], y[:1000])
    assert bagged.score(X[1000:], y[1000:]) > 0.7
    balanced = model.fit(X[:1000], y[:1000], compute_sample_weight("balanced", y[:1000]))
    np.testing.assert_allclose(balanced.class_count_, 100, rtol=1e-3)
