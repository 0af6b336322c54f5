"""Open-set recognition: learn the digits 0 to 7, meet 8 and 9, on Digits and MNIST.

How many rows of known digits are accepted, how many of those are told correctly, how many eights and nines are
rejected, and the area under the curve, for OpenSetClassifier and for the distance to the nearest neighbour of
standardised columns with a threshold from the same quantile of leave-one-out distances. Prints a table and writes
benchmarks/results/open_set.json.

    python benchmarks/open_set.py
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from datasets import load, load_split
from flybloom import FlyBloomClassifier, FlyRidgeClassifier, OpenSetClassifier

RESULTS = Path(__file__).parent / "results" / "open_set.json"
KNOWN = 8
QUANTILE = 0.95
MOST = 10_000


def problem(name: str) -> tuple[np.ndarray, ...]:
    """Return rows and labels to learn, known digits only, and rows and labels to meet."""
    if name == "mnist":
        X, y, X_test, y_test = load_split(name)
        X, y, X_test, y_test = X[:MOST], y[:MOST], X_test[:4000], y_test[:4000]
    else:
        X, X_test, y, y_test = train_test_split(*load(name), test_size=0.5, random_state=0)
    return X[y < KNOWN], y[y < KNOWN], X_test, y_test


def by_novelty(classifier: Any) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    """Return what gives labels, -1 for the rejected, and scores, larger for the unknown."""

    def run(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        model = OpenSetClassifier(classifier(random_state=0), quantile=QUANTILE).fit(X, y)
        return model.predict(X_test), -model.acceptance(X_test)

    return run


def by_distance(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the same from the distance to the nearest neighbour."""
    scaler = StandardScaler().fit(X)
    neighbors = NearestNeighbors(n_neighbors=2).fit(scaler.transform(X))
    limit = np.quantile(neighbors.kneighbors(scaler.transform(X))[0][:, 1], QUANTILE)
    distance, nearest = neighbors.kneighbors(scaler.transform(X_test), n_neighbors=1)
    return np.where(distance[:, 0] > limit, -1, y[nearest[:, 0]]), distance[:, 0]


METHODS = {
    "OpenSetClassifier, filters": by_novelty(FlyBloomClassifier),
    "OpenSetClassifier, ridge": by_novelty(FlyRidgeClassifier),
    "nearest neighbour": by_distance,
}


def main() -> None:
    """Measure, print, save."""
    records = []
    print("| data set | method | known accepted | of those correct | unknown rejected | area under the curve |")
    print("|---|---|---|---|---|---|")
    for name in ("digits", "mnist"):
        X, y, X_test, y_test = problem(name)
        is_known = y_test < KNOWN
        for method, run in METHODS.items():
            labels, scores = run(X, y, X_test)
            is_accepted = labels != -1
            values = {
                "accepted": float(is_accepted[is_known].mean()),
                "correct": float((labels == y_test)[is_known & is_accepted].mean()),
                "rejected": float(1 - is_accepted[~is_known].mean()),
                "area": float(roc_auc_score(~is_known, scores)),
            }
            records.append({"set": name, "method": method, **values})
            print(
                f"| {name} | {method} | " + " | ".join(f"{value:.3f}" for value in values.values()) + " |", flush=True
            )
    RESULTS.write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
