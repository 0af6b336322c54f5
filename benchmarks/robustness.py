"""Certified accuracy, corrupted images, poisoned labels, and what forgetting these repairs.

Small cuts, so that all of it takes minutes: 5000 rows to learn and 300 to test of MNIST and Fashion-MNIST, 100 to
certify. Writes results/robustness.json, part by part, and prints what docs/robustness.md says; --figure draws
docs/images/robustness.png.

    python benchmarks/robustness.py [--figure]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import ndimage
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from datasets import load, load_split
from flybloom import FlyBloomClassifier, FlyRidgeClassifier
from flybloom.audit import certify

RESULTS = Path(__file__).parent / "results" / "robustness.json"
LEARNED, TESTED, CERTIFIED = 5_000, 300, 100
TABLES = ("segment", "satimage", "letter", "twonorm", "wall_robot_navigation")
RADII = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
STRENGTHS = (1, 2, 3, 4, 5)
NOISY = (0.0, 0.1, 0.2, 0.3, 0.4)


def images(name: str) -> tuple[np.ndarray, ...]:
    """Return rows and labels to learn and to test, from 0 to 1."""
    X, y, X_test, y_test = load_split(name)
    rows = X[:LEARNED].reshape(LEARNED, -1) / 255.0
    return rows, y[:LEARNED], X_test[:TESTED].reshape(TESTED, -1) / 255.0, y_test[:TESTED]


def table(name: str) -> tuple[np.ndarray, ...]:
    """Return rows and labels to learn and to test, with columns from 0 to 1."""
    X, y = load_digits(return_X_y=True) if name == "digits" else load(name)
    low, high = X.min(axis=0), X.max(axis=0)
    X = (X - low) / np.where(high > low, high - low, 1.0)
    X, X_test, y, y_test = train_test_split(X, y, test_size=TESTED, random_state=0, stratify=y)
    return X, y, X_test, y_test


def certified() -> dict[str, object]:
    """Return the share of test rows that are right and certified, by radius, in ranges of columns."""
    found = {}
    for name in ("digits", *TABLES, "mnist"):
        X, y, X_test, y_test = images(name) if name == "mnist" else table(name)
        encoding = "standard+rotation" if name in ("digits", "mnist") else "auto"  # the bounds of gradients are wide
        model = FlyBloomClassifier(2048, n_winners=64, decay=0.1, encoding=encoding, random_state=0).fit(X, y)
        X_test, y_test = X_test[:CERTIFIED], y_test[:CERTIFIED]
        is_right = model.predict(X_test) == y_test
        found[name] = {}
        for norm in ("linf", "l2"):
            radius = np.where(is_right, certify(model, X_test, norm=norm), -1)
            found[name][norm] = [round(float((radius >= r).mean()), 3) for r in RADII]
            found[name][f"median {norm}"] = round(float(np.median(radius[is_right])), 5)
        print("certified", name, found[name], flush=True)
    return found


def corruptions() -> dict[str, Callable[[np.ndarray, int, np.random.Generator], np.ndarray]]:
    """Return what is done to images of shape (n, 28, 28), by strength from 1 to 5."""

    def occluded(rows: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
        rows, side = rows.copy(), 3 * k
        for image in rows:
            top, left = rng.integers(0, 29 - side, 2)
            image[top : top + side, left : left + side] = 0
        return rows

    def shifted(rows: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
        steps = rng.choice([-k, k], (len(rows), 2))
        return np.array([ndimage.shift(image, step, order=0) for image, step in zip(rows, steps, strict=True)])

    return {
        "noise": lambda rows, k, rng: np.clip(rows + 0.1 * k * rng.normal(size=rows.shape), 0, 1),
        "blur": lambda rows, k, rng: ndimage.gaussian_filter(rows, (0, 0.5 * k, 0.5 * k)),  # noqa: ARG005
        "missing": lambda rows, k, rng: np.where(rng.random(rows.shape) < 0.15 * k, np.nan, rows),
        "occlusion": occluded,
        "shift": shifted,
    }


def models() -> dict[str, object]:
    """Return what is compared."""
    return {
        "counts": FlyBloomClassifier(4096, decay=0.1, random_state=0, n_jobs=1),
        "pairs": FlyRidgeClassifier(1024, random_state=0, n_jobs=1),
        "5-NN": make_pipeline(StandardScaler(with_std=False), KNeighborsClassifier()),
        "MLP": MLPClassifier((100,), max_iter=15, random_state=0),
    }


def corrupted() -> dict[str, object]:
    """Return the accuracy on corrupted images; where a model takes no missing values, they are the column's mean."""
    found = {}
    for name in ("mnist", "fashion_mnist"):
        X, y, X_test, y_test = images(name)
        means = X.mean(axis=0)
        found[name] = {}
        for title, model in models().items():
            model.fit(X, y)
            entry = {"none": [round(float(model.score(X_test, y_test)), 3)]}
            for kind, corrupt in corruptions().items():
                entry[kind] = []
                for k in STRENGTHS:
                    rows = corrupt(X_test.reshape(-1, 28, 28), k, np.random.default_rng(k)).reshape(TESTED, -1)
                    if title in ("5-NN", "MLP"):
                        rows = np.where(np.isnan(rows), means, rows)
                    entry[kind].append(round(float(model.score(rows, y_test)), 3))
            found[name][title] = entry
            print("corrupted", name, title, entry, flush=True)
    return found


def poisoned() -> dict[str, object]:
    """Return the accuracy after labels of a share of the rows were drawn anew, and after these rows were forgotten."""
    X, y, X_test, y_test = images("mnist")
    found: dict[str, object] = {}
    for title, model in models().items():
        found[title] = {"noisy": [], "forgotten": []}
        for share in NOISY:
            rng = np.random.default_rng(int(100 * share))
            is_wrong = rng.random(len(y)) < share
            labels = np.where(is_wrong, (y + rng.integers(1, 10, len(y))) % 10, y)
            model.fit(X, labels)
            found[title]["noisy"].append(round(float(model.score(X_test, y_test)), 3))
            if hasattr(model, "forget") and share:
                model.forget(X[is_wrong], labels[is_wrong])
                found[title]["forgotten"].append(round(float(model.score(X_test, y_test)), 3))
        print("poisoned", title, found[title], flush=True)
    for title, model in models().items():  # aimed: every eight once more, as a three
        if not hasattr(model, "forget"):
            continue
        aim = np.flatnonzero(y == 8)
        model.fit(X, y).partial_fit(X[aim], np.full(aim.size, 3))
        eights = X_test[y_test == 8]
        hit = float((model.predict(eights) == 8).mean())
        model.forget(X[aim], np.full(aim.size, 3))
        found[title]["eights called eight, poisoned and repaired"] = [hit, float((model.predict(eights) == 8).mean())]
        print("aimed", title, found[title], flush=True)
    return found


def draw(results: dict[str, dict]) -> None:
    """Draw certified accuracy, and the mean over corruptions."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(1, 3, figsize=(14, 4))
    for axis, norm in zip(axes, ("linf", "l2"), strict=False):
        for name, entry in results["certified"].items():
            axis.plot(RADII, entry[norm], marker="o", label=name)
        axis.set(xlabel=f"radius ({norm}, in ranges of columns)", ylabel="right and certified")
        axis.set_xscale("symlog", linthresh=0.005)
    axes[0].legend(fontsize=7)
    for title, entry in results["corrupted"]["mnist"].items():
        curve = np.mean([values for kind, values in entry.items() if kind != "none"], axis=0)
        axes[2].plot((0, *STRENGTHS), (entry["none"][0], *curve), marker="o", label=title)
    axes[2].set(xlabel="strength, mean of five corruptions", ylabel="accuracy on MNIST")
    axes[2].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(Path(__file__).parents[1] / "docs" / "images" / "robustness.png", dpi=110)


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figure", action="store_true")
    given = parser.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for part in (certified, corrupted, poisoned):
        if part.__name__ not in results:
            results[part.__name__] = part()
            RESULTS.write_text(json.dumps(results, indent=1))
    if given.figure:
        draw(results)


if __name__ == "__main__":
    main()
