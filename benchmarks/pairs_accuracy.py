"""FlyRidgeClassifier as it comes against nearest neighbours and boosted trees, on every tabular data set.

10-fold, shuffled, stratified; everything, scaling included, is learned inside the folds. Sets of more than 10 000 rows
are cut to 10 000, drawn once. Neighbours are 5, of standardised, raw and unit rows. Each result is kept in
benchmarks/results/pairs_accuracy.json as soon as it is there, and not measured again unless `--anew` names its model.
Prints a line for each set, then the medians of 1 - a / a_knn for groups A and B with Digits; negative is better.

    python benchmarks/pairs_accuracy.py [--models pairs,standard,raw,unit,trees] [--anew pairs]
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from datasets import NAMED, load, tabular
from flybloom import FlyRidgeClassifier

RESULTS = Path(__file__).parent / "results" / "pairs_accuracy.json"
FOLDS = StratifiedKFold(10, shuffle=True, random_state=0)
MAX_ROWS = 10_000
MODELS: dict[str, Callable[[], Any]] = {
    "pairs": lambda: FlyRidgeClassifier(random_state=0),
    "standard": lambda: make_pipeline(StandardScaler(), KNeighborsClassifier()),
    "raw": lambda: make_pipeline(KNeighborsClassifier()),
    "unit": lambda: make_pipeline(Normalizer(), KNeighborsClassifier()),
    "trees": lambda: HistGradientBoostingClassifier(random_state=0),
}


def some_rows(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a set, cut to as many rows as are measured."""
    X, y = load(name)
    if len(y) > MAX_ROWS:
        chosen = np.random.default_rng(0).permutation(len(y))[:MAX_ROWS]
        X, y = X[chosen], y[chosen]
    return X, y


def fold_accuracy(model: Any, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return the mean accuracy over the folds, and the seconds it took."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the least populated class has fewer rows than folds
        predicted = cross_val_predict(model, X, y, cv=FOLDS)
        tests = [test for _, test in FOLDS.split(X, y)]
    seconds = time.perf_counter() - start
    return float(np.mean([(predicted[test] == y[test]).mean() for test in tests])), seconds


def losses(kept: dict[str, Any], of: str, against: tuple[str, ...]) -> list[float]:
    """Return 1 - a / a_knn of the sets that have both, against the best of some neighbours."""
    return [
        1 - found[of][0] / max(found[other][0] for other in against)
        for name, found in kept.items()
        if name not in NAMED and of in found and all(other in found for other in against)
    ]


def main() -> None:
    """Measure what is missing, print all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(MODELS), help="which to measure")
    parser.add_argument("--anew", default="", help="models whose results are measured again")
    options = parser.parse_args()
    kept: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for found in kept.values():
        for model in options.anew.split(","):
            found.pop(model, None)
    names = sorted(tabular(), key=lambda name: len(load(name)[1]))  # small ones first
    for model in options.models.split(","):
        for name in names:
            if model in kept.get(name, {}):
                continue
            X, y = some_rows(name)
            found = kept.setdefault(name, {"n": len(y), "d": X.shape[1]})
            found[model] = fold_accuracy(MODELS[model](), X, y)
            RESULTS.write_text(json.dumps(kept, indent=1))
    print("| data set | n | d | pairs | 5-NN, standardised | raw | unit | boosted trees |\n|---|" + 7 * "---:|")
    for name in names:
        found = kept.get(name, {})
        figures = [f"{found[model][0]:.4f}" if model in found else "" for model in MODELS]
        print(f"| {name} | {found.get('n')} | {found.get('d')} | {' | '.join(figures)} |")
    for of in ("pairs", "trees"):
        for against in (("standard",), ("standard", "raw", "unit")):
            values = losses(kept, of, against)
            if values:
                middle, mean = np.median(values), np.mean(values)
                best = "the best of 5-NN" if len(against) > 1 else "standardised 5-NN"
                print(f"{of} against {best}, {len(values)} sets: median {middle:+.4f}, mean {mean:+.4f}")


if __name__ == "__main__":
    main()
