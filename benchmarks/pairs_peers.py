"""Pairs of winners on MNIST beside a network, neighbours and a graph of them: fit, predict, accuracy; one thread.

All in one process and in turns, in each of some rounds, of which the best counts; the graph and exact neighbours have
one. Rows are float32 beforehand, or the bytes that they came as where it says so. Neighbours are asked about 1000 rows.
"epoch" has only the network and what is as quick, in more rounds. Then the middle of many calls with one row, beside
SGDClassifier, in turns; and how long weights take to follow a change of few rows, beside solving anew.

    python benchmarks/pairs_peers.py [peers] [epoch] [alone] [follow]
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

from datasets import load, load_split
from flybloom import FlyRidgeClassifier
from latency import interleaved, single_rows
from peers.contestants import ALL, Contestant
from peers.machine import save

PEERS = {"MLP, one epoch": (2, 10_000), "hnswlib": (1, 10_000), "kNN, brute": (1, 1000)}  # rounds, and rows asked
EPOCH = "MLP, one epoch"
ONCE = ("pairs, 8192, rotation", "pairs, 8192, windows", "pairs, 8192, windows, whole floats")  # take long
WINDOWS = "none+grid=28x28"  # of the rows as they come
CALLS = 2000
CHANGED = (1, 10, 100, 1000)  # rows


def of_pixels(n_components: int, type_: str = "bytes") -> Contestant:
    """Pairs in windows of whole numbers, which may come as floats: two settings."""
    return Contestant(
        f"pairs, {n_components}, windows, {type_}",
        lambda: FlyRidgeClassifier(n_components, encoding=WINDOWS, random_state=0),
    )


def epoch(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> None:
    """Print what can be learned in the time of one or two epochs."""
    network = next(other for other in ALL if other.name == EPOCH)
    ours = [of_pixels(m) for m in (1024, 2048, 3072, 4096)]
    compare([*ours, network], X, y, X_test, y_test, {contestant.name: 4 for contestant in (*ours, network)})


def peers(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> None:
    """Print and save a table of all."""
    ours = [
        Contestant("pairs of winners", lambda: FlyRidgeClassifier(random_state=0)),
        Contestant("pairs, 2048, rotation", lambda: FlyRidgeClassifier(2048, encoding="rotation", random_state=0)),
        Contestant("pairs, 8192, windows", lambda: FlyRidgeClassifier(8192, encoding="grid=28x28", random_state=0)),
        Contestant("pairs, 8192, rotation", lambda: FlyRidgeClassifier(8192, encoding="rotation", random_state=0)),
    ]
    ours += [of_pixels(2048), of_pixels(8192), of_pixels(8192, "whole floats")]
    others = [other for other in ALL if other.name in PEERS]
    rounds = {ours_.name: 1 if ours_.name in ONCE else 2 for ours_ in ours} | {name: PEERS[name][0] for name in PEERS}
    save("pairs_peers", compare([*ours, *others], X, y, X_test, y_test, rounds))


def compare(
    contestants: list[Contestant],
    X: np.ndarray,
    y: np.ndarray,
    X_test: np.ndarray,
    y_test: np.ndarray,
    rounds: dict[str, int],
) -> dict[str, dict[str, float]]:
    """Print a table, and return it."""
    best: dict[str, dict[str, float]] = {}
    bytes_, test_bytes = X.astype(np.uint8), X_test.astype(np.uint8)
    for round_ in range(max(rounds.values())):
        for contestant in contestants:
            name = contestant.name
            if round_ >= rounds[name]:
                continue
            asked = PEERS[name][1] if name in PEERS else 10_000
            rows, test = (bytes_, test_bytes) if name.endswith("bytes") else (X, X_test)
            start = time.perf_counter()
            model = contestant.make().fit(rows, y)
            fitted = time.perf_counter()
            predicted = model.predict(test[:asked])
            done = time.perf_counter()
            now = {"fit_seconds": fitted - start, "predict_us": 1e6 * (done - fitted) / asked}
            old = best.setdefault(name, {**now, "accuracy": float(np.mean(predicted == y_test[:asked]))})
            old.update({key: min(old[key], now[key]) for key in now})
    print("| MNIST | fit, s | predict, us a row | accuracy |\n|---|---:|---:|---:|")
    for name, found in best.items():
        print(f"| {name} | {found['fit_seconds']:.2f} | {found['predict_us']:.1f} | {found['accuracy']:.4f} |")
    return best


def next_of(rows: Iterator[np.ndarray], predict: Callable[[np.ndarray], object]) -> None:
    """Predict the next row."""
    predict(next(rows))


def alone(X: np.ndarray, y: np.ndarray) -> None:
    """Print how long one row takes at the default size, on three data sets."""
    sets = {"MNIST": (X[:20_000], y[:20_000]), "digits": load_digits(return_X_y=True), "letter": load("letter")}
    for name, (rows, labels) in sets.items():
        model = FlyRidgeClassifier(random_state=0).fit(rows, labels)
        frozen = model.freeze()
        peer = SGDClassifier(max_iter=1, tol=None, random_state=0).fit(rows[:5000], labels[:5000])
        predicts = {"pairs": model.predict, "frozen": frozen.predict, "SGD": peer.predict}
        own = {key: single_rows(rows[100 * k :]) for k, key in enumerate(predicts)}  # the last rows are remembered
        times = interleaved({key: partial(next_of, own[key], call) for key, call in predicts.items()}, CALLS)
        middle = {key: float(np.median(times[key])) for key in times}
        shape = f"{rows.shape[1]} features, {model.n_components_} components, {model.n_winners_} winners"
        print(f"{name}, one row of {shape}, us: " + ", ".join(f"{key} {value:.0f}" for key, value in middle.items()))
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
    wanted = sys.argv[1:] or ["peers", "epoch", "alone", "follow"]
    X, y, X_test, y_test = load_split("mnist")
    X, X_test = X.astype(np.float32), X_test.astype(np.float32)
    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):  # one epoch does not converge
        for encoding, dtype in (("auto", np.float32), (WINDOWS, np.uint8)):  # compiles
            model = FlyRidgeClassifier(2048, encoding=encoding, random_state=0)
            model.fit(X[:20_000].astype(dtype), y[:20_000]).predict(X_test[:2000].astype(dtype))
        if "peers" in wanted:
            peers(X, y, X_test, y_test)
        if "epoch" in wanted:
            epoch(X, y, X_test, y_test)
        if "alone" in wanted:
            alone(X, y)
        if "follow" in wanted:
            follow(X, y)


if __name__ == "__main__":
    main()
