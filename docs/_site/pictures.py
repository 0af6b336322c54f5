"""Draw the pictures of docs/how-it-works.md, from real models of Digits.

python docs/_site/pictures.py
"""

from __future__ import annotations

from copy import copy
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_digits

from flybloom import FlyBloomClassifier
from flybloom.plots import CountsDisplay

mpl.use("agg")
from matplotlib import pyplot as plt

IMAGES = Path(__file__).parents[1] / "images"
FLY, OTHER, INK = "#b5482a", "#9aa3ad", "#222222"
M, S, RHO = 48, 12, 6
X, y = load_digits(return_X_y=True)
X = X.astype(np.int64)


def small_model() -> FlyBloomClassifier:
    """Return a model small enough to draw, that has learned nothing yet."""
    return FlyBloomClassifier(M, n_connections=S, n_winners=RHO, encoding="none", random_state=3)


def draw_hash() -> None:
    """Draw one row, what three components see of it, all sums, and the winners."""
    model = small_model().fit(X[y < 3], y[y < 3])
    row = X[0]
    signed = np.zeros((M, 64))
    np.put_along_axis(signed, model.connections_.astype(np.int64), model.signs_, axis=1)
    sums = signed @ row
    winners = np.argsort(-sums, kind="stable")[:RHO]
    figure = plt.figure(figsize=(11, 3.1), layout="constrained")
    axes = figure.subplot_mosaic([["row", "a", "b", "c", "sums"]], width_ratios=[1, 1, 1, 1, 3.6])
    axes["row"].imshow(row.reshape(8, 8), cmap="Greys")
    axes["row"].set_title("1  a row: 64 pixels", fontsize=9)
    for name, component in zip("abc", (winners[0], winners[1], int(np.argmin(sums))), strict=True):
        seen = (signed[component] * np.maximum(row, 3)).reshape(8, 8)
        axes[name].imshow(seen, cmap="RdBu_r", vmin=-16, vmax=16)
        axes[name].set_title(f"component {component}\nsums to {sums[component]:.0f}", fontsize=9)
    colours = [FLY if j in set(winners) else OTHER for j in range(M)]
    axes["sums"].bar(range(M), sums, color=colours)
    axes["sums"].axhline(0, color=INK, lw=0.6)
    axes["sums"].set(xlabel="component", xlim=(-1, M))
    axes["sums"].set_title(f"3  the {RHO} largest of {M} sums win", fontsize=9)
    axes["sums"].spines[["top", "right"]].set_visible(False)
    axes["b"].set_title(f"2  each component sums {S} pixels, some with a minus\n\n" + axes["b"].get_title(), fontsize=9)
    for name in ("row", "a", "b", "c"):
        axes[name].set_xticks([])
        axes[name].set_yticks([])
    figure.savefig(IMAGES / "hash.png", dpi=130)
    plt.close(figure)


def draw_counts() -> None:
    """Draw the counts of two models, of their sum, and of the sum without some rows."""
    rows, labels = X[y < 3], y[y < 3]
    half = len(rows) // 2
    first = small_model().fit(rows[:half], labels[:half])
    second = copy(first - first).partial_fit(rows[half:], labels[half:])
    whole = first + second
    without = copy(whole)
    without.forget(rows[labels == 1], labels[labels == 1])
    display = CountsDisplay.from_estimators(
        {
            f"learned from {half} rows": first,
            f"+  another model, of {len(rows) - half} rows": second,
            "=  the model of all rows, bit for bit": whole,
            "-  all rows of class 1 forgotten: as if they had never come": without,
        }
    )
    for ax in display.axes_:
        ax.set_ylabel("class", fontsize=9)
    display.figure_.set_size_inches(11, 4.6)
    display.figure_.savefig(IMAGES / "counts.png", dpi=130)
    plt.close(display.figure_)


def draw_scores() -> None:
    """Draw what a count weighs, and the weights of one row's winners for three classes."""
    rho = 12
    model = FlyBloomClassifier(1024, n_connections=S, n_winners=rho, decay=0.4, encoding="none", random_state=3)
    model.fit(X[:60][y[:60] < 3], y[:60][y[:60] < 3])
    row = X[y == 2][20:21]
    winners = _winners(model, row)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.1), layout="constrained", width_ratios=[1, 1.7])
    n = np.arange(13)
    for decay, colour in ((0.4, FLY), (1.0, INK)):
        left.plot(n, (1 - decay) ** n, "o-", ms=3, color=colour, label=f"decay {decay:g}")
    left.set(xlabel="how often a component won, n", ylabel="weight (1 - decay)$^n$")
    left.legend(frameon=False)
    left.set_title("a component that won often weighs little", fontsize=10)
    filters, novelty = model.filters_[:, winners], model.novelty(row)[0]
    for label in range(3):
        right.bar(np.arange(rho) + label * (rho + 2), filters[label], color=FLY if label == novelty.argmin() else OTHER)
        right.text(label * (rho + 2) + (rho - 1) / 2, 1.04, f"class {label}: novelty {novelty[label]:.2f}", ha="center")
    right.set(xticks=[], ylim=(0, 1.15), ylabel="weight")
    right.set_xlabel(f"the {rho} winners of a row, in each class: the least novel class is its label")
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(IMAGES / "scores.png", dpi=130)
    plt.close(figure)


def _winners(model: FlyBloomClassifier, row: Any) -> Any:
    """Return the winners of a row: what learning it once more changes."""
    before = model.counts_.sum(axis=0)
    return np.flatnonzero(copy(model).partial_fit(row, [2]).counts_.sum(axis=0) - before)


if __name__ == "__main__":
    draw_hash()
    draw_counts()
    draw_scores()
