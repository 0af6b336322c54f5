"""Streams in the order in which their rows came, and models of river that learn them row by row."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

FILES = ("electricity", "nomao", "airlines", "moving_squares", "randomrbfdrift")
OF_RIVER = {"image_segments": "ImageSegments", "phishing": "Phishing", "bananas": "Bananas"}
STREAMS = (*FILES, *OF_RIVER)


def stream(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and labels, 0, 1, ..., in their order."""
    if name in FILES:
        with np.load(Path(os.environ["FLYBLOOM_DATA"]) / "streams" / f"{name}.npz") as held:
            return held["X"].astype(np.float64), held["y"].astype(np.int64)
    from river import datasets  # noqa: PLC0415

    rows, labels = zip(*getattr(datasets, OF_RIVER[name])(), strict=True)
    names = sorted(rows[0])
    X = np.array([[float(row[name]) for name in names] for row in rows])
    return X, np.unique(np.array(labels), return_inverse=True)[1].astype(np.int64)


def neighbours() -> Any:
    """Return river's neighbours as they come: a graph over the last 1000 rows; columns are standardised."""
    from river import neighbors, preprocessing  # noqa: PLC0415

    return preprocessing.StandardScaler() | neighbors.KNNClassifier(engine=neighbors.SWINN(seed=0))


def exact_neighbours() -> Any:
    """Return river's neighbours without a graph: all of the last 1000 rows are looked at."""
    from river import neighbors, preprocessing  # noqa: PLC0415

    engine = neighbors.LazySearch(window_size=1000)
    return preprocessing.StandardScaler() | neighbors.KNNClassifier(engine=engine)


def adaptive_tree() -> Any:
    """Return river's Hoeffding tree that replaces branches where a drift is found."""
    from river import tree  # noqa: PLC0415

    return tree.HoeffdingAdaptiveTreeClassifier(seed=0)


def adaptive_forest() -> Any:
    """Return river's adaptive random forest, of ten trees."""
    from river import forest  # noqa: PLC0415

    return forest.ARFClassifier(seed=0)


def bayes() -> Any:
    """Return river's naive Bayes."""
    from river import naive_bayes  # noqa: PLC0415

    return naive_bayes.GaussianNB()


RIVER: dict[str, Callable[[], Any]] = {
    "river kNN": neighbours,
    "river kNN, exact": exact_neighbours,
    "river adaptive tree": adaptive_tree,
    "river adaptive forest": adaptive_forest,
    "river naive Bayes": bayes,
}


def answers(model: Any, X: np.ndarray, y: np.ndarray) -> Iterator[bool]:
    """Yield for each row whether river's model knew its label before it learned it."""
    for values, label in zip(X.tolist(), y.tolist(), strict=True):
        row = dict(enumerate(values))
        yield model.predict_one(row) == label
        model.learn_one(row, label)
