"""Split-MNIST: two classes after two, with no look back; flybloom's models end with the bits of learning all at once.

    python benchmarks/class_incremental.py

Five tasks, each of two digits that were not met before, as in papers on continual learning; after each, all digits met
so far are asked about. Nothing says which task a row is from. The network has 100 hidden units and learns each task for
one epoch (`partial_fit`); it forgets what it no longer sees. Results go to
benchmarks/results/class_incremental.json.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

from datasets import load_split
from flybloom import Encoding, FlyBloomClassifier, FlyRidgeClassifier
from peers.machine import save
from peers.tables import tasks_table

TASKS = ((0, 1), (2, 3), (4, 5), (6, 7), (8, 9))
BATCH = 200


def models(first: np.ndarray) -> dict[str, Callable[[], Any]]:
    """Return what is compared; the encoding is fixed beforehand, by the rows of the first task."""
    encoding = Encoding(rotation=50).fit(first.astype(np.float64))
    return {
        "flybloom, counts": lambda: FlyBloomClassifier(encoding=encoding, random_state=0),
        "flybloom, pairs": lambda: FlyRidgeClassifier(4096, encoding=encoding, random_state=0),
        "naive Bayes": GaussianNB,
        "SGD": lambda: SGDClassifier(random_state=0),
        "network": lambda: MLPClassifier(random_state=0),
    }


def learn(model: Any, X: np.ndarray, y: np.ndarray, classes: np.ndarray) -> None:
    """Learn a task: the network and SGD in one epoch of small batches, the others at once."""
    if isinstance(model, FlyBloomClassifier | FlyRidgeClassifier | GaussianNB):
        model.partial_fit(X, y, classes=classes)
        return
    order = np.random.default_rng(0).permutation(len(y))
    for begin in range(0, len(y), BATCH):
        rows = order[begin : begin + BATCH]
        model.partial_fit(X[rows], y[rows], classes=classes)


def main() -> None:
    """Learn task after task, ask, and compare the end with learning all at once."""
    X, y, X_test, y_test = load_split("mnist")
    is_first = np.isin(y, TASKS[0])
    scaler = StandardScaler().fit(X[is_first])
    classes = np.arange(10)
    results: dict[str, dict[str, Any]] = {}
    for name, make in models(X[is_first]).items():
        is_ours = name.startswith("flybloom")
        rows, rows_test = (X, X_test) if is_ours else (scaler.transform(X), scaler.transform(X_test))
        model, accuracies = make(), []
        with warnings.catch_warnings(action="ignore"):
            for at, task in enumerate(TASKS):
                learn(model, rows[np.isin(y, task)], y[np.isin(y, task)], classes)
                met = np.isin(y_test, [digit for past in TASKS[: at + 1] for digit in past])
                accuracies.append(float(np.mean(model.predict(rows_test[met]) == y_test[met])))
            together = make()
            learn(together, rows, y, classes)
        joint = float(np.mean(together.predict(rows_test) == y_test))
        results[name] = {"after_task": accuracies, "all_at_once": joint}
        if is_ours:
            results[name]["same_bits"] = bool((model.counts_ == together.counts_).all()) and (
                not hasattr(model, "pair_counts_") or bool((model.pair_counts_ == together.pair_counts_).all())
            )
        print(name, results[name], flush=True)
    print(tasks_table(results))
    save("class_incremental", results)


if __name__ == "__main__":
    main()
