"""Accuracy against epsilon of diffprivlib's models, on the sets of privacy.py; needs an environment of its own.

diffprivlib 0.6.6 does not import with scikit-learn 1.6 and later. GaussianNB gets the ranges of columns; so does
LogisticRegression, whose columns are scaled to [-1, 1] by them, for rows of a norm of at most sqrt(d). 10 draws each.
Writes results/privacy_peers.json.

    python -m venv peers && peers/bin/pip install diffprivlib 'scikit-learn<1.6'
    peers/bin/python benchmarks/privacy_peers.py
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
from diffprivlib.models import GaussianNB, LogisticRegression

from privacy_sets import EPSILONS, TABLES, load, ranges

RESULTS = Path(__file__).parent / "results" / "privacy_peers.json"
DRAWS = 10
MAX_ITER = 50
FEW_COLUMNS = 100  # with more, a draw of LogisticRegression takes a minute, and there are fewer
FEW_DRAWS, FEW_ROWS = 3, 5000


def measured(name: str) -> dict[str, list[float]]:
    """Return the accuracy of the draws of each model."""
    X, y, X_test, y_test = load(name)
    low, high = ranges(X)
    scaled, scaled_test = (2 * (np.clip(rows, low, high) - low) / (high - low) - 1 for rows in (X, X_test))
    is_wide = X.shape[1] > FEW_COLUMNS
    found: dict[str, list[float]] = {}
    for epsilon in EPSILONS:
        found[f"GaussianNB {epsilon:g}"] = [
            GaussianNB(epsilon=epsilon, bounds=(low, high), random_state=draw).fit(X, y).score(X_test, y_test)
            for draw in range(DRAWS)
        ]
        some = slice(FEW_ROWS if is_wide else None)
        norm = float(np.sqrt(X.shape[1]))
        models = [
            LogisticRegression(epsilon=epsilon, data_norm=norm, max_iter=MAX_ITER, random_state=draw)
            for draw in range(FEW_DRAWS if is_wide else DRAWS)
        ]
        found[f"LogisticRegression {epsilon:g}"] = [
            model.fit(scaled[some], y[some]).score(scaled_test, y_test) for model in models
        ]
    return {key: [round(float(score), 4) for score in scores] for key, scores in found.items()}


def main() -> None:
    """Measure what is missing, then print a table."""
    warnings.filterwarnings("ignore")
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in (*TABLES, "mnist"):
        if name not in results:
            results[name] = measured(name)
            RESULTS.write_text(json.dumps(results, indent=1))
        print("|", name, "|", " | ".join(f"{np.mean(value):.3f}" for value in results[name].values()), "|", flush=True)


if __name__ == "__main__":
    main()
