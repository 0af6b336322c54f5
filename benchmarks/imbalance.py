"""What class weights do to sets whose classes differ in size: accuracy and balanced accuracy, 10-fold, beside kNN.

The default classifier without weights and with class_weight="balanced", both read off the same counts, and
standardised 5-nearest neighbours. Folds are shuffled and stratified. Prints a table for docs/benchmarks/imbalance.md,
and the time that scoring takes with weights over the time without, for rows that are hashed already.

    python benchmarks/imbalance.py [--quick]
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from datasets import load
from flybloom import FlyBloomClassifier
from flybloom.core.readout.class_weight import class_weights
from flybloom.core.readout.filters import Filters
from flybloom.estimators.access import reading_learned

SETS = ("page_blocks", "ann_thyroid", "dna", "cardiotocography_nsp", "wine_quality_red", "steel_plates_fault")
SETS += ("spambase", "digits")
FOLDS = StratifiedKFold(10, shuffle=True, random_state=0)
NAMES = ("None", "balanced", "5-NN")


def scores(X: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """Return the mean accuracy and balanced accuracy over the folds, of each model."""
    found = {name: [] for name in NAMES}
    for train, test in FOLDS.split(X, y):
        model = FlyBloomClassifier(random_state=0, n_jobs=2).fit(X[train], y[train])
        knn = make_pipeline(StandardScaler(), KNeighborsClassifier()).fit(X[train], y[train])
        answers = {
            "None": model.predict(X[test]),
            "balanced": model.set_params(class_weight="balanced").predict(X[test]),
            "5-NN": knn.predict(X[test]),
        }
        for name, predicted in answers.items():
            found[name].append((accuracy_score(y[test], predicted), balanced_accuracy_score(y[test], predicted)))
    return {name: np.mean(values, axis=0) for name, values in found.items()}


def time_ratio(X: np.ndarray, y: np.ndarray) -> float:
    """Return the time of novelties with balanced weights over that without; the least of several runs each."""
    model = FlyBloomClassifier(random_state=0).fit(X, y)
    with reading_learned(model) as learned:
        winners, counts, rows = learned.hasher.winners(X), learned.counts.table, learned.counts.class_count

    def weighted() -> None:
        weights = class_weights("balanced", model.classes_, rows)
        Filters(counts, rows, model.decay_, weights).read_out(winners.shape[1], 0, winners.size).scores(winners)

    def plain() -> None:
        Filters(counts, rows, model.decay_).read_out(winners.shape[1], 0, winners.size).scores(winners)

    times = {weighted: [], plain: []}
    for _ in range(8):
        for score, seconds in times.items():
            start = time.perf_counter()
            score()
            seconds.append(time.perf_counter() - start)
    return min(times[weighted]) / min(times[plain])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="only the first two data sets")
    quick = parser.parse_args().quick
    print(
        "| data | classes | largest / smallest | " + " | ".join(f"{name}: acc., bal. acc." for name in NAMES), end=" |"
    )
    print(" time |\n|" + "---|" * (len(NAMES) + 4))
    for name in SETS[:2] if quick else SETS:
        X, y = load(name)
        sizes = np.unique(y, return_counts=True)[1]
        cells = [f"{accuracy:.3f}, {balanced:.3f}" for accuracy, balanced in scores(X, y).values()]
        share = f"{sizes.max() / len(y):.3f} / {sizes.min() / len(y):.3f}"
        print("|", " | ".join([name, str(sizes.size), share, *cells, f"{time_ratio(X, y):.2f}"]), "|", flush=True)
        print(f"{name} done", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
