"""HopSkipJump, an attack that needs labels alone, on 100 rows of MNIST: how far a row must move to change its label.

Against counts, pairs, 5-NN and an MLP, each with 2000 rows of pixels from 0 to 1, on rows that all of them get right.
The attack is capped: 5 steps of at most 200 queries each. Needs `pip install adversarial-robustness-toolbox`. Writes
results/attacks.json.

    python benchmarks/attacks.py
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from art.attacks.evasion import HopSkipJump
from art.estimators.classification import BlackBoxClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier

from datasets import load_split
from flybloom import FlyBloomClassifier, FlyRidgeClassifier
from flybloom.audit import certify

RESULTS = Path(__file__).parent / "results" / "attacks.json"
LEARNED, ATTACKED = 2000, 100


def main() -> None:
    """Attack each model, and print the median distance."""
    X, y, X_test, y_test = load_split("mnist")
    X, y = X[:LEARNED].reshape(LEARNED, -1).astype(np.float32) / 255, y[:LEARNED]
    X_test, y_test = X_test[:1000].reshape(1000, -1).astype(np.float32) / 255, y_test[:1000]
    contestants = {
        "counts": FlyBloomClassifier(2048, n_winners=64, decay=0.1, random_state=0),
        "pairs": FlyRidgeClassifier(1024, random_state=0),
        "5-NN": KNeighborsClassifier(),
        "MLP": MLPClassifier((100,), max_iter=30, random_state=0),
    }
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for model in contestants.values():
        model.fit(X, y)
    is_right = np.all([model.predict(X_test) == y_test for model in contestants.values()], axis=0)
    rows, labels = X_test[is_right][:ATTACKED], y_test[is_right][:ATTACKED]  # all have the same accuracy on these: 1
    for title, model in contestants.items():
        if title not in results:
            np.random.seed(0)  # noqa: NPY002 - what the toolbox draws from

            def answer(some: np.ndarray, model: object = model) -> np.ndarray:
                return np.eye(10, dtype=np.float32)[model.predict(some.astype(np.float32))]

            target = BlackBoxClassifier(answer, (784,), 10, clip_values=(0.0, 1.0))
            attack = HopSkipJump(target, max_iter=5, max_eval=200, init_eval=20, init_size=50, verbose=False)
            moved = attack.generate(rows)
            distance = np.linalg.norm(moved - rows, axis=1)
            is_changed = model.predict(moved) != labels
            results[title] = {
                "accuracy": round(float(model.score(X_test, y_test)), 3),
                "changed": int(is_changed.sum()),
                "median l2 distance": round(float(np.median(distance[is_changed])), 3),
            }
            if hasattr(model, "explain"):
                radius = certify(model, rows, norm="l2")
                results[title]["median certified l2 radius"] = round(float(np.median(radius)), 4)
                results[title]["certified rows that were changed"] = int((is_changed & (distance < radius)).sum())
            RESULTS.write_text(json.dumps(results, indent=1))
        print(title, results[title], flush=True)


if __name__ == "__main__":
    main()
