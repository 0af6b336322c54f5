"""The classifiers that are compared, each made fresh by a function, and what each of them can do.

Peers that are not scikit-learn's get the two methods that are timed, fit and predict, and nothing more. One that is not
installed is left out.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from flybloom import FlyBloomClassifier

SKILLS = ("one pass", "merge", "forget", "new classes", "distributed")
NEIGHBOURS = 5


@dataclass(frozen=True)
class Contestant:
    """A name, how to make the model, what it can do, and how many rows it is asked about at the most."""

    name: str
    make: Callable[[], object]
    skills: frozenset[str] = field(default_factory=frozenset)
    most_queries: int = 10_000
    most_rows: int = 10**9


class Voting:
    """Majority of the nearest neighbours that an index finds; ties go to the smaller label."""

    def vote(self, neighbours: np.ndarray) -> np.ndarray:
        """Return the most frequent label of each row of neighbours."""
        votes = self.y[neighbours]
        return np.array([np.bincount(row).argmax() for row in votes])


class FaissFlat(Voting):
    """Exact search of faiss."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> FaissFlat:
        """Store the rows."""
        import faiss  # noqa: PLC0415

        faiss.omp_set_num_threads(1)
        self.index, self.y = self.make_index(faiss, X.shape[1]), y
        self.index.add(np.ascontiguousarray(X, np.float32))
        return self

    def make_index(self, faiss: object, d: int) -> object:
        """Return an empty index."""
        return faiss.IndexFlatL2(d)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Search and vote."""
        return self.vote(self.index.search(np.ascontiguousarray(X, np.float32), NEIGHBOURS)[1])


class FaissHNSW(FaissFlat):
    """Approximate search of faiss in a graph."""

    def make_index(self, faiss: object, d: int) -> object:
        """Return an empty graph with the usual sizes."""
        index = faiss.IndexHNSWFlat(d, 16)
        index.hnsw.efConstruction = 100
        index.hnsw.efSearch = 50
        return index


class Hnswlib(Voting):
    """Approximate search of hnswlib in a graph."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Hnswlib:
        """Build the graph with the usual sizes."""
        import hnswlib  # noqa: PLC0415

        self.index, self.y = hnswlib.Index(space="l2", dim=X.shape[1]), y
        self.index.init_index(max_elements=len(X), ef_construction=100, M=16, random_seed=0)
        self.index.set_num_threads(1)
        self.index.add_items(np.ascontiguousarray(X, np.float32))
        self.index.set_ef(50)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Search and vote."""
        return self.vote(self.index.knn_query(np.ascontiguousarray(X, np.float32), k=NEIGHBOURS)[0])


class River:
    """A model of river, which learns and answers row by row."""

    def __init__(self, make: Callable[[], object]) -> None:
        self.make = make

    def fit(self, X: np.ndarray, y: np.ndarray) -> River:
        """Learn row by row."""
        self.model = self.make()
        for row, label in zip(X.astype(np.float64), y.tolist(), strict=True):
            self.model.learn_one(dict(enumerate(row)), label)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Ask row by row."""
        return np.array([self.model.predict_one(dict(enumerate(row))) for row in X.astype(np.float64)])


def river_neighbours() -> object:
    """Return river's streaming neighbours with a window of 1000 rows."""
    from river import neighbors  # noqa: PLC0415

    return neighbors.KNNClassifier(n_neighbors=NEIGHBOURS)


def river_bayes() -> object:
    """Return river's naive Bayes."""
    from river import naive_bayes  # noqa: PLC0415

    return naive_bayes.GaussianNB()


def scaled(model: object) -> object:
    """Put a standardising step before a model that needs one."""
    return make_pipeline(StandardScaler(), model)


STREAMING = frozenset({"one pass"})
ALL = [
    Contestant("flybloom", lambda: FlyBloomClassifier(random_state=0), frozenset(SKILLS)),
    Contestant("kNN, brute", lambda: KNeighborsClassifier(NEIGHBOURS, algorithm="brute"), most_queries=500),
    Contestant("kNN, kd_tree", lambda: KNeighborsClassifier(NEIGHBOURS, algorithm="kd_tree"), most_queries=200),
    Contestant("NearestCentroid", NearestCentroid),
    Contestant("GaussianNB", GaussianNB, STREAMING),
    Contestant("SGD, one epoch", lambda: scaled(SGDClassifier(max_iter=1, tol=None, random_state=0)), STREAMING),
    Contestant("MLP, one epoch", lambda: scaled(MLPClassifier(max_iter=1, random_state=0)), STREAMING),
]
if find_spec("faiss"):
    ALL += [
        Contestant("faiss flat", FaissFlat, frozenset({"merge"}), most_queries=500),
        Contestant("faiss HNSW", FaissHNSW, most_rows=100_000),
    ]
if find_spec("hnswlib"):
    ALL += [Contestant("hnswlib", Hnswlib, most_rows=100_000)]
if find_spec("river"):
    river_skills = frozenset({"one pass", "new classes"})
    ALL += [
        Contestant("river kNN", lambda: River(river_neighbours), river_skills, most_queries=50, most_rows=1000),
        Contestant("river naive Bayes", lambda: River(river_bayes), river_skills, most_queries=50, most_rows=1000),
    ]


def model_bytes(model: object) -> int:
    """Return what it takes to keep a model: flybloom's counts, an index as its library writes it, else a pickle."""
    if isinstance(model, FlyBloomClassifier):
        return model.counts_.nbytes
    if isinstance(model, FaissFlat):
        import faiss  # noqa: PLC0415

        return faiss.serialize_index(model.index).nbytes + model.y.nbytes
    if isinstance(model, Hnswlib):
        return model.index.index_file_size() + model.y.nbytes
    return len(pickle.dumps(model))
