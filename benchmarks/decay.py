"""Which decay is best, beside what the counts say: every table, images, streams, and prefixes of each.

    python benchmarks/decay.py          # measures what is missing in benchmarks/results/decay.json, then compares rules
    python benchmarks/decay.py rules    # compares only

Each set is shuffled and cut once (three times below 5000 rows); a quarter of the rows, at most 5000, are tested. Models
learn the first 1 %, 10 % and 100 % of the others. Of each model the accuracy at many decays is kept, the mean of its
counts, and how many of them have how many binary digits.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_classification

from datasets import VISION, load, load_split, tabular
from flybloom import FlyBloomClassifier
from flybloom.core.readout.filters import MOST_DECAY, Filters
from flybloom.estimators.access import reading_learned
from peers.data import stream

RESULTS = Path(__file__).parent / "results" / "decay.json"
DECAYS = (
    0.7,
    0.4,
    0.25,
    0.15,
    0.1,
    0.06,
    0.04,
    0.025,
    0.015,
    0.01,
    0.006,
    0.004,
    0.0025,
    0.0015,
    0.001,
    0.0006,
    0.0003,
)
SHARES = (0.01, 0.1, 1.0)
FEW, LEAST_ROWS, MOST_TESTED = 5000, 20, 5000
STREAMS = ("stream", "synthetic")


def parts(name: str, repeat: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return rows to learn, shuffled, and rows to test."""
    if name in VISION:
        X, y, X_test, y_test = load_split(name)
        order = np.random.default_rng(repeat).permutation(len(y))
        return X[order], y[order], X_test, y_test
    if name == "stream":
        X, y = stream(1_000_000)
    elif name == "synthetic":
        X, y = make_classification(
            200_000, 50, n_informative=30, n_redundant=0, n_classes=10, n_clusters_per_class=3, class_sep=1.5, flip_y=0,
            random_state=0,
        )  # fmt: skip
        X = X.astype(np.float32)
    else:
        X, y = load(name)
    order = np.random.default_rng(repeat).permutation(len(y))
    n_test = min(len(y) // 4, MOST_TESTED)
    learn, test = order[n_test:], order[:n_test]
    return X[learn], y[learn], X[test], y[test]


def measured(name: str) -> Iterator[dict[str, Any]]:
    """Yield a record for each prefix."""
    for repeat in range(1 if name in (*VISION, *STREAMS) else 3):
        X, y, X_test, y_test = parts(name, repeat)
        for share in SHARES:
            n = round(len(y) * share)
            if n < LEAST_ROWS or np.unique(y[:n]).size < 2:
                continue
            yield {"set": name, "share": share, "repeat": repeat, "n": n, **read_off(X[:n], y[:n], X_test, y_test)}
        if len(y) > FEW:
            return


def read_off(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> dict[str, Any]:
    """Return what counts say, and the accuracy at each decay."""
    model = FlyBloomClassifier(random_state=0).fit(X, y)
    with reading_learned(model) as learned:
        counts, hasher = learned.counts, learned.hasher
    winners = np.empty((len(y_test), hasher.n_winners), np.uint32)

    def keep(block: slice, found: np.ndarray) -> None:
        winners[block] = found

    hasher.for_each_block(X_test, keep, None)
    table = counts.table.astype(np.float64)
    return {
        "m": hasher.n_components,
        "rho": hasher.n_winners,
        "classes": counts.classes.size,
        "mean": float(table.mean()),
        "digits": np.bincount(np.frexp(table[table > 0])[1]).tolist(),
        "accuracy": [
            float(np.mean(counts.classes[read.read_out(hasher.n_winners, 0, winners.size).labels(winners)] == y_test))
            for read in (Filters(counts.table, counts.class_count, decay) for decay in DECAYS)
        ],
    }


def at(record: dict[str, Any], decay: float) -> float:
    """Return the accuracy at a decay, between those that were measured."""
    return float(np.interp(np.log(decay), np.log(DECAYS[::-1]), record["accuracy"][::-1]))


def digits(record: dict[str, Any]) -> float:
    """Return how many binary digits counts have that are not zero, in the mean."""
    found = record["digits"]
    return sum(n * k for n, k in enumerate(found)) / sum(found)


def by_digits(record: dict[str, Any], power: float, factor: float) -> float:
    """Return a decay that falls with a power of what counts that are not zero are like."""
    return factor / 2 ** (power * digits(record))


def by_mean(record: dict[str, Any], power: float, factor: float, few_classes: int) -> float:
    """Return a decay that falls with a power of the mean of all counts."""
    return factor / (record["mean"] * record["classes"] / max(record["classes"], few_classes)) ** power


def by_both(record: dict[str, Any], factor: float, most_digits: float, few_classes: int) -> float:
    """Return a decay that falls with the mean of all counts, and up to some digits with a root of the others'.

    Fewer classes than `few_classes` share the mean as if they were as many.
    """
    mean = record["mean"] * record["classes"] / max(record["classes"], few_classes)
    return factor / (mean * 2 ** (0.5 * min(digits(record), most_digits)))


def compare(records: list[dict[str, Any]]) -> None:
    """Print what each rule loses against the best decay of each model."""
    rules: dict[str, Callable[[dict[str, Any]], float]] = {"0.4": lambda _: 0.4}
    for power, factor in ((1, 4), (1.5, 11.3), (1.5, 16)):
        rules[f"{factor} / 2^({power} b)"] = partial(by_digits, power=power, factor=factor)
    both = partial(by_both, factor=16, most_digits=7.5)
    for few_classes, of_four in ((1, ""), (4, ", of four classes at least")):
        for factor, power in ((3, 1), (4, 1), (10, 1.25), (16, 1.375), (24, 1.5)):
            rule = partial(by_mean, power=power, factor=factor, few_classes=few_classes)
            rules[f"{factor} / mean^{power}{of_four}"] = rule
        rules[f"16 / (mean * 2^(b / 2)), b up to 7.5{of_four}"] = partial(both, few_classes=few_classes)
    groups: dict[str, Callable[[dict[str, Any]], bool]] = {
        "mean loss": lambda _: True,
        "tables": lambda r: r["set"] not in {*VISION, *STREAMS},
        "two classes, mean above 5": lambda r: r["classes"] == 2 and r["mean"] > 5,
        "streams and images": lambda r: r["set"] in {*VISION, *STREAMS},
        "all their rows": lambda r: r["set"] in {*VISION, *STREAMS} and r["share"] == 1,
        "a million rows": lambda r: r["set"] == "stream" and r["share"] == 1,
    }
    print(f"| rule | {' | '.join(groups)} |")
    print(f"|---|{'---:|' * len(groups)}")
    for name, rule in rules.items():
        losses = [(r, max(r["accuracy"]) - at(r, min(rule(r), MOST_DECAY))) for r in records]
        means = (np.mean([loss for r, loss in losses if is_in(r)]) for is_in in groups.values())
        print(f"| {name} | {' | '.join(f'{mean:.4f}' for mean in means)} |")


def main() -> None:
    """Measure what is missing, save after each set, compare."""
    records = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    if sys.argv[1:2] != ["rules"]:
        records = [record for record in records if "mean" in record]
        done = {record["set"] for record in records}
        for name in ("mnist", "fashion_mnist", "cifar10_grey", *STREAMS, *tabular()):
            if name not in done:
                for record in measured(name):
                    records.append(record)
                    best = DECAYS[int(np.argmax(record["accuracy"]))]
                    print(name, record["n"], f"mean {record['mean']:.1f}, best {best}", flush=True)
                RESULTS.write_text(json.dumps(records))
    compare(records)


if __name__ == "__main__":
    main()
