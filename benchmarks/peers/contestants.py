"""The classifiers that are compared, each made fresh by a function, and what each of them can do.

One that is not installed is left out.
"""

from __future__ import annotations

import pickle
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from flybloom import FlyBloomClassifier
from peers import row_by_row
from peers.indexes import NEIGHBOURS, FaissFlat, FaissHNSW, Hnswlib, Voting
from peers.skills import SKILLS

BLOCK = 4096
DECAYS = (0.4, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)


@dataclass(frozen=True)
class Contestant:
    """A name, how to make the model, what it can do, and how many rows it is given at the most."""

    name: str
    make: Callable[[], Any]
    skills: tuple[str, ...] = ()
    most_queries: int = 10_000
    most_rows: int = 10**9
    takes_stored: bool = False  # rows as they are stored, bytes for images, and not float32


class WholeCentre:
    """Bytes minus their rounded means, for flybloom: still whole numbers, which are hashed faster than floats."""

    def __init__(self, model: FlyBloomClassifier) -> None:
        self.model = model

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn the means, then the rows block by block, so that no second copy of all is made."""
        self.centre = np.rint(X.mean(axis=0)).astype(np.int16)
        for begin in range(0, len(X), BLOCK):
            self.model.partial_fit(X[begin : begin + BLOCK] - self.centre, y[begin : begin + BLOCK])
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Centre and predict block by block."""
        blocks = range(0, len(X), BLOCK)
        return np.concatenate([self.model.predict(X[begin : begin + BLOCK] - self.centre) for begin in blocks])


class ChosenDecay:
    """Default settings, with the decay that leave-one-out on 2000 of the learned rows finds best afterwards."""

    def __init__(self, model: FlyBloomClassifier) -> None:
        self.model = model

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn, then choose."""
        self.model.fit(X, y)
        X, y = X[:2000], y[:2000]

        def accuracy(decay: float) -> float:
            novelty = self.model.set_params(decay=decay).leave_one_out_novelty(X, y)
            return float(np.mean(self.model.classes_[novelty.argmin(axis=1)] == y))

        self.model.set_params(decay=max(DECAYS, key=accuracy))
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predict with the chosen decay."""
        return self.model.predict(X)


def vision(n_connections: int) -> Contestant:
    """Return the paper's classifier for images: m = 64 d, rho = 64, zeros and ones, centred pixels.

    Decay 0.3 is the best of 0.1 to 0.4 by leave-one-out on the training rows of MNIST, for each number of connections.
    """

    def make() -> WholeCentre:
        return WholeCentre(
            FlyBloomClassifier(
                64.0,
                n_connections=n_connections,
                n_winners=64,
                decay=0.3,
                signed=False,
                scaling="none",
                random_state=0,
            )
        )

    return Contestant(f"flybloom, 64 d, s = {n_connections}", make, SKILLS, takes_stored=True)


def scaled(model: Any) -> Any:
    """Put a standardising step before a model that needs one."""
    return make_pipeline(StandardScaler(), model)


CHOSEN = Contestant("flybloom, decay chosen", lambda: ChosenDecay(FlyBloomClassifier(random_state=0)), SKILLS)
FLY = Contestant("flybloom", lambda: FlyBloomClassifier(random_state=0), SKILLS)
VISION = [vision(24), vision(40), vision(78)]  # 78 is the paper's tenth of the features; fewer take less time
ALL = [
    FLY,
    Contestant("kNN, brute", lambda: KNeighborsClassifier(NEIGHBOURS, algorithm="brute"), most_queries=2000),
    Contestant("kNN, kd_tree", lambda: KNeighborsClassifier(NEIGHBOURS, algorithm="kd_tree"), most_queries=100),
    Contestant("NearestCentroid", NearestCentroid),
    Contestant("GaussianNB", GaussianNB, ("one pass",)),
    Contestant("SGD, one epoch", lambda: scaled(SGDClassifier(max_iter=1, tol=None, random_state=0)), ("one pass",)),
    Contestant("MLP, one epoch", lambda: scaled(MLPClassifier(max_iter=1, random_state=0)), ("one pass",)),
]
if find_spec("faiss"):
    ALL += [
        Contestant("faiss flat", FaissFlat, SKILLS, most_queries=2000),
        Contestant("faiss HNSW", FaissHNSW, ("one pass", "new classes", "distributed"), most_rows=100_000),
    ]
if find_spec("hnswlib"):
    ALL += [Contestant("hnswlib", Hnswlib, ("one pass", "new classes"), most_rows=100_000)]
if find_spec("river"):
    few: dict[str, Any] = {"skills": ("one pass", "new classes"), "most_queries": 50, "most_rows": 500}
    ALL += [
        Contestant("river kNN", lambda: row_by_row.River(row_by_row.neighbours), **few),
        Contestant("river naive Bayes", lambda: row_by_row.River(row_by_row.bayes), **few),
    ]


def model_bytes(model: Any) -> int:
    """Return what it takes to keep a model: flybloom's file, an index as its library writes it, else a pickle."""
    if isinstance(model, Voting):
        return model.n_bytes()
    if isinstance(model, WholeCentre):
        return len(saved(model.model)) + model.centre.nbytes
    if isinstance(model, ChosenDecay):
        return len(saved(model.model))
    if isinstance(model, FlyBloomClassifier):
        return len(saved(model))
    return len(pickle.dumps(model))


def fly_bytes(model: Any) -> dict[str, int]:
    """Return flybloom's other sizes: its counts in memory, and its file after zlib; nothing for others."""
    model = getattr(model, "model", model)
    if not isinstance(model, FlyBloomClassifier):
        return {}
    return {"counts_bytes": model.counts_.nbytes, "deflated_bytes": len(zlib.compress(saved(model)))}


def saved(model: FlyBloomClassifier) -> bytes:
    """Return a model as it is saved."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.fly"
        model.save(path)
        return path.read_bytes()
