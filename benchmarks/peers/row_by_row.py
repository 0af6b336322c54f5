"""Models of river, which learn and answer one row at a time, each a dictionary of its features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from peers.indexes import NEIGHBOURS


class River:
    """A model of river with the methods of the others."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Forget everything, then learn row by row."""
        self.model = self.make()
        return self.partial_fit(X, y)

    def partial_fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn row by row."""
        for row, label in zip(X.tolist(), y.tolist(), strict=True):
            self.model.learn_one(dict(enumerate(row)), label)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Ask row by row."""
        return np.array([self.model.predict_one(dict(enumerate(row))) for row in X.tolist()])


def neighbours() -> Any:
    """Return river's streaming neighbours: its graph over a window of the last 1000 rows."""
    from river import neighbors  # noqa: PLC0415

    return neighbors.KNNClassifier(n_neighbors=NEIGHBOURS)


def bayes() -> Any:
    """Return river's naive Bayes."""
    from river import naive_bayes  # noqa: PLC0415

    return naive_bayes.GaussianNB()


def forest() -> Any:
    """Return river's adaptive random forest."""
    from river import forest as forests  # noqa: PLC0415

    return forests.ARFClassifier(seed=0)
