"""How many rows a sketch needs: accuracy of the default models, and bytes of the sketch, for 1024 to 32 768 rows.

    python benchmarks/sketch_size.py

Sets of at least 9000 rows (at most 40 000 of each), one of five folds held out; MNIST and Fashion-MNIST as given. The
encoder is fitted to the sketch, then all rows are counted. Prints the table of docs/benchmarks/encodings.md. Resumable.
"""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import patch

import numpy as np
from sklearn.model_selection import StratifiedKFold

from datasets import load, load_split, tabular
from flybloom import FlyBloomClassifier, FlyRidgeClassifier
from flybloom.core import sketch

RESULTS = Path(__file__).parent / "results" / "sketch_size.json"
SIZES = (1024, 2048, 4096, 8192, 16384, 32768)
LEAST, MOST = 9000, 40_000
MODELS = {"counts": FlyBloomClassifier, "pairs": FlyRidgeClassifier}


def split_of(name: str) -> tuple[np.ndarray, ...] | None:
    """Return rows and labels to learn and to ask for; None for sets of few rows."""
    if name in ("mnist", "fashion_mnist"):
        X, y, X_test, y_test = load_split(name)
        return X, y, X_test, y_test
    X, y = load(name)
    if len(y) < LEAST:
        return None
    chosen = np.random.default_rng(0).permutation(len(y))[:MOST]
    X, y = X[chosen], y[chosen]
    learned, asked = next(iter(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)))
    return X[learned], y[learned], X[asked], y[asked]


def measured(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> dict[str, dict[str, float]]:
    """Return accuracies and bytes by size."""
    found = {}
    for size in SIZES:
        with patch.object(sketch, "MAX_ROWS", size):
            kept = sketch.Sketch.of(X, y, np.ones(len(y), np.int64))
            scores = {name: kind(random_state=0).fit(X, y).score(X_test, y_test) for name, kind in MODELS.items()}
        found[str(size)] = {**scores, "bytes": int(kept.rows.nbytes)}
        if kept.is_all:
            break  # larger ones are the same
    return found


def main() -> None:
    """Measure what is missing, and print the changes against the largest sketch."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in (*tabular(), "mnist", "fashion_mnist"):
        if name not in results and (parts := split_of(name)) is not None:
            results[name] = measured(*parts)
            RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    print("| rows of the sketch | counts: mean, worst | pairs: mean, worst | MB for MNIST |\n|---|---|---|---|")
    for size in map(str, SIZES):
        cells = []
        for model in MODELS:
            changes = [
                found[size][model] - found[max(found, key=int)][model] for found in results.values() if size in found
            ]
            cells.append(f"{np.mean(changes):+.4f}, {min(changes):+.4f}")
        print(f"| {size} | {' | '.join(cells)} | {results['mnist'][size]['bytes'] / 1e6:.1f} |")


if __name__ == "__main__":
    main()
