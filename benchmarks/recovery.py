"""How novelty returns: a stream of Digits in which zeros stop, and later come back; writes docs/images/recovery.png.

python benchmarks/recovery.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

from datasets import load
from flybloom import FlyBloomNovelty

mpl.use("agg")
from matplotlib import pyplot as plt

IMAGE = Path(__file__).resolve().parents[1] / "docs" / "images" / "recovery.png"
STEP = 20


def stream() -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return rows in the order in which they are met, held-out zeros, and where zeros stop and come back."""
    X, y = load("digits")
    zeros, others = X[y == 0], X[y != 0]
    rows = np.vstack([zeros[:60], others[:700], zeros[60:120], others[700:900]])
    return rows, zeros[120:], [60, 760, 820]


def main() -> None:
    """Learn the stream in blocks, with and without recovery, and draw the novelty of held-out zeros."""
    rows, held_out, marks = stream()
    figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
    for recovery, colour in ((None, "#3b6ea5"), (400, "#b5482a"), (100, "#7a9a3a")):
        detector = FlyBloomNovelty(
            readout="filter", forget_after=recovery, encoding="none", signed=False, random_state=0
        )
        at, levels = [], []
        for begin in range(0, len(rows), STEP):
            detector.partial_fit(rows[begin : begin + STEP])
            at.append(begin + STEP)
            levels.append(float(detector.novelty(held_out).mean()))
        name = "no recovery" if recovery is None else f"forget_after={recovery}"
        axes.plot(at, levels, color=colour, lw=2, label=name)
        after, before, again = (levels[mark // STEP - 1] for mark in marks)
        print(f"{name}: {after:.2f} after the zeros, {before:.2f} before they come back, {again:.2f} after that")
    for begin, end in ((0, marks[0]), (marks[1], marks[2])):
        axes.axvspan(begin, end, color="0.92", zorder=0)
        axes.text((begin + end) / 2, 1.02, "zeros", ha="center", fontsize=9, color="0.4")
    axes.set(xlabel="rows met", ylabel="novelty of zeros", xlim=(0, len(rows)), ylim=(0, 1.1))
    axes.grid(color="#dddddd")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="center", bbox_to_anchor=(0.5, 0.75))
    figure.savefig(IMAGE, dpi=110)


if __name__ == "__main__":
    main()
