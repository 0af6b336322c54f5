"""FlyBloomClassifierCV against GridSearchCV over nearest neighbours and over SGD, at equal accuracy; one thread.

All search with the same five folds. What counts is how long each takes to reach the best cross-validated accuracy of
each when it tries its settings one after the other: those of GridSearchCV in random order (the mean of 200 orders),
those of FlyBloomClassifierCV by their sizes, smallest first, where all that share a hash arrive together. The accuracy
on rows that were not searched is beside it. Results go to benchmarks/results/tune_peers.json.

    python benchmarks/tune_peers.py [--data letter ...] [--quick]
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from datasets import load, load_split
from flybloom import FlyBloomClassifierCV
from peers.machine import save
from peers.tables import tune_table

FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
MNIST_ROWS = 5000
SCALERS = ["passthrough", StandardScaler()]
KNN_GRID = {
    "standardscaler": SCALERS,
    "kneighborsclassifier__n_neighbors": [1, 3, 5, 7, 11, 15],
    "kneighborsclassifier__weights": ["uniform", "distance"],
}
SGD_GRID = {
    "sgdclassifier__alpha": [1e-5, 1e-4, 1e-3, 1e-2],
    "sgdclassifier__loss": ["hinge", "log_loss"],
}
ORDERS = 200


class Curve(NamedTuple):
    """Seconds spent, and the best accuracy by then."""

    seconds: np.ndarray
    best: np.ndarray


def searches() -> dict[str, Any]:
    """Return the searches, unfitted."""
    neighbours = make_pipeline(StandardScaler(), KNeighborsClassifier())
    linear = make_pipeline(StandardScaler(), SGDClassifier(max_iter=20, random_state=0))
    return {
        "FlyBloomClassifierCV": FlyBloomClassifierCV(cv=FOLDS, random_state=0),
        "GridSearchCV, kNN": GridSearchCV(neighbours, KNN_GRID, cv=FOLDS),
        "GridSearchCV, SGD": GridSearchCV(linear, SGD_GRID, cv=FOLDS),
    }


def curves(search: Any) -> list[Curve]:
    """Return, for each order of the settings, the seconds and the best accuracy whenever some were done."""
    found = search.cv_results_
    seconds = FOLDS.get_n_splits() * (found["mean_fit_time"] + found["mean_score_time"])
    n = len(seconds)
    if isinstance(search, FlyBloomClassifierCV):
        m, s = (found[f"param_{name}"].astype(float) for name in ("n_components", "n_connections"))
        order = np.lexsort([s, m])
        is_last_of_its_hash = np.append((np.diff(m[order]) != 0) | (np.diff(s[order]) != 0), True)
        orders, arrive = [order], np.flatnonzero(is_last_of_its_hash)
    else:
        rng = np.random.default_rng(0)
        orders, arrive = [rng.permutation(n) for _ in range(ORDERS)], np.arange(n)
    return [
        Curve(np.cumsum(seconds[order])[arrive], np.maximum.accumulate(found["mean_test_score"][order])[arrive])
        for order in orders
    ]


def seconds_to_reach(accuracy: float, found: list[Curve]) -> float | None:
    """Return after how many seconds an accuracy is reached, in the mean over the orders, or None if it never is."""
    if found[0].best[-1] < accuracy:
        return None
    return float(np.mean([curve.seconds[np.searchsorted(curve.best, accuracy)] for curve in found]))


def rows(name: str, *, quick: bool) -> list[np.ndarray]:
    """Return X_train, X_test, y_train, y_test of a data set."""
    if name == "mnist":
        X, y, X_test, y_test = load_split(name)
        parts = [X[:MNIST_ROWS].astype(np.float32), X_test.astype(np.float32), y[:MNIST_ROWS], y_test]
    else:
        X, y = load(name)
        parts = train_test_split(X.astype(np.float32), y, test_size=0.25, stratify=y, random_state=0)
    return [part[:1000] for part in parts] if quick else parts


def compare(name: str, *, quick: bool) -> dict[str, Any]:
    """Search a data set with each, one after the other."""
    X, X_test, y, y_test = rows(name, quick=quick)
    FlyBloomClassifierCV(2048, n_winners=[32, 64], cv=FOLDS, random_state=0).fit(X[:500], y[:500])  # compile
    walks, found = {}, {}
    for search_name, search in searches().items():
        print(f"{name}: {search_name}", file=sys.stderr, flush=True)
        start = time.perf_counter()
        search.fit(X, y)
        seconds = time.perf_counter() - start
        walks[search_name] = curves(search)
        found[search_name] = {
            "settings": len(search.cv_results_["params"]),
            "seconds": seconds,
            "cv_accuracy": float(search.best_score_),
            "test_accuracy": float(search.score(X_test, y_test)),
            "best": {key: str(value) for key, value in search.best_params_.items()},
        }
    for search_name, walk in walks.items():
        found[search_name]["seconds_to_reach"] = {
            other: seconds_to_reach(r["cv_accuracy"], walk) for other, r in found.items()
        }
    return {"shape": X.shape, "searches": found}


def main() -> None:
    """Search each data set, print, save."""
    names = ("digits", "letter", "mnist")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", choices=names, default=names)
    parser.add_argument("--quick", action="store_true", help="1000 rows; nothing is saved")
    arguments = parser.parse_args()
    results = {}
    for name in arguments.data:
        with threadpool_limits(1), warnings.catch_warnings(action="ignore"):  # 20 epochs may not converge
            results[name] = compare(name, quick=arguments.quick)
        print(f"\n{name}\n\n{tune_table(results[name])}\n", flush=True)
    if not arguments.quick:
        save("tune_peers", results)


if __name__ == "__main__":
    main()
