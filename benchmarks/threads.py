"""Two threads against two independent processes: hashing, fit and predict.

Two cores of a shared machine rarely give twice the speed of one, so the fair measure of threads is what two
processes that know nothing of each other reach. Each round runs one process, two processes at the same time (their
timed parts start together), and two threads; the best of each is kept.

    python benchmarks/threads.py
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable

import numpy as np

from flybloom import FlyBloomClassifier, FlyHash

SHAPES = [  # d, m, s, rho, rows
    (784, 16384, 78, 64, 6000),
    (100, 20480, 10, 32, 30000),
    (20, 8192, 8, 64, 60000),
]
ROUNDS = 3


def jobs(d: int, m: int, s: int, rho: int, n: int, n_jobs: int) -> dict[str, Callable[[], object]]:
    """Return what is timed, warmed up."""
    rng = np.random.default_rng(0)
    X, y = rng.random((n, d), dtype=np.float32), rng.integers(0, 10, n)
    sizes = {"n_components": m, "n_connections": s, "n_winners": rho, "random_state": 0, "n_jobs": n_jobs}
    hasher = FlyHash(**sizes).fit(X)
    hasher.winners(X[:200])
    model = FlyBloomClassifier(**sizes).fit(X[:200], y[:200])
    model.predict(X[:200])
    learner = FlyBloomClassifier(**sizes).partial_fit(X[:200], y[:200])
    return {
        "hash": lambda: hasher.winners(X),
        "fit": lambda: learner.partial_fit(X, y),
        "predict": lambda: model.predict(X),
    }


def timed(shape: tuple[int, ...], n_jobs: int, barrier: object, queue: object) -> None:
    """Time each job in a process of its own, in step with the other process if there is one; best of a few."""
    prepared = jobs(*shape, n_jobs)
    seconds = dict.fromkeys(prepared, np.inf)
    for name in list(prepared) * ROUNDS:
        barrier.wait()
        start = time.perf_counter()
        prepared[name]()
        seconds[name] = min(seconds[name], time.perf_counter() - start)
    queue.put(seconds)


def run(shape: tuple[int, ...], n_processes: int, n_jobs: int) -> dict[str, float]:
    """Return the seconds of the slowest process for each job."""
    context = multiprocessing.get_context("spawn")
    barrier, queue = context.Barrier(n_processes), context.Queue()
    processes = [context.Process(target=timed, args=(shape, n_jobs, barrier, queue)) for _ in range(n_processes)]
    for process in processes:
        process.start()
    results = [queue.get() for _ in processes]
    for process in processes:
        process.join()
    return {name: max(result[name] for result in results) for name in results[0]}


def main() -> None:
    """Print rows per second and the ratio."""
    print("| d | m | s | rho | job | one thread, rows/s | two processes | two threads | threads / processes |")
    print("|---|---|---|---|---|---|---|---|---|")
    for shape in SHAPES:
        best: dict[tuple[int, int], dict[str, float]] = {(1, 1): {}, (2, 1): {}, (1, 2): {}}
        for _ in range(ROUNDS):
            for key, seconds in best.items():
                for name, value in run(shape, *key).items():
                    seconds[name] = min(value, seconds.get(name, np.inf))
        n = shape[-1]
        for name in ("hash", "fit", "predict"):
            one, processes, threads = n / best[1, 1][name], 2 * n / best[2, 1][name], n / best[1, 2][name]
            sizes = " | ".join(str(size) for size in shape[:-1])
            print(
                f"| {sizes} | {name} | {one:.0f} | {processes:.0f} | {threads:.0f} | {threads / processes:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
