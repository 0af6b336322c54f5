"""Pairs of winners on MNIST beside a network, neighbours and a graph of them: fit, predict, accuracy; one thread.

All in one process and in turns, in each of two rounds, of which the better counts; the graph and exact neighbours have
one. Rows are float32 beforehand. Neighbours are asked about 1000 rows. Then the middle of many calls with one row,
beside SGDClassifier, in turns; and how long weights take to follow a change of few rows, beside solving anew.

    python benchmarks/pairs_peers.py [peers] [alone] [follow]
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

from datasets import load_split
from flybloom import FlyRidgeClassifier
from latency import interleaved, single_rows
from peers.contestants import ALL, Contestant
from peers.machine import save

PEERS = {"MLP, one epoch": (2, 10_000), "hnswlib": (1, 10_000), "kNN, brute": (1, 1000)}  # rounds, and rows asked
ONCE = ("pairs, 8192, rotation", "pairs, 8192, windows")  # take half a minute
CALLS = 2000
CHANGED = (1, 10, 100, 1000)  # rows


def peers(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> None:
    """Print and save a table."""
    ours = [
        Contestant("pairs of winners", lambda: FlyRidgeClassifier(random_state=0)),
        Contestant("pairs, 2048, rotation", lambda: FlyRidgeClassifier(2048, encoding="rotation", random_state=0)),
        Contestant("pairs, 8192, windows", lambda: FlyRidgeClassifier(8192, encoding="grid=28x28", random_state=0)),
        Contestant("pairs, 8192, rotation", lambda: FlyRidgeClassifier(8192, encoding="rotation", random_state=0)),
    ]
    others = [other for other in ALL if other.name in PEERS]
    best: dict[str, dict[str, float]] = {}
    for round_ in range(2):
        for contestant in (*ours, *others):
            name = contestant.name
            rounds, asked = PEERS.get(name, (1 if name in ONCE else 2, 10_000))
            if round_ >= rounds:
                continue
            start = time.perf_counter()
            model = contestant.make().fit(X, y)
            fitted = time.perf_counter()
            predicted = model.predict(X_test[:asked])
            done = time.perf_counter()
            now = {"fit_seconds": fitted - start, "predict_us": 1e6 * (done - fitted) / asked}
            old = best.setdefault(name, {**now, "accuracy": float(np.mean(predicted == y_test[:asked]))})
            old.update({key: min(old[key], now[key]) for key in now})
    print("| MNIST | fit, s | predict, us a row | accuracy |\n|---|---:|---:|---:|")
    for name, found in best.items():
        print(f"| {name} | {found['fit_seconds']:.1f} | {found['predict_us']:.1f} | {found['accuracy']:.4f} |")
    save("pairs_peers", best)


def alone(X: np.ndarray, y: np.ndarray) -> None:
    """Print how long one row takes."""
    model = FlyRidgeClassifier(random_state=0).fit(X[:20_000], y[:20_000])
    frozen = model.freeze()
    peer = SGDClassifier(max_iter=1, tol=None, random_state=0).fit(X[:5000], y[:5000])
    rows = single_rows(X)
    calls = {
        "pairs": lambda: model.predict(next(rows)),
        "frozen": lambda: frozen.predict(next(rows)),
        "SGD": lambda: peer.predict(next(rows)),
    }
    times = interleaved(calls, CALLS)
    middle = {name: float(np.median(times[name])) for name in times}
    shape = f"{X.shape[1]} features, {model.n_components_} components, {model.n_winners_} winners"
    print(f"one row of {shape}, us: " + ", ".join(f"{name} {value:.0f}" for name, value in middle.items()))
    print(f"over SGD: {middle['pairs'] / middle['SGD']:.2f}, frozen {middle['frozen'] / middle['SGD']:.2f}")


def follow(X: np.ndarray, y: np.ndarray) -> None:
    """Print how long weights take after a change."""
    print("| components | rows changed | follow, ms | solve anew, ms | with gcv, ms |\n|---:|---:|---:|---:|---:|")
    for m in (1024, 4096):
        for n_changed in CHANGED:
            old, new = slice(0, 20_000), slice(20_000, 20_000 + n_changed)
            model = FlyRidgeClassifier(m, alpha=0.1, random_state=0).fit(X[old], y[old])
            milliseconds = []
            for alpha, begins_anew in ((0.1, False), (0.1, True), ("gcv", True)):
                model.set_params(alpha=alpha)
                _ = model.coef_
                model.partial_fit(X[new], y[new])
                solved = model + (model - model) if begins_anew else model  # the same counts, nothing derived
                start = time.perf_counter()
                _ = solved.coef_
                milliseconds.append(1e3 * (time.perf_counter() - start))
                model.forget(X[new], y[new])
            print(f"| {m} | {n_changed} | " + " | ".join(f"{value:.0f}" for value in milliseconds) + " |", flush=True)


def main() -> None:
    """Measure what is asked for, or everything."""
    wanted = sys.argv[1:] or ["peers", "alone", "follow"]
    X, y, X_test, y_test = load_split("mnist")
    X, X_test = X.astype(np.float32), X_test.astype(np.float32)
    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):  # one epoch does not converge
        FlyRidgeClassifier(512, random_state=0).fit(X[:1000], y[:1000]).predict(X_test[:100])  # compiles
        if "peers" in wanted:
            peers(X, y, X_test, y_test)
        if "alone" in wanted:
            alone(X, y)
        if "follow" in wanted:
            follow(X, y)


if __name__ == "__main__":
    main()
