"""Learn MNIST, forget a random sixth, compare with learning the rest: counts and predictions must be equal.

python benchmarks/forget.py
"""

from __future__ import annotations

import sys
import time
from itertools import product

import numpy as np

from datasets import load_split
from flybloom import FlyBloomClassifier, FlyRidgeClassifier

FORGOTTEN = 10_000


def timed(method: object, X: np.ndarray, y: np.ndarray) -> float:
    """Return the microseconds for each row."""
    start = time.perf_counter()
    method(X, y)
    return (time.perf_counter() - start) / len(y) * 1e6


def main() -> None:
    """Learn, forget, compare."""
    X, y, X_test, _ = load_split("mnist")
    gone = np.zeros(len(y), bool)
    gone[np.random.default_rng(0).permutation(len(y))[:FORGOTTEN]] = True
    for kind, encoding in product((FlyBloomClassifier, FlyRidgeClassifier), ("none", "standard")):
        model = kind(random_state=0, encoding=encoding).partial_fit(X, y)
        rest = model.like()
        rest.partial_fit(X[~gone], y[~gone])
        learning = timed(model.like().partial_fit, X[gone], y[gone])
        forgetting = timed(model.forget, X[gone], y[gone])
        names = ("counts_", "class_count_", *(["pair_counts_"] if kind is FlyRidgeClassifier else []))
        is_same = all(np.array_equal(getattr(model, name), getattr(rest, name)) for name in names)
        is_same = is_same and np.array_equal(model.predict(X_test), rest.predict(X_test))
        print(
            f"{kind.__name__}, encoding={encoding!r}: {FORGOTTEN} of {len(y)} rows forgotten, counts and predictions "
            f"{'equal' if is_same else 'DIFFER'}; {forgetting:.0f} us a row to forget, {learning:.0f} to learn "
            f"({forgetting / learning:.2f} times)",
            flush=True,
        )
        if not is_same:
            sys.exit(1)


if __name__ == "__main__":
    main()
