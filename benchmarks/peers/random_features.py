"""Ridge regression, or SGD, on many random features: what pairs of winners are, without the sparsity and the counts."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import RidgeClassifier, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

BLOCK = 4096
COMPONENTS = 4096  # as many as pairs of winners have by default for large data


class DenseRandomRidge:
    """Random projections, rectified, and ridge regression from sums of products, as RanPAC has it (McDonnell, 2023).

    One pass and any order up to rounding, but every row costs m * m multiplications where pairs of winners cost
    rho * rho / 2 increments. The penalty is the best of a few on a tenth of the rows, which it then learns as well.
    """

    def __init__(self, n_components: int = COMPONENTS, seed: int = 0) -> None:
        self.n_components, self.seed = n_components, seed

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Sum products block by block, then solve."""
        self.scaler = StandardScaler().fit(X)
        rng = np.random.default_rng(self.seed)
        self.weights = rng.standard_normal((X.shape[1], self.n_components), np.float32)
        self.classes = np.unique(y)
        held_out = len(X) // 10
        gram, target = self._sums(X[held_out:], y[held_out:])
        scale = np.trace(gram) / len(gram)

        def accuracy(alpha: float) -> float:
            self.coef = self._solved(gram, target, alpha * scale)
            return float(np.mean(self.predict(X[:held_out]) == y[:held_out]))

        alpha = max((1e-3, 1e-2, 1e-1, 1.0), key=accuracy)
        more_gram, more_target = self._sums(X[:held_out], y[:held_out])
        self.coef = self._solved(gram + more_gram, target + more_target, alpha * scale)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class of the largest score."""
        scores = [self._features(X[begin : begin + BLOCK]) @ self.coef for begin in range(0, len(X), BLOCK)]
        return self.classes[np.concatenate(scores).argmax(axis=1)]

    def _features(self, X: np.ndarray) -> np.ndarray:
        return np.maximum(self.scaler.transform(X).astype(np.float32) @ self.weights, 0)

    def _sums(self, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        gram = np.zeros((self.n_components, self.n_components))
        target = np.zeros((self.n_components, len(self.classes)))
        for begin in range(0, len(X), BLOCK):
            features = self._features(X[begin : begin + BLOCK])
            gram += features.T @ features
            target += features.T @ (y[begin : begin + BLOCK, None] == self.classes)
        return gram, target

    @staticmethod
    def _solved(gram: np.ndarray, target: np.ndarray, penalty: float) -> np.ndarray:
        return cho_solve(cho_factor(gram + penalty * np.eye(len(gram))), target).astype(np.float32)


def nystroem(n_components: int = COMPONENTS) -> Any:
    """Return scikit-learn's approximation of an RBF kernel from sampled rows, with ridge regression."""
    return make_pipeline(StandardScaler(), Nystroem(n_components=n_components, random_state=0), RidgeClassifier())


def rbf_sampler(n_components: int = COMPONENTS) -> Any:
    """Return scikit-learn's random Fourier features with one epoch of SGD; the width is one over the columns."""
    sampler = RBFSampler(gamma="scale", n_components=n_components, random_state=0)
    return make_pipeline(StandardScaler(), sampler, SGDClassifier(max_iter=1, tol=None, random_state=0))
