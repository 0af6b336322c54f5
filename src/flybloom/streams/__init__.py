"""Rows that come in sequence: test-then-train, and models as classifiers and regressors of river."""

from flybloom.streams.evaluate import StreamScores, kappa, test_then_train

__all__ = ["StreamScores", "kappa", "test_then_train"]
