"""Agreement with the nearest neighbour at the sizes that the theorems demand, over random projections.

Each trial draws a test row, training rows that only just satisfy the theorem, and a projection, and compares the label
of FlyBloomClassifier (decay 1, zeros and ones) with that of the nearest neighbour. Prints a table, writes
benchmarks/results/agreement.json and docs/images/agreement.png. Takes about ten minutes.

    python benchmarks/agreement.py
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np

from flybloom import FlyBloomClassifier
from flybloom.theory import TheoremSizes, binary_conditions, binary_sizes, real_conditions, real_sizes

mpl.use("agg")
from matplotlib import pyplot as plt

ROOT = Path(__file__).resolve().parents[1]
TRIALS = 100
DELTAS = (0.4, 0.2, 0.1, 0.05)
FEW_WINNERS = (1, 2, 4, 8, 16, 32, 64)  # far below what the theorems demand: where agreement is lost
D, B, N = 1000, 100, 100  # binary rows
REAL_D, REAL_N, REAL_S = 100, 10, 8  # real rows
Row = np.ndarray


def swap(row: Row, n_kept: int, rng: np.random.Generator) -> Row:
    """Return a row with as many ones, of which `n_kept` are those of `row`."""
    ones, zeros = np.flatnonzero(row), np.flatnonzero(row == 0)
    kept = rng.choice(ones, n_kept, replace=False)
    result = np.zeros_like(row)
    result[kept] = 1
    result[rng.choice(zeros, ones.size - n_kept, replace=False)] = 1
    return result


def binary_problem(sizes: TheoremSizes, n_classes: int, rng: np.random.Generator) -> tuple[Row, np.ndarray, np.ndarray]:
    """Return a test row and training rows: the neighbour as far, all others as near as Theorem 3 allows."""
    x = np.zeros(D, np.uint8)
    x[rng.choice(D, B, replace=False)] = 1
    near = B - math.floor(B * (1 - B / D) / (3 * sizes.n_connections))
    X = np.array([swap(x, near if i == 0 else B * B // D, rng) for i in range(n_classes * N)])
    y = np.repeat(rng.permutation(n_classes), N)
    return x, X, y


def real_problem(sizes: TheoremSizes, rng: np.random.Generator) -> tuple[Row, np.ndarray, np.ndarray]:
    """Return a test row of exponential features, a neighbour as far as Theorem 4 allows, and other rows."""
    x = rng.exponential(size=REAL_D)
    X = rng.exponential(size=(2 * REAL_N, REAL_D))
    y = np.repeat(rng.permutation(2), REAL_N)
    share = sizes.n_winners / sizes.n_components
    X[0] = x
    limit = real_conditions(x, X, y, sizes.n_connections, share, n_samples=50_000, seed=rng).nearest_limit
    X[0] += limit * rng.choice([-1.0, 1.0], REAL_D)
    return x, X, y


def agreement(sizes: TheoremSizes, problem: Callable[[np.random.Generator], tuple], n_trials: int) -> tuple[float, int]:
    """Return the share of trials with the label of the nearest neighbour, and how many met the conditions."""
    n_equal, n_met = 0, 0
    for trial in range(n_trials):
        x, X, y = problem(np.random.default_rng(trial))
        model = FlyBloomClassifier(
            sizes.n_components, n_connections=sizes.n_connections, n_winners=sizes.n_winners, decay=1.0, signed=False,
            scaling="none", random_state=trial,
        )  # fmt: skip
        n_equal += model.fit(X, y).predict(x[None])[0] == y[0]
        if X.dtype == np.uint8:
            n_met += binary_conditions(x, X, y, sizes.n_connections).holds
        else:
            n_met += np.abs(X - x).max(axis=1).argmin() == 0
    return float(n_equal / n_trials), int(n_met)


def fewer(sizes: TheoremSizes, n_winners: int) -> TheoremSizes:
    """Return the same proportions with fewer winners."""
    return TheoremSizes(math.ceil(sizes.n_components / sizes.n_winners * n_winners), sizes.n_connections, n_winners)


def measure(name: str, sizes_of: Callable, problem_of: Callable) -> dict:
    """Return agreement at the theorem's sizes for each delta, and below them."""
    records: dict = {"name": name, "demanded": [], "fewer": []}
    for delta in DELTAS:
        sizes = sizes_of(delta)
        share, n_met = agreement(sizes, problem_of(sizes), TRIALS)
        records["demanded"].append({"delta": delta, **sizes._asdict(), "agreement": share, "conditions_met": n_met})
        print(
            f"| {name} | {delta} | {sizes.n_components} | {sizes.n_connections} | {sizes.n_winners} "
            f"| {1 - delta:.2f} | {share:.3f} | {n_met}/{TRIALS} |",
            flush=True,
        )
    for n_winners in FEW_WINNERS:
        sizes = fewer(sizes_of(DELTAS[0]), n_winners)
        share, _ = agreement(sizes, problem_of(sizes), TRIALS)
        records["fewer"].append({**sizes._asdict(), "agreement": share})
    print(f"    fewer winners: {[(r['n_winners'], round(r['agreement'], 3)) for r in records['fewer']]}", flush=True)
    return records


def draw(results: list[dict], path: Path) -> None:
    """Draw agreement against the number of winners; the theorems' demand and promise as crosses."""
    figure, panels = plt.subplots(1, len(results), figsize=(12, 4), sharey=True, layout="constrained")
    for axes, result in zip(panels, results, strict=True):
        points = sorted((r["n_winners"], r["agreement"]) for r in result["fewer"] + result["demanded"])
        axes.plot(*zip(*points, strict=True), color="#b5482a", lw=2, marker="o", ms=4, label="measured")
        demanded = [(r["n_winners"], 1 - r["delta"]) for r in result["demanded"]]
        axes.plot(*zip(*demanded, strict=True), "x", color="#3b6ea5", ms=8, mew=2, label="promised, 1 - delta")
        axes.set(title=result["name"], xlabel="winners (m in proportion)", xscale="log")
        axes.grid(color="#dddddd")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel(f"agreement with 1-NN, {TRIALS} projections")
    panels[0].legend(frameon=False, loc="lower right")
    figure.savefig(path, dpi=110)


def main() -> None:
    """Measure, print, save, draw."""
    print("| theorem | delta | m | s | rho | promised | measured | conditions met |")
    print("|---|---|---|---|---|---|---|---|")
    results = [
        measure(
            f"{name}, {n_classes} classes",
            lambda delta, n_classes=n_classes: binary_sizes(N, D, B, delta, n_classes),
            lambda sizes, n_classes=n_classes: lambda rng: binary_problem(sizes, n_classes, rng),
        )
        for name, n_classes in (("Theorem 3", 2), ("Corollary", 5))
    ]
    results.append(
        measure(
            "Theorem 4, 2 classes",
            lambda delta: real_sizes(REAL_N, REAL_S, delta),
            lambda sizes: lambda rng: real_problem(sizes, rng),
        )
    )
    path = ROOT / "benchmarks" / "results" / "agreement.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(results, indent=1))
    draw(results, ROOT / "docs" / "images" / "agreement.png")


if __name__ == "__main__":
    main()
