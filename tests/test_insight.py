"""Insight on real data, and what it refuses."""

import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import confusion_matrix

from flybloom import FlyBloomClassifier
from flybloom.plots import ClassProfileDisplay, ClassSimilarityDisplay, FeatureShareDisplay
from flybloom.report import class_profiles, class_similarity, most_similar_classes

plt = pytest.importorskip("matplotlib.pyplot")
plt.switch_backend("agg")


@pytest.fixture(scope="module")
def model(digits):
    """A small classifier of Digits."""
    return FlyBloomClassifier(4096, n_winners=32, encoding="standard", random_state=0).fit(*digits)


@pytest.fixture(autouse=True)
def close_figures():
    """No figure is left open."""
    yield
    plt.close("all")


def test_the_classes_most_confused_are_among_the_most_similar(digits):
    """Familiarity orders pairs as the errors of a model that is too small do."""
    X, y = digits
    model = FlyBloomClassifier(512, n_winners=4, random_state=0).fit(X[::2], y[::2])
    errors = confusion_matrix(y[1::2], model.predict(X[1::2]))
    errors = (errors + errors.T)[np.triu_indices(10, 1)]
    similarity = class_similarity(model, kind="familiarity")[np.triu_indices(10, 1)]
    assert np.corrcoef(np.argsort(np.argsort(errors)), np.argsort(np.argsort(similarity)))[0, 1] > 0.5


def test_mnist_pairs_are_those_of_the_paper(data_folder):
    """(4, 9) and (7, 9) come first, on a sixth of the rows."""
    with np.load(data_folder / "mnist.npz", allow_pickle=False) as file:
        X, y = file["X_train"][:10000], file["y_train"][:10000]
    model = FlyBloomClassifier(
        40000, n_connections=20, n_winners=26, decay=0.49, signed=False, encoding="none", random_state=0
    ).fit(X, y)
    assert {(a, b) for a, b, _ in most_similar_classes(model, 2)} == {(4, 9), (7, 9)}


def test_profiles_look_like_the_class(digits, model):
    """The profile of each digit resembles the mean of that digit, less the mean of all, more than of any other."""
    X, y = digits
    means = np.array([X[y == digit].mean(axis=0) for digit in range(10)]) - X.mean(axis=0)
    likeness = np.corrcoef(class_profiles(model), means / (X.std(axis=0) + 1))[:10, 10:]
    assert (likeness.argmax(axis=1) == np.arange(10)).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda model, _: class_similarity(model, kind="x"), "The 'kind' parameter must be one of .* Got 'x' instead"),
        (lambda model, X: model.explain(X, 77), "Labels must be among those learned.*Got .*77.* instead"),
        (lambda model, X: model.explain(X, kind="x"), "The 'kind' parameter"),
        (lambda model, X: model.explain(X[:, :3]), "X has 3 features, but FlyBloomClassifier is expecting 64"),
        (lambda model, X: model.leave_one_out_novelty(X, np.full(len(X), 12)), "Labels must be among those learned"),
    ],
)
def test_what_makes_no_sense_is_refused(model, digits, call, message):
    """In one sentence."""
    with pytest.raises(ValueError, match=message):
        call(model, digits[0])


@pytest.mark.parametrize("function", [class_similarity, class_profiles])
def test_a_model_that_learned_nothing_says_so(function):
    """As scikit-learn does."""
    with pytest.raises(NotFittedError):
        function(FlyBloomClassifier())


def test_similarity_is_drawn_with_its_numbers_and_labels(model):
    """A cell for each pair, none on the diagonal, names at both axes."""
    display = ClassSimilarityDisplay.from_estimator(model, similarity="familiarity")
    assert display.text_[4, 4] is None
    assert display.text_[3, 9].get_text() == f"{display.similarity[3, 9]:.2f}"
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == [str(digit) for digit in range(10)]
    assert display.figure_ is display.ax_.figure
    assert np.ma.filled(display.im_.get_array(), np.nan)[3, 9] == display.similarity[3, 9]


def test_a_tree_holds_every_class_once(model):
    """On the axes given."""
    axes = plt.subplots()[1]
    display = ClassSimilarityDisplay.from_estimator(
        model, kind="dendrogram", ax=axes, display_labels=list("abcdefghij")
    )
    assert display.ax_ is axes
    assert sorted(display.dendrogram_["ivl"]) == list("abcdefghij")
    with pytest.raises(ValueError, match=r"must be 'heatmap' or 'dendrogram'. Got 'cake' instead"):
        display.plot(kind="cake")


def test_profiles_and_shares_are_drawn_as_images_or_bars(model, digits):
    """One panel for each class or row."""
    images = ClassProfileDisplay.from_estimator(model, image_shape=(8, 8))
    assert len(images.axes_) == 10
    np.testing.assert_array_equal(images.axes_[3].images[0].get_array(), class_profiles(model)[3].reshape(8, 8))
    bars = FeatureShareDisplay.from_estimator(model, digits[0][:2], labels=[0, 1], versus=8, n_features=5)
    assert len(bars.axes_) == 2
    assert len(bars.axes_[0].patches) == 5
    assert bars.axes_[0].get_title() == "0 against 8"
    difference = model.explain(digits[0][:2], [0, 1], kind="familiarity") - model.explain(
        digits[0][:2], 8, kind="familiarity"
    )
    np.testing.assert_array_equal(bars.shares, difference)
    with pytest.raises(ValueError, match=r"must hold at least 10 axes. Got 1 instead"):
        ClassProfileDisplay.from_estimator(model, ax=plt.subplots()[1])


def test_without_matplotlib_displays_say_what_to_install(model, monkeypatch):
    """And everything else works."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert class_similarity(model).shape == (10, 10)
    with pytest.raises(ImportError, match=r"pip install 'flybloom\[plots\]'"):
        ClassSimilarityDisplay.from_estimator(model)
