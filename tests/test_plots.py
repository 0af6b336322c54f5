"""Pictures, tested by their data and by what is drawn, not by pixels."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from flybloom import FlyBloomClassifier, FlyBloomClassifierCV, FlyBloomNovelty, OpenSetClassifier
from flybloom.audit import certify
from flybloom.estimators.releasing import privacy_spent
from flybloom.plots import (
    CertificateDisplay,
    ClassProfileDisplay,
    ClassSimilarityDisplay,
    CountsDisplay,
    FeatureShareDisplay,
    NoveltyDisplay,
    PrivacyDisplay,
    TuningDisplay,
)

PRICES = ["$1 to $5", r"$\frac{$", r"\$_^{"]  # no formulas


@pytest.fixture
def pyplot():
    """Matplotlib without a screen; every figure is closed afterwards."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    yield plt
    plt.close("all")


@pytest.fixture(scope="module")
def search(digits):
    """A small search."""
    return FlyBloomClassifierCV(
        [64, 200], n_connections=[4, 0.2], n_winners=[4, 8, 16], decay=[0.2, 1.0], scoring="balanced_accuracy"
    ).fit(digits[0][:300], digits[1][:300])


@pytest.mark.usefixtures("pyplot")
def test_each_square_shows_the_best_over_the_other_parameters(search):
    """And says so in its text; the best of all is bold."""
    display = TuningDisplay.from_estimator(search, x="n_winners", y="n_components")
    results = search.cv_results_
    for i, m in enumerate([64, 200]):
        for j, rho in enumerate([4, 8, 16]):
            chosen = (results["param_n_components"] == m) & (results["param_n_winners"] == rho)
            assert display.scores[i, j] == results["mean_test_score"][chosen].max()
            assert display.text_[i, j].get_text() == f"{display.scores[i, j]:.3f}"
    assert_array_equal(display.im_.get_array(), display.scores)
    bold = [cell for cell, text in np.ndenumerate(display.text_) if text.get_fontweight() == "bold"]
    assert bold == [np.unravel_index(display.scores.argmax(), display.scores.shape)]
    assert display.ax_.get_xlabel() == "n_winners"
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["64", "200"]
    assert display.figure_.axes[1].get_ylabel() == "best mean balanced_accuracy"


def test_it_draws_where_it_is_told(search, pyplot):
    """With the options of imshow; settings that were not tried stay empty."""
    _, ax = pyplot.subplots()
    results = {"params": search.cv_results_["params"][1:2] + search.cv_results_["params"][-1:]}
    results["mean_test_score"] = np.array([0.5, 0.75])
    display = TuningDisplay.from_results(results, x="decay", y="n_winners", ax=ax, cmap="magma")
    assert display.ax_ is ax
    assert display.im_.get_cmap().name == "magma"
    assert_array_equal(display.scores, [[0.5, np.nan], [np.nan, 0.75]])
    assert display.text_[0, 1] is None


def test_words_it_does_not_know_are_refused(search):
    """And a search that has not been fitted."""
    with pytest.raises(ValueError, match=r"The 'x' parameter of TuningDisplay must be one of decay, .*Got 'speed'"):
        TuningDisplay.from_estimator(search, x="speed")
    with pytest.raises(NotFittedError):
        TuningDisplay.from_estimator(FlyBloomClassifierCV())


def test_without_matplotlib_the_error_says_what_to_install(search, monkeypatch):
    """It is an extra."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'flybloom\[plots\]'"):
        TuningDisplay.from_estimator(search)


def shown(figure):
    """What is read in a figure once it is drawn: texts between dollars would be formulas, or break."""
    cbook = pytest.importorskip("matplotlib.cbook")
    figure.canvas.draw()
    texts = [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]
    assert not any(cbook.is_math_text(text) for text in texts)
    return [text.replace(r"\$", "$") for text in texts]


@pytest.mark.usefixtures("pyplot")
def test_dollars_are_shown_as_they_are(rng):
    """In labels, titles and names of features, of every display."""
    similarity = ClassSimilarityDisplay(np.eye(3) + 0.5, display_labels=PRICES)
    for kind in ("heatmap", "dendrogram"):
        assert set(PRICES) <= set(shown(similarity.plot(kind=kind).figure_))
    profiles = ClassProfileDisplay(rng.random((3, 3)), display_labels=PRICES, feature_names=PRICES).plot()
    shares = FeatureShareDisplay(rng.random((3, 3)), titles=PRICES, feature_names=PRICES).plot()
    for display in (profiles, shares):
        texts = shown(display.figure_)
        assert all(texts.count(price) >= 4 for price in PRICES)  # a title, and a bar in each of three panels
    tuning = TuningDisplay(np.eye(1, 3), x_values=PRICES, y_values=["$a$"], x="decay", y="decay", score_name="$b$")
    assert {*PRICES, "$a$", "best mean $b$"} <= set(shown(tuning.plot().figure_))
    assert set(PRICES) <= set(shown(NoveltyDisplay(rng.random(3), groups=PRICES).plot().figure_))
    assert set(PRICES) <= set(shown(CountsDisplay([np.eye(3)], titles=["$a$"], display_labels=PRICES).plot().figure_))
    assert "$a$" in shown(CertificateDisplay([0.1], name="$a$").plot().figure_)
    assert "$a$" in shown(PrivacyDisplay([1], [[0.5]], name="$a$").plot().figure_)


@pytest.mark.usefixtures("pyplot")
def test_features_of_one_name_have_a_bar_each():
    """A table may have a column twice."""
    display = FeatureShareDisplay([[0.5, 0.2, -0.1]], feature_names=["a", "b", "a"]).plot()
    axes = display.axes_[0]
    assert [bar.get_width() for bar in axes.patches] == [-0.1, 0.2, 0.5]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b", "a"]


@pytest.fixture(scope="module")
def classifier(digits):
    """A small classifier, which knows the digits below 8."""
    X, y = digits
    known = y[:600] < 8
    return FlyBloomClassifier(256, encoding="none", random_state=0).fit(X[:600][known], y[:600][known])


def heights(bars):
    """How many rows each bar of a histogram stands for."""
    return [bar.get_height() for bar in bars]


@pytest.mark.usefixtures("pyplot")
def test_novelty_is_drawn_by_group_beside_the_threshold(digits):
    """Rows right of the line are those that the detector takes for outliers."""
    X, y = digits
    model = FlyBloomNovelty(256, contamination=0.1, random_state=0).fit(X[:300])
    display = NoveltyDisplay.from_estimator(model, X[300:500], groups=y[300:500] == 0)
    assert_array_equal(display.novelty, model.novelty(X[300:500]))
    assert [sum(heights(display.bars_[group])) for group in (False, True)] == np.bincount(y[300:500] == 0).tolist()
    line = display.line_.get_xdata()[0]
    assert_array_equal(display.novelty > line, model.predict(X[300:500]) == -1)
    assert 0 < (display.novelty > line).sum() < 200


@pytest.mark.usefixtures("pyplot")
def test_novelty_of_classifiers_is_that_to_the_nearest_class(classifier, digits):
    """Of an open set less the threshold of that class; without groups there is one histogram, and no legend."""
    X, y = digits
    display = NoveltyDisplay.from_estimator(classifier, X[600:700])
    assert_array_equal(display.novelty, classifier.novelty(X[600:700]).min(axis=1))
    assert display.line_ is None
    assert display.ax_.get_legend() is None
    assert sum(heights(display.bars_[0.0])) == 100
    known = y[:600] < 8
    model = OpenSetClassifier(classifier, quantile=0.9).fit(X[:600][known], y[:600][known])
    display = NoveltyDisplay.from_estimator(model, X[600:700], bins=5)
    assert_array_equal(display.novelty > display.line_.get_xdata()[0], model.predict(X[600:700]) == -1)
    assert len(heights(display.bars_[0.0])) == 5
    with pytest.raises(ValueError, match=r"an entry for each of 100 rows. Got 3 instead"):
        NoveltyDisplay.from_estimator(classifier, X[600:700], groups=[1, 2, 3])


def test_certified_shares_are_those_of_certify(classifier, digits, pyplot):
    """At any radius; rows that are told wrong count at none."""
    X, y = digits[0][600:640], digits[1][600:640]
    display = CertificateDisplay.from_estimator(classifier, X, y, norm="l2", name="digits")
    right = classifier.predict(X) == y
    assert 0 < right.sum() < len(y)
    for radius in (0.01, 0.1, 0.3):  # at 0 all rows count, also those of which nothing can be proven
        assert display.share(radius) == np.mean(right & certify(classifier, X, radius, norm="l2"))
    radii, shares = display.line_.get_data()
    assert radii[0] == 0.0
    assert shares[0] == right.mean()
    assert shares[-1] == 0.0
    assert (np.diff(shares) <= 0).all()
    assert display.ax_.get_xlabel() == "l2 distance"
    _, ax = pyplot.subplots()
    alone = CertificateDisplay([np.inf, 0.5, 0.0, 0.5]).plot(ax=ax, color="red")
    assert_array_equal(alone.line_.get_data(), [[0.0, 0.0, 0.5], [1.0, 0.75, 0.25]])
    assert alone.ax_ is ax
    assert ax.get_legend() is None


@pytest.mark.usefixtures("pyplot")
def test_privacy_is_drawn_from_copies(classifier, digits):
    """So that nothing is entered into the account of the model; the curve is the mean over releases of known seeds."""
    pytest.importorskip("opendp")
    X, y = digits[0][600:800], digits[1][600:800]
    options = {"delta": 1e-5, "classes": range(8)}
    display = PrivacyDisplay.from_estimator(classifier, X, y, epsilons=(0.5, 4), n_draws=2, **options)
    assert privacy_spent(classifier, 1e-5) == 0.0
    seeded = classifier.release(4, random_state=1, **options)
    assert display.scores[1][1] == seeded.score(X, y)
    assert_array_equal(display.errorbar_[0].get_data(), [[0.5, 4], np.mean(display.scores, axis=1)])
    assert display.line_.get_ydata()[0] == classifier.score(X, y)
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["0.5", "4"]
    with pytest.raises(ValueError, match=r"a row for each of 2 epsilons. Got an array of shape \(3, 1\) instead"):
        PrivacyDisplay([1, 2], [[0.5]] * 3).plot()


def test_counts_are_drawn_in_the_same_colours(classifier, digits, pyplot):
    """Of the components that won most, with a row for each class that any of the models has met."""
    X, y = digits[0][600:700], digits[1][600:700]
    other = (classifier - classifier).partial_fit(X[y > 5], y[y > 5])
    display = CountsDisplay.from_estimators(
        {"old": classifier, "new": other, "sum": classifier + other}, n_components=20
    )
    assert_array_equal(display.display_labels, range(10))
    old, new, both = display.counts
    assert old.shape == (10, 20)
    assert_array_equal(old + new, both)
    assert_array_equal(np.flatnonzero(new.any(axis=1)), [6, 7, 8, 9])
    most = np.sort(
        (classifier + other).counts_.sum(axis=0) + classifier.counts_.sum(axis=0) + other.counts_.sum(axis=0)
    )
    assert sum(table.sum() for table in display.counts) == most[-20:].sum()
    assert {image.norm.vmax for image in display.ims_} == {both.max()}
    assert [axes.get_title(loc="left") for axes in display.axes_] == ["old", "new", "sum"]
    _, ax = pyplot.subplots()
    with pytest.raises(ValueError, match=r"must hold at least 3 axes. Got 1 instead"):
        display.plot(ax=ax)
