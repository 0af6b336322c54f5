"""Pairs of winners: increments per second against a plain C loop, and two threads against two processes.

Needs gcc. An increment is a pair of winners of a row, each with itself included: rho (rho + 1) / 2 of them. The C loop
does nothing but increment the cells of one row in the first-level cache. Everything from sorted winners to the triangle
is timed: bits, lists and cells. Both are timed in turns, and the best of several rounds is kept. The last column is
the processor time that one thread takes, over that of two: what threads waste, on however busy a machine.

    python benchmarks/pairs.py [--quick]
"""

from __future__ import annotations

import argparse
import ctypes
import multiprocessing
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from flybloom._internal.parallel import threads
from flybloom.core._kernels import pairs

SHAPES = [(1024, 64), (4096, 64), (4096, 128), (4096, 512), (8192, 256), (8192, 512)]  # m, rho
ROUNDS = 7


def compiled() -> ctypes.CDLL:
    """Compile the yardstick."""
    library = Path(tempfile.mkdtemp()) / "pairs.so"
    source = Path(__file__).with_suffix(".c")
    command = ["gcc", "-O3", "-march=native", "-shared", "-fPIC", str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


def winners_of(n: int, m: int, rho: int) -> np.ndarray:
    """Draw sorted winners; some components win much more often than others, as they do on data."""
    rng = np.random.default_rng(0)
    likely = np.log(rng.gamma(1.0, size=m)).astype(np.float32)
    drawn = np.empty((n, rho), np.uint32)
    for begin in range(0, n, 512):
        keys = likely + rng.gumbel(size=(min(512, n - begin), m)).astype(np.float32)
        drawn[begin : begin + 512] = np.argpartition(keys, -rho, axis=1)[:, -rho:]
    drawn.sort(axis=1)
    return drawn


def best(jobs: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the least seconds of each job, done in turns."""
    seconds = dict.fromkeys(jobs, np.inf)
    for job in jobs.values():
        job()
    for _ in range(rounds):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    return seconds


def against_c(m: int, rho: int, rounds: int) -> None:
    """Print a row of the first table."""
    n = pairs.rows_per_block(m, rho)
    winners, triangle = winners_of(n, m, rho), np.zeros(m * (m + 1) // 2, np.int32)
    ones, row = np.ones(n, np.int64), np.zeros(m, np.int32)
    cells = winners[: max(1, 4096 // rho)].astype(np.uint16).ravel()
    times = 20_000_000 // cells.size
    arguments = [
        ctypes.c_void_p(cells.ctypes.data), ctypes.c_long(cells.size), ctypes.c_long(times),
        ctypes.c_void_p(row.ctypes.data),
    ]  # fmt: skip
    library = compiled()
    jobs = {
        "c": lambda: library.increment(*arguments),
        "block": lambda: pairs.add_block(winners, ones, triangle),
        "row": lambda: pairs.add_block(winners[:1], ones[:1], triangle),
    }
    seconds = best(jobs, rounds)
    c, ours = seconds["c"] / (times * cells.size), seconds["block"] / (n * rho * (rho + 1) / 2)
    figures = f"{1e9 * c:.3f} | {1e9 * ours:.3f} | {ours / c:.2f} | {1e6 * seconds['block'] / n:.2f}"
    print(f"| {m} | {rho} | {n} | {figures} | {1e6 * seconds['row']:.0f} |", flush=True)


def timed(m: int, rho: int, rounds: int, is_first: bool, barrier: object, queue: object) -> None:
    """Time blocks in one of two processes: both at the same time, then the first alone, on two threads and on one."""
    n = pairs.rows_per_block(m, rho)
    winners, triangle = winners_of(n, m, rho), np.zeros(m * (m + 1) // 2, np.int32)
    ones, seconds, work = np.ones(n, np.int64), [np.inf] * 3, [np.inf] * 3
    pairs.add_block(winners, ones, triangle)
    with threads(2) as run:
        for _ in range(rounds):
            for k, (n_threads, takes_part) in enumerate([(1, True), (2, is_first), (1, is_first)]):
                barrier.wait()
                if takes_part:
                    start, worked = time.perf_counter(), time.process_time()
                    pairs.add_block(winners, ones, triangle, *((2, run) if n_threads == 2 else ()))
                    seconds[k] = min(seconds[k], time.perf_counter() - start)
                    work[k] = min(work[k], time.process_time() - worked)
                barrier.wait()
    queue.put((is_first, n, seconds, work))


def threads_and_processes(m: int, rho: int, rounds: int) -> None:
    """Print a row of the second table."""
    context = multiprocessing.get_context("spawn")
    barrier, queue = context.Barrier(2), context.Queue()
    processes = [
        context.Process(target=timed, args=(m, rho, rounds, is_first, barrier, queue)) for is_first in (True, False)
    ]
    for process in processes:
        process.start()
    (_, n, second, _), (_, _, first, work) = sorted(queue.get() for _ in processes)
    for process in processes:
        process.join()
    one, both, threads = n / first[2], 2 * n / max(first[0], second[0]), n / first[1]
    ratios = f"{threads / both:.2f} | {work[2] / work[1]:.2f}"
    print(f"| {m} | {rho} | {one:.0f} | {both:.0f} | {threads:.0f} | {ratios} |", flush=True)


def main() -> None:
    """Print two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer sizes and rounds")
    quick = parser.parse_args().quick
    shapes, rounds = (SHAPES[2:3], 3) if quick else (SHAPES, ROUNDS)
    print("| m | rho | rows | C, ns an increment | flybloom, ns | ratio | us a row | a row alone, us |")
    print("|---|---|---|---|---|---|---|---|")
    for m, rho in shapes:
        against_c(m, rho, rounds)
    print("\n| m | rho | one thread, rows/s | two processes | two threads | threads / processes | work |")
    print("|---|---|---|---|---|---|---|")
    for m, rho in shapes:
        threads_and_processes(m, rho, 3 * rounds)


if __name__ == "__main__":
    main()
