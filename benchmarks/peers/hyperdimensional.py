"""torchhd's hyperdimensional classifiers, near relatives: random encodings whose sums by class are learned."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
from sklearn.preprocessing import StandardScaler

DIMENSIONS = 4096  # as many as dense random features have here
BATCH = 64  # more accurate than 1024 on letter and MNIST


class OnlineHD:
    """OnlineHD (Hernandez-Cano et al., 2021) in one epoch of standardised rows, with torchhd's settings otherwise."""

    def __init__(self, n_dimensions: int = DIMENSIONS, seed: int = 0) -> None:
        self.n_dimensions, self.seed = n_dimensions, seed

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn batch after batch, in an order drawn with the seed."""
        os.environ.setdefault("TQDM_DISABLE", "1")  # read when torchhd is first imported
        import torch  # noqa: PLC0415
        from torchhd.classifiers import OnlineHD as Model  # noqa: PLC0415

        torch.set_num_threads(1)
        torch.manual_seed(self.seed)
        self.scaler = StandardScaler().fit(X)
        self.classes, labels = np.unique(y, return_inverse=True)
        self.model = Model(X.shape[1], self.n_dimensions, len(self.classes), epochs=1)
        order = np.random.default_rng(self.seed).permutation(len(y))
        batches = [order[begin : begin + BATCH] for begin in range(0, len(y), BATCH)]
        self.model.fit((self._tensor(X[rows]), torch.from_numpy(labels[rows])) for rows in batches)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class of the nearest sum."""
        blocks = [self.model.predict(self._tensor(X[begin : begin + BATCH])) for begin in range(0, len(X), BATCH)]
        return self.classes[np.concatenate([block.numpy() for block in blocks])]

    def _tensor(self, X: np.ndarray) -> Any:
        import torch  # noqa: PLC0415

        return torch.from_numpy(self.scaler.transform(X).astype(np.float32))
