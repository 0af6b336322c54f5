"""Up to 10 000 classes: time per row and peak memory of fit and predict, by the table of counts and by lists.

Ten rows of each class are learned, of a mixture of as many Gaussians in 64 dimensions, at the default sizes. Each round
predicts the same rows both ways, and checks that both give the same labels; the best of three rounds is kept. Times are
those of the processor, on one thread.

    python benchmarks/many_classes.py [--quick]
"""

from __future__ import annotations

import argparse
import ctypes
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from flybloom import FlyBloomClassifier
from flybloom.core.readout import scorer as scoring
from flybloom.estimators.access import reading_learned
from peers.machine import save

FEATURES, ROWS_OF_A_CLASS, ROWS_TO_SCORE, ROUNDS = 64, 10, 2048, 3
CLASSES = (10, 32, 64, 100, 316, 1000, 3162, 10_000)


def sample(n_classes: int, n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of as many clusters as there are classes."""
    rng = np.random.default_rng(seed)
    centers = np.random.default_rng(0).standard_normal((n_classes, FEATURES), np.float32)
    y = rng.permutation(np.arange(n_rows) % n_classes)
    return centers[y] + 0.5 * rng.standard_normal((n_rows, FEATURES), np.float32), y


@contextmanager
def way(*, lists: bool) -> Iterator[None]:
    """Score by lists, or by the table, whichever would be chosen."""
    before = scoring.MANY_CLASSES, scoring.MAX_LISTED
    scoring.MANY_CLASSES, scoring.MAX_LISTED = (1, 1.0) if lists else (np.inf, 0.0)
    yield
    scoring.MANY_CLASSES, scoring.MAX_LISTED = before


@contextmanager
def peak_megabytes() -> Iterator[list[float]]:
    """Give how much the resident memory grew at most; what was freed before is not waiting to be used again."""
    grown: list[float] = []
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    yield grown
    grown.append(resident("VmHWM") - before)


def resident(field: str) -> float:
    """Return a line of /proc/self/status in MB."""
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{field}:")[1].split()[0]) / 1024


def measure(n_classes: int) -> dict[str, float]:
    """Return what is known of so many classes."""
    X, y = sample(n_classes, ROWS_OF_A_CLASS * n_classes, 1)
    X_new, y_new = sample(n_classes, ROWS_TO_SCORE, 2)
    model = FlyBloomClassifier(random_state=0)
    with peak_megabytes() as grown:
        start = time.process_time()
        model.fit(X, y)
        fit = time.process_time() - start
    with reading_learned(model) as learned:
        hasher = learned.hasher
    best = {"table": np.inf, "lists": np.inf, "hash": np.inf, "novelty by table": np.inf, "novelty by lists": np.inf}
    labels, memory = {}, {}
    for _ in range(ROUNDS):
        for name in ("table", "lists"):
            with way(lists=name == "lists"), peak_megabytes() as predicting:
                start = time.process_time()
                labels[name] = model.predict(X_new)
                best[name] = min(best[name], time.process_time() - start)
            memory[name] = max(memory.get(name, 0.0), predicting[0])
            with way(lists=name == "lists"):
                start = time.process_time()
                model.novelty(X_new)
                best[f"novelty by {name}"] = min(best[f"novelty by {name}"], time.process_time() - start)
        start = time.process_time()
        hasher.winners(X_new)
        best["hash"] = min(best["hash"], time.process_time() - start)
    if (labels["table"] != labels["lists"]).any():
        msg = "The two ways predict different labels."
        raise SystemExit(msg)
    return {
        "classes": n_classes,
        "not zero": float(np.count_nonzero(model.counts_) / model.counts_.size),
        "accuracy": float((labels["lists"] == y_new).mean()),
        "counts, MB": model.counts_.nbytes / 2**20,
        "fit, us": 1e6 * fit / len(y),
        "fit, MB": grown[0],
        **{f"{name}, us": 1e6 * seconds / ROWS_TO_SCORE for name, seconds in best.items()},
        **{f"{name}, MB": value for name, value in memory.items()},
    }


def main() -> None:
    """Print a table, and save it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="up to 1000 classes, nothing saved")
    quick = parser.parse_args().quick
    measure(10)  # compiles
    result = []
    for n_classes in CLASSES[:-2] if quick else CLASSES:
        result.append(measure(n_classes))
        if len(result) == 1:
            print("| " + " | ".join(result[0]) + " |\n" + "|---" * len(result[0]) + "|")
        print("| " + " | ".join(f"{value:.4g}" for value in result[-1].values()) + " |", flush=True)
    if not quick:
        save("many_classes", result)


if __name__ == "__main__":
    main()
