"""Densify against a product with scipy's Hadamard matrix; one thread.

Prints microseconds per row, interleaved and best of several rounds, and how many times as fast the transform is.

    python benchmarks/densify.py
"""

from __future__ import annotations

import time

import numpy as np
from scipy.linalg import hadamard
from threadpoolctl import threadpool_limits

from flybloom import Densify

SIZES = (16, 64, 256, 1024, 4096)
ROWS = 2000
ROUNDS = 9


def main() -> None:
    """Time all sizes in both types."""
    rng = np.random.default_rng(0)
    print("| type | d | Densify, us | product, us | times as fast |")
    print("|---|---|---|---|---|")
    for dtype in (np.float32, np.float64):
        for d in SIZES:
            X = rng.standard_normal((ROWS, d)).astype(dtype)
            model = Densify(random_state=0).fit(X)
            matrix = (model.signs_[:, None] * hadamard(d) / np.sqrt(d)).astype(dtype)
            jobs = {"ours": lambda m=model, X=X: m.transform(X), "product": lambda X=X, M=matrix: X @ M}
            best = dict.fromkeys(jobs, np.inf)
            with threadpool_limits(1):
                for _ in range(ROUNDS):
                    for name, job in jobs.items():
                        start = time.perf_counter()
                        job()
                        best[name] = min(best[name], 1e6 * (time.perf_counter() - start) / ROWS)
            ours, product = best["ours"], best["product"]
            print(f"| {dtype.__name__} | {d} | {ours:.2f} | {product:.2f} | {product / ours:.1f} |", flush=True)


if __name__ == "__main__":
    main()
