"""FlyBloomClassifier: labels, classes, weights, and what it refuses without harm."""

import pickle
from copy import copy

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss

import flybloom
from flybloom import FlyBloomClassifier, FlyRidgeClassifier
from flybloom.audit import certify
from flybloom.core.files.receipt import forget_with_receipt
from flybloom.estimators.access import learning
from flybloom.report import class_profiles, class_similarity, most_similar_classes
from flybloom.streams import novelty_rate


def small(**parameters):
    """A small classifier."""
    return FlyBloomClassifier(**{"n_components": 200, "n_winners": 8, "random_state": 0, **parameters})


def test_digits_are_learned(digits):
    """Out of the box, far better than chance and near the neighbours."""
    X, y = digits
    assert FlyBloomClassifier(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.95


def test_fit_starts_anew(digits):
    """What was learned before is gone."""
    X, y = digits
    again = small().fit(X[:100], y[:100]).fit(X[100:], y[100:])
    assert_array_equal(again.counts_, small().fit(X[100:], y[100:]).counts_)


@pytest.mark.parametrize("labels", [["ant", "wasp", "bee"], [False, True, True], [-5, 7, 3], [1.0, 2.0, 30.0]])
def test_labels_of_any_kind_come_back(digits, labels):
    """Strings, bools, ints and whole floats."""
    X, y = digits
    labels = np.array(labels)[y % 3]
    model = small().fit(X, labels)
    predicted = model.predict(X)
    assert predicted.dtype == labels.dtype
    assert (predicted == labels).mean() > 0.5
    assert_array_equal(model.class_count_, np.unique(labels, return_counts=True)[1])


def test_new_labels_may_appear_at_any_time(digits):
    """Class after class gives the same model as all at once, longer labels included."""
    X, y = digits
    names = np.array(["c", "bbbb", "a"])[y % 3]
    at_once = small(encoding="none").fit(X, names)
    model = small(encoding="none")
    for name in ("c", "bbbb", "a"):
        model.partial_fit(X[names == name], names[names == name])
    assert model.classes_.tolist() == ["a", "bbbb", "c"]
    assert_array_equal(model.counts_, at_once.counts_)
    assert_array_equal(model.predict(X), at_once.predict(X))


def test_expected_classes_are_known_before_they_are_met(digits):
    """Novelty to them is one."""
    X, y = digits
    model = small().partial_fit(X[y < 2], y[y < 2], classes=[0, 1, 2])
    assert model.classes_.tolist() == [0, 1, 2]
    assert (model.novelty(X)[:, 2] == 1).all()


def test_one_class_alone_can_be_learned_in_blocks(digits):
    """And is then the only answer."""
    X, y = digits
    model = small().partial_fit(X[y == 3], y[y == 3])
    assert set(model.predict(X[:20])) == {3}
    assert model.predict_proba(X[:20]).shape == (20, 1)


def test_decay_and_temperature_are_read_when_scoring(digits):
    """They may change after fit, without learning again."""
    X, y = digits
    model = small(decay=0.9).fit(X, y)
    model.temperature = 2.0
    hot = model.predict_proba(X)
    model.set_params(decay=0.2).temperature = 0.1
    assert_array_equal(model.predict_proba(X), small(decay=0.2).fit(X, y).predict_proba(X))
    with pytest.warns(FutureWarning, match="temperature"):
        old = small(decay=0.9, temperature=2.0)
    copies = [clone(old).fit(X, y), clone(old.fit(X, y)).fit(X, y), copy(old), pickle.loads(pickle.dumps(old))]  # noqa: S301
    for model in (*copies, old.like().merge(old)):
        assert_array_equal(model.predict_proba(X), hot)
    assert "temperature" not in old.get_params()
    for wrong in (0, -1.0, "1", np.nan, np.inf, True):
        with pytest.raises(ValueError, match="'temperature' attribute"):
            old.temperature = wrong


def test_a_calibrated_temperature_has_the_least_loss(digits, tmp_path):
    """Of rows that were not learned, by filters and by Bayes; files keep it."""
    X, y = digits
    for readout in ("filter", "bayes"):
        model = small(readout=readout).fit(X[:800], y[:800])
        best = model.calibrate(X[800:], y[800:]).temperature
        model.save(tmp_path / "model.fly")
        assert flybloom.load(tmp_path / "model.fly").temperature == best

        def loss(temperature, model=model):
            model.temperature = temperature
            return log_loss(y[800:], model.predict_proba(X[800:]))

        assert loss(best) <= min(loss(best * 1.1), loss(best / 1.1), loss(0.1))


def test_decision_function_has_the_shapes_of_scikit_learn(digits):
    """One column for two classes, else one for each; larger is better."""
    X, y = digits
    two = small().fit(X[y < 2], y[y < 2])
    assert two.decision_function(X).shape == (len(X),)
    assert_array_equal(two.decision_function(X), two.novelty(X) @ [1, -1])
    many = small().fit(X, y)
    assert_array_equal(many.decision_function(X), -many.novelty(X))


def test_a_model_can_start_from_sketches_added_up_elsewhere(digits):
    """Learning in blocks then equals one fit, the scaling included; meanwhile the model is as it was."""
    X, y = digits
    model = small(encoding="standard+clip=inf")
    with learning(model, anew=True) as session:
        first, second = session.check(X[900:], y[900:]), session.check(X[:900], y[:900])
        session.start(session.recipe.sketch_of(first) + session.recipe.sketch_of(second))
        session.learn(first)
        session.learn(second)
        with pytest.raises(NotFittedError):
            model.predict(X)
    whole = small(encoding="standard+clip=inf").fit(X, y)
    assert_array_equal(model.center_, whole.center_)
    assert_array_equal(model.scale_, whole.scale_)
    assert_array_equal(model.counts_, whole.counts_)


def test_few_rows_and_many_rows_are_counted_alike(digits):
    """Below and above the size from which a table of counts is kept instead of winners."""
    X, y = digits
    few = FlyBloomClassifier(4000, n_winners=8, encoding="none", random_state=0)
    many = FlyBloomClassifier(100, n_winners=8, encoding="none", random_state=0, n_jobs=2)
    for model in (few, many):
        halves = clone(model).partial_fit(X[:900], y[:900]).partial_fit(X[900:], y[900:])
        assert_array_equal(model.fit(X, y).counts_, halves.counts_)
        assert model.counts_.sum() == 8 * len(y)


def test_counts_grow_wider_when_they_must(digits):
    """Weights that add up to more than 2^31 rows of a class."""
    X, y = digits[0][:6], np.array([0, 1, 0, 1, 0, 1])
    model = small().partial_fit(X, y)
    assert model.counts_.dtype == np.int32
    for _ in range(3):
        model.partial_fit(X, y, sample_weight=np.full(6, 2**29))
    assert model.counts_.dtype == np.int64
    assert model.counts_.sum() == 8 * (6 + 18 * 2**29)


def test_pickled_models_predict_the_same(digits):
    """Without the connections, which follow from the seed."""
    X, y = digits
    model = small(n_components=5000).fit(X, y)
    stored = pickle.dumps(model)
    assert len(stored) < model.counts_.nbytes + 20_000
    assert_array_equal(pickle.loads(stored).predict(X), model.predict(X))  # noqa: S301


def test_parameters_set_after_fit_do_not_change_what_was_learned(digits):
    """Sizes and signs are those of the fit."""
    X, y = digits
    model = small().fit(X, y)
    expected = model.predict(X)
    model.set_params(signed=False, n_winners=3, n_components=9)
    assert_array_equal(model.predict(X), expected)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), expected)  # noqa: S301


BAD = [
    (lambda X, y: (np.where(X == 0, np.inf, X), y), "Input X contains infinity"),
    (lambda X, y: (X[:, :5], y), "X has 5 features, but FlyBloomClassifier is expecting 64 features"),
    (lambda X, y: (np.full(X.shape, "a"), y), "not compatible with arrays of bytes/strings"),
    (lambda X, y: (X[:0], y[:0]), "Found array with 0 sample"),
    (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
    (lambda X, y: (X, np.linspace(0, 1, len(y))), "Unknown label type: continuous"),
    (lambda X, y: (X, y.astype(str)), "The labels in y are strings, those learned before are numbers"),
    (lambda X, y: (X, y, None, np.full(len(y), 0.5)), "whole numbers.*Got 0.5 instead"),
    (lambda X, y: (X, y, None, np.full(len(y), -1)), "whole numbers.*Got -1 instead"),
    (lambda X, y: (X, y, None, np.full(len(y), np.nan)), "whole numbers.*Got nan instead"),
    (lambda X, y: (X, y, None, np.ones(3)), r"one weight for each of the 1797 rows. Got an array of shape \(3,\)"),
    (lambda X, y: (X, y, None, np.zeros(len(y))), "must not be zero for every row"),
    (lambda X, y: (X * 1e300, y), "must stay within float32"),
]


@pytest.mark.parametrize(("spoil", "message"), BAD)
def test_bad_blocks_are_refused_and_leave_the_model_as_it_was(digits, spoil, message):
    """One clear sentence; counts, classes and every other attribute stay."""
    X, y = digits
    model = small(encoding="standard+clip=inf").fit(X, y).like().partial_fit(X, y)  # whose encoding is fixed
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(*spoil(X, y))
    assert pickle.dumps(model) == before


def test_fit_refuses_one_class_and_leaves_the_model_as_it_was(digits):
    """The message names the class and the way out."""
    X, y = digits
    model = small().fit(X, y)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"at least 2 classes. Got one class, .*3.*, instead"):
        model.fit(X[y == 3], y[y == 3])
    with pytest.raises(ValueError, match="The 'decay' parameter of FlyBloomClassifier must be a float"):
        model.set_params(decay=1.5).fit(X, y)
    model.set_params(decay=small().decay)
    assert pickle.dumps(model) == before


def test_a_first_block_that_fails_leaves_an_unfitted_model(digits):
    """Which can then be fitted to other data."""
    X, y = digits
    model = small()
    with pytest.raises(ValueError, match="infinity"):
        model.partial_fit(np.full((2, 3), np.inf), [0, 1])
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert model.partial_fit(X, y).n_features_in_ == 64


def test_a_decay_set_after_fit_is_checked_when_scoring(digits):
    """With the sentence that fit would give."""
    model = small().fit(*digits).set_params(decay=0)
    with pytest.raises(ValueError, match="The 'decay' parameter of FlyBloomClassifier must be"):
        model.predict(digits[0])


def test_feature_names_are_kept_and_compared(digits):
    """A frame with other names is refused."""
    X, y = digits
    frame = pd.DataFrame(X, columns=[f"p{i}" for i in range(64)])
    model = small().fit(frame, y)
    assert model.feature_names_in_[0] == "p0"
    with pytest.raises(ValueError, match="feature names should match"):
        model.partial_fit(frame.rename(columns={"p0": "other"}), y)


def test_real_images_agree_on_any_number_of_threads(data_folder):
    """MNIST in unsigned integers, as the paper hashes it."""
    with np.load(data_folder / "mnist.npz", allow_pickle=False) as file:
        X, y = file["X_train"][:3000], file["y_train"][:3000]
    model = FlyBloomClassifier(4000, n_connections=20, n_winners=17, signed=False, encoding="none", random_state=0)
    alone, together = clone(model).fit(X, y), clone(model).set_params(n_jobs=2).fit(X.astype(np.int64), y)
    assert_array_equal(alone.counts_, together.counts_)
    assert_array_equal(alone.predict(X), together.predict(X))


def test_old_names_of_methods_warn_and_work(digits):
    """What was moved out of the class, for one version; hidden from `dir`, as parameters are from `get_params`."""
    X, y = digits[0][:200], digits[1][:200]
    model, other = small(encoding="none").fit(X, y), small(encoding="none").fit(X, y)
    calls = {
        "certified_radius": (lambda old: old(X[:5]), certify(model, X[:5])),
        "certify": (lambda old: old(X[:5], norm="l2"), certify(model, X[:5], norm="l2")),
        "class_profiles": (lambda old: old(contrast=False), class_profiles(model, contrast=False)),
        "class_similarity": (lambda old: old(kind="familiarity"), class_similarity(model, kind="familiarity")),
        "decision_scores": (lambda old: old(X[:5]), -model.novelty(X[:5])),
        "novel_winners": (lambda old: old(X[:5]), novelty_rate(model, X[:5])),
        "most_similar_classes": (lambda old: old(2), most_similar_classes(model, 2)),
        "privacy_spent": (lambda old: old(), 0.0),
        "forget_with_receipt": (lambda old: old(X[:9], y[:9]).after, forget_with_receipt(other, X[:9], y[:9]).after),
    }
    for name, (call, expected) in calls.items():
        assert name not in dir(model)
        with pytest.warns(FutureWarning, match=name):
            old = getattr(model, name)
        np.testing.assert_array_equal(call(old), expected)
    pairs = FlyRidgeClassifier(64)
    with pytest.warns(FutureWarning, match="memory_usage"):
        assert pairs.estimate_memory(9, 100) == pairs.memory_usage(100, n_features=9)
