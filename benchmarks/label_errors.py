"""Wrong labels found by leaving rows out, beside 5-fold probabilities of the same model: area under the curve, time.

Ten sets of 1000 to 10 000 rows, one of each family, in the order of their names; 5, 10 and 20 % of the labels are
flipped to another class. The processor time is that of finding them with a model that has learned the rows, beside
that of scikit-learn's cross_val_predict. With --table, writes docs/benchmarks/label_errors.md from what was measured.

    python benchmarks/label_errors.py [--table] [--large]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from datasets import load, tabular
from flybloom import FlyRidgeClassifier
from flybloom.audit import label_errors
from resumable import measured

NAME, N_SETS, SHARES = "label_errors", 10, (0.05, 0.1, 0.2)
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "label_errors.md"
LARGE_ROWS, LARGE_COLUMNS = 87_000, 512


def sets() -> Iterator[str]:
    """Yield the names of the sets: by size and family alone."""
    families: set[str] = set()
    for name in sorted(tabular()):
        family = name.split("_")[0]
        if family not in families and 1000 <= len(load(name)[1]) <= 10_000:
            families.add(family)
            yield name
        if len(families) == N_SETS:
            return


def flipped(y: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Return labels of which some are another class, and which."""
    rng = np.random.default_rng(0)
    classes, codes = np.unique(y, return_inverse=True)
    is_wrong = np.zeros(len(y), bool)
    is_wrong[rng.permutation(len(y))[: round(share * len(y))]] = True
    codes[is_wrong] = (codes[is_wrong] + rng.integers(1, classes.size, is_wrong.sum())) % classes.size
    return classes[codes], is_wrong


def found(name: str, share: float) -> dict[str, Any]:
    """Return areas and seconds of one set."""
    X, y = load(name)
    given, is_wrong = flipped(y, share)
    model = FlyRidgeClassifier(random_state=0).fit(X, given)
    model.predict(X[:1])
    label_errors(model, X, given)  # compiled loops are loaded once
    started = time.process_time()
    left_out = label_errors(model, X, given)
    seconds = time.process_time() - started
    started = time.process_time()
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    probabilities = cross_val_predict(FlyRidgeClassifier(random_state=0), X, given, cv=folds, method="predict_proba")
    fold_seconds = time.process_time() - started
    own = probabilities[np.arange(len(y)), np.searchsorted(model.classes_, given)]
    return {
        "rows": len(y), "columns": X.shape[1], "auc": float(roc_auc_score(is_wrong, -left_out.quality)),
        "fold_auc": float(roc_auc_score(is_wrong, -own)), "seconds": seconds, "fold_seconds": fold_seconds,
    }  # fmt: skip


def large() -> dict[str, Any]:
    """Return the seconds for many rows on one thread; what they are does not matter."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, LARGE_ROWS)
    X = (rng.normal(size=(LARGE_ROWS, LARGE_COLUMNS)) + rng.normal(size=(10, LARGE_COLUMNS))[y]).astype(np.float32)
    started = time.process_time()
    model = FlyRidgeClassifier(random_state=0, n_jobs=1).fit(X, y)
    model.predict(X[:1])
    fit_seconds = time.process_time() - started
    started = time.process_time()
    label_errors(model, X, y)
    return {"components": model.n_components_, "fit_seconds": fit_seconds, "seconds": time.process_time() - started}


def table(rows: list[tuple[str, float, dict[str, Any]]], many: dict[str, Any] | None) -> str:
    """Return the page."""
    lines = [
        "# Label errors", "", "How it is used: [audits](../audit.md).",
        "Written by `benchmarks/label_errors.py --table`.", "",
        "Area under the curve (flipped labels first), rows left out beside 5-fold probabilities of the same model, and",
        "the processor time of each; `FlyRidgeClassifier()` with defaults, which has learned the rows already.", "",
        "| set | rows | flipped | left out | 5 folds | seconds | 5 folds |", "|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    lines += [
        f"| {name} | {one['rows']} | {share:.0%} | {one['auc']:.4f} | {one['fold_auc']:.4f} | {one['seconds']:.2f} | "
        f"{one['fold_seconds']:.1f} |"
        for name, share, one in rows
    ]
    ahead = sum(one["auc"] >= one["fold_auc"] for _, _, one in rows)
    apart = np.mean([one["auc"] - one["fold_auc"] for _, _, one in rows])
    ratio = np.median([one["seconds"] / one["fold_seconds"] for _, _, one in rows])
    told = (
        f"Leaving rows out is at least as good in {ahead} of {len(rows)} cases, {apart:+.4f} on average, in a median "
        f"of {ratio:.3f} of the time."
    )
    if many:
        told += (
            f"\n\n{LARGE_ROWS} rows of {LARGE_COLUMNS} columns, {many['components']} components, one thread: "
            f"{many['seconds']:.0f} s, after a fit of {many['fit_seconds']:.0f} s."
        )
    return "\n".join([*lines, "", told]) + "\n"


def main() -> None:
    """Measure what is missing, and print or write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="store_true", help="write the page")
    parser.add_argument("--large", action="store_true", help="many rows as well")
    options = parser.parse_args()
    rows = []
    for name in sets():
        for share in SHARES:
            one = measured(NAME, f"{name} {share}", lambda name=name, share=share: found(name, share))
            rows.append((name, share, one))
            print(name, share, one, flush=True)
    many = measured(NAME, "large", large) if options.large else None
    page = table(rows, many)
    print(page)
    if options.table:
        PAGE.write_text(page)


if __name__ == "__main__":
    main()
