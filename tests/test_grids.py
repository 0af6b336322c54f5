"""The settings that words and lists stand for."""

import numpy as np
import pytest
from sklearn.model_selection import ParameterGrid

from flybloom.core.hashing.sizes import Sizes
from flybloom.estimators.tuning.grids import NAMES, candidates


@pytest.mark.parametrize("n_features", [1, 2, 16, 64, 784, 50_000])
def test_auto_contains_the_defaults(n_features):
    """So a search is never worse on its splits than the classifier as it comes; and all settings differ."""
    settings = candidates(dict.fromkeys(NAMES, "auto"), n_features)
    default = Sizes().for_features(n_features)
    assert any(setting[1:4] == default and setting.params["decay"] == 0.4 for setting in settings)
    assert len({(setting[1:], setting.params["decay"]) for setting in settings}) == len(settings)


@pytest.mark.parametrize("n_features", [1, 4, 16, 784])
def test_paper_stays_in_the_ranges_of_the_paper(n_features):
    """From m = 2d to m = 2048d, s up to d/2, rho from 8 to 256 but at most half of m, c from 0.2 to 1."""
    settings = candidates(dict.fromkeys(NAMES, "paper"), n_features)
    assert {setting.m for setting in settings} == {2 * 4**k * n_features for k in range(6)}
    assert all(1 <= setting.s <= max(1, round(n_features / 2)) for setting in settings)
    assert max(setting.rho for setting in settings) == 256
    assert all(setting.rho <= max(1, setting.m // 2) for setting in settings)
    assert {setting.params["decay"] for setting in settings} == {0.2, 0.4, 0.6, 0.9, 1.0}


def test_lists_come_in_the_order_of_scikit_learn():
    """As GridSearchCV lists them."""
    grid = {"n_winners": [8, 0.5], "decay": [1.0, 0.1], "n_connections": [2, 1.0], "n_components": [40, 10.0, "auto"]}
    settings = candidates(grid, 5)
    assert [setting.params for setting in settings] == list(ParameterGrid(grid))
    assert settings[4].params["n_components"] == 10.0
    assert settings[4][1:4] == (50, 2, 8)


def test_arrays_give_plain_numbers():
    """What best_params_ shows prints as a number."""
    settings = candidates(
        {"decay": np.linspace(0.5, 1, 2), "n_components": 64, "n_connections": (3,), "n_winners": range(4, 6)}, 5
    )
    assert [setting.params["decay"] for setting in settings] == [0.5, 0.5, 1.0, 1.0]
    assert all(type(setting.params["decay"]) is float for setting in settings)


def test_few_components_get_few_winners():
    """Where every number of a word is too large, the classifier's own choice remains."""
    settings = candidates({"decay": 1.0, "n_components": [8, 100], "n_connections": 1, "n_winners": "auto"}, 5)
    assert [setting.rho for setting in settings] == [2, 32]
