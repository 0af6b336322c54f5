"""Learn MNIST, forget a random sixth, compare with learning the rest: counts must be equal, and time about the same.

python benchmarks/forget.py
"""

from __future__ import annotations

import sys
import time

import numpy as np

from datasets import load_split
from flybloom import FlyBloomClassifier

FORGOTTEN = 10_000


def timed(method: object, X: np.ndarray, y: np.ndarray) -> float:
    """Return the microseconds for each row."""
    start = time.perf_counter()
    method(X, y)
    return (time.perf_counter() - start) / len(y) * 1e6


def main() -> None:
    """Learn, forget, compare."""
    X, y, _, _ = load_split("mnist")
    gone = np.zeros(len(y), bool)
    gone[np.random.default_rng(0).permutation(len(y))[:FORGOTTEN]] = True
    for scaling in ("none", "standard"):
        model = FlyBloomClassifier(random_state=0, scaling=scaling).partial_fit(X, y)
        rest = model - model  # hashes alike, and has learned nothing
        rest.partial_fit(X[~gone], y[~gone])
        learning = timed((model - model).partial_fit, X[gone], y[gone])
        forgetting = timed(model.forget, X[gone], y[gone])
        is_same = np.array_equal(model.counts_, rest.counts_) and np.array_equal(model.class_count_, rest.class_count_)
        print(
            f"scaling={scaling!r}: {FORGOTTEN} of {len(y)} rows forgotten, counts {'equal' if is_same else 'DIFFER'}; "
            f"{forgetting:.0f} us a row to forget, {learning:.0f} to learn ({forgetting / learning:.2f} times)"
        )
        if not is_same:
            sys.exit(1)


if __name__ == "__main__":
    main()
