"""Neighbours from libraries that only search: an index of rows, and a vote among the labels of those it finds."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

NEIGHBOURS = 5
# what both libraries of graphs are usually built and asked with
LINKS, EFFORT_TO_BUILD, EFFORT_TO_SEARCH = 16, 100, 50


class Voting:
    """Labels of rows, with room for more, and the majority of those that a search finds."""

    def begin(self, n_features: int) -> None:
        """Make an empty index."""
        raise NotImplementedError

    def add(self, X: np.ndarray) -> None:
        """Add rows to the index."""
        raise NotImplementedError

    def search(self, X: np.ndarray) -> np.ndarray:
        """Return the numbers of the nearest rows."""
        raise NotImplementedError

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Forget everything, then add the rows."""
        self.n, self.labels = 0, np.empty(len(y), np.int64)
        self.begin(X.shape[1])
        return self.partial_fit(X, y)

    def partial_fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Add rows and their labels, which are whole numbers from 0."""
        if self.n + len(y) > len(self.labels):
            self.labels = np.resize(self.labels, 2 * (self.n + len(y)))
            self.make_room(len(self.labels))
        self.labels[self.n : self.n + len(y)] = y
        self.n += len(y)
        self.add(np.ascontiguousarray(X, np.float32))
        return self

    def make_room(self, n: int) -> None:
        """Prepare the index for more rows, where it does not do so by itself."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Search and vote; ties go to the smaller label."""
        votes = self.labels[self.search(np.ascontiguousarray(X, np.float32))]
        first = votes.min()
        width = votes.max() - first + 1
        cells = np.arange(len(votes))[:, None] * width + votes - first
        counts = np.bincount(cells.ravel(), minlength=len(votes) * width)
        return counts.reshape(-1, width).argmax(axis=1) + first


class FaissFlat(Voting):
    """Exact search of faiss."""

    def begin(self, n_features: int) -> None:
        """Make an empty index, for one thread."""
        import faiss  # noqa: PLC0415

        faiss.omp_set_num_threads(1)
        self.index = self.make_index(faiss, n_features)

    def make_index(self, faiss: Any, n_features: int) -> Any:
        """Return an empty index."""
        return faiss.IndexFlatL2(n_features)

    def add(self, X: np.ndarray) -> None:
        """Add rows to the index."""
        self.index.add(X)

    def search(self, X: np.ndarray) -> np.ndarray:
        """Return the numbers of the nearest rows."""
        return self.index.search(X, NEIGHBOURS)[1]

    def n_bytes(self) -> int:
        """Return the bytes of the index as faiss writes it, and of the labels."""
        import faiss  # noqa: PLC0415

        return faiss.serialize_index(self.index).nbytes + self.n * self.labels.itemsize


class FaissHNSW(FaissFlat):
    """Approximate search of faiss in a graph."""

    def make_index(self, faiss: Any, n_features: int) -> Any:
        """Return an empty graph."""
        index = faiss.IndexHNSWFlat(n_features, LINKS)
        index.hnsw.efConstruction = EFFORT_TO_BUILD
        index.hnsw.efSearch = EFFORT_TO_SEARCH
        return index


class Hnswlib(Voting):
    """Approximate search of hnswlib in a graph."""

    def begin(self, n_features: int) -> None:
        """Make an empty graph, for one thread."""
        import hnswlib  # noqa: PLC0415

        self.index = hnswlib.Index(space="l2", dim=n_features)
        self.index.init_index(max_elements=len(self.labels), ef_construction=EFFORT_TO_BUILD, M=LINKS, random_seed=0)
        self.index.set_num_threads(1)
        self.index.set_ef(EFFORT_TO_SEARCH)

    def make_room(self, n: int) -> None:
        """Grow the graph, which has a fixed size."""
        self.index.resize_index(n)

    def add(self, X: np.ndarray) -> None:
        """Add rows to the index."""
        self.index.add_items(X)

    def search(self, X: np.ndarray) -> np.ndarray:
        """Return the numbers of the nearest rows."""
        return self.index.knn_query(X, k=NEIGHBOURS)[0]

    def n_bytes(self) -> int:
        """Return the bytes of the index as hnswlib writes it, and of the labels."""
        return self.index.index_file_size() + self.n * self.labels.itemsize
