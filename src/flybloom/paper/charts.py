"""Plotting functions shared by experiments."""

from __future__ import annotations

from typing import Any

from flybloom._internal.html_page import LIGHT
from flybloom.paper.experiment import Figure

COLOURS = {"theirs": "#8a8a8a", "ours": LIGHT["accent"], "beyond": "#2a6fb5"}


def new_figure(columns: int = 1, rows: int = 1, width: float = 4.2, height: float = 3.4) -> tuple[Figure, list[Any]]:
    """Return a figure without a window and its axes, row by row."""
    from matplotlib.figure import Figure as Canvas  # noqa: PLC0415 - an extra

    figure = Canvas(figsize=(width * columns, height * rows), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False).ravel())


def box_plot(axes: Any, boxes: dict[str, list[float]], title: str, theirs: dict[str, float] | None = None) -> None:
    """Draw a box for each method, kNNC as a dashed line, and the paper's medians as marks."""
    names = list(boxes)
    drawn = axes.boxplot(list(boxes.values()), tick_labels=names, patch_artist=True, showfliers=True, widths=0.6)
    for name, box in zip(names, drawn["boxes"], strict=True):
        colour = COLOURS["beyond"] if "beyond" in name else COLOURS["ours"] if "FBFC" in name else "#dddddd"
        box.set(facecolor=colour, alpha=0.75, edgecolor="#444444")
    for line in drawn["medians"]:
        line.set(color="black")
    if theirs:
        at = [i + 1 for i, name in enumerate(names) if name in theirs]
        axes.plot(at, [theirs[name] for name in names if name in theirs], "D", ms=5, mfc="none", mec="black")
        axes.plot([], [], "D", ms=5, mfc="none", mec="black", label="median in the paper")
        axes.legend(frameon=False, fontsize=8, loc="upper left")
    axes.axhline(0, color="#c00000", ls="--", lw=1)
    axes.margins(y=0.18)  # room for the legend
    axes.set_title(title, fontsize=10)
    axes.set_ylabel("1 - a / a(kNNC), lower is better")
    axes.tick_params(axis="x", rotation=45)
