"""Fit, predict, accuracy, size and memory of flybloom and its peers, on four data sets; one thread.

All are timed in one process, one after the other, in every round; the best round counts. Rows are float32 beforehand,
only the models for images take bytes as they are stored. Each is asked about all its rows in one call. Exact neighbours
are asked about few, graphs learn 100 000 at the most and river 500, because they are slow; the tables say how many.
Results go to benchmarks/results/classify.json.

    python benchmarks/classify.py [--data mnist letter ...] [--quick]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

os.environ.setdefault("FLYBLOOM_LOOPS", "compiled")  # before the package looks: few rows are enough to compile for all

from peers.contestants import ALL, LETTER, VISION, Contestant, fly_bytes, model_bytes
from peers.data import Rows, rows
from peers.machine import RESULTS, save
from peers.memory import Peak
from peers.tables import classify_table

ROUNDS = {"mnist": 1, "fashion_mnist": 1, "letter": 3, "stream": 1}


def contestants(name: str) -> list[Contestant]:
    """Return who takes part on a data set."""
    own = LETTER if name == "letter" else VISION if "mnist" in name else []
    return [*own, *ALL]


def timed(contestant: Contestant, data: Rows) -> dict[str, Any]:
    """Fit and predict once."""
    data = data.first(contestant.most_rows, contestant.most_queries)
    X, X_test = (data.stored, data.stored_test) if contestant.takes_stored else (data.X, data.X_test)
    with Peak() as peak, warnings.catch_warnings(action="ignore"):  # one epoch does not converge
        start = time.perf_counter()
        model = contestant.make().fit(X, data.y)
        model.predict(X_test[:1])  # what models solve for their first prediction is part of learning
        fitted = time.perf_counter()
        predicted = model.predict(X_test)
        done = time.perf_counter()
    return {
        "fit_seconds": fitted - start,
        "predict_us": 1e6 * (done - fitted) / len(data.y_test),
        "accuracy": float(np.mean(predicted == data.y_test)),
        "bytes": model_bytes(model),
        **fly_bytes(model),
        "peak_mb": peak.megabytes,
        "rows": len(data.y),
        "queries": len(data.y_test),
        "skills": list(contestant.skills),
    }


def compare(name: str, *, quick: bool) -> dict[str, Any]:
    """Return the best of the rounds for each contestant."""
    data = rows(name, quick=quick)
    best: dict[str, dict[str, Any]] = {}
    n_rounds = 1 if quick else ROUNDS[name]
    with threadpool_limits(1):
        for contestant in contestants(name):
            timed(contestant, data.first(100, 10))  # load and compile what is loaded and compiled on first use
        for round_ in range(n_rounds):
            for contestant in contestants(name):
                print(f"{name}, round {round_ + 1} of {n_rounds}: {contestant.name}", file=sys.stderr, flush=True)
                now = timed(contestant, data)
                old = best.setdefault(contestant.name, now)
                for key in ("fit_seconds", "predict_us"):
                    old[key] = min(old[key], now[key])
    return {
        "rounds": n_rounds,
        "shape": data.X.shape,
        "float32_bytes": data.X.nbytes,
        "stored_bytes": data.stored.nbytes,
        "contestants": best,
    }


def main() -> None:
    """Compare on each data set, print, save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", choices=ROUNDS, default=list(ROUNDS))
    parser.add_argument("--quick", action="store_true", help="few rows, one round; nothing is saved")
    arguments = parser.parse_args()
    path = RESULTS / "classify.json"
    results = json.loads(path.read_text())["result"] if path.exists() else {}
    for name in arguments.data:
        results[name] = compare(name, quick=arguments.quick)
        print(f"\n{classify_table(results[name])}\n", flush=True)
        if not arguments.quick:
            save("classify", results)


if __name__ == "__main__":
    main()
