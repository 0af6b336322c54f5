"""What solving adds to counting on MNIST, over one Cholesky factorisation of LAPACK and one epoch of a network.

One thread, in turns, best of some rounds, all in one run. Fit is that of FlyRidgeClassifier on bytes in windows;
solving is what comes after hashing and counting: penalty, weights, and rows left out for the temperature. The
factorisation is that of a matrix of as many components in float32 (spotrf); the network is one epoch of MLPClassifier
on float32.

    python benchmarks/solving.py [2048 4096 8192]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg
from threadpoolctl import threadpool_limits

from datasets import load_split
from flybloom import FlyRidgeClassifier
from peers.contestants import ALL

ROUNDS = 3
WINDOWS = "none+grid=28x28"  # of the rows as they come


class Timed(FlyRidgeClassifier):
    """Notes how long solving takes in `fit`."""

    def tuned_with(self, *arguments: Any) -> dict[str, Any]:
        """Solve, and leave rows out."""
        self.solving, tuned = seconds(lambda: super(Timed, self).tuned_with(*arguments))
        return tuned


def seconds(job: Callable[[], Any]) -> tuple[float, Any]:
    """Return how long a job takes, and its result."""
    start = time.perf_counter()
    result = job()
    return time.perf_counter() - start, result


def main() -> None:
    """Print a table."""
    sizes = [int(word) for word in sys.argv[1:]] or [2048, 4096, 8192]
    X, y, X_test, y_test = load_split("mnist")
    bytes_, test_bytes = X.astype(np.uint8), X_test.astype(np.uint8)
    network = next(other for other in ALL if other.name == "MLP, one epoch")
    rng = np.random.default_rng(0)
    print("| components | fit, s | solving | spotrf | epoch | solving / spotrf | fit / epoch | accuracy | epoch |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    with threadpool_limits(1):
        for m in sizes:
            half = rng.standard_normal((m, m), dtype=np.float32)
            matrix = half @ half.T + m * np.eye(m, dtype=np.float32)
            del half
            jobs: dict[str, Callable[[], Any]] = {
                "fit": lambda m=m: Timed(m, encoding=WINDOWS, random_state=0).fit(bytes_, y),
                "spotrf": lambda a=matrix: linalg.lapack.spotrf(a.T, lower=0, clean=0),
                "epoch": lambda: network.make().fit(X.astype(np.float32), y),
            }
            jobs["fit"]()  # compiles
            best = dict.fromkeys(("fit", "solving", "spotrf", "epoch"), np.inf)
            models = {}
            for _ in range(ROUNDS):
                for name, job in jobs.items():
                    taken, models[name] = seconds(job)
                    best[name] = min(best[name], taken)
                best["solving"] = min(best["solving"], models["fit"].solving)
            ratios = best["solving"] / best["spotrf"], best["fit"] / best["epoch"]
            scores = models["fit"].score(test_bytes, y_test), models["epoch"].score(X_test.astype(np.float32), y_test)
            figures = [f"{value:.2f}" for value in (*best.values(), *ratios)] + [f"{score:.4f}" for score in scores]
            print(f"| {m} | " + " | ".join(figures) + " |", flush=True)


if __name__ == "__main__":
    main()
