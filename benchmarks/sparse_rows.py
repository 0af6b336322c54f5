"""Hashing text-like rows: 100 000 features, 100 of them not zero, against the same rows as dense ones.

python benchmarks/sparse_rows.py
"""

from __future__ import annotations

import time

import numpy as np
from scipy import sparse

from flybloom import FlyHash


def microseconds(hasher: FlyHash, X: object) -> float:
    """Return the time per row, best of three."""
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        hasher.winners(X)
        best = min(best, time.perf_counter() - start)
    return 1e6 * best / X.shape[0]


def main() -> None:
    """Vary the number of nonzeros; the time should follow it, and not the number of features."""
    print("| features | nonzeros a row | m | s | sparse, us | dense, us | dense / sparse | us per nonzero |")
    print("|---|---|---|---|---|---|---|---|")
    for d, nonzeros, m, s in [
        (100_000, 50, 20480, 64),
        (100_000, 100, 20480, 64),
        (100_000, 400, 20480, 64),
        (20_000, 100, 20480, 64),
    ]:
        X = sparse.random(2000, d, nonzeros / d, format="csr", dtype=np.float32, random_state=0)
        hasher = FlyHash(m, n_connections=s, n_winners=64, encoding="none", random_state=0).fit(X)
        hasher.winners(X[:10])
        few = X[:64].toarray()
        hasher.winners(few)
        fast, slow = microseconds(hasher, X), microseconds(hasher, few)
        sizes = f"{d} | {nonzeros} | {m} | {s}"
        print(f"| {sizes} | {fast:.1f} | {slow:.1f} | {slow / fast:.0f} | {fast / nonzeros:.3f} |", flush=True)


if __name__ == "__main__":
    main()
