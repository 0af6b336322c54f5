"""Test accuracy on four vision sets, settings tuned on held-out training rows: Table 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from flybloom.paper.charts import COLOURS, new_figure
from flybloom.paper.experiment import Check, Experiment, Figure, Results, Settings, Summary, Table
from flybloom.paper.vision_units import run_baseline, run_filters, run_pairs
from flybloom.paper.work import Result, Unit

METHODS = ("kNNC", "CC1", "CC", "SBFC", "LR", "MLPC", "FBFC*")
THEIRS = {  # percent, Table 1 of the paper
    name: dict(zip(METHODS, percents, strict=True))
    for name, percents in {
        "mnist": (97.36, 82.23, 96.26, 13.60, 92.09, 96.06, 95.69),
        "fashion_mnist": (85.90, 70.34, 84.66, 26.10, 84.30, 84.27, 80.02),
        "cifar10_grey": (31.65, 24.72, 31.86, 11.27, 28.37, 28.96, 36.73),
        "cifar100_grey": (14.38, 7.63, 13.09, 1.88, 7.65, 7.09, 16.34),
    }.items()
}
GOALS = {  # percent, of this library
    "beyond": {"mnist": 96.5, "fashion_mnist": 83.0, "cifar10_grey": 38.0, "cifar100_grey": 17.5},
    "pairs": {"mnist": 98.0, "fashion_mnist": 88.5, "cifar10_grey": 45.0, "cifar100_grey": 19.0},
}
NAMES = {"paper": "FBFC*"}  # what a part of a profile is called in tables
DRAWN = ("seed", "alpha")  # what may differ between projections of one setting
QUIET = ("scaling", "signed", "densify", "class_weight", "seed", "alpha")  # not worth a column's width


def plan(settings: Settings, data: str | None) -> list[Unit]:
    """Return a unit for each data set and method, and for FBFC* one for each pair of m and s and each projection."""
    units = []
    for name in settings["names"]:
        common = {"name": name, "most_rows": settings.get("most_rows")}
        seed = settings["seed"]
        units += [
            Unit(
                f"{name}/baselines/{method}",
                run_baseline,
                {**common, "seed": seed, "method": method, "grid": grid},
                data,
            )
            for method, grid in settings["grids"].items()
        ]
        units += [
            Unit(f"{name}/{part}/{key}", run_filters, {**common, "seed": own_seed, "space": space}, data)
            for part in ("paper", "beyond")
            for at, table in enumerate(settings.get(part, {}).get(name, []))
            for key, own_seed, space in _pieces(at, table, seed)
        ]
        units += [
            Unit(f"{name}/pairs/{at}-p{own_seed}", run_pairs, {**common, "seed": own_seed, "settings": kept}, data)
            for at, table in enumerate(settings.get("pairs", {}).get(name, []))
            for kept in [{key: value for key, value in table.items() if key != "projections"}]
            for own_seed in range(seed, seed + table.get("projections", 1))
        ]
    return units


def _pieces(at: int, table: dict[str, Any], seed: int) -> list[tuple[str, int, dict[str, Any]]]:
    """Return a space as pieces that take minutes each, with a name and a seed for each."""
    if table.get("search", "grid") != "grid":
        return [(f"{at}", seed, table)]
    return [
        (f"{at}-m{times:g}d-s{share:g}d-p{own}", own,
         {**table, "components": [times], "connections": [share], "projections": 1})
        for times in table["components"]
        for share in table["connections"]
        for own in range(seed, seed + table.get("projections", 1))
    ]  # fmt: skip


def summarise(settings: Settings, results: Results) -> Summary:
    """Return the paper's table with ours beside it, what each model costs, and how much projections differ."""
    found = {name: _methods(results, f"{name}/") for name in settings["names"]}
    percent = {
        name: {method: 100 * of_method["chosen"]["test"]["accuracy"] for method, of_method in of_set.items()}
        for name, of_set in found.items()
    }
    return Summary(
        tables=[
            _accuracy_table(percent),
            _spread_table(found),
            *(_cost_table(name, of_set) for name, of_set in found.items()),
        ],
        checks=[check for name, of_set in found.items() for check in _checks(name, of_set)],
        numbers={"percent": percent},
    )


def _methods(results: Results, prefix: str) -> dict[str, Result]:
    """Return, for each method on a data set, the setting that is best on held-out rows and its like."""
    by_method: dict[str, list[Result]] = {}
    for key, result in results.items():
        if key.startswith(prefix):
            part, rest = key.removeprefix(prefix).split("/", 1)
            part = rest if part == "baselines" else part
            by_method.setdefault(NAMES.get(part, part), []).append(result)
    return {method: _chosen(of_method) for method, of_method in by_method.items()}


def _chosen(of_method: list[Result]) -> Result:
    """Return the setting that is best on held-out rows, and the test accuracy of all its projections."""
    settings = [setting for result in of_method for setting in result["settings"]]
    chosen = max(settings, key=lambda setting: setting["held_out"]["balanced_accuracy"])
    alike = [setting for setting in settings if _without_draw(setting) == _without_draw(chosen)]
    return {
        "chosen": chosen,
        "n_settings": sum(result["n_settings"] for result in of_method),
        "n_tests": of_method[0]["n_tests"],
        "tests": [100 * setting["test"]["accuracy"] for setting in alike],
    }


def _without_draw(setting: Result) -> dict[str, Any]:
    """Return a setting but for the projection that was drawn."""
    return {key: value for key, value in setting["params"].items() if key not in DRAWN}


def _accuracy_table(percent: dict[str, dict[str, float]]) -> Table:
    """Return test accuracies, theirs before ours."""
    header = ["method"]
    for name in percent:
        header += [f"{name}: theirs", "ours"]
    methods = dict.fromkeys(method for of_set in percent.values() for method in of_set)
    rows = []
    for method in methods:
        row: list[Any] = [method]
        for name, of_set in percent.items():
            row += [THEIRS.get(name, {}).get(method), round(of_set[method], 2) if method in of_set else None]
        rows.append(row)
    return Table("Test accuracy, percent", header, rows)


def _spread_table(found: dict[str, dict[str, Result]]) -> Table:
    """Return how much the test accuracy of a setting depends on the projection."""
    rows = []
    for name, of_set in found.items():
        for method, of_method in of_set.items():
            tests = of_method["tests"]
            if len(tests) > 1:
                chosen = 100 * of_method["chosen"]["test"]["accuracy"]
                figures = [round(float(value), 2) for value in (chosen, np.mean(tests), np.std(tests, ddof=1))]
                rows.append([name, method, len(tests), *figures, f"{min(tests):.2f} to {max(tests):.2f}"])
    header = ["set", "method", "projections", "chosen", "mean", "deviation", "range"]
    return Table("The chosen setting with other projections: test accuracy, percent", header, rows)


def _cost_table(name: str, of_set: dict[str, Result]) -> Table:
    """Return settings, times and sizes on one data set."""
    rows = []
    for method, of_method in of_set.items():
        chosen, n_tests = of_method["chosen"], of_method["n_tests"]
        seconds, size = chosen["seconds"], chosen["bytes"]
        fit, predict = seconds.get("fit"), seconds.get("predict")
        rows.append([
            method,
            ", ".join(f"{key} {value}" for key, value in chosen["params"].items() if key not in QUIET),
            of_method["n_settings"],
            round(100 * chosen["test"]["balanced_accuracy"], 2),
            round(seconds["all"], 1) if fit is None else round(fit, 2),
            None if predict is None else round(1e6 * predict / n_tests, 1),
            None if size is None else round(size / 2**20, 1),
        ])  # fmt: skip
    header = [
        "method", "setting", "settings tried", "balanced accuracy, %", "fit, s (FBFC*: all settings of the piece)",
        "predict, us a row", "model, MiB",
    ]  # fmt: skip
    return Table(f"{name}: what was chosen, and what it costs on one thread", header, rows)


def _checks(name: str, of_set: dict[str, Result]) -> list[Check]:
    """Return whether the paper's figures are reached, and the goals beyond."""
    checks = []
    wanted = {"FBFC*": THEIRS.get(name, {}).get("FBFC*"), **{part: goals.get(name) for part, goals in GOALS.items()}}
    for method, least in wanted.items():
        if method not in of_set or least is None:
            continue
        of_method = of_set[method]
        ours, tests, n_tests = 100 * of_method["chosen"]["test"]["accuracy"], of_method["tests"], of_method["n_tests"]
        error = float(np.sqrt(ours * (100 - ours) / n_tests))
        note = f"standard error of {n_tests} test rows: {error:.2f}"
        mean = float(np.mean(tests))  # steadier than the projection that a hair of held-out accuracy chose
        if len(tests) > 1:
            note += f"; {len(tests)} projections: {mean:.2f} +- {np.std(tests, ddof=1):.2f}"
        is_theirs = method == "FBFC*"
        space = "in the paper's search space " if is_theirs else ""
        checks.append(
            Check(
                f"{name}: {method} {space}reaches {least} %",
                f"{least:.2f}" if is_theirs else "-",
                f"{ours:.2f}",
                holds=ours >= least,
                note=note,
                within_noise=is_theirs and max(ours, mean) >= least - error,
            )
        )
    return checks


def draw(summary: Summary) -> dict[str, Figure]:
    """Return bars of the test accuracy of all methods, theirs beside ours."""
    percent = summary.numbers["percent"]
    figure, axes = new_figure(len(percent), width=4)
    for ax, (name, of_set) in zip(axes, percent.items(), strict=True):
        at = np.arange(len(of_set))
        ours = [COLOURS["beyond"] if method in GOALS else COLOURS["ours"] for method in of_set]
        theirs = [THEIRS.get(name, {}).get(method, np.nan) for method in of_set]
        ax.bar(at - 0.2, theirs, 0.38, color=COLOURS["theirs"], label="paper")
        ax.bar(at + 0.2, list(of_set.values()), 0.38, color=ours, label="here")
        ax.set_xticks(at, list(of_set), rotation=45)
        ax.set_title(name, fontsize=10)
        ax.set_ylabel("test accuracy, %")
    axes[0].set_ylim(top=125)  # room for the legend above the bars
    axes[0].legend(frameon=False, fontsize=8, ncols=2, loc="upper left")
    return {"vision": figure}


EXPERIMENT = Experiment(
    "vision",
    "Four vision sets",
    ("Table 1",),
    plan,
    summarise,
    draw,
    "A fifth of the training rows, drawn with the authors' seed, is held out to choose the setting by balanced "
    "accuracy; the model then learns all training rows and is tested on the official test rows. Pixels are flattened, "
    "colours summed. Baselines see rows of unit length. The paper's space is its ranges (m from 2 d to 1024 d) with "
    "matrices of zeros and ones on raw pixels. The setting that is chosen is one of a projection, as the authors' "
    "search has it; how it does with other projections is shown beside it. A figure is reached within noise if that "
    "projection, or the mean over all of its setting, is less than a standard error below it. `beyond` also takes "
    "larger rho, scales columns, has signed connections and tries other decays; `pairs` is `FlyRidgeClassifier`. "
    "Test scores of all settings come from the same pass; only held-out rows choose. Times are of one thread of a "
    "machine that does other work as well. `beyond` misses its goals by 0.2 to 0.9 points: with as many components as "
    "the paper's, single counts gain little from scaled columns, signs and other decays. What is missing are pairs, "
    "which pass theirs with a fiftieth of the components.",
)
