"""What many winners cost beside few: microseconds a row, in order and in no order; one thread.

Rows of 50 features, 24 connections. Timed in turns, the best of several rounds; the ratio is that of winners in no
order to the fewest in order. Then a row alone: 64 features, 4096 components, 128 winners.

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
    times: dict[tuple[int, bool], float] = {}
    for _ in range(ROUNDS):
        for rho in WINNERS:
            for ordered in (True, False):
                start = time.perf_counter()
                projection.winners(X, rho, ordered=ordered)
                taken = 1e6 * (time.perf_counter() - start) / ROWS
                times[rho, ordered] = min(taken, times.get((rho, ordered), np.inf))
    for rho in WINNERS:
        in_order, free = times[rho, True], times[rho, False]
        ratio = free / times[WINNERS[0], True]
        print(f"| {m} | {rho} | {dtype} | {in_order:.2f} | {free:.2f} | {ratio:.2f} |", flush=True)


def alone() -> None:
    """Print the middle of many calls with one row."""
    X = np.random.default_rng(0).standard_normal((1, 64)).astype(np.float32)
    projection = Projection(0, 64, 4096, 32, signed=True)
    taken: dict[bool, list[int]] = {True: [], False: []}
    for _ in range(CALLS):
        for ordered, nanoseconds in taken.items():
            start = time.perf_counter_ns()
            projection.winners(X, 128, ordered=ordered)
            nanoseconds.append(time.perf_counter_ns() - start)
    in_order, free = (np.median(taken[ordered][10:]) / 1000 for ordered in (True, False))
    print(f"\na row alone, us: {in_order:.1f} in order, {free:.1f} in no order")


def main() -> None:
    """Print a table and a line."""
    print("| m | rho | type | in order, us | in no order, us | ratio |")
    print("|---|---|---|---|---|---|")
    for dtype in ("float32", "uint8"):
        for m in (4096, 8192):
            many(m, dtype)
    alone()


if __name__ == "__main__":
    main()
