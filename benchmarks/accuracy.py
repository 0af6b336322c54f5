"""FlyBloomClassifier as it comes against standardised nearest neighbours, on every tabular data set.

10-fold, shuffled, stratified; everything, scaling included, is learned inside the folds. Prints one line for each data
set and the median of 1 - a / a_knn for groups A and B with Digits; negative is better than the neighbours. Results go
to benchmarks/results/accuracy.json.

    python benchmarks/accuracy.py
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from datasets import NAMED, load, tabular
from flybloom import FlyBloomClassifier

RESULTS = Path(__file__).parent / "results" / "accuracy.json"
FOLDS = StratifiedKFold(10, shuffle=True, random_state=0)


def fold_scores(model: object, X: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Return mean accuracy and balanced accuracy over the folds, and the seconds it took."""
    start = time.perf_counter()
    predicted = cross_val_predict(model, X, y, cv=FOLDS)
    seconds = time.perf_counter() - start
    tests = [test for _, test in FOLDS.split(X, y)]
    accuracy = np.mean([(predicted[test] == y[test]).mean() for test in tests])
    balanced = np.mean([balanced_accuracy_score(y[test], predicted[test]) for test in tests])
    return float(accuracy), float(balanced), seconds


def main() -> None:
    """Measure, print, save."""
    records = []
    print("| data set | n | d | flybloom | 5-NN | 1 - a/a_knn | seconds | seconds of 5-NN |")
    print("|---|---|---|---|---|---|---|---|")
    for name in tabular():
        X, y = load(name)
        fly = fold_scores(FlyBloomClassifier(random_state=0), X, y)
        knn = fold_scores(make_pipeline(StandardScaler(), KNeighborsClassifier()), X, y)
        loss = 1 - fly[0] / knn[0]
        records.append({"set": name, "n": len(y), "d": X.shape[1], "flybloom": fly, "knn": knn, "loss": loss})
        times = f"{fly[2]:.1f} | {knn[2]:.1f}"
        print(f"| {name} | {len(y)} | {X.shape[1]} | {fly[0]:.4f} | {knn[0]:.4f} | {loss:+.4f} | {times} |", flush=True)
    losses = [record["loss"] for record in records if record["set"] not in NAMED]
    balanced = [1 - r["flybloom"][1] / r["knn"][1] for r in records if r["set"] not in NAMED]
    print(
        f"groups A and B and Digits, {len(losses)} sets: median {np.median(losses):+.4f}, mean {np.mean(losses):+.4f}"
    )
    print(f"the same in balanced accuracy: median {np.median(balanced):+.4f}, mean {np.mean(balanced):+.4f}")
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
