"""Shared by the synthetic and OpenML experiments: scores of methods relative to kNNC."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, TypeAlias

import numpy as np
from scipy import stats
from sklearn.preprocessing import normalize, scale

from flybloom._internal.typing import Array
from flybloom.paper.baselines import BASELINES, best_of
from flybloom.paper.fly_search import BayesianSpace, Space, search_bayesian, search_grid
from flybloom.paper.scores import Record, Splits, best_of_each, mean

Best: TypeAlias = dict[str, Any]  # the best record by each metric
ROWS = {"raw": lambda X: X, "unit": normalize, "standard": scale}
"""What is done to the rows before a baseline sees them; the authors' is unit length, except for synthetic data."""


def baseline_records(X: Array, y: Array, splits: Splits, name: str, grid: str, seed: int) -> list[Record]:
    """Return the scores of every valid setting of a baseline."""
    return [asdict(record) for record in best_of(BASELINES[name], grid, X, y, splits, seed).records]


def baseline(X: Array, y: Array, splits: Splits, name: str, grid: str, rows: str, seed: int) -> Best:
    """Return the best settings of a baseline over its grid, by each metric."""
    prepared = np.asarray(ROWS[rows](X.astype(np.float64)))
    return best_of_each(baseline_records(prepared, y, splits, name, grid, seed))


def fly_records(X: Array, y: Array, splits: Splits, spaces: list[dict[str, Any]], seed: int) -> list[Record]:
    """Return the scores of all settings in the spaces of a profile; ``search`` selects the method."""
    rows, records = as_float32(X), []
    for table in spaces:
        rest = {name: value for name, value in table.items() if name != "search"}
        if table.get("search", "grid") == "grid":
            records += search_grid(rows, y, splits, Space.of(rest), seed)
        else:
            records += search_bayesian(rows, y, splits, BayesianSpace(**rest), seed)
    return records


def fly(X: Array, y: Array, splits: Splits, spaces: list[dict[str, Any]], seed: int) -> dict[str, Best]:
    """Return the best settings of FBFC (c = 1) and of FBFC* (c < 1) over spaces, by each metric."""
    records = fly_records(X, y, splits, spaces, seed)
    kinds = {
        "FBFC": [record for record in records if record["params"]["c"] == 1],
        "FBFC*": [record for record in records if record["params"]["c"] < 1],
    }
    return {name: best_of_each(kept) for name, kept in kinds.items() if kept}


def as_float32(X: Array) -> Array:
    """Return floats as float32; integers are unchanged."""
    return X.astype(np.float32) if X.dtype.kind == "f" else X


def relative(found: Best, reference: Best, metric: str) -> float:
    """Return 1 - a / a_k, the paper's measure: lower is better, 0 is as good as the reference."""
    return 1 - mean(found[metric], metric) / mean(reference[metric], metric)


def quartiles(values: list[float]) -> tuple[float, float, float]:
    """Return the lower quartile, the median and the upper quartile."""
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    return low, middle, high


def wins(ours: list[float], theirs: list[float]) -> dict[str, float]:
    """Return the number of wins, the median improvement, and the p-value of a paired t-test.

    Parameters
    ----------
    ours, theirs : list of float
        Scores on the same data sets.

    Returns
    -------
    dict
        ``fraction`` of sets that are won, ties counting half; ``improvement``, the median of ours / theirs - 1;
        ``p_value``.
    """
    a, b = np.array(ours), np.array(theirs)
    p_value = float(stats.ttest_rel(a, b).pvalue) if (a != b).any() and a.size > 1 else 1.0
    return {
        "fraction": float(((a > b) + 0.5 * (a == b)).mean()),
        "improvement": float(np.median(a / b - 1)),
        "p_value": p_value,
    }
