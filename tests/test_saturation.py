"""The capacity meter speaks: once, with the remedy, where classes can hardly be told apart, and nowhere else."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_circles
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import flybloom
from flybloom import FlyBloomClassifier
from flybloom.core.readout.filters import fullness
from flybloom.estimators.access import reading_learned
from flybloom.exceptions import SaturationWarning
from flybloom.paper import theory


def said(work):
    """What is said, as if nobody had silenced it."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        work()
    return [str(warning.message) for warning in found if warning.category is SaturationWarning]


def test_few_components_are_told_once_and_again_after_the_next_fit(digits):
    """With the remedy."""
    X, y = np.tile(digits[0], (4, 1)), np.tile(digits[1], 4)
    model = FlyBloomClassifier(16, random_state=0)
    (message,) = said(lambda: model.fit(X, y))
    assert "Filters are saturated: " in message
    assert "Raise n_components (now 16; 'auto' is 32768), or use FlyRidgeClassifier." in message
    assert said(lambda: [model.predict(X), model.partial_fit(X, y).partial_fit(X, y)]) == []
    assert len(said(lambda: model.fit(X, y))) == 1
    with_decay = FlyBloomClassifier(16, decay=0.4, random_state=0)
    assert "decay='auto' helps as well (now 0.4)" in said(lambda: with_decay.fit(X, y))[0]


def test_streams_are_told_when_it_comes_to_that(digits):
    """Not by the first rows; and by `train` as well."""
    X, y = digits
    model = FlyBloomClassifier(16, random_state=0)
    assert said(lambda: model.partial_fit(X[:900], y[:900])) == []
    assert len(said(lambda: [model.partial_fit(X, y) for _ in range(4)])) == 1
    trained, frame = FlyBloomClassifier(16, random_state=0), pd.DataFrame(np.tile(X, (4, 1))).add_prefix("pixel")
    frame["label"] = np.tile(y, 4)
    assert len(said(lambda: flybloom.train(trained, frame, "label"))) == 1


def test_an_encoding_that_cannot_work_is_told(rng):
    """Directions alone tell nothing of circles; nor does anything of labels that were drawn."""
    X, y = make_circles(4000, noise=0.05, factor=0.5, random_state=0)
    (message,) = said(lambda: FlyBloomClassifier(encoding="standard", random_state=0).fit(X, y))
    assert "The classes look alike to the hash" in message
    assert "Use another encoding ('auto' or 'bins'" in message
    assert said(lambda: FlyBloomClassifier(random_state=0).fit(X, y)) == []
    drawn = rng.integers(0, 2, 4000)
    assert len(said(lambda: FlyBloomClassifier(random_state=0).fit(X, drawn))) == 1


def test_many_rows_do_not_hide_it(digits):
    """The decay falls with the counts; what two classes know stays alike."""
    X, y = np.tile(digits[0], (20, 1)), np.tile(digits[1], 20)
    assert "Filters are saturated" in said(lambda: FlyBloomClassifier(64, random_state=0).fit(X, y))[0]


def test_fractions_of_rows_are_told_as_rows_are(rng):
    """Labels that were drawn are alike in every unit."""
    X, y = make_circles(2000, noise=0.05, factor=0.5, random_state=0)
    drawn, fractional = rng.integers(0, 2, 2000), FlyBloomClassifier(weight_unit=1.0, random_state=0)
    assert "look alike" in said(lambda: fractional.fit(X, drawn))[0]
    assert said(lambda: FlyBloomClassifier(weight_unit=1.0, random_state=0).fit(X, y)) == []


@pytest.mark.parametrize(
    "learn",
    [
        lambda model, X, y: model.fit(X, y),
        lambda model, X, y: model.partial_fit(X, y),
        lambda model, X, y: make_pipeline(StandardScaler(), model).fit(X, y),
        lambda model, X, y: flybloom.train(model, pd.DataFrame(X).add_prefix("pixel").assign(label=y), "label"),
    ],
    ids=["fit", "partial_fit", "pipeline", "train"],
)
def test_the_line_of_the_user_is_named(learn, digits):
    """However deep in the library, or in scikit-learn, it is noticed."""
    X, y = np.tile(digits[0], (4, 1)), np.tile(digits[1], 4)
    with pytest.warns(SaturationWarning) as found:
        learn(FlyBloomClassifier(32, random_state=0), X, y)
    assert [warning.filename for warning in found if warning.category is SaturationWarning] == [__file__]


def test_defaults_and_few_rows_are_fine(digits):
    """No wolf."""
    assert said(lambda: FlyBloomClassifier(random_state=0).fit(*digits)) == []
    assert said(lambda: FlyBloomClassifier(16, random_state=0).fit(*load_iris(return_X_y=True))) == []


def test_it_can_be_silenced_or_made_an_error(digits):
    """As every warning."""
    X, y = np.tile(digits[0], (4, 1)), np.tile(digits[1], 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SaturationWarning)
        FlyBloomClassifier(32, random_state=0).fit(X, y)
    assert theory.SaturationWarning is SaturationWarning


def test_a_sample_of_the_components_is_looked_at(digits):
    """Which tells what all of them would."""
    model = FlyBloomClassifier(8192, random_state=0).fit(*digits)
    with reading_learned(model) as learned:
        found = fullness(learned.counts, model.decay_)
    assert found.full == pytest.approx((model.counts_ > 0).mean(), abs=0.02)
    familiar = 1 - model.filters_
    lengths = np.linalg.norm(familiar, axis=1)
    cosines = familiar @ familiar.T / np.outer(lengths, lengths)
    assert found.alike == pytest.approx(np.median(cosines[np.triu_indices(10, 1)]), abs=0.02)
