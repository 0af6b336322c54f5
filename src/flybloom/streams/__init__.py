"""Streams: test-then-train evaluation, and models as river classifiers and regressors."""

from flybloom.estimators.counting import novelty_rate
from flybloom.streams.evaluate import StreamScores, kappa, test_then_train

__all__ = ["StreamScores", "kappa", "novelty_rate", "test_then_train"]
