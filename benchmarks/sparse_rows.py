"""Hashing text-like rows: 100 000 features, 100 of them not zero, against the same rows as dense ones.

Microseconds of processor time per row on one thread, best of five.

    python benchmarks/sparse_rows.py
"""

from __future__ import annotations

import time

import numpy as np
from scipy import sparse

from flybloom.core.hashing.projection import Projection

N_WINNERS, FEW = 64, 64
SHAPES = [  # d, nonzeros, m, s
    (100_000, 50, 20480, 64),
    (100_000, 100, 20480, 64),
    (100_000, 400, 20480, 64),
    (20_000, 100, 20480, 64),
]


def microseconds(projection: Projection, X: object) -> float:
    """Return the time per row, best of five."""
    best = np.inf
    for _ in range(5):
        start = time.thread_time()
        projection.winners(X, N_WINNERS)
        best = min(best, time.thread_time() - start)
    return 1e6 * best / X.shape[0]


def main() -> None:
    """Vary the number of nonzeros; the time should follow it, and not the number of features."""
    print("| features | nonzeros a row | m | s | sparse, us | dense, us | dense / sparse | us per nonzero |")
    print("|---|---|---|---|---|---|---|---|")
    for d, nonzeros, m, s in SHAPES:
        X = sparse.random(2000, d, nonzeros / d, format="csr", dtype=np.float32, random_state=0)
        projection, few = Projection(0, d, m, s, signed=True), X[:FEW].toarray()
        fast, slow = microseconds(projection, X), microseconds(projection, few)
        sizes = f"{d} | {nonzeros} | {m} | {s}"
        print(f"| {sizes} | {fast:.1f} | {slow:.1f} | {slow / fast:.0f} | {fast / nonzeros:.3f} |", flush=True)


if __name__ == "__main__":
    main()
