"""Exact cross-validation of a grid of settings in one pass: see `FlyBloomClassifierCV`."""

from flybloom.estimators.tuning.estimator import FlyBloomClassifierCV

__all__ = ["FlyBloomClassifierCV"]
