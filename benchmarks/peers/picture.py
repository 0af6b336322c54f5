"""The comparison as a picture: for each model, the time to learn and to predict a row, on a scale of powers of ten."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("agg")
from matplotlib import pyplot as plt

INK, FLY, OTHER, GRID = "#222222", "#b5482a", "#3b6ea5", "#dddddd"
TITLES = {"mnist": "MNIST, 784 features", "stream": "1 000 000 rows of 50 features"}


def draw(results: dict[str, Any], path: Path) -> None:
    """Draw one panel for each data set, the most accurate on top of those that were asked about 1000 rows or more."""
    names = [name for name in TITLES if name in results]
    figure, panels = plt.subplots(1, len(names), figsize=(7 * len(names), 5), squeeze=False, layout="constrained")
    for name, axes in zip(names, panels[0], strict=True):
        asked = [item for item in results[name]["contestants"].items() if item[1]["queries"] >= 1000]
        found = sorted(asked, key=lambda item: item[1]["accuracy"])
        for at, (contestant, r) in enumerate(found):
            colour = FLY if contestant.startswith("flybloom") else OTHER
            learn, predict = 1e6 * r["fit_seconds"] / r["rows"], r["predict_us"]
            axes.plot([learn, predict], [at, at], color=GRID, zorder=1)
            axes.scatter(learn, at, facecolor="white", edgecolor=colour, zorder=2)
            axes.scatter(predict, at, color=colour, zorder=3)
        labels = [f"{contestant}  {r['accuracy']:.3f}" for contestant, r in found]
        axes.set_yticks(range(len(found)), labels)
        for label in axes.get_yticklabels():
            label.set_color(FLY if label.get_text().startswith("flybloom") else INK)
        axes.set_xscale("log")
        axes.set_xlabel("microseconds a row: circles to learn, dots to predict")
        axes.set_title(f"{TITLES[name]}; names with accuracy", loc="left", fontsize=10, color=INK)
        axes.grid(axis="x", color=GRID, linewidth=0.5)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
    figure.savefig(path, dpi=110, bbox_inches="tight")
    plt.close(figure)
