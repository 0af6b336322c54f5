"""Fit and scores of 3000 rows of 784 columns by FlyBloomNovelty and by IsolationForest, on one thread.

Rows are of MNIST, and Gaussian; times are the best of five. Prints a table.

    python benchmarks/novelty_speed.py
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.ensemble import IsolationForest
from threadpoolctl import threadpool_limits

from datasets import load_split
from flybloom import FlyBloomNovelty

N_ROWS, REPEATS = 3000, 5


def seconds(detector: Any, X: np.ndarray) -> float:
    """Return the least time of fit and scores of the same rows."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        detector.fit(X).score_samples(X)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Measure and print."""
    tasks = {
        "MNIST": load_split("mnist")[0][:N_ROWS].astype(np.float64),
        "Gaussian": np.random.default_rng(0).normal(size=(N_ROWS, 784)),
    }
    print("| rows | FlyBloomNovelty, s | IsolationForest, s | ratio |\n|---|---|---|---|")
    with threadpool_limits(1):
        for name, X in tasks.items():
            ours, theirs = seconds(FlyBloomNovelty(), X), seconds(IsolationForest(random_state=0), X)
            print(f"| {name} | {ours:.3f} | {theirs:.3f} | {ours / theirs:.2f} |")


if __name__ == "__main__":
    main()
