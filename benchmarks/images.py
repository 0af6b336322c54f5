"""Images: histograms of gradients beside pixels, windows of pixels and principal components.

Each figure is of one `fit` of all learning rows from raw values. Sets with an official split are asked for their test
rows, the others in 5 folds. Results are kept in benchmarks/results/images.json as soon as they are there.

    scripts/bench images [SET ...]
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from datasets import load, load_split
from flybloom import FlyBloomClassifier, FlyRidgeClassifier

RESULTS = Path(__file__).parent / "results" / "images.json"
SPLIT = {"mnist": (28, 28), "fashion_mnist": (28, 28), "cifar10_grey": (32, 32), "cifar100_grey": (32, 32)}
FOLDED = {"digits": (8, 8), "optdigits": (8, 8), "mfeat_pixel": (16, 15), "semeion": (16, 16), "usps": (16, 16)}
SETS = SPLIT | FOLDED
SETTINGS: dict[str, tuple[Any, dict[str, Any]]] = {
    "`FlyRidgeClassifier()`": (FlyRidgeClassifier, {}),
    "`FlyRidgeClassifier(8192)`": (FlyRidgeClassifier, {"n_components": 8192}),
    "`FlyBloomClassifier()`": (FlyBloomClassifier, {}),
    "ridge, pixels": (FlyRidgeClassifier, {"encoding": "standard"}),
    "ridge, windows": (FlyRidgeClassifier, {"encoding": "grid={0}x{1}"}),
    "ridge, 50 principal components": (FlyRidgeClassifier, {"encoding": "rotation+standard"}),
}


def splits(name: str) -> list[tuple[np.ndarray, ...]]:
    """Return what is learned and what is asked, once or five times."""
    if name in SPLIT:
        X, y, X_test, y_test = load_split(name)
        return [(X, y, X_test, y_test)]
    X, y = load(name)
    folds = StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
    return [(X[learned], y[learned], X[asked], y[asked]) for learned, asked in folds]


def measured(name: str, setting: str) -> dict[str, float]:
    """Return accuracy, and microseconds of processor time per row to fit and to predict."""
    kind, options = SETTINGS[setting]
    options = {key: value.format(*SETS[name]) if key == "encoding" else value for key, value in options.items()}
    accuracy, fitted, predicted = [], [], []
    for X, y, X_test, y_test in splits(name):
        start = time.process_time()
        model = kind(random_state=0, **options).fit(X, y)
        between = time.process_time()
        found = model.predict(X_test)
        fitted.append(1e6 * (between - start) / len(X))
        predicted.append(1e6 * (time.process_time() - between) / len(X_test))
        accuracy.append(float((found == y_test).mean()))
    return {"accuracy": float(np.mean(accuracy)), "fit": min(fitted), "predict": min(predicted)}


def main() -> None:
    """Measure what is missing, print all of it."""
    kept: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in sys.argv[1:] or SETS:
        for setting in SETTINGS:
            if setting in kept.get(name, {}):
                continue
            kept.setdefault(name, {})[setting] = measured(name, setting)
            RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
            print(name, setting, kept[name][setting], file=sys.stderr, flush=True)
    names = [name for name in SETS if set(kept.get(name, ())) == set(SETTINGS)]
    print(f"| accuracy | {' | '.join(names)} |\n|---|{len(names) * '---:|'}")
    for setting in SETTINGS:
        print(f"| {setting} | {' | '.join(format(kept[name][setting]['accuracy'], '.4f') for name in names)} |")
    print(f"\n| μs a row to fit, predict | {' | '.join(names)} |\n|---|{len(names) * '---:|'}")
    for setting in SETTINGS:
        times = (f"{kept[name][setting]['fit']:.0f}, {kept[name][setting]['predict']:.0f}" for name in names)
        print(f"| {setting} | {' | '.join(times)} |")


if __name__ == "__main__":
    main()
