"""Prediction sets and intervals: which share of new rows they cover, and their size, beside split-conformal ones.

Ten sets with labels (those of label_errors.py) and the first ten tables with numbers (those of regression.py). At most
1000 rows are learned, or half of them, and the others tested, with 512 components; ten times, or until 10 000 rows were
learned, so that the standard error of a coverage is about 0.4 points. Split-conformal: the same model on half of the
rows, the other half to calibrate. With --table, writes docs/benchmarks/intervals.md from what was measured.

    python benchmarks/intervals.py [--table]
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import label_errors
from datasets import load
from flybloom import CrossConformal, FlyRidgeClassifier, FlyRidgeRegressor
from rdatasets_tables import tables
from resumable import measured

NAME, COVERAGE, LEARNED, ALL_LEARNED, N_COMPONENTS, N_TABLES = "intervals", 0.9, 1000, 10_000, 512, 10
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "intervals.md"


def quantile(scores: np.ndarray) -> float:
    """Return how far off the calibrated share of rows is at most."""
    rank = math.ceil(COVERAGE * (scores.size + 1))
    return math.inf if rank > scores.size else float(np.sort(scores)[rank - 1])


def drawn(n_rows: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield rows to learn and rows to test, several times."""
    n = min(LEARNED, n_rows // 2)
    for seed in range(-(-ALL_LEARNED // n)):
        order = np.random.default_rng(seed).permutation(n_rows)
        yield order[:n], order[n:]


def of_labels(name: str) -> dict[str, float]:
    """Return coverage and size of sets."""
    X, y = load(name)
    found = []
    for own, test in drawn(len(y)):
        n = len(own)
        started = time.process_time()
        model = FlyRidgeClassifier(N_COMPONENTS, random_state=0).fit(X[own], y[own])
        sets = CrossConformal(model, X[own], y[own]).predict_set(X[test], COVERAGE)
        seconds = time.process_time() - started
        half, other = own[: n // 2], own[n // 2 :]
        split = FlyRidgeClassifier(N_COMPONENTS, random_state=0).fit(X[half], y[half])
        at = np.searchsorted(split.classes_, y[other])
        most = quantile(1 - split.predict_proba(X[other])[np.arange(len(other)), at])
        split_sets = 1 - split.predict_proba(X[test]) <= most
        codes, split_codes = (np.searchsorted(one.classes_, y[test]) for one in (model, split))
        rows = np.arange(len(test))
        found.append((
            sets[rows, codes].mean(), sets.sum(axis=1).mean(), split_sets[rows, split_codes].mean(),
            split_sets.sum(axis=1).mean(), seconds,
        ))  # fmt: skip
    return named(found)


def of_targets(frame: Any, target: np.ndarray) -> dict[str, float]:
    """Return coverage of intervals, and their width in deviations of the target."""
    for column in frame.select_dtypes("object"):
        frame[column] = frame[column].astype(str).astype("category")
    found = []
    for own, test in drawn(len(target)):
        n = len(own)
        started = time.process_time()
        model = FlyRidgeRegressor(N_COMPONENTS, random_state=0).fit(frame.iloc[own], target[own])
        low, high = CrossConformal(model, frame.iloc[own], target[own]).predict_interval(frame.iloc[test], COVERAGE).T
        seconds = time.process_time() - started
        half, other = own[: n // 2], own[n // 2 :]
        split = FlyRidgeRegressor(N_COMPONENTS, random_state=0).fit(frame.iloc[half], target[half])
        most = quantile(np.abs(target[other] - split.predict(frame.iloc[other])))
        covered = (low <= target[test]) & (target[test] <= high)
        apart, unit = np.abs(target[test] - split.predict(frame.iloc[test])), target.std()
        found.append((covered.mean(), (high - low).mean() / unit, (apart <= most).mean(), 2 * most / unit, seconds))
    return named(found)


def named(found: list[tuple[float, ...]]) -> dict[str, float]:
    """Return the means, and the standard error of the coverage."""
    names = ("coverage", "size", "split_coverage", "split_size", "seconds")
    error = float(np.std([one[0] for one in found], ddof=1) / math.sqrt(len(found)))
    return {**dict(zip(names, np.mean(found, axis=0).tolist(), strict=True)), "error": error, "repeats": len(found)}


def page(found: dict[str, dict[str, float]]) -> str:
    """Return the page."""
    lines = [
        "# Sets and intervals", "", "How it is used: [sets and intervals](../intervals.md).",
        "Written by `benchmarks/intervals.py --table`: 90 % are asked for.", "",
        "Sizes are labels in a set, or widths of intervals in deviations of the target; ten folds, beside",
        "split-conformal with the same model. At most 1000 rows are learned with 512 components, at least ten times;",
        "means, and standard errors of the coverage. Processor time of fitting and of sets for all other rows.", "",
        "One draw says little: the share of 500 tested rows that sets from 1000 learned ones cover is off by",
        "sqrt(0.09 / 500 + 0.09 / 1000), 1.6 points, by chance alone. Hence the repeats.", "",
        "| set | repeats | coverage | size | split: coverage | size | seconds |", "|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    lines += [
        f"| {name} | {one['repeats']} | {one['coverage']:.3f} ± {one['error']:.3f} | {one['size']:.2f} | "
        f"{one['split_coverage']:.3f} | {one['split_size']:.2f} | {one['seconds']:.1f} |"
        for name, one in found.items()
    ]
    near = sum(abs(one["coverage"] - COVERAGE) <= 0.01 for one in found.values())
    apart = np.mean([one["coverage"] for one in found.values()]) - COVERAGE
    ratio = np.median([one["size"] / one["split_size"] for one in found.values()])
    told = (
        f"Within a point of 90 % on {near} of {len(found)}, {100 * apart:+.1f} points on average. "
        f"The median size is {ratio:.2f} of that of split-conformal."
    )
    return "\n".join([*lines, "", told]) + "\n"


def main() -> None:
    """Measure what is missing, and print or write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="store_true", help="write the page")
    options = parser.parse_args()
    found = {}
    for name in label_errors.sets():
        found[name] = measured(NAME, name, lambda name=name: of_labels(name))
        print(name, found[name], flush=True)
    for table in tables(n_tables=N_TABLES):
        name = table.name
        found[name] = measured(NAME, name, lambda one=table: of_targets(one.frame.copy(), one.target.to_numpy()))
        print(name, found[name], flush=True)
    print(page(found))
    if options.table:
        PAGE.write_text(page(found))


if __name__ == "__main__":
    main()
