"""Accuracy and calibration of pairs of winners with few settings: images, letter, Digits, and a million rows.

Each line is one `fit` of all learning rows from raw values, with at most one argument, and what it says of rows
that were never seen; letter and Digits are in 10 folds. Kept in benchmarks/results/pairs_images.json as soon as it is
there, and not measured again unless its name is given.

    python benchmarks/pairs_images.py [NAME ...]
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
from flybloom import FlyRidgeClassifier
from flybloom._internal.scores import reliability
from peers.data import rows

RESULTS = Path(__file__).parent / "results" / "pairs_images.json"
SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "digits": ("digits", {}),
    "letter": ("letter", {}),
    "letter, 4096": ("letter", {"n_components": 4096}),
    "letter, 8192": ("letter", {"n_components": 8192}),
    "mnist": ("mnist", {}),
    "fashion": ("fashion_mnist", {}),
    "cifar10": ("cifar10_grey", {}),
    "stream": ("stream", {}),
    "mnist, 8192": ("mnist", {"n_components": 8192}),
    "fashion, 8192": ("fashion_mnist", {"n_components": 8192}),
    "cifar10, 8192": ("cifar10_grey", {"n_components": 8192}),
    "mnist, 12288": ("mnist", {"n_components": 12288}),
    "fashion, 12288": ("fashion_mnist", {"n_components": 12288}),
}


def splits(data: str) -> list[tuple[np.ndarray, ...]]:
    """Return what is learned and what is asked, once or ten times."""
    if data == "stream":
        found = rows("stream")
        return [(found.X, found.y, found.X_test, found.y_test)]
    if data in ("digits", "letter"):
        X, y = load(data)
        folds = StratifiedKFold(10, shuffle=True, random_state=0).split(X, y)
        return [(X[learned], y[learned], X[asked], y[asked]) for learned, asked in folds]
    X, y, X_test, y_test = load_split(data)
    return [(X, y, X_test, y_test)]


def measured(data: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Learn and ask."""
    is_right, confidence, accuracy, seconds = [], [], [], 0.0
    for X, y, X_test, y_test in splits(data):
        start = time.process_time()
        model = FlyRidgeClassifier(random_state=0, **settings).fit(X, y)
        seconds += time.process_time() - start
        probability = model.predict_proba(X_test)
        is_right.append(model.classes_[probability.argmax(axis=1)] == y_test)
        confidence.append(probability.max(axis=1))
        accuracy.append(float(is_right[-1].mean()))
    return {
        "accuracy": float(np.mean(accuracy)),
        "calibration_error": float(reliability(np.concatenate(confidence), np.concatenate(is_right)).error),
        "alpha": model.alpha_,
        "sizes": [model.n_components_, model.n_connections_, model.n_winners_],
        "processor_seconds": seconds,
    }


def main() -> None:
    """Measure what is missing, print all of it."""
    kept: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in sys.argv[1:] or [name for name in SETTINGS if name not in kept]:
        kept[name] = measured(*SETTINGS[name])
        RESULTS.write_text(json.dumps(kept, indent=1))
        print(name, kept[name], file=sys.stderr, flush=True)
    print(
        "| | m, s, rho | penalty | accuracy | calibration error | processor time of fit, s |\n|---|---|" + 4 * "---:|"
    )
    for name, found in kept.items():
        figures = f"{found['alpha']:.3g} | {found['accuracy']:.4f} | {found['calibration_error']:.3f}"
        print(f"| {name} | {', '.join(map(str, found['sizes']))} | {figures} | {found['processor_seconds']:.0f} |")


if __name__ == "__main__":
    main()
