"""Fit, predict, accuracy, size and memory of flybloom and its peers, on four data sets; one thread.

All are timed in one process, one after the other, in every round; the best round counts. Peak memory comes from a
process of its own for each. Exact neighbours are asked about few rows only, and river learns few, because they are
slow. Results go to benchmarks/results/classify.json.

    python benchmarks/classify.py [--data mnist letter ...] [--quick]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from datasets import load, load_split
from flybloom import FlyBloomClassifier
from peers.contestants import ALL, SKILLS, Contestant, model_bytes
from peers.machine import save

ROUNDS = 3
DATA = ("mnist", "fashion_mnist", "letter", "stream")
# the paper's matrix on centred pixels, m = 64 d: what MNIST is usually hashed with
VISION = Contestant(
    "flybloom, 64 d",
    lambda: FlyBloomClassifier(
        64.0, n_connections=20, n_winners=64, decay=0.2, signed=False, scaling="center", random_state=0
    ),
    frozenset(SKILLS),
)


def stream(n: int) -> tuple[np.ndarray, ...]:
    """Return n rows of 50 features: ten classes of three clusters each, and a tenth of the rows to test."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((30, 50))
    cluster = rng.integers(0, 30, n)
    X = (centres[cluster] + 1.2 * rng.standard_normal((n, 50))).astype(np.float32)
    return split(X, cluster % 10)


def split(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return X, y, X_test, y_test."""
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.1, stratify=y, random_state=0)
    return X, y, X_test, y_test


def rows(name: str, quick: bool) -> tuple[np.ndarray, ...]:
    """Return X, y, X_test, y_test of a data set."""
    if name == "stream":
        return stream(20_000 if quick else 1_000_000)
    X, y, X_test, y_test = split(*load(name)) if name == "letter" else load_split(name)
    most = 2000 if quick else len(y)
    return X[:most], y[:most], X_test, y_test


def contestants(name: str) -> list[Contestant]:
    """Return who takes part on a data set."""
    return ALL + ([VISION] if "mnist" in name else [])


def timed(
    contestant: Contestant, X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray
) -> dict[str, object]:
    """Fit and predict once."""
    X, y = X[: contestant.most_rows], y[: contestant.most_rows]
    X_test, y_test = X_test[: contestant.most_queries], y_test[: contestant.most_queries]
    start = time.perf_counter()
    model = contestant.make().fit(X, y)
    fitted = time.perf_counter()
    predicted = model.predict(X_test)
    done = time.perf_counter()
    return {
        "fit_seconds": fitted - start,
        "predict_us": 1e6 * (done - fitted) / len(y_test),
        "accuracy": float((predicted == y_test).mean()),
        "bytes": model_bytes(model),
        "rows": len(y),
        "queries": len(y_test),
    }


def compare(name: str, quick: bool) -> dict[str, object]:
    """Return the best of the rounds for each contestant."""
    data = rows(name, quick)
    few = [part[:300] for part in data]
    best: dict[str, dict[str, object]] = {}
    with threadpool_limits(1):
        for contestant in contestants(name):
            timed(contestant, *few)  # load and compile what is loaded and compiled on first use
        for round_ in range(1 if quick else ROUNDS):
            for contestant in contestants(name):
                now = timed(contestant, *data)
                old = best.setdefault(contestant.name, now)
                for key in ("fit_seconds", "predict_us"):
                    old[key] = min(old[key], now[key])
                print(f"{name}, round {round_ + 1}: {contestant.name}", file=sys.stderr, flush=True)
    for contestant in contestants(name):
        best[contestant.name]["peak_mb"] = peak_of(name, contestant.name, quick)
        best[contestant.name]["skills"] = sorted(contestant.skills)
    return {"data_bytes": data[0].nbytes, "contestants": best}


def peak_of(name: str, contestant: str, quick: bool) -> float:
    """Return the peak memory of fit and predict above the data, measured in a process of its own."""
    command = [sys.executable, __file__, "--peak", name, contestant] + ["--quick"] * quick
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


def print_peak(name: str, contestant_name: str, quick: bool) -> None:
    """Fit and predict one contestant and print by how many megabytes the peak rose."""
    data = rows(name, quick)
    contestant = next(c for c in contestants(name) if c.name == contestant_name)
    timed(contestant, *[part[:300] for part in data])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    timed(contestant, *data)
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)


def table(name: str, result: dict[str, object]) -> None:
    """Print one data set's comparison, with ratios to flybloom."""
    fly = result["contestants"]["flybloom"]
    print(f"\n{name}: {result['data_bytes'] / 2**20:.0f} MiB of training rows")
    print("| | fit, s | predict, us a row | accuracy | model, KiB | peak, MB | fit / flybloom | predict / flybloom |")
    print("|---|---|---|---|---|---|---|---|")
    for contestant, r in result["contestants"].items():
        ratios = f"{r['fit_seconds'] / fly['fit_seconds']:.2f} | {r['predict_us'] / fly['predict_us']:.2f}"
        sizes = f"{r['bytes'] / 1024:.0f} | {r['peak_mb']:.0f}"
        times = f"{r['fit_seconds']:.2f} | {r['predict_us']:.1f}"
        print(f"| {contestant} | {times} | {r['accuracy']:.4f} | {sizes} | {ratios} |")


def main() -> None:
    """Compare on each data set, print, save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", choices=DATA, default=DATA)
    parser.add_argument("--quick", action="store_true", help="few rows, one round; nothing is saved")
    parser.add_argument("--peak", nargs=2, metavar=("DATA", "CONTESTANT"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peak:
        print_peak(*arguments.peak, arguments.quick)
        return
    path = Path(__file__).parent / "results" / "classify.json"
    results = json.loads(path.read_text())["result"] if path.exists() else {}
    for name in arguments.data:
        results[name] = compare(name, arguments.quick)
        table(name, results[name])
        if not arguments.quick:
            save("classify", results)


if __name__ == "__main__":
    main()
