"""Pictures, tested by their data and by what is drawn, not by pixels."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from flybloom import FlyBloomClassifierCV
from flybloom.plots import ClassProfileDisplay, ClassSimilarityDisplay, FeatureShareDisplay, TuningDisplay

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


@pytest.mark.usefixtures("pyplot")
def test_features_of_one_name_have_a_bar_each():
    """A table may have a column twice."""
    display = FeatureShareDisplay([[0.5, 0.2, -0.1]], feature_names=["a", "b", "a"]).plot()
    axes = display.axes_[0]
    assert [bar.get_width() for bar in axes.patches] == [-0.1, 0.2, 0.5]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b", "a"]
