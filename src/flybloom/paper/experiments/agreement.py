"""Agreement with the nearest neighbour at the sizes that the theorems demand, and below them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from flybloom._internal.typing import Array
from flybloom.estimators.classifier import FlyBloomClassifier
from flybloom.paper.charts import COLOURS, new_figure
from flybloom.paper.experiment import Check, Experiment, Figure, Results, Settings, Summary, Table
from flybloom.paper.theory import TheoremSizes, binary_conditions, binary_sizes, real_conditions, real_sizes
from flybloom.paper.work import Result, Unit

TITLES = {
    "theorem-3": "Theorem 3, 2 classes",
    "corollary": "Corollary, 5 classes",
    "theorem-4": "Theorem 4, 2 classes",
}
N_CLASSES = {"theorem-3": 2, "corollary": 5, "theorem-4": 2}
N_THRESHOLD_SAMPLES = 50_000  # components that tell how far the neighbour of Theorem 4 may be


def plan(settings: Settings, data: str | None) -> list[Unit]:  # noqa: ARG001
    """Return a unit for each theorem and each delta, and for each of the smaller numbers of winners."""
    units = []
    for statement in TITLES:
        rows = settings["real" if statement == "theorem-4" else "binary"]
        common = {"statement": statement, "rows": rows, "n_trials": settings["n_trials"]}
        for delta in settings["deltas"]:
            sizes = sizes_for(statement, rows, delta)
            units.append(Unit(f"{statement}/delta{delta}", run, {**common, "sizes": list(sizes)}))
        for n_winners in settings["fewer_winners"]:
            sizes = fewer(sizes_for(statement, rows, max(settings["deltas"])), n_winners)
            units.append(Unit(f"{statement}/winners{n_winners}", run, {**common, "sizes": list(sizes)}))
    return units


def sizes_for(statement: str, rows: dict[str, int], delta: float) -> TheoremSizes:
    """Return the sizes that a theorem demands."""
    if statement == "theorem-4":
        return real_sizes(rows["n_rows"], rows["n_connections"], delta)
    return binary_sizes(rows["n_rows"], rows["n_features"], rows["n_ones"], delta, N_CLASSES[statement])


def fewer(sizes: TheoremSizes, n_winners: int) -> TheoremSizes:
    """Return the same proportions with fewer winners."""
    return TheoremSizes(math.ceil(sizes.n_components / sizes.n_winners * n_winners), sizes.n_connections, n_winners)


def run(statement: str, rows: dict[str, int], n_trials: int, sizes: list[int]) -> Result:
    """Return how many trials gave the label of the nearest neighbour, and how many met the theorem's conditions.

    Each trial draws a test row, training rows that only just satisfy the theorem, and a projection.
    """
    n_equal, n_met, n_classes = 0, 0, N_CLASSES[statement]
    demanded = TheoremSizes(*sizes)
    m, s, rho = demanded
    for trial in range(n_trials):
        rng = np.random.default_rng(trial)
        if statement == "theorem-4":
            x, X, y = real_problem(rows, demanded, rng)
            n_met += int(np.abs(X - x).max(axis=1).argmin() == 0)
        else:
            x, X, y = binary_problem(rows, s, n_classes, rng)
            n_met += int(binary_conditions(x, X, y, s).holds)
        model = FlyBloomClassifier(
            m, n_connections=s, n_winners=rho, decay=1.0, signed=False, encoding="none", random_state=trial, n_jobs=1
        )
        n_equal += int(model.fit(X, y).predict(x[None])[0] == y[0])
    return {"n_equal": n_equal, "n_met": n_met}


def binary_problem(
    rows: dict[str, int], n_connections: int, n_classes: int, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Return a test row and training rows: the neighbour as far, all others as near as Theorem 3 allows."""
    d, b, n = rows["n_features"], rows["n_ones"], rows["n_rows"]
    x = np.zeros(d, np.uint8)
    x[rng.choice(d, b, replace=False)] = 1
    near = b - math.floor(b * (1 - b / d) / (3 * n_connections))
    X = np.array([_swap(x, near if i == 0 else b * b // d, rng) for i in range(n_classes * n)])
    return x, X, np.repeat(rng.permutation(n_classes), n)


def _swap(row: Array, n_kept: int, rng: np.random.Generator) -> Array:
    """Return a row with as many ones, of which `n_kept` are those of `row`."""
    ones, zeros = np.flatnonzero(row), np.flatnonzero(row == 0)
    result = np.zeros_like(row)
    result[rng.choice(ones, n_kept, replace=False)] = 1
    result[rng.choice(zeros, ones.size - n_kept, replace=False)] = 1
    return result


def real_problem(rows: dict[str, int], sizes: TheoremSizes, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Return a test row of exponential features, a neighbour as far as Theorem 4 allows, and other rows."""
    d, n = rows["n_features"], rows["n_rows"]
    x = rng.exponential(size=d)
    X = rng.exponential(size=(2 * n, d))
    y = np.repeat(rng.permutation(2), n)
    share = sizes.n_winners / sizes.n_components
    X[0] = x
    conditions = real_conditions(x, X, y, sizes.n_connections, share, n_samples=N_THRESHOLD_SAMPLES, seed=rng)
    X[0] += conditions.nearest_limit * rng.choice([-1.0, 1.0], d)
    return x, X, y


def summarise(settings: Settings, results: Results) -> Summary:
    """Return what the theorems promise beside what was measured."""
    n_trials, found = settings["n_trials"], {}
    for statement in TITLES:
        rows = settings["real" if statement == "theorem-4" else "binary"]
        demanded = []
        for delta in settings["deltas"]:
            result = results[f"{statement}/delta{delta}"]
            sizes = sizes_for(statement, rows, delta)
            demanded.append({"delta": delta, **sizes._asdict(), **result, "agreement": result["n_equal"] / n_trials})
        below = [
            {"n_winners": rho, "agreement": results[f"{statement}/winners{rho}"]["n_equal"] / n_trials}
            for rho in settings["fewer_winners"]
        ]
        found[statement] = {"demanded": demanded, "fewer": below}
    return Summary(
        tables=[_demanded_table(found, n_trials), _fewer_table(found, settings["fewer_winners"])],
        checks=[check for statement in found for check in _checks(statement, found[statement]["demanded"], n_trials)],
        numbers={"agreement": found, "n_trials": n_trials},
    )


def _demanded_table(found: dict[str, Any], n_trials: int) -> Table:
    """Return a line for each theorem and delta."""
    rows = [
        [
            TITLES[statement], r["delta"], r["n_components"], r["n_connections"], r["n_winners"],
            round(1 - r["delta"], 4), round(r["agreement"], 3), f"{r['n_met']}/{n_trials}",
        ]
        for statement, of_statement in found.items()
        for r in of_statement["demanded"]
    ]  # fmt: skip
    header = ["theorem", "delta", "m", "s", "rho", "promised", "measured", "conditions met"]
    return Table(f"Share of {n_trials} projections with the label of the nearest neighbour", header, rows)


def _fewer_table(found: dict[str, Any], winners: list[int]) -> Table:
    """Return the agreement with fewer winners than demanded."""
    rows = [[TITLES[name], *(round(r["agreement"], 3) for r in of["fewer"])] for name, of in found.items()]
    return Table("The same with fewer winners, m in proportion", ["theorem", *map(str, winners)], rows)


def _checks(statement: str, demanded: list[dict[str, Any]], n_trials: int) -> list[Check]:
    """Return whether a theorem keeps its promise, on rows that satisfy it."""
    promised = ", ".join(f"{1 - r['delta']:.2f}" for r in demanded)
    measured = ", ".join(f"{r['agreement']:.2f}" for r in demanded)
    kept = all(r["agreement"] >= 1 - r["delta"] for r in demanded)
    met = all(r["n_met"] == n_trials for r in demanded)
    claim = f"{TITLES[statement]}: agreement of at least 1 - delta"
    return [Check(claim, promised, measured, kept and met, "" if met else "some trials did not meet the conditions")]


def draw(summary: Summary) -> dict[str, Figure]:
    """Return agreement against the number of winners; the theorems' demand and promise as crosses."""
    found, n_trials = summary.numbers["agreement"], summary.numbers["n_trials"]
    figure, axes = new_figure(len(found), width=4, height=4)
    for ax, (statement, of_statement) in zip(axes, found.items(), strict=True):
        points = sorted((r["n_winners"], r["agreement"]) for r in of_statement["fewer"] + of_statement["demanded"])
        ax.plot(*zip(*points, strict=True), color=COLOURS["ours"], lw=2, marker="o", ms=4, label="measured")
        promises = [(r["n_winners"], 1 - r["delta"]) for r in of_statement["demanded"]]
        ax.plot(*zip(*promises, strict=True), "x", color=COLOURS["beyond"], ms=8, mew=2, label="promised, 1 - delta")
        ax.set(title=TITLES[statement], xlabel="winners (m in proportion)", xscale="log", ylim=(0, 1.05))
        ax.grid(color="#dddddd")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel(f"agreement with 1-NN, {n_trials} projections")
    axes[0].legend(frameon=False, loc="lower right")
    return {"agreement": figure}


EXPERIMENT = Experiment(
    "agreement",
    "Agreement with the nearest neighbour",
    ("Theorem 3", "Corollary", "Theorem 4"),
    plan,
    summarise,
    draw,
    "The paper proves that FBFC (c = 1) gives the label of the nearest neighbour with probability 1 - delta, and does "
    "not measure it. Here each trial draws a test row, training rows that only just satisfy the theorem (the "
    "neighbour as far, all others as near as allowed), and a projection of the sizes that "
    "`flybloom.paper.theory` returns. docs/theory.md says where these sizes differ from the text of the paper, "
    "and why.",
)
