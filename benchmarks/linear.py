"""Scores from winners and weights: microseconds a row, in blocks and alone, beside the hash and numpy; one thread.

The hash is of rows of 50 features, 24 connections; numpy gathers the weights and adds them up in float64, and its
scores must be the same, bit for bit. Timed in turns, the best of several rounds.

    python benchmarks/linear.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from flybloom.core._kernels import linear
from flybloom.core.hashing.projection import Projection
from flybloom.core.readout.linear import TableWeights

SHAPES = [(4096, 128, 10), (8192, 512, 10), (8192, 512, 26), (8192, 512, 100)]  # m, rho, classes
ROWS, FEW, ROUNDS = 2048, 64, 9


def best(jobs: dict[str, tuple[Callable[[], object], int]]) -> dict[str, float]:
    """Return the least microseconds a row of each job."""
    times = dict.fromkeys(jobs, np.inf)
    for job, _ in jobs.values():
        job()
    for _ in range(ROUNDS):
        for name, (job, rows) in jobs.items():
            start = time.perf_counter()
            job()
            times[name] = min(times[name], 1e6 * (time.perf_counter() - start) / rows)
    return times


def main() -> None:
    """Print a table."""
    rng = np.random.default_rng(0)
    print("| m | rho | classes | hash, us | scores, us | numpy, us | a row alone, us |")
    print("|---|---|---|---|---|---|---|")
    for m, rho, n_classes in SHAPES:
        X = rng.standard_normal((ROWS, 50)).astype(np.float32)
        projection = Projection(0, 50, m, 24, signed=True)
        winners = projection.winners(X, rho)
        weights = rng.integers(-(2**30), 2**30, (m, n_classes), np.int32)
        intercept = rng.integers(-(2**40), 2**40, n_classes).astype(np.float64)
        padded, out, one = TableWeights.of(weights).padded, np.empty((ROWS, n_classes)), np.empty((1, n_classes))
        few, first = winners[:FEW].astype(np.int64), winners[:1]

        jobs = {
            "hash": (lambda p=projection, X=X, rho=rho: p.winners(X, rho), ROWS),
            "scores": (lambda v=winners, w=padded, b=intercept, o=out: linear.linear_sums(v, w, b, o), ROWS),
            "numpy": (lambda v=few, w=weights, b=intercept: w[v].sum(axis=1, dtype=np.float64) + b, FEW),
            "alone": (lambda a=(first, padded, intercept, one): [linear.linear_sums(*a) for _ in range(100)], 100),
        }
        times = best(jobs)
        same = np.array_equal(out[:FEW], jobs["numpy"][0]())
        figures = " | ".join(f"{times[name]:.2f}" for name in ("hash", "scores", "numpy", "alone"))
        print(f"| {m} | {rho} | {n_classes} | {figures} |{'' if same else ' scores differ!'}", flush=True)


if __name__ == "__main__":
    main()
