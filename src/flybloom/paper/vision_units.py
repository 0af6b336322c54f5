"""A unit of Table 1: a baseline, some settings of FBFC*, or a ridge model, on one vision set.

A fifth of the training rows is held out to choose by; the model that is tested has learned all training rows. Because
counts add, both models come from one hash of all rows: for FBFC* by taking rows away, for pairs by learning on. So
every setting has a score on the held-out rows and one on the test rows. Only the former may choose.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from flybloom._internal.typing import Array
from flybloom.estimators.ridge import FlyRidgeClassifier
from flybloom.paper.baselines import BASELINES
from flybloom.paper.comparison import ROWS, as_float32, baseline_records
from flybloom.paper.datasets import load
from flybloom.paper.fly_search import BayesianSpace, Space, search_bayesian, search_grid
from flybloom.paper.scores import METRICS, Record, Splits, accuracy, balanced_accuracy, best, hold_out, mean
from flybloom.paper.work import Result


def rows_of(name: str, data: str | None, most_rows: int | None) -> tuple[Array, Array, Array, Array]:
    """Return training and test rows, at most `most_rows` of each.

    A set without test rows of its own, such as Digits in a quick run, gets a fifth of its rows.
    """
    found = load(name, data)
    X, y, X_test, y_test = found.X, found.y, found.X_test, found.y_test
    if X_test is None or y_test is None:
        [(train, test)] = hold_out(y)
        X, y, X_test, y_test = X[train], y[train], X[test], y[test]
    return X[:most_rows], y[:most_rows], X_test[:most_rows], y_test[:most_rows]


def run_baseline(
    name: str, method: str, grid: str, seed: int, most_rows: int | None, data: str | None = None
) -> Result:
    """Tune a baseline on held-out rows of unit length, fit it to all training rows, and test it."""
    X, y, X_test, y_test = rows_of(name, data, most_rows)
    X, X_test = (ROWS["unit"](rows.astype(np.float32)) for rows in (X, X_test))
    start = time.perf_counter()
    records = baseline_records(X, y, hold_out(y), method, grid, seed)
    chosen = best(records, "balanced_accuracy")
    tuned = time.perf_counter()
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):  # one epoch is meant
        model = BASELINES[method].make(chosen["params"], seed).fit(X, y)
    fitted = time.perf_counter()
    predicted = model.predict(X_test)
    seconds = {"tune": tuned - start, "fit": fitted - tuned, "predict": time.perf_counter() - fitted}
    setting = {
        "params": chosen["params"],
        "held_out": {metric: mean(chosen, metric) for metric in METRICS},
        "test": _scores(y_test, predicted),
        "seconds": seconds,
        "bytes": X.nbytes + y.nbytes if method == "kNNC" else None,
    }
    return {"settings": [setting], "n_settings": len(records), "n_tests": len(y_test)}


def run_filters(name: str, space: dict[str, Any], seed: int, most_rows: int | None, data: str | None = None) -> Result:
    """Score the settings of a space on held-out and test rows; for the authors' search only the best one."""
    X, y, X_test, y_test = rows_of(name, data, most_rows)
    rows, labels = as_float32(np.concatenate([X, X_test])), np.concatenate([y, y_test])
    everything = np.arange(len(labels))
    splits = [*hold_out(y), (everything[: len(y)], everything[len(y) :])]
    start = time.process_time()
    records = searched(rows, labels, splits, space, seed)
    seconds = {"all": time.process_time() - start}
    n_classes = np.unique(y).size
    settings = [
        {
            "params": record["params"],
            "held_out": {metric: record[metric][0] for metric in METRICS},
            "test": {metric: record[metric][1] for metric in METRICS},
            "seconds": seconds,
            "bytes": 4 * record["params"]["m"] * n_classes,
        }
        for record in records
    ]
    return {"settings": settings, "n_settings": len(settings), "n_tests": len(y_test)}


def searched(rows: Array, labels: Array, splits: Splits, space: dict[str, Any], seed: int) -> list[Record]:
    """Return scores of settings on held-out and on test rows."""
    rest = {key: value for key, value in space.items() if key not in ("search", "projections")}
    projections = space.get("projections", 1)
    if space.get("search", "grid") == "grid":
        return search_grid(rows, labels, splits, Space.of({**rest, "projections": projections}), seed)
    training = splits[1][0]
    found = search_bayesian(rows[training], labels[training], splits[:1], BayesianSpace(**rest), seed)
    params = best(found, "balanced_accuracy")["params"]
    n_features = rows.shape[1]
    chosen = Space(
        (params["m"] / n_features,), (params["s"] / n_features,), (params["rho"],), (params["c"],),
        densify=(params["densify"],), projections=projections,
        fewest_components=params["m"], most_components=params["m"],
    )  # fmt: skip
    return search_grid(rows, labels, splits, chosen, seed)


def run_pairs(name: str, settings: dict[str, Any], seed: int, most_rows: int | None, data: str | None = None) -> Result:
    """Learn four fifths of the training rows, score the rest, learn it as well, and test."""
    X, y, X_test, y_test = rows_of(name, data, most_rows)
    [(train, held_out)] = hold_out(y)
    model = FlyRidgeClassifier(**settings, random_state=seed, n_jobs=1)
    start = time.perf_counter()
    model.fit(X[train], y[train])
    judged = _scores(y[held_out], model.predict(X[held_out]))
    tuned = time.perf_counter()
    model.partial_fit(X[held_out], y[held_out])
    model.predict(X_test[:1])  # solves
    fitted = time.perf_counter()
    predicted = model.predict(X_test)
    seconds = {"tune": 0.0, "fit": fitted - start, "predict": time.perf_counter() - fitted, "judge": tuned - start}
    sizes = {"m": model.n_components_, "s": model.n_connections_, "rho": model.n_winners_}
    setting = {
        "params": {**sizes, "encoding": str(settings.get("encoding", "auto")), "seed": seed, "alpha": model.alpha_},
        "held_out": judged,
        "test": _scores(y_test, predicted),
        "seconds": seconds,
        "bytes": model.memory_usage()["counts"],
    }
    return {"settings": [setting], "n_settings": 1, "n_tests": len(y_test)}


def _scores(true: Array, predicted: Array) -> dict[str, float]:
    """Return both scores."""
    return {"accuracy": accuracy(true, predicted), "balanced_accuracy": balanced_accuracy(true, predicted)}
