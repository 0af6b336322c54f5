"""What many winners cost beside few: microseconds of processor time a row; one thread.

Rows of 50 features, 24 connections. Timed in turns, the best of several rounds; the ratio is that to the fewest
winners. Then a row alone: 64 features, 4096 components, 128 winners.

    python benchmarks/winners.py
"""

from __future__ import annotations

import time

import numpy as np

from flybloom.core.hashing.projection import Projection

WINNERS = (17, 64, 128, 256, 512)
ROWS, ROUNDS, CALLS = 1024, 25, 2000


def many(m: int, dtype: str) -> None:
    """Print some rows of the table."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, 50)).astype(np.float32) if dtype == "float32" else rng.integers(0, 256, (ROWS, 50))
    X, projection = X.astype(dtype), Projection(0, 50, m, 24, signed=True)
    times = dict.fromkeys(WINNERS, np.inf)
    for _ in range(ROUNDS):
        for rho in WINNERS:
            start = time.thread_time()
            projection.winners(X, rho)
            times[rho] = min(times[rho], 1e6 * (time.thread_time() - start) / ROWS)
    for rho, taken in times.items():
        print(f"| {m} | {rho} | {dtype} | {taken:.2f} | {taken / times[WINNERS[0]]:.2f} |", flush=True)


def alone() -> None:
    """Print the middle of many calls with one row."""
    X = np.random.default_rng(0).standard_normal((1, 64)).astype(np.float32)
    projection = Projection(0, 64, 4096, 32, signed=True)
    taken = []
    for _ in range(CALLS):
        start = time.perf_counter_ns()
        projection.winners(X, 128)
        taken.append(time.perf_counter_ns() - start)
    print(f"\na row alone, us: {np.median(taken[10:]) / 1000:.1f}")


def main() -> None:
    """Print a table and a line."""
    print("| m | rho | type | us | ratio |")
    print("|---|---|---|---|---|")
    for dtype in ("float32", "uint8"):
        for m in (4096, 8192):
            many(m, dtype)
    alone()


if __name__ == "__main__":
    main()
