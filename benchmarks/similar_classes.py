"""The most similar classes of MNIST, Fashion-MNIST and CIFAR-10 against those the paper names, over 10 seeds.

Sizes, pairs and names are those of `flybloom reproduce similarity`. For each seed: the most similar pairs, by the
cosine of the filters and of what classes are familiar with, and the rank correlation of both with the errors on the
first 2000 test rows. Prints a table, writes benchmarks/results/similar_classes.json and docs/images/similarity.png.
Takes about ten minutes.

    python benchmarks/similar_classes.py [SEEDS]
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import matplotlib as mpl
import numpy as np
from scipy.stats import spearmanr
from sklearn.metrics import confusion_matrix

from datasets import folder
from flybloom import FlyBloomClassifier
from flybloom.paper.datasets import Dataset, load
from flybloom.paper.experiments.similarity import KINDS, THEIR_PAIRS, class_names, model_for
from flybloom.plots import ClassSimilarityDisplay
from flybloom.report import most_similar_classes

mpl.use("agg")
from matplotlib import pyplot as plt

from flybloom.report import class_similarity

ROOT = Path(__file__).resolve().parents[1]
N_TEST = 2000


def measure(name: str, seed: int, data: Dataset) -> tuple[dict, FlyBloomClassifier]:
    """Return what one seed gives, and its model."""
    model = model_for(name, data.d, seed, n_jobs=None)
    start = time.perf_counter()
    model.fit(data.X, data.y)
    record: dict = {"set": name, "seed": seed, "seconds": time.perf_counter() - start}
    errors = confusion_matrix(data.y_test[:N_TEST], model.predict(data.X_test[:N_TEST]))
    pairs = np.triu_indices(10, 1)
    for of in KINDS:
        similarity = class_similarity(model, kind=of)
        order = [(int(a), int(b)) for a, b, _ in most_similar_classes(model, 45, kind=of)]
        record[of] = {
            "ranks": [order.index(pair) + 1 for pair in THEIR_PAIRS[name]],
            "top": order[:4],
            "low": float(similarity[pairs].min()),
            "high": float(similarity[pairs].max()),
            "follows_errors": float(spearmanr(similarity[pairs], (errors + errors.T)[pairs])[0]),
        }
    return record, model


def draw(models: dict[str, FlyBloomClassifier], names: dict[str, list[str]]) -> None:
    """Draw both similarities and the tree of each data set."""
    figure, panels = plt.subplots(len(models), 3, figsize=(13, 4 * len(models)), layout="constrained")
    for row, (name, model) in zip(panels, models.items(), strict=True):
        for axes, of in zip(row, KINDS, strict=False):
            display = ClassSimilarityDisplay(class_similarity(model, kind=of), display_labels=names[name])
            display.plot(ax=axes, values_format=".3f" if of == "filters" else ".2f", colorbar=False)
            for text in display.text_[display.text_ != None]:  # noqa: E711  # elementwise
                text.set_fontsize(6.5)
            axes.set(title=f"{name}: cosine of {of}", xlabel="", ylabel="")
        tree = ClassSimilarityDisplay(class_similarity(model, kind="familiarity"), display_labels=names[name])
        tree.plot(kind="dendrogram", ax=row[2])
        row[2].tick_params(axis="x", rotation=90 if name != "mnist" else 0)
        row[2].set(title=f"{name}: tree of familiarity", xlabel="")
    figure.savefig(ROOT / "docs" / "images" / "similarity.png", dpi=90)


def main(n_seeds: int) -> None:
    """Measure, print, save, draw."""
    records, first, names = [], {}, {}
    for name, pairs in THEIR_PAIRS.items():
        data = load(name, folder())
        names[name] = class_names(data)
        for seed in range(n_seeds):
            record, model = measure(name, seed, data)
            records.append(record)
            first.setdefault(name, model)
            print(
                f"{name} {seed}: filters {record['filters']['top']}, familiarity {record['familiarity']['top']}",
                file=sys.stderr,
                flush=True,
            )
        for of in KINDS:
            mine = [record[of] for record in records if record["set"] == name]
            both = sum(sorted(r["ranks"]) == [1, 2] for r in mine)
            in_order = sum(r["ranks"] == [1, 2] for r in mine)
            ranks = [f"{np.mean([r['ranks'][i] for r in mine]):.1f}" for i in (0, 1)]
            follows = np.mean([r["follows_errors"] for r in mine])
            low, high = np.mean([r["low"] for r in mine]), np.mean([r["high"] for r in mine])
            named = ", ".join(f"({names[name][a]}, {names[name][b]})" for a, b in pairs)
            print(
                f"| {name} | {named} | {of} | {both}/{n_seeds} | {in_order}/{n_seeds} | {', '.join(ranks)} "
                f"| {low:.3f} to {high:.3f} | {follows:.2f} |",
                flush=True,
            )
    path = ROOT / "benchmarks" / "results" / "similar_classes.json"
    path.write_text(json.dumps(records, indent=1))
    draw(first, names)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
