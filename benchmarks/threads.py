"""Two threads against two independent processes: hashing, fit and predict.

Two cores of a shared machine rarely give twice the speed of one, so the fair measure of threads is what two
processes that know nothing of each other reach. Each round runs one process, two processes at the same time (their
timed parts start together), and two threads; the best of each is kept. With --models instead: two threads against one,
in turns, for fit and predict of whole models on 60 000 rows of 50 columns, choice of the encoding included.

    python benchmarks/threads.py [--models]
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from flybloom import FlyBloomClassifier, FlyRidgeClassifier
from flybloom._internal.parallel import for_each_block
from flybloom.core.hashing.projection import Projection

SHAPES = [  # d, m, s, rho, rows
    (784, 16384, 78, 64, 6000),
    (100, 20480, 10, 32, 30000),
    (20, 8192, 8, 64, 60000),
]
ROUNDS = 3
MODELS = {  # that are timed whole
    "`FlyBloomClassifier()`": lambda n_jobs: FlyBloomClassifier(n_jobs=n_jobs),
    "`FlyRidgeClassifier(1024, n_winners=64, alpha=0.1)`": lambda n_jobs: FlyRidgeClassifier(
        1024, n_winners=64, alpha=0.1, n_jobs=n_jobs
    ),
}


def jobs(d: int, m: int, s: int, rho: int, n: int, n_jobs: int) -> dict[str, Callable[[], object]]:
    """Return what is timed, warmed up."""
    rng = np.random.default_rng(0)
    X, y = rng.random((n, d), dtype=np.float32), rng.integers(0, 10, n)
    sizes = {"n_components": m, "n_connections": s, "n_winners": rho, "random_state": 0, "n_jobs": n_jobs}
    projection = Projection(0, d, m, s, signed=True)
    projection.winners(X[:200], rho)

    def hash_block(block: slice) -> None:
        projection.winners(X[block], rho)

    model = FlyBloomClassifier(**sizes).fit(X[:200], y[:200])
    model.predict(X[:200])
    learner = FlyBloomClassifier(**sizes).partial_fit(X[:200], y[:200])
    return {
        "hash": lambda: for_each_block(hash_block, n, d, n_jobs),
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


def models() -> None:
    """Print the seconds of whole models with one thread and with two."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60_000, 50)).astype(np.float32)
    y = X[:, :10].argmax(axis=1)
    print("| model | fit, one thread | two | ratio | predict, one thread | two | ratio |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, make in MODELS.items():
        best = {(job, n_jobs): np.inf for job in ("fit", "predict") for n_jobs in (1, 2)}
        for _ in range(2 * ROUNDS):
            for n_jobs in (1, 2):
                model = make(n_jobs)
                for job, run in {"fit": lambda m=model: m.fit(X, y), "predict": lambda m=model: m.predict(X)}.items():
                    start = time.perf_counter()
                    run()
                    best[job, n_jobs] = min(best[job, n_jobs], time.perf_counter() - start)
                    model.predict(X[:100])  # what is derived once
        cells = [
            f"{best[job, 1]:.2f} s | {best[job, 2]:.2f} s | {best[job, 1] / best[job, 2]:.2f}"
            for job in ("fit", "predict")
        ]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    """Print rows per second and the ratio, or what whole models take."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", action="store_true")
    if parser.parse_args().models:
        with threadpool_limits(1, "blas"):
            models()
        return
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
