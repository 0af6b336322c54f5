"""A whole grid of settings with exact cross-validation from one pass: see `FlyBloomClassifierCV`."""

from flybloom.estimators.tuning.estimator import FlyBloomClassifierCV

__all__ = ["FlyBloomClassifierCV"]
