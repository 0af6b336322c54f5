"""What is said of many data sets follows from the scores."""

import pytest

from flybloom.paper import comparison
from flybloom.paper.scores import best_of_each


def record(accuracy, balanced):
    """A record of two equal folds."""
    return {"params": {"a": accuracy}, "accuracy": [accuracy, accuracy], "balanced_accuracy": [balanced, balanced]}


def test_each_metric_has_a_best_setting_of_its_own():
    """They may differ."""
    found = best_of_each([record(0.9, 0.5), record(0.8, 0.7)])
    assert found["n_settings"] == 2
    assert found["accuracy"]["params"] == {"a": 0.9}
    assert found["balanced_accuracy"]["params"] == {"a": 0.8}


def test_relative_performance_is_negative_where_a_method_is_better():
    """The paper's measure."""
    ours, neighbours = best_of_each([record(0.9, 0.6)]), best_of_each([record(0.6, 0.8)])
    assert comparison.relative(ours, neighbours, "accuracy") == pytest.approx(-0.5)
    assert comparison.relative(ours, neighbours, "balanced_accuracy") == pytest.approx(0.25)


def test_ties_count_half():
    """Fraction, median improvement and p-value."""
    won = comparison.wins([0.5, 0.9, 0.4, 0.2], [0.5, 0.6, 0.2, 0.4])
    assert won["fraction"] == 0.625
    assert won["improvement"] == pytest.approx(0.25)
    assert comparison.wins([0.5, 0.5], [0.5, 0.5]) == {"fraction": 0.5, "improvement": 0.0, "p_value": 1.0}
