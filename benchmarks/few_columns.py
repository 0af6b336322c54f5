"""Where few columns tell something of the classes: soft bins of these or not, and what "auto" decides.

    python benchmarks/few_columns.py

Tables of up to 300 columns that are no images, and drawn sets; at most 4000 rows, three of five folds, everything
learned inside them. Only sets of which at most 30 columns tell count. Prints the table of docs/benchmarks/encodings.md.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold

from datasets import load, tabular
from flybloom import Encoding, FlyBloomClassifier, FlyRidgeClassifier

RESULTS = Path(__file__).parent / "results" / "few_columns.json"
ROWS, MOST_COLUMNS, FEW = 4000, 300, 30
MODELS = {"counts": FlyBloomClassifier, "pairs": FlyRidgeClassifier}
DRAWN = ((20, 10), (20, 15), (40, 5), (40, 20), (60, 10), (100, 15), (20, 5), (10, 5), (15, 15))  # columns, informative


def sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Tables, then drawn sets."""
    for name in tabular():
        yield name, *load(name)
    for seed, (d, informative) in enumerate(DRAWN):
        kind = {"n_informative": informative, "n_redundant": 0, "n_classes": 4, "random_state": seed}
        yield f"drawn, {informative} of {d}", *make_classification(3000, d, **kind)
    rng = np.random.default_rng(5)
    for d in (5, 10, 20):
        centres, cluster = rng.normal(size=(20, d)) * 6 / np.sqrt(d), rng.integers(0, 20, 3000)
        yield f"drawn, round clusters, {d}", centres[cluster] + rng.normal(size=(3000, d)), cluster % 5


def measured(X: np.ndarray, y: np.ndarray) -> dict[str, float] | None:
    """Return the accuracy of each model with each encoding; None where many columns tell, or rows are images."""
    chosen = np.random.default_rng(0).permutation(len(y))[:ROWS]
    X, y = X[chosen].astype(float), y[chosen]
    d = X.shape[1]
    if any(step.kind == "rotation" for step in FlyBloomClassifier(64, random_state=0).fit(X, y).encoder_.steps):
        return None
    scores: dict[str, list[float]] = {}
    for learned, asked in islice(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y), 3):
        told = np.flatnonzero(Encoding(relevance=0.5).fit(X[learned], y[learned]).steps[-1].weights)
        columns = range(d) if d <= FEW else told
        if len(columns) > FEW:
            return None
        few = Encoding(
            bins=7 if len(columns) <= 5 else 5, passthrough_scale=0.4, relevance=0.4, columns=[int(c) for c in columns]
        )
        plain = Encoding("standard", relevance=0.4 if d <= 100 else 1.0)
        for name, kind in MODELS.items():
            for way, encoding in (("plain", plain), ("bins", few), ("auto", "auto")):
                model = kind(random_state=0, encoding=encoding).fit(X[learned], y[learned])
                scores.setdefault(f"{name}, {way}", []).append(model.score(X[asked], y[asked]))
    return {"d": d, **{way: float(np.mean(found)) for way, found in scores.items()}}


def main() -> None:
    """Measure what is missing, print, save after each set."""
    warnings.simplefilter("ignore")
    records = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name, X, y in sets():
        if name not in records and X.shape[1] <= MOST_COLUMNS:
            records[name] = measured(X, y)
            RESULTS.write_text(json.dumps(records, indent=1))
    groups = [[], []]
    for name, record in records.items():
        if record is not None:
            groups[name.startswith("drawn")].append(record)
    rules = {
        "never bins": lambda record, model: record[f"{model}, plain"],
        "up to 30 columns (before)": lambda r, model: r[f"{model}, {'bins' if r['d'] <= FEW else 'plain'}"],
        "up to 30 that tell": lambda record, model: record[f"{model}, bins"],
        "auto": lambda record, model: record[f"{model}, auto"],
        "the better of both": lambda record, model: max(record[f"{model}, plain"], record[f"{model}, bins"]),
    }
    print(f"{len(groups[0])} tables, {len(groups[1])} drawn sets")
    for rule, score in rules.items():
        means = [np.mean([score(record, model) for record in group]) for group in groups for model in MODELS]
        print(f"| {rule} | {' | '.join(f'{mean:.3f}' for mean in means)} |")


if __name__ == "__main__":
    main()
