"""Heads on the same embeddings: accuracy, classes that come one after the other, deletions, merging, time.

    python benchmarks/embeddings.py             # measures what is not measured yet
    python benchmarks/embeddings.py digits      # of some sets
    python benchmarks/embeddings.py stream merging
    python benchmarks/embeddings.py speed       # times of 100 000 x 384, with nothing else running
    python benchmarks/embeddings.py --page      # writes docs/benchmarks/embeddings.md from the results

Rows have unit length; at most 4000 are learned and 2000 asked about. Seconds are of the processor, on one thread.
"""

from __future__ import annotations

import json
import pickle
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

import embeddings_page
from embeddings_heads import HEADS, Hnsw
from embeddings_sets import SETS, Split, load
from flybloom import FlyRidgeClassifier
from flybloom.core.sketch import Sketch
from flybloom.estimators.access import reading_learned
from resumable import measured

MOST, MOST_TEST = 4000, 2000
ORDERS, TASKS, BATCH = 5, 10, 100
OPERATIONS, PARTIES = 10_000, 16
OURS = {
    "FlyRidgeClassifier()": lambda: FlyRidgeClassifier(n_jobs=1),
    "FlyRidgeClassifier(2048)": lambda: FlyRidgeClassifier(2048, n_jobs=1),
    'FlyRidgeClassifier(encoding="center")': lambda: FlyRidgeClassifier(encoding="center", n_jobs=1),
}


def unit(name: str) -> Split:
    """Return rows of unit length, not more than are learned and asked about."""
    X, y, X_test, y_test = load(name)
    X, X_test = X[:MOST], X_test[:MOST_TEST]
    long, long_test = (np.linalg.norm(rows, axis=1, keepdims=True) for rows in (X, X_test))
    return Split(X / np.maximum(long, 1e-12), y[:MOST], X_test / np.maximum(long_test, 1e-12), y_test[:MOST_TEST])


def joint(name: str, make: Callable[[], Any]) -> dict[str, Any]:
    """Learn all rows at once, ask, and weigh the model."""
    X, y, X_test, y_test = unit(name)
    with warnings.catch_warnings(action="ignore"):
        start = time.process_time()
        model = make().fit(X, y)
        model.predict(X_test[:1])  # solves
        fitted = time.process_time()
        found = model.predict(X_test)
        asked = time.process_time()
    return {
        "accuracy": float(np.mean(found == y_test)), "fit_seconds": fitted - start,
        "predict_microseconds": (asked - fitted) / len(y_test) * 1e6, "bytes": n_bytes(model),
    }  # fmt: skip


def n_bytes(model: Any) -> int:
    """Return the bytes of the file that predicts: of ours the frozen one."""
    if isinstance(model, FlyRidgeClassifier):
        with tempfile.NamedTemporaryFile() as file:
            model.freeze().save(file.name)
            return Path(file.name).stat().st_size
    return int(model.n_bytes()) if isinstance(model, Hnsw) else len(pickle.dumps(model))


def orders(y: np.ndarray) -> Iterator[list[np.ndarray]]:
    """Yield the classes as tasks, in several orders."""
    for seed in range(ORDERS):
        classes = np.random.default_rng(seed).permutation(np.unique(y))
        yield np.array_split(classes, min(TASKS, classes.size))


def one_after_the_other(name: str, kind: str) -> dict[str, Any]:
    """Learn task after task without a look back; the accuracy after the last, in each order."""
    X, y, X_test, y_test = unit(name)
    accuracies, files = [], set()
    scaler = StandardScaler().fit(X)
    for tasks in orders(y):
        model: Any = {
            "ours": lambda: FlyRidgeClassifier(n_jobs=1),
            "SGD": lambda: SGDClassifier(loss="log_loss", random_state=0),
            "MLP": lambda: MLPClassifier((256,), random_state=0),
        }[kind]()
        for task in tasks:
            at = np.flatnonzero(np.isin(y, task))
            if kind == "ours":
                model.partial_fit(X[at], y[at])
                continue
            at = np.random.default_rng(0).permutation(at)
            for begin in range(0, at.size, BATCH):
                some = at[begin : begin + BATCH]
                model.partial_fit(scaler.transform(X[some]), y[some], classes=np.unique(y))
        if kind == "ours":
            files.add(model_bytes(model))
            found = model.predict(X_test) if len(files) > len(accuracies) else None
        else:
            found = model.predict(scaler.transform(X_test))
        if found is not None:
            accuracies.append(float(np.mean(found == y_test)))
    if kind == "ours":
        files.add(model_bytes(FlyRidgeClassifier(n_jobs=1).fit(X, y)))
        return {"accuracies": accuracies * ORDERS, "different_files": len(files)}
    return {"accuracies": accuracies}


def model_bytes(model: Any) -> bytes:
    """Return the file of a model."""
    with tempfile.NamedTemporaryFile() as file:
        model.save(file.name)
        return Path(file.name).read_bytes()


def stream() -> dict[str, Any]:
    """Add and delete single rows, 10 000 times, and compare with models that learned only what remains."""
    X, y = unit("docstrings")[:2]
    rng = np.random.default_rng(0)
    n_first = 500
    here, away = list(range(n_first)), list(range(n_first, 1000))
    ours = FlyRidgeClassifier(n_jobs=1).fit(X[:n_first], y[:n_first])
    classes = np.unique(y)
    sums = Sums(X.shape[1], classes)
    sums.change(X[:n_first], y[:n_first], 1)
    start = time.process_time()
    for _ in range(OPERATIONS):
        is_added = rng.random() < 0.5 if here and away else bool(away)
        source, goal = (away, here) if is_added else (here, away)
        at = source.pop(int(rng.integers(len(source))))
        goal.append(at)
        row, label = X[at : at + 1], y[at : at + 1]
        (ours.partial_fit if is_added else ours.forget)(row, label)
        sums.change(row, label, 1 if is_added else -1)
    seconds = time.process_time() - start
    again = FlyRidgeClassifier(n_jobs=1).fit(X[here], y[here])
    retrained = Sums(X.shape[1], classes)
    retrained.change(X[here], y[here], 1)
    mine, theirs = (np.frombuffer(model_bytes(model), np.uint8) for model in (ours, again))
    is_same = mine.size == theirs.size
    return {
        "operations": OPERATIONS, "rows": len(here), "milliseconds": seconds / OPERATIONS * 1e3,
        "different_bits": int(np.unpackbits(mine ^ theirs).sum()) if is_same else -1,
        "bytes": int(mine.size),
        "float_ridge_different_bits": sums.different_bits(retrained),
        "float_ridge_difference": float(np.abs(sums.products - retrained.products).max()),
    }  # fmt: skip


class Sums:
    """What ridge regression in floats keeps: sums of products, in single precision, and of rows by class."""

    def __init__(self, n_columns: int, classes: np.ndarray) -> None:
        self.classes = classes
        self.products = np.zeros((n_columns, n_columns), np.float32)
        self.right = np.zeros((n_columns, classes.size), np.float32)

    def change(self, X: np.ndarray, y: np.ndarray, sign: int) -> None:
        """Add rows, or take them away."""
        self.products += sign * (X.T @ X)
        self.right += sign * (X.T @ (y[:, None] == self.classes).astype(np.float32))

    def different_bits(self, other: Sums) -> int:
        """Return how many bits of the sums differ."""
        pairs = ((self.products, other.products), (self.right, other.right))
        return sum(int(np.unpackbits(a.view(np.uint8) ^ b.view(np.uint8)).sum()) for a, b in pairs)


def merging() -> dict[str, Any]:
    """Learn parts of a set apart, under a hash that they agreed on, and add them up."""
    X, y = load("debian")[:2]
    agreed = FlyRidgeClassifier(n_jobs=1).fit(X[:2000], y[:2000]).like()
    start = time.process_time()
    whole = agreed.like().partial_fit(X, y)
    at_once = time.process_time() - start
    parties, seconds = [], []
    for part in np.array_split(np.arange(len(y)), PARTIES):
        start = time.process_time()
        parties.append(agreed.like().partial_fit(X[part], y[part]))
        seconds.append(time.process_time() - start)
    start = time.process_time()
    both = parties[0]
    for party in parties[1:]:
        both.merge(party)
    merged = time.process_time() - start
    return {
        "rows": len(y), "at_once": at_once, "slowest_party": max(seconds), "merging": merged,
        "is_same": model_bytes(both) == model_bytes(whole),
    }  # fmt: skip


def speed(kind: str) -> dict[str, Any]:
    """Return seconds to learn 100 000 rows of 384 columns and 10 classes, and microseconds to predict one of 5000."""
    rng = np.random.default_rng(0)
    n, d, n_classes = 100_000, 384, 10
    centres, y = rng.standard_normal((n_classes, d), np.float32), rng.integers(n_classes, size=n + 5000)
    X = centres[y] + 4 * rng.standard_normal((n + 5000, d), np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    make: Callable[[], Any] = {
        **OURS,
        "LogisticRegression": lambda: LogisticRegression(C=100),
        "hnswlib": Hnsw,
    }[kind]
    make().fit(X[:2000], y[:2000]).predict(X[n:])  # compiles
    profile = hashing_seconds(make().fit(X[:2000], y[:2000]), X[:10_000]) if kind in OURS else {}
    model = make()
    times = [time.process_time()]
    model.fit(X[:n], y[:n])
    times.append(time.process_time())
    model.predict(X[:1])
    times.append(time.process_time())
    found = model.predict(X[n:])
    times.append(time.process_time())
    fit, solve, predict = np.diff(times).tolist()
    return {
        "fit_seconds": fit, "solve_seconds": solve, "predict_microseconds": predict / 5000 * 1e6,
        "accuracy": float(np.mean(found == y[n:])), **profile,
    }  # fmt: skip


def hashing_seconds(model: Any, X: np.ndarray) -> dict[str, float]:
    """Return the seconds that 100 000 rows take to be sampled, encoded and hashed, from those of fewer."""
    with reading_learned(model) as learned:
        hasher = learned.hasher
    times = [time.process_time()]
    Sketch.of(X, np.zeros(len(X), np.int64), np.ones(len(X), np.int64))
    times.append(time.process_time())
    for begin in range(0, len(X), 256):
        hasher.encoder.encode(X[begin : begin + 256])
    times.append(time.process_time())
    hasher.winners(X, 1)
    times.append(time.process_time())
    sampled, encoded, hashed = (np.diff(times) * 100_000 / len(X)).tolist()
    return {"sketch_seconds": sampled, "encode_seconds": encoded, "hash_seconds": hashed}


def main() -> None:
    """Measure what is missing, or write the page."""
    warnings.simplefilter("ignore")
    if "--page" in sys.argv:
        embeddings_page.write(list(SETS), list({**OURS, **HEADS}))
        return
    if "speed" in sys.argv:
        for kind in sys.argv[2:] or (*OURS, "LogisticRegression", "hnswlib"):
            print(kind, measured("embeddings_speed", kind, lambda kind=kind: speed(kind)), flush=True)
        return
    wanted = sys.argv[1:] or [*SETS, "stream", "merging"]
    for name in wanted:
        if name not in SETS:
            print(measured("embeddings", name, {"stream": stream, "merging": merging}[name]), flush=True)
            continue
        for head, make in {**OURS, **HEADS}.items():
            found = measured("embeddings", f"joint/{name}/{head}", lambda name=name, make=make: joint(name, make))
            print(name, head, json.dumps(found), flush=True)
        n_classes = np.unique(unit(name).y).size
        for kind in ("ours", "SGD", "MLP") if n_classes >= 10 else ():
            key = f"incremental/{name}/{kind}"
            found = measured("embeddings", key, lambda name=name, kind=kind: one_after_the_other(name, kind))
            print(key, found, flush=True)


if __name__ == "__main__":
    main()
