"""Test, then train: flybloom beside models of river on eight streams, in accuracy and in rows per second.

Accuracies are of the first 20 000 rows of each stream, the same for all. River answers and learns row by row, which is
how its models work; flybloom answers 16 rows and then learns them (the last of a block never profits from the others).
Columns are standardised for river's neighbours. Each result is saved when it is there, and an interrupted run goes on.

    python benchmarks/test_then_train.py             accuracies, to benchmarks/results/test_then_train.json
    python benchmarks/test_then_train.py --speed     rows per second on 2000 rows after 1000, on a quiet machine
    python benchmarks/test_then_train.py --picture   docs/images/streams.svg
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from flybloom import FlyBloomClassifier, FlyRidgeClassifier, SlidingWindow
from flybloom.evaluate import test_then_train
from peers.machine import RESULTS, save
from peers.streams import RIVER, STREAMS, answers, stream

MOST, BLOCK, WINDOW, DRAWN = 20_000, 16, 1000, 8000
FIRST, TIMED = 1000, 2000

first = partial(FlyBloomClassifier, 4096, n_winners=64, random_state=0)
bins = partial(FlyBloomClassifier, 16384, n_winners=64, encoding="bins", random_state=0)
pairs = partial(FlyRidgeClassifier, 256, random_state=0)
FLY: dict[str, Callable[[], Any]] = {
    "flybloom": first,
    "flybloom, window": lambda: SlidingWindow(first(), n_rows=WINDOW),
    "flybloom, half-life": lambda: SlidingWindow(first(), half_life=WINDOW // 2),
    "flybloom, bins": bins,
    "flybloom, pairs": pairs,
    "flybloom, pairs, window": lambda: SlidingWindow(pairs(), n_rows=WINDOW),
}


def held() -> dict[str, Any]:
    """Return what earlier runs have found."""
    path = RESULTS / "test_then_train.json"
    return json.loads(path.read_text())["result"] if path.exists() else {"accuracy": {}, "rows_per_second": {}}


def accuracy(name: str, model: str) -> dict[str, float]:
    """Return the accuracy of a model on a stream, beside those of the baselines."""
    X, y = stream(name)
    X, y = X[:MOST], y[:MOST]
    if model in RIVER:
        return {"accuracy": float(np.mean([*answers(RIVER[model](), X, y)]))}
    scores = test_then_train(FLY[model](), [(X, y)], block_rows=BLOCK)
    return {
        "accuracy": scores.accuracy,
        "no_change": scores.no_change_accuracy,
        "majority": scores.majority_accuracy,
        "kappa_no_change": scores.kappa_no_change,
    }


def speed(name: str, model: str) -> float:
    """Return the rows that are answered and learned in a second, after the first thousand."""
    X, y = stream(name)
    n_first = min(FIRST, len(y) // 2)
    X, y = X[: n_first + TIMED], y[: n_first + TIMED]
    if model in RIVER:
        learner = RIVER[model]()
        for _ in answers(learner, X[:n_first], y[:n_first]):
            pass
        start = time.perf_counter()
        for _ in answers(learner, X[n_first:], y[n_first:]):
            pass
        return (len(y) - n_first) / (time.perf_counter() - start)
    learner = FLY[model]()
    test_then_train(learner, [(X[:n_first], y[:n_first])], block_rows=BLOCK)
    return test_then_train(learner, [(X[n_first:], y[n_first:])], block_rows=BLOCK).rows_per_second


def picture() -> None:
    """Draw the first rows of two streams that change."""
    import matplotlib.pyplot as plt  # noqa: PLC0415 - only here

    from flybloom.plots import StreamDisplay  # noqa: PLC0415

    figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    for name, ax in zip(("nomao", "moving_squares"), axes, strict=True):
        X, y = stream(name)
        X, y = X[:DRAWN], y[:DRAWN]
        short = SlidingWindow(first(), n_rows=100)
        models = {"all rows": first(), "window of 1000": SlidingWindow(first(), n_rows=WINDOW), "of 100": short}
        scores = {label: test_then_train(model, [(X, y)], block_rows=BLOCK) for label, model in models.items()}
        StreamDisplay.from_scores(scores, ax=ax)
        ax.set_title(name)
    figure.savefig(Path(__file__).parents[1] / "docs" / "images" / "streams.svg")


def main() -> None:
    """Measure what is not yet known, print, save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--speed", action="store_true", help="measure speed instead of accuracy")
    parser.add_argument("--picture", action="store_true", help="draw instead")
    parser.add_argument("--only", default="", help="models whose name begins with this")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.picture:
        picture()
        return
    for model in [name for name in (*FLY, *RIVER) if name.startswith(given.only)]:
        for name in reversed(STREAMS):
            kind = "rows_per_second" if given.speed else "accuracy"
            if model in held()[kind].get(name, {}):
                continue
            found = speed(name, model) if given.speed else accuracy(name, model)
            results = held()  # others may have gone on meanwhile
            results[kind].setdefault(name, {})[model] = found
            save("test_then_train", results)
            print(name, model, found, flush=True)


if __name__ == "__main__":
    main()
