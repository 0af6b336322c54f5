"""Rows that come in sequence: test-then-train, and models as classifiers and regressors of river."""

from flybloom.estimators.counting import novelty_rate
from flybloom.streams.evaluate import StreamScores, kappa, test_then_train

__all__ = ["StreamScores", "kappa", "novelty_rate", "test_then_train"]
