"""What solving adds to counting on MNIST, over one Cholesky factorisation of LAPACK and one epoch of a network.

Processor time of one thread, in turns, best of some rounds, all in one run. Counting is `fit` of FlyRidgeClassifier on
bytes in windows, solving is what the first prediction adds: penalty and weights. The factorisation is that of a matrix
of as many components in float32 (spotrf); the network is one epoch of MLPClassifier on float32.

    python benchmarks/solving.py [--rounds 3] [2048 4096 8192]
"""

from __future__ import annotations

import argparse
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


def seconds(job: Callable[[], Any]) -> tuple[float, Any]:
    """Return how much processor time a job takes, and its result."""
    start = time.thread_time()
    result = job()
    return time.thread_time() - start, result


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", type=int, nargs="*", default=[2048, 4096, 8192])
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    X, y, X_test, y_test = load_split("mnist")
    bytes_, test_bytes = X.astype(np.uint8), X_test.astype(np.uint8)
    network = next(other for other in ALL if other.name == "MLP, one epoch")
    rng = np.random.default_rng(0)
    print("| components | counting, s | solving | spotrf | epoch | solving / spotrf | all / epoch | accuracy | epoch |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    with threadpool_limits(1):
        for m in chosen.sizes:
            half = rng.standard_normal((m, m), dtype=np.float32)
            matrix = half @ half.T + m * np.eye(m, dtype=np.float32)
            del half
            model = FlyRidgeClassifier(m, encoding=WINDOWS, random_state=0)
            model.fit(bytes_[:2000], y[:2000]).predict(bytes_[:2000])  # compiles
            peer = network.make()
            jobs: dict[str, Callable[[], Any]] = {
                "counting": lambda model=model: model.fit(bytes_, y),
                "solving": lambda model=model: model.alpha_,
                "spotrf": lambda a=matrix: linalg.lapack.spotrf(a.T, lower=0, clean=0),
                "epoch": lambda peer=peer: peer.fit(X.astype(np.float32), y),
            }
            best = dict.fromkeys(jobs, np.inf)
            for _ in range(chosen.rounds):
                for name, job in jobs.items():
                    best[name] = min(best[name], seconds(job)[0])
            both = best["counting"] + best["solving"]
            ratios = best["solving"] / best["spotrf"], both / best["epoch"]
            scores = model.score(test_bytes, y_test), peer.score(X_test.astype(np.float32), y_test)
            figures = [f"{value:.2f}" for value in (*best.values(), *ratios)] + [f"{score:.4f}" for score in scores]
            print(f"| {m} | " + " | ".join(figures) + " |", flush=True)


if __name__ == "__main__":
    main()
