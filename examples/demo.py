"""Two real sets beside neighbours, SGD and a network; then what these cannot do: learn on, merge, forget.

    python examples/demo.py FOLDER

Prints two tables and writes FOLDER/index.html with a picture, demo.png, and a full report, report.html.
"""

from __future__ import annotations

import html
import sys
import time
import timeit
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from flybloom import Encoding, FlyBloomClassifier, FlyRidgeClassifier
from flybloom.plots import ClassProfileDisplay
from flybloom.report import report

mpl.use("agg")
from matplotlib import pyplot as plt

INK, FLY, OTHER, GRID = "#222222", "#b5482a", "#3b6ea5", "#dddddd"
FOLDS = StratifiedKFold(10, shuffle=True, random_state=0)
MODELS: dict[str, Callable[[], Any]] = {
    "FlyRidgeClassifier()": lambda: FlyRidgeClassifier(random_state=0),
    "FlyBloomClassifier()": lambda: FlyBloomClassifier(random_state=0),
    "KNeighborsClassifier()": lambda: make_pipeline(StandardScaler(), KNeighborsClassifier()),
    "SGDClassifier()": lambda: make_pipeline(StandardScaler(), SGDClassifier(random_state=0)),
    "MLPClassifier()": lambda: make_pipeline(StandardScaler(), MLPClassifier(random_state=0)),
}


def wine_quality() -> tuple[np.ndarray, np.ndarray]:
    """Return eleven measures of 1599 red wines, and the marks from 3 to 8 that tasters gave them (examples/data)."""
    table = np.loadtxt(Path(__file__).parent / "data" / "winequality-red.csv", delimiter=",", skiprows=1)
    return table[:, :-1], table[:, -1].astype(int)


def compare() -> list[list[str]]:
    """Return the accuracy in ten folds of both sets, and the time that fit and predict take on one split of Digits.

    Weights are solved for when they are first needed, so the first prediction counts as a part of fitting; others are
    the best of five.
    """
    sets = {"Digits": load_digits(return_X_y=True), "Wine quality": wine_quality()}
    X, X_test, y, _ = train_test_split(*sets["Digits"], test_size=0.25, stratify=sets["Digits"][1], random_state=0)
    rows = [["default settings, ten folds", *sets, "fit Digits, ms", "predict, us a row"]]
    for name, make in MODELS.items():
        accuracies = []
        for features, labels in sets.values():
            found = [
                make().fit(features[train], labels[train]).score(features[test], labels[test])
                for train, test in FOLDS.split(features, labels)
            ]
            accuracies.append(f"{np.mean(found):.3f}")
        start = time.perf_counter()
        model = make().fit(X, y)
        model.predict(X_test[:1])
        fitted = time.perf_counter()
        seconds = min(timeit.repeat(partial(model.predict, X_test), number=1, repeat=5))
        rows.append([name, *accuracies, f"{1e3 * (fitted - start):.0f}", f"{1e6 * seconds / len(X_test):.1f}"])
    return rows


def what_others_cannot() -> list[list[str]]:
    """Return what counts that add up allow, each with its time and whether it holds bit for bit."""
    X, y = load_digits(return_X_y=True)
    encoding = Encoding(rotation=50).fit(X[:300])  # fixed beforehand, so that nothing of the other rows is in it

    def learned(rows: slice) -> FlyRidgeClassifier:
        return FlyRidgeClassifier(1024, encoding=encoding, random_state=0).fit(X[rows], y[rows])

    whole, but_some = learned(slice(None)), learned(slice(100, None))

    def same(model: FlyRidgeClassifier, other: FlyRidgeClassifier) -> bool:
        return bool(
            (model.counts_ == other.counts_).all()
            and (model.pair_counts_ == other.pair_counts_).all()
            and (model.predict(X) == other.predict(X)).all()
        )

    def in_blocks() -> FlyRidgeClassifier:
        model = FlyRidgeClassifier(1024, encoding=encoding, random_state=0)
        for block in np.array_split(np.random.default_rng(0).permutation(len(y)), 12):
            model.partial_fit(X[block], y[block])
        return model

    def without(model: FlyBloomClassifier, rows: slice) -> FlyBloomClassifier:
        model.forget(X[rows], y[rows])
        return model

    halves, other = (learned(slice(0, 900)), learned(slice(900, None))), learned(slice(None))
    deeds = {
        "learn 12 blocks in another order; equal to fit": (in_blocks, whole),
        "add two models of half the rows; equal to fit": (lambda: halves[0] + halves[1], whole),
        "forget 100 rows; equal to never having met them": (lambda: without(other, slice(0, 100)), but_some),
    }
    without(learned(slice(0, 300)) + learned(slice(300, 600)), slice(0, 9))  # compiles
    rows = [["exactly", "ms", "same bits"]]
    for name, (do, expected) in deeds.items():
        start = time.perf_counter()
        model = do()
        rows.append([name, f"{1e3 * (time.perf_counter() - start):.0f}", "yes" if same(model, expected) else "NO"])
    return rows


def learning_curve() -> tuple[list[int], list[float], list[float]]:
    """Return rows learned so far, and the accuracy of flybloom, which learns on, and of neighbours, fitted anew."""
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
    model = FlyRidgeClassifier(2048, random_state=0)
    sizes, fly, neighbours = [], [], []
    for block in np.array_split(np.arange(len(y)), 16):
        model.partial_fit(X[block], y[block])
        sizes.append(int(block[-1]) + 1)
        fly.append(model.score(X_test, y_test))
        knn = make_pipeline(StandardScaler(), KNeighborsClassifier()).fit(X[: sizes[-1]], y[: sizes[-1]])
        neighbours.append(knn.score(X_test, y_test))
    return sizes, fly, neighbours


def draw(model: FlyBloomClassifier, curve: tuple[list[int], list[float], list[float]], path: Path) -> None:
    """Draw what each class remembers, and accuracy against rows learned."""
    figure = plt.figure(figsize=(11, 4), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[1.25, 1])
    left.suptitle("What each class remembers: its winners, traced back to the pixels", fontsize=11, color=INK)
    ClassProfileDisplay.from_estimator(model, image_shape=(8, 8), ax=left.subplots(2, 5))
    axes = right.subplots()
    sizes, fly, neighbours = curve
    axes.plot(sizes, fly, color=FLY, lw=2, label="flybloom, pairs: learns on, keeps no rows")
    axes.plot(sizes, neighbours, color=OTHER, lw=2, label="5 nearest neighbours, all rows kept")
    axes.legend(frameon=False, loc="lower right")
    axes.set(xlabel="rows learned", ylabel="accuracy on rows never seen", ylim=(0.6, 1.02))
    axes.grid(color=GRID)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    right.suptitle("Learning on, block by block", fontsize=11, color=INK)
    figure.savefig(path, dpi=130)


def as_text(rows: list[list[str]]) -> str:
    """Return a table as lines of text."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])] for row in rows)
    return "\n".join("  ".join(line) for line in lines)


def as_html(rows: list[list[str]]) -> str:
    """Return a table as HTML."""
    tags = ["th"] + ["td"] * (len(rows) - 1)
    cells = ("".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in row) for row, tag in zip(rows, tags, strict=True))
    return "<table>\n" + "\n".join(f"<tr>{row}</tr>" for row in cells) + "\n</table>"


def page(compared: list[list[str]], done: list[list[str]]) -> str:
    """Return a page with the tables and the picture."""
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>flybloom, a demonstration</title>
<style>
  :root {{ color-scheme: light dark; }}
  body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }}
  table {{ border-collapse: collapse; display: block; overflow-x: auto; margin-bottom: 1.5rem; }}
  th, td {{ padding: .3rem 1rem; text-align: right; border-bottom: 1px solid #8884; }}
  td:first-child, th:first-child {{ text-align: left; }} img {{ max-width: 100%; background: white; }}
</style>
<h1>flybloom, a demonstration</h1>
<p>1797 images of digits and the marks of 1599 red wines. All models have their default settings; those of scikit-learn
get standardised columns, and the network and SGD as many epochs as they like. flybloom reads each row once.</p>
{as_html(compared)}
<p>Then what the others cannot do, with <code>FlyRidgeClassifier</code>:</p>
{as_html(done)}
<p><a href="report.html">Full report on the test images</a></p>
<img src="demo.png" alt="What each class remembers, and how accuracy grows with the rows learned">
</html>
"""


def main(folder: Path) -> None:
    """Compare, draw, and write the page."""
    folder.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):  # two hundred epochs are the default
        compared = compare()
    print(as_text(compared), flush=True)
    done = what_others_cannot()
    print(f"\n{as_text(done)}", flush=True)
    X, y = load_digits(return_X_y=True)
    draw(FlyBloomClassifier(random_state=0).fit(X, y), learning_curve(), folder / "demo.png")
    (folder / "index.html").write_text(page(compared, done))
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
    model = FlyBloomClassifier(random_state=0).fit(X, y)
    report(model, X_test, y_test, folder / "report.html", title="flybloom on Digits", image_shape=(8, 8))
    print(f"\nPage with the picture: {folder / 'index.html'}\nFull report: {folder / 'report.html'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))
