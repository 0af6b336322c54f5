"""Rows per second learned by partial_fit in blocks of 1, 64 and 4096, and the latency of predicting one; one thread.

Rows are standardised beforehand, for all. Each model learns 4096 rows first (river 500), then blocks until its time is
up or no rows are left; rounds go from model to model, and the best counts. River learns row by row, at one speed. The
latency is that of models of 20 000 rows (river 500): median and 99th percentile of all rounds, each of up to 400
rows or a second. Results go to benchmarks/results/partial_fit.json.

    python benchmarks/partial_fit.py [--quick]
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from flybloom.estimators.access import reading_learned
from peers.contestants import ALL, Contestant
from peers.data import rows
from peers.machine import save
from peers.tables import latency_table, learning_table

BLOCKS = (1, 64, 4096)
FIRST, FITTED, MOST = 4096, 20_000, 60_000
ROUNDS, SECONDS, ASKED = 3, 1.0, 400
# by name in peers.contestants; those of scikit-learn without the step that standardises
PLAIN = {
    "GaussianNB": GaussianNB,
    "SGD, one epoch": lambda: SGDClassifier(random_state=0),
    "MLP, one epoch": lambda: MLPClassifier(random_state=0),
}


def blocks(X: np.ndarray, y: np.ndarray, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the rows after the first ones in blocks."""
    for begin in range(FIRST, len(y) - size + 1, size):
        yield X[begin : begin + size], y[begin : begin + size]


def fitted(contestant: Contestant, X: np.ndarray, y: np.ndarray, n: int) -> Any:
    """Return a model that has learned the first rows, once."""
    n = min(n, contestant.most_rows)
    if contestant.name in PLAIN:
        return PLAIN[contestant.name]().partial_fit(X[:n], y[:n], classes=np.unique(y))
    return contestant.make().fit(X[:n], y[:n])


def learns_on(contestant: Contestant) -> bool:
    """Return whether there is a method to learn on; of some that could, the few lines here have none."""
    return contestant.name in PLAIN or hasattr(contestant.make(), "partial_fit")


def rows_per_second(learn: Callable[..., Any], X: np.ndarray, y: np.ndarray, size: int, seconds: float) -> float:
    """Learn blocks until the time is up."""
    n, start = 0, time.perf_counter()
    for X_block, y_block in blocks(X, y, size):
        learn(X_block, y_block)
        n += size
        if time.perf_counter() - start > seconds:
            break
    return n / (time.perf_counter() - start)


def learning(X: np.ndarray, y: np.ndarray, *, quick: bool) -> dict[str, dict[str, float]]:
    """Return for each model the rows per second, by size of block."""
    streaming = [c for c in ALL if "one pass" in c.skills and learns_on(c)]
    best: dict[str, dict[str, float]] = {c.name: {} for c in streaming}
    for round_ in range(1 if quick else ROUNDS):
        for contestant in streaming:
            print(f"learning, round {round_ + 1}: {contestant.name}", file=sys.stderr, flush=True)
            for size in BLOCKS[:1] if contestant.name.startswith("river") else BLOCKS:
                learn = fitted(contestant, X, y, FIRST).partial_fit
                speed = rows_per_second(learn, X, y, size, 0.1 if quick else SECONDS)
                best[contestant.name][str(size)] = max(speed, best[contestant.name].get(str(size), 0.0))
    return best


def microseconds(call: Callable[[np.ndarray], Any], X: np.ndarray, seconds: float) -> list[float]:
    """Return how long each of the last rows takes, until the time is up."""
    call(X[:1])  # brings the model back into the caches
    spent: list[float] = []
    for at in range(ASKED):
        row = X[-1 - at][None]
        start = time.perf_counter()
        call(row)
        spent.append(1e6 * (time.perf_counter() - start))
        if sum(spent) > 1e6 * seconds:
            break
    return spent


def latency(X: np.ndarray, y: np.ndarray, *, quick: bool) -> dict[str, dict[str, float]]:
    """Return median and 99th percentile of the microseconds that predicting one row takes."""
    calls: dict[str, Callable[[np.ndarray], Any]] = {}
    for contestant in ALL:
        print(f"latency, fitting: {contestant.name}", file=sys.stderr, flush=True)
        model = fitted(contestant, X, y, 2000 if quick else FITTED)
        calls[contestant.name] = model.predict
        if contestant.name == "flybloom":
            with reading_learned(model) as learned:
                calls["flybloom, the hash alone"] = learned.hasher.winners
    spent: dict[str, list[float]] = {name: [] for name in calls}
    for round_ in range(1 if quick else ROUNDS):
        print(f"latency, round {round_ + 1}", file=sys.stderr, flush=True)
        for name, call in calls.items():
            spent[name] += microseconds(call, X, 0.1 if quick else SECONDS)
    return {
        name: {"p50_us": float(np.median(us)), "p99_us": float(np.percentile(us, 99)), "calls": len(us)}
        for name, us in spent.items()
    }


def main() -> None:
    """Measure on two data sets, print, save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few rows, one round; nothing is saved")
    quick = parser.parse_args().quick
    results = {}
    for name in ("stream", "mnist"):
        data = rows(name)
        X, y = data.X[:MOST], data.y[:MOST]
        X = StandardScaler().fit_transform(X)
        with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
            results[name] = {
                "shape": X.shape,
                "rows_per_second": learning(X, y, quick=quick),
                "latency": latency(X, y, quick=quick),
            }
        for table in (learning_table, latency_table):
            print(f"\n{name}\n\n{table(results[name])}\n", flush=True)
        if not quick:
            save("partial_fit", results)


if __name__ == "__main__":
    main()
