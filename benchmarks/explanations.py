"""What each digit of MNIST looks like to the model, and what speaks for a 4 against a 9; writes a picture.

The picture goes to docs/images/explanations.png.

    python benchmarks/explanations.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

from datasets import load_split
from flybloom import FlyBloomClassifier
from flybloom.plots import ClassProfileDisplay, FeatureShareDisplay

mpl.use("agg")
from matplotlib import pyplot as plt

IMAGE = Path(__file__).resolve().parents[1] / "docs" / "images" / "explanations.png"
SHAPE = (28, 28)
N_ROWS = 20_000


def main() -> None:
    """Learn, check that shares add up, draw."""
    X, y, X_test, y_test = load_split("mnist")
    model = FlyBloomClassifier(20_000, n_connections=20, n_winners=64, signed=False, encoding="none", random_state=0)
    model.fit(X[:N_ROWS], y[:N_ROWS])
    rows = X_test[np.isin(y_test, (4, 9))][:10]
    labels = model.predict(rows)
    others = np.where(labels == 4, 9, 4)
    error = np.abs(model.explain(rows, labels).sum(axis=1) - model.novelty(rows)[np.arange(10), labels]).max()
    print(f"shares add up to the novelty within {error:.1e}")
    figure, panels = plt.subplots(4, 10, figsize=(12, 5.4), layout="constrained")
    ClassProfileDisplay.from_estimator(model, image_shape=SHAPE, contrast=False, ax=panels[0], cmap="Greys")
    ClassProfileDisplay.from_estimator(model, image_shape=SHAPE, ax=panels[1])
    for axes, row in zip(panels[2], rows, strict=True):
        axes.imshow(row.reshape(SHAPE), cmap="Greys")
        axes.set_axis_off()
    FeatureShareDisplay.from_estimator(model, rows, labels=labels, versus=others, image_shape=SHAPE, ax=panels[3])
    figure.savefig(IMAGE, dpi=110)


if __name__ == "__main__":
    main()
