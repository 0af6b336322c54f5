"""Heads for embeddings to compare with, in floats: after RanPAC and Fly-CL, and those that libraries have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import linalg
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV, SGDClassifier
from sklearn.model_selection import GridSearchCV, PredefinedSplit, train_test_split
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from peers.indexes import NEIGHBOURS, Hnswlib

WIDE = 10_000  # features of the wide heads, as in both papers
FLY_CONNECTIONS, FLY_WINNERS = 300, 3000
PENALTIES = np.logspace(-2, 8, 11)
STRENGTHS = (0.01, 0.1, 1.0)
AT_ONCE = 2048  # rows that are widened together


class WideRidge:
    """Ridge regression on many random features: sums of products and of features by class are all that is kept.

    The penalty is that of the best accuracy on a fifth of the rows left out, then all rows are learned, as in RanPAC.
    With fewer rows than features the same weights are found from products of rows, which takes less time.

    Parameters
    ----------
    kind : {"ranpac", "fly"}
        Dense normal projection and ReLU; or sparse projection of which the largest sums keep their values.
    """

    def __init__(self, kind: str, seed: int = 0) -> None:
        self.kind = kind
        self.seed = seed

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Choose the penalty and learn the rows."""
        rng = np.random.default_rng(self.seed)
        d = X.shape[1]
        if self.kind == "ranpac":
            self.projection_ = rng.standard_normal((d, WIDE), np.float32)
        else:
            s = min(FLY_CONNECTIONS, d // 2)
            self.projection_ = np.zeros((d, WIDE), np.float32)
            for j in range(WIDE):
                self.projection_[rng.choice(d, s, replace=False), j] = 1
        self.mean_ = X.mean(axis=0) if self.kind == "fly" else np.zeros(d, np.float32)
        wide = self.widened(X)
        self.classes_, codes = np.unique(y, return_inverse=True)
        truth = np.zeros((len(y), self.classes_.size), np.float32)
        truth[np.arange(len(y)), codes] = 1
        kept, left = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=0)
        scores = [
            float(np.mean(np.argmax(wide[left] @ weights, axis=1) == codes[left]))
            for weights in _solved(wide[kept], truth[kept], PENALTIES)
        ]
        self.penalty_ = float(PENALTIES[int(np.argmax(scores))])
        self.weights_ = next(_solved(wide, truth, (self.penalty_,)))
        return self

    def widened(self, X: np.ndarray) -> np.ndarray:
        """Return the random features of rows."""
        wide = np.empty((len(X), WIDE), np.float32)
        for begin in range(0, len(X), AT_ONCE):
            some = wide[begin : begin + AT_ONCE]
            np.matmul(X[begin : begin + AT_ONCE] - self.mean_, self.projection_, out=some)
            if self.kind == "ranpac":
                np.maximum(some, 0, out=some)
            else:
                least = np.partition(some, WIDE - FLY_WINNERS, axis=1)[:, WIDE - FLY_WINNERS, None]
                some[some < least] = 0
        return wide

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class of the largest score."""
        return np.asarray(self.classes_[np.argmax(self.widened(X) @ self.weights_, axis=1)])


def _solved(wide: np.ndarray, truth: np.ndarray, penalties: Any) -> Any:
    """Yield the weights for each penalty, in float32 where they are many."""
    n, m = wide.shape
    gram = wide @ wide.T if n < m else wide.T @ wide
    right = truth if n < m else wide.T @ truth
    for penalty in penalties:
        matrix = gram.copy()
        matrix[np.diag_indices_from(matrix)] += penalty
        try:
            solved = linalg.solve(matrix, right, assume_a="pos", overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:  # too small a penalty for single precision
            solved = np.zeros_like(right)
        yield wide.T @ solved if n < m else solved


class Hnsw(Hnswlib):
    """The graph of hnswlib, for labels of any kind."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Build the graph on one thread."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        return super().fit(X, codes)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class that most neighbours have."""
        return np.asarray(self.classes_[super().predict(X)])


class OneEpoch:
    """Stochastic gradient descent that sees every row once."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """See the rows once, in random order."""
        self.scaler_ = StandardScaler().fit(X)
        order = np.random.default_rng(0).permutation(len(y))
        model = SGDClassifier(loss="log_loss", alpha=1e-4, random_state=0)
        self.model_ = model.partial_fit(self.scaler_.transform(X[order]), y[order], classes=np.unique(y))
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return labels."""
        return np.asarray(self.model_.predict(self.scaler_.transform(X)))


class Searched:
    """A linear model of standardised columns, its strength chosen on a fifth of the rows left out."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Choose, and learn all rows."""
        fold = np.full(len(y), -1)
        fold[train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=0)[1]] = 0
        self.scaler_ = StandardScaler().fit(X)
        search = GridSearchCV(self.model, {"C": STRENGTHS}, cv=PredefinedSplit(fold))
        self.model_ = search.fit(self.scaler_.transform(X), y).best_estimator_
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return labels."""
        return np.asarray(self.model_.predict(self.scaler_.transform(X)))


HEADS: dict[str, Callable[[], Any]] = {
    "nearest mean": NearestCentroid,
    "kNN": lambda: KNeighborsClassifier(NEIGHBOURS, algorithm="brute"),
    "hnswlib": Hnsw,
    "SGD, one epoch": OneEpoch,
    "LogisticRegression": lambda: Searched(LogisticRegression(max_iter=300)),
    "LinearSVC": lambda: Searched(LinearSVC(dual=False, random_state=0)),
    "RidgeClassifier": lambda: make_pipeline(StandardScaler(), RidgeClassifierCV(np.logspace(-1, 6, 15))),
    "RanPAC head": lambda: WideRidge("ranpac"),
    "Fly-CL head": lambda: WideRidge("fly"),
    "MLP": lambda: make_pipeline(StandardScaler(), MLPClassifier((256,), early_stopping=True, random_state=0)),
}
