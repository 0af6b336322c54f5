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
from typing import TYPE_CHECKING, Any, Self

from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from flybloom import FlyBloomClassifier, FlyRidgeClassifier
from peers import hyperdimensional, random_features, row_by_row
from peers.indexes import NEIGHBOURS, FaissFlat, FaissHNSW, Hnswlib, Voting
from peers.skills import SKILLS

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Contestant:
    """A name, how to make the model, what it can do, and how many rows it is given at the most."""

    name: str
    make: Callable[[], Any]
    skills: tuple[str, ...] = ()
    most_queries: int = 10_000
    most_rows: int = 10**9
    takes_stored: bool = False  # rows as they are stored, bytes for images, and not float32


def vision(n_connections: int) -> Contestant:
    """Return the paper's classifier for images: m = 64 d, rho = 64, zeros and ones, centred pixels.

    Decay 0.3 is the best of 0.1 to 0.4 by leave-one-out on the training rows of MNIST, for each number of connections.
    """

    def make() -> FlyBloomClassifier:
        return FlyBloomClassifier(
            64.0, n_connections=n_connections, n_winners=64, decay=0.3, signed=False, encoding="whole", random_state=0
        )

    return Contestant(f"flybloom, 64 d, s = {n_connections}", make, SKILLS, takes_stored=True)


def pairs_of(n_components: int | str = "auto", encoding: str = "auto") -> FlyRidgeClassifier:
    """Return a classifier that counts pairs of winners."""
    return FlyRidgeClassifier(n_components, encoding=encoding, random_state=0)


class Frozen:
    """Pairs that learn, and keep only what it takes to predict."""

    def __init__(self, make: Callable[[], FlyRidgeClassifier]) -> None:
        self.make = make

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn, solve, and let go of the counts."""
        self.model = self.make().fit(X, y).freeze()
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return labels."""
        return self.model.predict(X)


def scaled(model: Any) -> Any:
    """Put a standardising step before a model that needs one."""
    return make_pipeline(StandardScaler(), model)


FLY = Contestant("flybloom", lambda: FlyBloomClassifier(random_state=0), SKILLS)
PAIRS = Contestant("flybloom, pairs", pairs_of, SKILLS)
VISION = [
    vision(24),
    vision(40),
    vision(78),  # the paper's tenth of the features; fewer take less time
    Contestant("flybloom, pairs, 8192", lambda: pairs_of(8192), SKILLS, takes_stored=True),
    Contestant("flybloom, pairs, 12288", lambda: pairs_of(12288), SKILLS, takes_stored=True),
    Contestant("flybloom, frozen pairs, 2048", lambda: Frozen(lambda: pairs_of(2048)),
               takes_stored=True),
]  # fmt: skip
LETTER = [Contestant("flybloom, pairs, 8192", lambda: pairs_of(8192), SKILLS)]
ALL = [
    FLY,
    PAIRS,
    Contestant("flybloom, frozen pairs", lambda: Frozen(pairs_of)),
    Contestant("kNN, brute", lambda: KNeighborsClassifier(NEIGHBOURS, algorithm="brute"), most_queries=2000),
    Contestant("kNN, kd_tree", lambda: KNeighborsClassifier(NEIGHBOURS, algorithm="kd_tree"), most_queries=100),
    Contestant("NearestCentroid", NearestCentroid),
    Contestant("GaussianNB", GaussianNB, ("one pass",)),
    Contestant("SGD, one epoch", lambda: scaled(SGDClassifier(max_iter=1, tol=None, random_state=0)), ("one pass",)),
    Contestant("MLP, one epoch", lambda: scaled(MLPClassifier(max_iter=1, random_state=0)), ("one pass",)),
    Contestant("HistGradientBoosting", lambda: HistGradientBoostingClassifier(random_state=0), most_rows=10_000),
    Contestant("Nystroem + ridge", random_features.nystroem, most_rows=100_000),
    Contestant("RBFSampler + SGD", random_features.rbf_sampler, most_rows=100_000),
    Contestant("dense features + ridge", random_features.DenseRandomRidge, ("one pass", "merge"), most_rows=100_000),
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
        Contestant("river ARF", lambda: row_by_row.River(row_by_row.forest), **few),
    ]
if find_spec("torchhd"):
    ALL += [Contestant("torchhd OnlineHD", hyperdimensional.OnlineHD, ("one pass",), most_rows=100_000)]


def model_bytes(model: Any) -> int:
    """Return what it takes to keep a model: flybloom's file, an index as its library writes it, else a pickle."""
    if isinstance(model, Voting):
        return model.n_bytes()
    if isinstance(model, FlyBloomClassifier | FlyRidgeClassifier):
        return len(saved(model))
    if isinstance(model, Frozen):
        return len(saved(model.model))
    return len(pickle.dumps(model))


def fly_bytes(model: Any) -> dict[str, int]:
    """Return flybloom's other sizes: its counts in memory, its file after zlib, and that of what only predicts."""
    if isinstance(model, FlyRidgeClassifier):
        return {"counts_bytes": model.memory_usage()["counts"], "frozen_bytes": len(saved(model.freeze()))}
    if not isinstance(model, FlyBloomClassifier):
        return {}
    return {"counts_bytes": model.counts_.nbytes, "deflated_bytes": len(zlib.compress(saved(model)))}


def saved(model: Any) -> bytes:
    """Return a model as it is saved."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.fly"
        model.save(path)
        return path.read_bytes()
