"""A window of 10 000 rows over 1 000 000: memory, and the rate beside learning alone; and single rows.

Rows of 20 columns and 5 classes that drift, m = 4096, in blocks of 256, one thread. Memory is the resident size of the
process after 100 000 rows and in the end. Single rows: microseconds of `partial_fit`, of `learn_one` beside river's
neighbours, and the rate of blocks of 64 beside those of 4096. To benchmarks/results/window.json.

    python benchmarks/window.py [ROWS] [--single]
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from flybloom import FlyBloomClassifier, SlidingWindow
from peers.machine import RESULTS, save

COLUMNS, CLASSES, BLOCK, WINDOW = 20, 5, 256, 10_000


def rows(number: int, n: int = BLOCK) -> tuple[np.ndarray, np.ndarray]:
    """Return a block of a stream whose classes move."""
    rng = np.random.default_rng(number)
    y = rng.integers(0, CLASSES, n)
    X = rng.standard_normal((n, COLUMNS))
    X[np.arange(n), (y + number // 400) % COLUMNS] += 3
    return X, y


def resident() -> float:
    """Return the megabytes that this process has in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20


def learn(model: Any, n_rows: int) -> dict[str, float]:
    """Return rows per second, and the memory on the way."""
    seconds, memory = 0.0, 0.0
    for number in range(n_rows // BLOCK):
        X, y = rows(number)
        start = time.perf_counter()
        model.partial_fit(X, y)
        seconds += time.perf_counter() - start
        if number * BLOCK <= n_rows // 10:
            memory = resident()
    return {"rows_per_second": n_rows / seconds, "megabytes_at_a_tenth": memory, "megabytes": resident()}


def best(call: Callable[[int], object], n: int) -> float:
    """Return the least mean microseconds of five rounds."""
    spent = []
    for _ in range(5):
        start = time.perf_counter()
        for i in range(n):
            call(i)
        spent.append(1e6 * (time.perf_counter() - start) / n)
    return min(spent)


def single() -> dict[str, float]:
    """Return how long single rows take, and small blocks."""
    from flybloom.streams.river import FlyClassifier  # noqa: PLC0415 - an extra
    from peers.streams import neighbours  # noqa: PLC0415

    X, y = rows(0, 4096)
    result = {}
    for encoding in ("auto", "standard", "none"):
        model = FlyBloomClassifier(4096, encoding=encoding, random_state=0).partial_fit(X, y)
        result[f"partial_fit, {encoding}, us"] = best(lambda i, m=model: m.partial_fit(X[i : i + 1], y[i : i + 1]), 500)
        in_blocks = {
            n: 1e6 * n / best(lambda _, m=model, n=n: m.partial_fit(X[:n], y[:n]), 4096 // n) for n in (64, 4096)
        }
        result[f"rows/s in blocks of 64, {encoding}"] = in_blocks[64]
        result[f"rows/s in blocks of 4096, {encoding}"] = in_blocks[4096]
    dicts, labels = [dict(enumerate(row)) for row in X.tolist()], y.tolist()
    for name, model in (("flybloom", FlyClassifier()), ("river kNN", neighbours())):
        for row, label in zip(dicts[:1500], labels, strict=False):
            model.learn_one(row, label)
        result[f"learn_one, {name}, us"] = best(lambda i, m=model: m.learn_one(dicts[1500 + i], labels[i]), 400)
    return result


def main() -> None:
    """Measure, print, save."""
    path = RESULTS / "window.json"
    results = json.loads(path.read_text())["result"] if path.exists() else {}
    if "--single" in sys.argv:
        results["single"] = single()
    else:
        n_rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
        model = FlyBloomClassifier(4096, random_state=0)
        results |= {"window": learn(SlidingWindow(model, n_rows=WINDOW), n_rows), "alone": learn(model, n_rows)}
    print(json.dumps(results, indent=1))
    save("window", results)


if __name__ == "__main__":
    main()
