"""Real data sets of two sizes, every method relative to kNNC: Figures 2c and 2d."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from flybloom._internal.typing import Array
from flybloom.estimators.ridge import FlyRidgeClassifier
from flybloom.paper import comparison
from flybloom.paper.charts import box_plot, new_figure
from flybloom.paper.datasets import group_names, load, sizes
from flybloom.paper.experiment import Check, Experiment, Figure, Results, Settings, Summary, Table
from flybloom.paper.scores import METRICS, SEED, accuracy, balanced_accuracy, folds, mean
from flybloom.paper.work import Result, Unit

GROUPS = {"A": "d in [10, 100]", "B": "d in [101, 1024]"}
THEIRS = {  # medians that the paper's text states
    "A": {"FBFC": 0.12, "FBFC*": 0.05, "LR": 0.07, "MLPC": 0.06},
    "B": {"FBFC": 0.01, "FBFC*": 0.01, "LR": 0.04, "MLPC": 0.05},
}
THEIR_WINS = {  # fraction of 71 sets on which FBFC* wins, and median improvement: slide 20 of the KDD talk
    "kNNC": (0.51, 0.0005), "1NNC": (0.62, 0.0221), "CC1": (0.87, 0.0764), "CC": (0.38, -0.0048),
    "SBFC": (0.99, 0.249), "LR": (0.58, 0.0134), "MLPC": (0.73, 0.0436), "FBFC": (0.82, 0.0587),
}  # fmt: skip
NEIGHBOURS = {"kNNC": "unit", "kNN raw": "raw", "kNN standard": "standard"}
BEYOND = "beyond"
PAIRS = "pairs"
NOT_THEIRS = {  # what the authors' query of OpenML does not find: it wants numbers alone beside the label
    "dna": "nominal columns in OpenML",
    "gina_prior2_proxy": "a stand-in drawn from MNIST",
    "musk2": "a nominal column in OpenML",
}
OUR_GOALS = {BEYOND: -0.01, f"{BEYOND}, best kNN": 0.0, PAIRS: -0.03, f"{PAIRS}, best kNN": 0.0}
GOAL = {"A": {"FBFC": 0.12, "FBFC*": 0.05}, "B": {"FBFC": 0.01, "FBFC*": 0.01}}


def plan(settings: Settings, data: str | None) -> list[Unit]:
    """Return a unit for each data set and method."""
    units = []
    for group, names in chosen(settings, data).items():
        for name in names:
            common = {"name": name, "n_folds": settings["n_folds"], "seed": settings["seed"]}
            if sizes(name, data).n > settings.get("most_rows", np.inf):
                common["most_rows"] = settings["most_rows"]
            methods: dict[str, dict[str, Any]] = {
                **{
                    method: {"method": "kNNC", "grid": settings["neighbours"], "rows": rows}
                    for method, rows in NEIGHBOURS.items()
                },
                **{
                    method: {"method": method, "grid": grid, "rows": "unit"}
                    for method, grid in settings["baselines"].items()
                },
            }
            units += [
                Unit(f"{group}/{name}/{key.replace(' ', '-')}", run_baseline, {**common, **method}, data)
                for key, method in methods.items()
            ]
            units += [
                Unit(f"{group}/{name}/{key}", run_fly, {**common, "spaces": settings[key]}, data)
                for key in ("paper", BEYOND)
            ]
            if settings.get(PAIRS):
                units.append(Unit(f"{group}/{name}/{PAIRS}", run_pairs, {**common, "settings": settings[PAIRS]}, data))
    return units


def chosen(settings: Settings, data: str | None) -> dict[str, list[str]]:
    """Return the names of the data sets of each group: those of the settings, or all that there are."""
    if "names" in settings:
        groups: dict[str, list[str]] = settings["names"]
        return groups
    return {group: group_names(group, data, include_named=True) for group in GROUPS}


def rows_of(name: str, data: str | None, most_rows: int | None) -> tuple[Array, Array]:
    """Return the rows of a data set; with `most_rows`, a stratified part of them."""
    found = load(name, data)
    if most_rows is None:
        return found.X, found.y
    X, _, y, _ = train_test_split(found.X, found.y, train_size=most_rows, stratify=found.y, random_state=SEED)
    return X, y


def run_baseline(
    name: str,
    method: str,
    grid: str,
    rows: str,
    n_folds: int,
    seed: int,
    most_rows: int | None = None,
    data: str | None = None,
) -> Result:
    """Return the best settings of a baseline on a data set."""
    X, y = rows_of(name, data, most_rows)
    return comparison.baseline(X, y, folds(X, y, n_folds), method, grid, rows, seed)


def run_fly(
    name: str,
    spaces: list[dict[str, Any]],
    n_folds: int,
    seed: int,
    most_rows: int | None = None,
    data: str | None = None,
) -> Result:
    """Return the best settings of FBFC and FBFC* on a data set."""
    X, y = rows_of(name, data, most_rows)
    return comparison.fly(X, y, folds(X, y, n_folds), spaces, seed)


def run_pairs(
    name: str,
    settings: dict[str, Any],
    n_folds: int,
    seed: int,
    most_rows: int | None = None,
    data: str | None = None,
) -> Result:
    """Return what `FlyRidgeClassifier` reaches on each fold, with one setting for all data sets."""
    X, y = rows_of(name, data, most_rows)
    record: dict[str, Any] = {"params": settings, "accuracy": [], "balanced_accuracy": []}
    for train, test in folds(X, y, n_folds):
        model = FlyRidgeClassifier(**settings, random_state=seed, n_jobs=1).fit(X[train], y[train])
        predicted = model.predict(X[test])
        record["accuracy"].append(accuracy(y[test], predicted))
        record["balanced_accuracy"].append(balanced_accuracy(y[test], predicted))
    return dict.fromkeys(METRICS, record)


def found_by_method(results: Results) -> dict[str, dict[str, dict[str, Any]]]:
    """Return group, data set, method -> best settings; the best of FBFC and FBFC* for this library's own space."""
    found: dict[str, dict[str, dict[str, Any]]] = {group: {} for group in GROUPS}
    for key, result in results.items():
        group, name, method = key.split("/")
        of_set = found[group].setdefault(name, {})
        if method == "paper":
            of_set.update(result)
        elif method == BEYOND:
            of_set[BEYOND] = {
                metric: max((best[metric] for best in result.values()), key=lambda record: mean(record, metric))
                for metric in METRICS
            }
        else:
            of_set[method.replace("-", " ")] = result
    return found


def summarise(settings: Settings, results: Results) -> Summary:  # noqa: ARG001
    """Return medians of the relative performance, win fractions, and what was hoped for."""
    found = found_by_method(results)
    boxes = {metric: {group: _relative(sets, metric) for group, sets in found.items() if sets} for metric in METRICS}
    theirs = {group: {name: s for name, s in sets.items() if name not in NOT_THEIRS} for group, sets in found.items()}
    boxes_of_theirs = {
        metric: {group: _relative(sets, metric) for group, sets in theirs.items() if sets} for metric in METRICS
    }
    return Summary(
        tables=[
            *(_median_table(boxes[metric], found, metric) for metric in METRICS),
            _query_table(boxes, boxes_of_theirs, found),
            *(_win_table(found, metric) for metric in METRICS),
            *(_set_table(found, metric) for metric in METRICS),
        ],
        checks=_checks(boxes_of_theirs, boxes),
        numbers={"boxes": boxes, "n_sets": {group: len(sets) for group, sets in found.items()}},
    )


def _relative(sets: dict[str, dict[str, Any]], metric: str) -> dict[str, list[float]]:
    """Return the relative performance of each method on the sets; of the best kNN and beyond it, too."""
    methods = [method for method in next(iter(sets.values())) if method != "kNNC"]
    relative = {
        method: [comparison.relative(of_set[method], of_set["kNNC"], metric) for of_set in sets.values()]
        for method in methods
    }
    for method in (BEYOND, PAIRS):
        if method in methods:
            relative[f"{method}, best kNN"] = [
                max(comparison.relative(of_set[method], of_set[neighbours], metric) for neighbours in NEIGHBOURS)
                for of_set in sets.values()
            ]
    return relative


def _median_table(boxes: dict[str, dict[str, list[float]]], found: dict[str, dict[str, Any]], metric: str) -> Table:
    """Return the medians beside the paper's."""
    header = ["method"]
    for group in boxes:
        header += [f"{GROUPS[group]}: theirs", f"ours ({len(found[group])} sets)", "quartiles"]
    rows = []
    for method in next(iter(boxes.values())):
        row: list[Any] = [method]
        for group, of_group in boxes.items():
            low, median, high = comparison.quartiles(of_group[method])
            row += [THEIRS[group].get(method), round(median, 4), f"{low:+.3f} to {high:+.3f}"]
        rows.append(row)
    return Table(f"Median of 1 - a / a(kNNC), {metric.replace('_', ' ')}; lower is better", header, rows)


def _query_table(
    boxes: dict[str, dict[str, dict[str, list[float]]]],
    boxes_of_theirs: dict[str, dict[str, dict[str, list[float]]]],
    found: dict[str, dict[str, Any]],
) -> Table:
    """Return the medians of all sets beside those of the sets that the authors' query finds."""
    left_out = [name for sets in found.values() for name in sets if name in NOT_THEIRS]
    header, rows = ["group", "metric", "method", "all sets", "sets of the authors' query"], []
    for metric in reversed(METRICS):
        for group, of_group in boxes_of_theirs[metric].items():
            for method in ("FBFC", "FBFC*", BEYOND, PAIRS):
                if method in of_group:
                    medians = [round(float(np.median(b[metric][group][method])), 4) for b in (boxes, boxes_of_theirs)]
                    rows.append([GROUPS[group], metric.replace("_", " "), method, *medians])
    reasons = ", ".join(f"{name}: {NOT_THEIRS[name]}" for name in left_out) or "none"
    return Table(f"With and without the sets that the authors' query does not find ({reasons})", header, rows)


def _win_table(found: dict[str, dict[str, Any]], metric: str) -> Table:
    """Return how often FBFC* wins: over all sets, where kNNC is the better of kNNC and LR, and where LR is."""
    sets = [of_set for of_group in found.values() for of_set in of_group.values()]
    parts = {"all": sets}
    if all("LR" in of_set for of_set in sets):
        is_near = [mean(s["kNNC"][metric], metric) >= mean(s["LR"][metric], metric) for s in sets]
        parts["A: kNNC best"] = [s for s, near in zip(sets, is_near, strict=True) if near]
        parts["B: LR best"] = [s for s, near in zip(sets, is_near, strict=True) if not near]
    header = ["FBFC* against", "theirs (71 sets)"] + [f"{name} ({len(part)} sets)" for name, part in parts.items()]
    rows = []
    for method in (method for method in sets[0] if method not in ("FBFC*", BEYOND, PAIRS)):
        their_wins = THEIR_WINS.get(method)
        row: list[Any] = [method, f"{their_wins[0]:.2f} ({their_wins[1]:+.2%})" if their_wins else None]
        for part in parts.values():
            if not part:
                row.append(None)
                continue
            ours, others = ([mean(s[which][metric], metric) for s in part] for which in ("FBFC*", method))
            won = comparison.wins(ours, others)
            row.append(f"{won['fraction']:.2f} ({won['improvement']:+.2%}, p = {won['p_value']:.1g})")
        rows.append(row)
    title = f"Fraction of sets on which FBFC* wins (median improvement, paired t-test), {metric.replace('_', ' ')}"
    return Table(title, header, rows)


def _set_table(found: dict[str, dict[str, Any]], metric: str) -> Table:
    """Return the scores themselves."""
    sets = {name: of_set for of_group in found.values() for name, of_set in of_group.items()}
    methods = list(next(iter(sets.values())))
    rows = [[name, *(round(mean(s[method][metric], metric), 4) for method in methods)] for name, s in sets.items()]
    return Table(f"Best {metric.replace('_', ' ')} of each method", ["data set", *methods], rows)


def _checks(
    boxes: dict[str, dict[str, dict[str, list[float]]]], all_boxes: dict[str, dict[str, dict[str, list[float]]]]
) -> list[Check]:
    """Return the medians that were hoped for, of the sets of the authors' query; their metric is balanced accuracy."""
    checks = []
    for metric in reversed(METRICS):
        of = metric.replace("_", " ")
        for group, of_group in boxes[metric].items():
            median = {method: float(np.median(values)) for method, values in of_group.items()}
            notes = {method: f"all sets: {np.median(v):+.4f}" for method, v in all_boxes[metric][group].items()}
            for method, most in GOAL[group].items():
                if method in median:
                    claim = f"{method}, {GROUPS[group]}: median at most {most} ({of})"
                    holds = median[method] <= most
                    checks.append(
                        Check(claim, str(THEIRS[group][method]), f"{median[method]:+.4f}", holds, notes[method])
                    )
            for method, most in OUR_GOALS.items():
                if method in median:
                    against = "the best kNN" if method.endswith("kNN") else "the authors' kNNC"
                    claim = f"{method.split(',')[0]}, {GROUPS[group]}: median at most {most} against {against} ({of})"
                    checks.append(Check(claim, "-", f"{median[method]:+.4f}", median[method] <= most, notes[method]))
    return checks


def draw(summary: Summary) -> dict[str, Figure]:
    """Return the box plots of both groups for each metric."""
    figures = {}
    for metric, groups in summary.numbers["boxes"].items():
        figure, axes = new_figure(len(groups), width=6)
        for ax, (group, boxes) in zip(axes, groups.items(), strict=True):
            n_sets = summary.numbers["n_sets"][group]
            box_plot(ax, boxes, f"{GROUPS[group]}, {n_sets} sets, {metric.replace('_', ' ')}", THEIRS[group])
            ax.set_ylim(-0.5, 0.8)
        figures[f"openml_{metric}"] = figure
    return figures


EXPERIMENT = Experiment(
    "openml",
    "Real data sets relative to kNNC",
    ("Figure 2c", "Figure 2d"),
    plan,
    summarise,
    draw,
    "Ten stratified folds with the authors' seed; the best setting on these folds counts, for every method, as the "
    "authors had it. The rows of baselines have unit length, as the authors' code makes them; for FBFC that changes "
    "nothing. FBFC and FBFC* share one grid over the paper's ranges, read off one pass for each pair of m and s. "
    "The folds share one projection, where the authors drew one for each fold. `beyond` adds scaled columns, signed "
    "connections and smaller decays; `beyond, best kNN` holds it against the best of kNN on raw rows, rows of unit "
    "length and standardised columns. `pairs` is `FlyRidgeClassifier()` as it comes, one setting for all sets and no "
    "search. In the standard profile, sets of more than 10 000 rows are cut to that many. The "
    "sets are like those of the paper, but not the same: which of them the authors' query would not find is said in a "
    "table, and statements are about the others. Columns of unequal size (madelon, mfeat_factors) are hard for "
    "matrices of zeros and ones on unscaled columns. Where goals beyond the paper are missed, which is for more than "
    "100 features: on three of the seven sets kNNC has 95 % right and more, so there is little to gain; in madelon "
    "and madeline five directions of hundreds matter, which pairs find no better than it does; on cnae_9, semeion and "
    "mfeat_factors they gain 0.02 to 0.06.",
)
