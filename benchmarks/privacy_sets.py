"""The sets of the privacy benchmarks, cut the same way for flybloom and its peers; needs numpy alone."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

TABLES = ("ann_thyroid", "magictelescope", "letter", "satimage", "segment", "page_blocks", "spambase", "optdigits")
TABLES += ("wall_robot_navigation", "twonorm")
EPSILONS = (0.1, 0.5, 1.0, 3.0, 8.0)
DELTA = 1e-5
MNIST_ROWS, MNIST_TEST, PUBLIC = 20_000, 2_000, 1_000


def load(name: str) -> tuple[np.ndarray, ...]:
    """Return rows and labels to learn, and rows and labels to predict, one of three; floats."""
    folder = Path(os.environ.get("FLYBLOOM_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    with np.load(folder / f"{name}.npz") as data:
        if name == "mnist":
            X, y = data["X_train"], data["y_train"]
            some = slice(PUBLIC, PUBLIC + MNIST_ROWS)  # the first rows are the public ones
            X, y, X_test, y_test = X[some], y[some], data["X_test"][:MNIST_TEST], data["y_test"][:MNIST_TEST]
            return X.reshape(len(X), -1).astype(float), y, X_test.reshape(len(X_test), -1).astype(float), y_test
        X, y = data["X"].astype(float), data["y"]
    order = np.random.default_rng(0).permutation(len(y))
    X, y, n = X[order], y[order], 2 * len(y) // 3
    return X[:n], y[:n], X[n:], y[n:]


def public_rows() -> tuple[np.ndarray, np.ndarray]:
    """Return the first rows of MNIST, which nobody learns from."""
    folder = Path(os.environ.get("FLYBLOOM_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    with np.load(folder / "mnist.npz") as data:
        X, y = data["X_train"][:PUBLIC], data["y_train"][:PUBLIC]
    return X.reshape(len(X), -1).astype(float), y


def ranges(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the range of each column, which all models take as known beforehand."""
    low, high = X.min(axis=0), X.max(axis=0)
    return low, np.where(high > low, high, low + 1.0)
