"""A whole grid of settings with exact cross-validation from one pass: see `FlyBloomClassifierCV`."""

from flybloom.tuning.estimator import FlyBloomClassifierCV

__all__ = ["FlyBloomClassifierCV"]
