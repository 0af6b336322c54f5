"""FlyRidgeClassifier as it comes against nearest neighbours and boosted trees, on every tabular data set.

10-fold, shuffled, stratified; everything, scaling included, is learned inside the folds. Sets of more than 10 000 rows
are cut to 10 000, drawn once. Neighbours are 5, of standardised, raw and unit rows, and of columns weighed by their
relevance. Each result is kept in benchmarks/results/pairs_accuracy.json as soon as it is there, and not measured again
unless `--anew` names its model.
Prints a line for each set, then the medians of 1 - a / a_knn for groups A and B with Digits; negative is better.
`--quick` takes at most 5000 rows of each set and 3 of the 10 folds, and keeps that in pairs_accuracy_quick.json.

    python benchmarks/pairs_accuracy.py [--models pairs,standard,raw,unit,helped,trees] [--anew pairs] [--quick]
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from datasets import NAMED, load, tabular
from flybloom import FlyRidgeClassifier, RelevanceScaler

RESULTS = Path(__file__).parent / "results"
FOLDS = StratifiedKFold(10, shuffle=True, random_state=0)
MAX_ROWS, QUICK_ROWS, QUICK_FOLDS = 10_000, 5000, 3
MODELS: dict[str, Callable[[], Any]] = {
    "pairs": lambda: FlyRidgeClassifier(random_state=0),
    "standard": lambda: make_pipeline(StandardScaler(), KNeighborsClassifier()),
    "raw": lambda: make_pipeline(KNeighborsClassifier()),
    "unit": lambda: make_pipeline(Normalizer(), KNeighborsClassifier()),
    "helped": lambda: make_pipeline(RelevanceScaler(), KNeighborsClassifier()),  # neighbours with the same help
    "trees": lambda: HistGradientBoostingClassifier(random_state=0),
}
AGAINST = {
    "standardised 5-NN": ("standard",),
    "the best of 5-NN": ("standard", "raw", "unit"),
    "5-NN by relevance": ("helped",),
}


def some_rows(name: str, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a set, cut to as many rows as are measured."""
    X, y = load(name)
    if len(y) > most:
        chosen = np.random.default_rng(0).permutation(len(y))[:most]
        X, y = X[chosen], y[chosen]
    return X, y


def fold_accuracy(make: Callable[[], Any], X: np.ndarray, y: np.ndarray, n_folds: int) -> tuple[float, float]:
    """Return the mean accuracy over the first folds, and the seconds it took."""
    start, scores = time.perf_counter(), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the least populated class has fewer rows than folds
        for learned, asked in islice(FOLDS.split(X, y), n_folds):
            scores.append(make().fit(X[learned], y[learned]).score(X[asked], y[asked]))
    return float(np.mean(scores)), time.perf_counter() - start


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
    parser.add_argument("--quick", action="store_true", help="fewer rows and folds")
    options = parser.parse_args()
    most, n_folds = (QUICK_ROWS, QUICK_FOLDS) if options.quick else (MAX_ROWS, FOLDS.n_splits)
    path = RESULTS / f"pairs_accuracy{'_quick' * options.quick}.json"
    kept: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    for found in kept.values():
        for model in options.anew.split(","):
            found.pop(model, None)
    names = sorted(tabular(), key=lambda name: len(load(name)[1]))  # small ones first
    for model in options.models.split(","):
        for name in names:
            if model in kept.get(name, {}):
                continue
            X, y = some_rows(name, most)
            found = kept.setdefault(name, {"n": len(y), "d": X.shape[1]})
            found[model] = fold_accuracy(MODELS[model], X, y, n_folds)
            path.write_text(json.dumps(kept, indent=1))
    print(
        "| data set | n | d | pairs | 5-NN, standardised | raw | unit | by relevance | boosted trees |\n|---|"
        + 8 * "---:|"
    )
    for name in names:
        found = kept.get(name, {})
        figures = [f"{found[model][0]:.4f}" if model in found else "" for model in MODELS]
        print(f"| {name} | {found.get('n')} | {found.get('d')} | {' | '.join(figures)} |")
    for of in ("pairs", "helped", "trees"):
        for words, against in AGAINST.items():
            values = losses(kept, of, against)
            if values:
                middle, mean = np.median(values), np.mean(values)
                print(f"{of} against {words}, {len(values)} sets: median {middle:+.4f}, mean {mean:+.4f}")


if __name__ == "__main__":
    main()
