"""What ten times as many rows, columns, classes or components cost: processor time of one thread, and its exponent.

One size grows at a time, the others stay; best of a few rounds. Connections stay at 16, winners at one component of 16,
so that ten times as many components have ten times as many winners. Solving is what the first prediction of
FlyRidgeClassifier adds to counting.

    python benchmarks/tenfold.py
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from threadpoolctl import threadpool_limits

from flybloom import FlyBloomClassifier, FlyRidgeClassifier
from flybloom.exceptions import SaturationWarning
from peers.machine import save

BASE = {"rows": 8000, "columns": 50, "classes": 10, "components": 800}
SHARE, CONNECTIONS = 16, 16
ROUNDS = 3


def jobs(rows: int, columns: int, classes: int, components: int) -> Iterator[tuple[str, Callable[[], object]]]:
    """Give what is timed, one after the other."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((rows, columns), dtype=np.float32), np.arange(rows) % classes
    settings = {"n_connections": CONNECTIONS, "n_winners": components // SHARE, "encoding": "standard"}
    counts = FlyBloomClassifier(components, **settings)
    yield "fit", lambda: counts.fit(X, y)
    yield "predict", lambda: counts.predict(X)
    pairs = FlyRidgeClassifier(components, **settings)
    yield "fit of pairs", lambda: pairs.fit(X, y)
    yield "solving", lambda: pairs.alpha_
    yield "predict of pairs", lambda: pairs.predict(X)


def measured(sizes: dict[str, int]) -> dict[str, float]:
    """Return the least processor time of each job."""
    best: dict[str, float] = {}
    for _ in range(ROUNDS):
        for name, job in jobs(**sizes):
            start = time.thread_time()
            job()
            best[name] = min(best.get(name, np.inf), time.thread_time() - start)
    return best


def main() -> None:
    """Print a table, and save it."""
    result = []
    warnings.simplefilter("ignore", SaturationWarning)  # labels have nothing to do with rows
    with threadpool_limits(1):
        measured({name: max(size // 8, 20) for name, size in BASE.items()})  # compiles
        base = measured(BASE)
        print("| ten times as many | " + " | ".join(f"{name}, s | exponent" for name in base) + " |")
        print("|---|" + "---:|---:|" * len(base))
        for grown, size in BASE.items():
            after = measured(BASE | {grown: 10 * size})
            exponents = {name: math.log10(after[name] / base[name]) for name in base}
            cells = [f"{base[name]:.3f} to {after[name]:.3f} | {exponents[name]:.2f}" for name in base]
            print(f"| {grown}: {10 * size} | " + " | ".join(cells) + " |", flush=True)
            result.append({"grown": grown, "from": BASE, "before": base, "after": after, "exponents": exponents})
    save("tenfold", result)


if __name__ == "__main__":
    main()
