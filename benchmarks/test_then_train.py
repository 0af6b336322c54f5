"""Test, then train: flybloom beside models of river on eight streams, in accuracy and in rows per second.

Accuracies are of the first 20 000 rows of each stream, 10 000 for pairs. River answers and learns row by row, and so do
the models of flybloom, but for pairs and half-lives: these answer 16 rows and then learn them (the last of a block
never profits from the others). Columns are standardised for river's neighbours. Each result is saved when it is there,
and an interrupted run goes on. "Live" is the same model that is given one row at a time, as rows come from a sensor.

    python benchmarks/test_then_train.py             accuracies, to benchmarks/results/test_then_train.json
    python benchmarks/test_then_train.py --speed     rows per second on 2000 rows after 1000, on a quiet machine
    python benchmarks/test_then_train.py --table     the tables of docs/benchmarks/streams.md
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

from flybloom import AdaptiveWindow, FlyBloomClassifier, FlyRidgeClassifier, SlidingWindow
from flybloom.streams import test_then_train
from peers.machine import RESULTS, save
from peers.streams import RIVER, STREAMS, answers, stream

MOST, BLOCK, WINDOW, DRAWN = 20_000, 16, 1000, 8000
MOST_OF_PAIRS = 10_000  # which take longer
FIRST, TIMED = 1000, 2000

first = partial(FlyBloomClassifier, 8192, n_winners=64, random_state=0)
small = partial(FlyBloomClassifier, 4096, n_winners=64, random_state=0)
pairs = partial(FlyRidgeClassifier, 256, random_state=0)


class Live:
    """A model that is given one row at a time."""

    def __init__(self, model: Any) -> None:
        self.predict, self.partial_fit = model.predict, model.partial_fit


ROW_BY_ROW: dict[str, Callable[[], Any]] = {
    "flybloom, all rows": lambda: AdaptiveWindow(first(), [None]),
    "flybloom, window of 1000": lambda: AdaptiveWindow(first(), [WINDOW]),
    "flybloom, best window": lambda: AdaptiveWindow(first()),
    "flybloom, best window, 4096 components": lambda: AdaptiveWindow(small()),
}
IN_BLOCKS: dict[str, Callable[[], Any]] = {
    "flybloom, half-life of 500": lambda: SlidingWindow(first(), half_life=WINDOW // 2),
    "flybloom, pairs, all rows": pairs,
    "flybloom, pairs, window of 1000": lambda: SlidingWindow(pairs(), n_rows=WINDOW),
}
LIVE: dict[str, Callable[[], Any]] = {
    "flybloom, all rows, live": lambda: Live(first()),
    "flybloom, best window, live": lambda: Live(AdaptiveWindow(first())),
}
FLY = {**ROW_BY_ROW, **IN_BLOCKS, **LIVE}


def held() -> dict[str, Any]:
    """Return what earlier runs have found."""
    path = RESULTS / "test_then_train.json"
    return json.loads(path.read_text())["result"] if path.exists() else {"accuracy": {}, "rows_per_second": {}}


def accuracy(name: str, model: str) -> dict[str, float]:
    """Return the accuracy of a model on a stream, beside those of the baselines."""
    X, y = stream(name)
    most = MOST_OF_PAIRS if "pairs" in model else MOST
    X, y = X[:most], y[:most]
    if model in RIVER:
        return {"accuracy": float(np.mean([*answers(RIVER[model](), X, y)]))}
    scores = test_then_train(FLY[model](), [(X, y)], block_rows=BLOCK if model in IN_BLOCKS else 1)
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
    learner, block_rows = FLY[model](), BLOCK if model in IN_BLOCKS else 1
    learner.partial_fit(X[:n_first], y[:n_first])
    test_then_train(learner, [(X[:BLOCK], y[:BLOCK])], block_rows=block_rows)  # whatever is to be compiled
    return test_then_train(learner, [(X[n_first:], y[n_first:])], block_rows=block_rows).rows_per_second


def table() -> None:
    """Print what is known as the tables of the documentation."""
    found = held()
    accuracies, rates = found["accuracy"], found["rows_per_second"]
    print("| accuracy |", " | ".join(STREAMS), "|")
    print("|---|" + "---:|" * len(STREAMS))
    for label, entry in (("no change", "no_change"), ("majority", "majority")):
        known = [accuracies[name]["flybloom, all rows"][entry] for name in STREAMS]
        print(f"| {label} |", " | ".join(f"{value:.3f}" for value in known), "|")
    for model in (*ROW_BY_ROW, *IN_BLOCKS, *RIVER):
        known = [accuracies[name].get(model, {}).get("accuracy", np.nan) for name in STREAMS]
        print(f"| {model} |", " | ".join(f"{value:.3f}" for value in known), "|")
    print("\n| rows/s |", " | ".join(STREAMS), "|")
    print("|---|" + "---:|" * len(STREAMS))
    for model in (*FLY, *RIVER):
        known = [rates[name].get(model, np.nan) for name in STREAMS]
        print(f"| {model} |", " | ".join(f"{value:,.0f}".replace(",", " ") for value in known), "|")


def picture() -> None:
    """Draw the first rows of two streams that change."""
    import matplotlib.pyplot as plt  # noqa: PLC0415 - only here

    from flybloom.plots import StreamDisplay  # noqa: PLC0415

    figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    for name, ax in zip(("nomao", "moving_squares"), axes, strict=True):
        X, y = stream(name)
        X, y = X[:DRAWN], y[:DRAWN]
        lengths = {"all rows": [None], "window of 1000": [WINDOW], "of 100": [100], "best of them": [100, WINDOW, None]}
        models = {label: AdaptiveWindow(first(), n_rows) for label, n_rows in lengths.items()}
        scores = {label: test_then_train(model, [(X, y)], block_rows=1) for label, model in models.items()}
        StreamDisplay.from_scores(scores, ax=ax)
        ax.set_title(name)
    figure.savefig(Path(__file__).parents[1] / "docs" / "images" / "streams.svg")


def main() -> None:
    """Measure what is not yet known, print, save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--speed", action="store_true", help="measure speed instead of accuracy")
    parser.add_argument("--picture", action="store_true", help="draw instead")
    parser.add_argument("--table", action="store_true", help="print what is known")
    parser.add_argument("--only", default="", help="models whose name begins with this")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.picture or given.table:
        picture() if given.picture else table()
        return
    models = (*FLY, *RIVER) if given.speed else (*ROW_BY_ROW, *IN_BLOCKS, *RIVER)
    for model in [name for name in models if name.startswith(given.only)]:
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
