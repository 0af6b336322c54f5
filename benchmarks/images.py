"""Images: histograms of gradients beside pixels, windows of pixels and principal components.

Each figure is of one `fit` of all learning rows from raw values. Sets with an official split are asked for their test
rows, the others in 5 folds. Results are kept in benchmarks/results/images.json as soon as they are there, and the page
docs/benchmarks/images.md is written from them.

    scripts/bench images [SET ...]
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from datasets import load, load_split
from flybloom import FlyBloomClassifier, FlyRidgeClassifier

RESULTS = Path(__file__).parent / "results" / "images.json"
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "images.md"
TEXT = """# Images

How images are encoded is in the [guide](../images.md). Written by `scripts/bench images`: rows as they come, one
thread, one argument at most. MNIST, Fashion-MNIST and CIFAR (in grey, as the paper has it) are asked for their test
rows; the others, of 8 by 8 to 16 by 16 pixels, in 5 folds. `encoding="auto"` takes histograms of gradients for all of
them; the last three lines show the same classifier with other encodings. Sizes of cells and the number of directions
were chosen on held-out training rows of Fashion-MNIST and CIFAR-10.

{accuracy}

Processor time in microseconds a row. The time to predict includes that of solving, once, which does not depend on the
number of rows and is most of it for sets of few rows.

{times}
"""
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
    PAGE.write_text(page(kept), encoding="utf-8")


def page(kept: dict[str, Any]) -> str:
    """Return the page of what was measured."""
    names = [name for name in SETS if set(kept.get(name, ())) == set(SETTINGS)]

    def table(title: str, cell: Callable[[dict[str, float]], str]) -> str:
        """Return a line for each setting."""
        lines = [f"| {title} | {' | '.join(names)} |", f"|---|{len(names) * '---:|'}"]
        lines += [f"| {s} | {' | '.join(cell(kept[name][s]) for name in names)} |" for s in SETTINGS]
        return "\n".join(lines)

    return TEXT.format(
        accuracy=table("accuracy", lambda found: f"{found['accuracy']:.4f}"),
        times=table("fit, predict", lambda found: f"{found['fit']:.0f}, {found['predict']:.0f}"),
    )


if __name__ == "__main__":
    main()
