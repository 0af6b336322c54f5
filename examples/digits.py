"""Learn Digits in one pass, compare with nearest neighbours, and show what was learned.

    python examples/digits.py FOLDER

Prints a table and writes FOLDER/index.html with a picture, digits.png, and a full report, report.html.
"""

from __future__ import annotations

import html
import sys
import time
from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from flybloom import FlyBloomClassifier, FlyRidgeClassifier
from flybloom.plots import ClassProfileDisplay
from flybloom.report import report

mpl.use("agg")
from matplotlib import pyplot as plt

INK, FLY, OTHER, GRID = "#222222", "#b5482a", "#3b6ea5", "#dddddd"


def compare(X_train, X_test, y_train, y_test) -> list[tuple[str, float, float, float, int]]:  # noqa: ANN001
    """Return name, accuracy, times to fit and to predict in milliseconds, and size in bytes, for each classifier."""
    models = {
        "flybloom": FlyBloomClassifier(random_state=0),
        "flybloom, pairs": FlyRidgeClassifier(random_state=0),
        "5 nearest neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier()),
        "naive Bayes": GaussianNB(),
    }
    rows = []
    for name, model in models.items():
        model.fit(X_train, y_train).predict(X_test)  # compile, and load what is loaded on first use
        start = time.perf_counter()
        model.fit(X_train, y_train)
        fitted = time.perf_counter()
        accuracy = float((model.predict(X_test) == y_test).mean())
        done = time.perf_counter()
        sizes = {
            "flybloom": lambda m: m.counts_.nbytes,
            "flybloom, pairs": lambda m: m.counts_.nbytes + m.pair_counts_.nbytes,
            "naive Bayes": lambda m: m.theta_.nbytes * 2,
        }
        size = sizes.get(name, lambda _: X_train.nbytes)(model)
        rows.append((name, accuracy, 1e3 * (fitted - start), 1e3 * (done - fitted), size))
    return rows


def table(rows: list[tuple[str, float, float, float, int]]) -> list[list[str]]:
    """Return the comparison as rows of text, the header first."""
    header = ["", "accuracy", "fit, ms", "predict, ms", "model, KiB"]
    return [header] + [
        [name, f"{a:.3f}", f"{fit:.1f}", f"{p:.1f}", f"{size / 1024:.0f}"] for name, a, fit, p, size in rows
    ]


def learning_curve(X_train, X_test, y_train, y_test) -> tuple[list[int], list[float], list[float]]:  # noqa: ANN001
    """Return rows learned so far, and the accuracy of flybloom, which learns on, and of neighbours, fitted anew."""
    model = FlyBloomClassifier(random_state=0)
    sizes, fly, neighbours = [], [], []
    for block in np.array_split(np.arange(len(y_train)), 24):
        model.partial_fit(X_train[block], y_train[block])
        sizes.append(int(block[-1]) + 1)
        fly.append(model.score(X_test, y_test))
        knn = make_pipeline(StandardScaler(), KNeighborsClassifier()).fit(X_train[: sizes[-1]], y_train[: sizes[-1]])
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
    axes.plot(sizes, fly, color=FLY, lw=2)
    axes.plot(sizes, neighbours, color=OTHER, lw=2)
    axes.annotate(
        "flybloom, one pass", (sizes[-1], fly[-1]), (-8, -34), textcoords="offset points", ha="right", color=FLY
    )
    axes.annotate(
        "5 nearest neighbours, all rows kept", (sizes[-1], neighbours[-1]), (-8, 12), textcoords="offset points",
        ha="right", color=OTHER,
    )  # fmt: skip
    axes.set(xlabel="rows learned", ylabel="accuracy on rows never seen", ylim=(0.6, 1.02))
    axes.grid(color=GRID)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    right.suptitle("Learning on, block by block", fontsize=11, color=INK)
    figure.savefig(path, dpi=130)


def page(rows: list[list[str]]) -> str:
    """Return a page with the table and the picture."""
    cells = [
        "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)
        for row, tag in zip(rows, ["th"] + ["td"] * 9, strict=False)
    ]
    body = "\n".join(f"<tr>{row}</tr>" for row in cells)
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>flybloom on Digits</title>
<style>
  :root {{ color-scheme: light dark; }}
  body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }}
  table {{ border-collapse: collapse; }}
  th, td {{ padding: .3rem 1rem; text-align: right; border-bottom: 1px solid #8884; }}
  td:first-child {{ text-align: left; }} img {{ max-width: 100%; background: white; margin-top: 1.5rem; }}
</style>
<h1>flybloom on Digits</h1>
<p>A classifier that learns in one pass, beside two that scikit-learn's users know:
1 347 images to learn from, 450 to tell.</p>
<table>
{body}
</table>
<p><a href="report.html">Full report on the test images</a></p>
<img src="digits.png" alt="What each class remembers, and how accuracy grows with the rows learned">
</html>
"""


def main(folder: Path) -> None:
    """Compare, draw, and write the page."""
    folder.mkdir(parents=True, exist_ok=True)
    X, y = load_digits(return_X_y=True)
    split = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
    rows = table(compare(*split))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print(
            "  ".join(
                cell.rjust(width) if i else cell.ljust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
        )
    draw(FlyBloomClassifier(random_state=0).fit(X, y), learning_curve(*split), folder / "digits.png")
    (folder / "index.html").write_text(page(rows))
    X_train, X_test, y_train, y_test = split
    model = FlyBloomClassifier(random_state=0).fit(X_train, y_train)
    report(model, X_test, y_test, folder / "report.html", title="flybloom on Digits", image_shape=(8, 8))
    print(f"\nPage with the picture: {folder / 'index.html'}\nFull report: {folder / 'report.html'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))
