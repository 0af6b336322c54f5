"""Scores that several rooms share, compared with scikit-learn's and with their definitions."""

import warnings

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.metrics import accuracy_score, balanced_accuracy_score

from flybloom._internal.scores import accuracy, balanced_accuracy, mean_recall, reliability


@pytest.mark.parametrize("labels", [[0, 1, 2, 3], [-5, 0, 7, 2**60], ["a", "b", "$", ""]])
def test_accuracies_are_those_of_scikit_learn(rng, labels):
    """Labels of any kind; classes that are predicted but absent do not count."""
    truth = np.array(labels)[rng.integers(0, 3, 200)]
    predicted = np.where(rng.random(200) < 0.6, truth, np.array(labels)[rng.integers(0, 4, 200)])
    assert accuracy(truth, predicted) == accuracy_score(truth, predicted)
    with warnings.catch_warnings(action="ignore"):  # scikit-learn says so
        assert balanced_accuracy(truth, predicted) == pytest.approx(balanced_accuracy_score(truth, predicted), 1e-12)


def test_balanced_accuracy_weighs_classes_alike():
    """However many rows they have."""
    assert balanced_accuracy(np.array([0, 0, 0, 1]), np.array([0, 0, 0, 0])) == 0.5
    assert balanced_accuracy(np.array([1, 1, 2]), np.array([1, 3, 2])) == 0.75
    assert mean_recall(np.array([3, 0, 0]), np.array([3, 1, 0])) == 0.5


@pytest.mark.parametrize("n_bins", [1, 10, 15])
def test_reliability_is_that_of_the_definition(rng, n_bins):
    """Bin by bin, as it is written down."""
    probability = softmax(3 * rng.standard_normal((400, 3)), axis=1)
    y = rng.integers(0, 3, 400)
    confidence, is_right = probability.max(axis=1), probability.argmax(axis=1) == y
    found = reliability(confidence, is_right, n_bins)
    expected = 0.0
    for at in range(n_bins):
        chosen = (confidence >= at / n_bins) & (confidence < (at + 1) / n_bins)
        assert found.n_rows[at] == chosen.sum()
        if chosen.any():
            assert found.confidence[at] == pytest.approx(confidence[chosen].mean())
            assert found.accuracy[at] == pytest.approx(is_right[chosen].mean())
            expected += chosen.mean() * abs(is_right[chosen].mean() - confidence[chosen].mean())
        else:
            assert np.isnan(found.confidence[at])
    assert found.error == pytest.approx(expected)


def test_those_who_are_certain_are_in_the_last_bin():
    """Where 1 belongs."""
    found = reliability(np.ones(4), np.array([True, True, True, False]))
    assert found.n_rows.tolist() == [0] * 14 + [4]
    assert (found.accuracy[-1], found.error) == (0.75, 0.25)
