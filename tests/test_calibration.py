"""The temperature of least log-loss."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import softmax

from flybloom.core.readout.temperature import MAX_TEMPERATURE, MIN_TEMPERATURE, fitted_temperature


def log_loss(novelty, codes, temperature):
    """Mean of minus the log of what the softmax gives the true class."""
    return -np.log(softmax(-novelty / temperature, axis=1)[np.arange(len(codes)), codes]).mean()


def test_the_temperature_minimises_the_log_loss(rng):
    """Against a minimiser that knows nothing of slopes."""
    novelty = rng.random((500, 4))
    codes = np.array([rng.choice(4, p=softmax(-row / 0.3)) for row in novelty])
    found = fitted_temperature(novelty, codes)
    expected = minimize_scalar(lambda t: log_loss(novelty, codes, np.exp(t)), bracket=(-2, 0)).x
    assert found == pytest.approx(np.exp(expected), rel=1e-6)
    assert found == pytest.approx(0.3, rel=0.25)


def test_the_order_of_rows_is_irrelevant(rng):
    """Bit for bit."""
    novelty, codes = rng.random((300, 3)), rng.integers(0, 3, 300)
    novelty[np.arange(300), codes] *= 0.8
    order = rng.permutation(300)
    assert fitted_temperature(novelty[order], codes[order]) == fitted_temperature(novelty, codes)


def test_rows_of_unknown_classes_and_untested_rows_do_not_count(rng):
    """Their loss is the same at any temperature, or there is none."""
    novelty, codes = rng.random((100, 3)), rng.integers(0, 3, 100)
    novelty[np.arange(100), codes] *= 0.8
    unknown, untested = np.array([[0.5, np.inf, 0.1]]), np.full((1, 3), np.nan)
    more = np.concatenate([novelty, unknown, untested])
    assert fitted_temperature(more, np.append(codes, [1, 0])) == fitted_temperature(novelty, codes)
    novelty[:, 2] = np.inf
    assert 0 < fitted_temperature(novelty, codes % 2) < np.inf


def test_limits_hold_where_there_is_no_minimum():
    """All right, all wrong, nothing to tell."""
    novelty = np.array([[0.1, 0.9], [0.8, 0.2]])
    assert fitted_temperature(novelty, np.array([0, 1])) == MIN_TEMPERATURE
    assert fitted_temperature(novelty, np.array([1, 0])) == MAX_TEMPERATURE
    assert fitted_temperature(np.full((2, 2), 0.5), np.array([1, 0])) == 1.0
    assert fitted_temperature(np.full((1, 2), np.nan), np.array([0])) == 1.0
