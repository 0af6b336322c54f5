"""The rows that all are compared on: every peer gets float32, made beforehand, and the bytes of images are kept too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import train_test_split

from datasets import load, load_split

CLUSTERS, CLASSES, FEATURES = 30, 10, 50


@dataclass(frozen=True)
class Rows:
    """Rows to learn and to test, as float32 and as they are stored."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    stored: np.ndarray
    stored_test: np.ndarray

    def first(self, n: int, n_test: int) -> Rows:
        """Return the first rows of each part."""
        return Rows(
            self.X[:n],
            self.y[:n],
            self.X_test[:n_test],
            self.y_test[:n_test],
            self.stored[:n],
            self.stored_test[:n_test],
        )


def stream(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n rows of 50 features: ten classes of three wide clusters each."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((CLUSTERS, FEATURES))
    cluster = rng.integers(0, CLUSTERS, n)
    X = rng.standard_normal((n, FEATURES), np.float32)
    X *= np.float32(1.2)
    X += centres.astype(np.float32)[cluster]
    return X, cluster % CLASSES


def rows(name: str, *, quick: bool = False) -> Rows:
    """Return a data set by name: with its own split, or with a tenth of the rows to test, at the most 10 000."""
    if "mnist" in name:
        X, y, X_test, y_test = load_split(name)
    else:
        X, y = stream(20_000 if quick else 1_000_000) if name == "stream" else load(name)
        n_test = min(10_000, len(y) // 10)
        X, X_test, y, y_test = train_test_split(X, y, test_size=n_test, stratify=y, random_state=0)
    most = 2000 if quick else len(y)
    X, y = X[:most], y[:most]
    as_float = {"dtype": np.float32, "copy": False}
    return Rows(X.astype(**as_float), y, X_test.astype(**as_float), y_test, X, X_test)
