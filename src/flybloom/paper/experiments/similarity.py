"""Which classes resemble each other, and the tree that they form: Figure 4."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from flybloom._internal.typing import Array
from flybloom.core.readout.explanation import most_similar_pairs
from flybloom.estimators.classes import class_similarity
from flybloom.estimators.classifier import FlyBloomClassifier
from flybloom.paper.charts import new_figure
from flybloom.paper.datasets import Dataset, load
from flybloom.paper.experiment import Check, Experiment, Figure, Results, Settings, Summary, Table
from flybloom.paper.work import Result, Unit

Pair: TypeAlias = tuple[int, int]

SIZES = {  # m / d, s / d, rho, c; of Fashion-MNIST and CIFAR-10 those that the authors timed
    "digits": (256, 0.3, 32, 0.5),
    "mnist": (217, 0.026, 26, 0.49),
    "fashion_mnist": (138, 0.105, 8, 0.2),
    "cifar10_grey": (217, 0.026, 26, 0.49),
    "letter": (1512, 0.5, 256, 0.9),
}
THEIR_PAIRS: dict[str, list[Pair]] = {
    "mnist": [(4, 9), (7, 9)],
    "fashion_mnist": [(1, 3), (2, 4)],
    "cifar10_grey": [(8, 9), (1, 9)],
}
FASHION = ("T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot")
THEIR_TREES = {  # which classes a branch joins, and at which height: slides 24 and 25 of the KDD talk, by eye
    "mnist": [
        ("49", 0.0147), ("38", 0.018), ("16", 0.019), ("479", 0.019), ("358", 0.020), ("016", 0.020), ("0126", 0.025),
        ("0123568", 0.028), ("0123456789", 0.032),
    ],
    "letter": [
        ("IJ", 0.06), ("FP", 0.08), ("CE", 0.083), ("SZ", 0.087), ("VW", 0.088), ("BR", 0.10), ("GO", 0.11),
        ("HK", 0.115), ("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 0.32),
    ],
}  # fmt: skip
LINKAGES = ("single", "average")  # theirs is not known; single is the default of what they used
KINDS: tuple[Literal["filters", "familiarity"], ...] = ("filters", "familiarity")
N_SHOWN = 3


def plan(settings: Settings, data: str | None) -> list[Unit]:
    """Return a unit for each data set and projection."""
    return [
        Unit(f"{name}/seed{seed:02}", run, {"name": name, "seed": seed}, data)
        for name in settings["names"]
        for seed in range(settings["n_seeds"])
    ]


def model_for(name: str, n_features: int, seed: int, n_jobs: int | None = 1) -> FlyBloomClassifier:
    """Return the model that is to learn a data set, of the authors' sizes."""
    times, share, rho, decay = SIZES[name]
    return FlyBloomClassifier(
        times * n_features, n_connections=max(2, int(share * n_features)), n_winners=rho, decay=decay, signed=False,
        encoding="none", random_state=seed, n_jobs=n_jobs,
    )  # fmt: skip


def class_names(data: Dataset) -> list[str]:
    """Return what the classes of a data set are called."""
    if data.classes:
        return list(data.classes)
    return list(FASHION) if data.name == "fashion_mnist" else [str(label) for label in np.unique(data.y)]


def run(name: str, seed: int, data: str | None = None) -> Result:
    """Return the similarity of all pairs of classes after learning all training rows."""
    found = load(name, data)
    model = model_for(name, found.X.shape[1], seed).fit(found.X, found.y)
    return {"classes": class_names(found), **{kind: class_similarity(model, kind=kind).tolist() for kind in KINDS}}


def summarise(settings: Settings, results: Results) -> Summary:
    """Return the most similar pairs and the heights of the trees, theirs beside ours."""
    found = {name: _of_set(name, results) for name in settings["names"]}
    return Summary(
        tables=[
            _pair_table(found),
            *(_tree_table(name, found[name]) for name in found if name in THEIR_TREES),
        ],
        checks=[
            *(_pair_check(name, found[name]) for name in found if name in THEIR_PAIRS),
            *(_tree_check(name, found[name]) for name in found if name in THEIR_TREES),
        ],
        numbers={"similarity": found},
    )


def _of_set(name: str, results: Results) -> dict[str, Any]:
    """Return the mean similarity over the projections, and in how many of them the paper's pairs are on top."""
    mine = [result for key, result in results.items() if key.startswith(f"{name}/")]
    found: dict[str, Any] = {"classes": mine[0]["classes"], "n_seeds": len(mine)}
    theirs = {frozenset(pair) for pair in THEIR_PAIRS.get(name, [])}
    for kind in KINDS:
        found[kind] = np.mean([result[kind] for result in mine], axis=0).tolist()
        tops = [{frozenset(pair[:2]) for pair in most_similar_pairs(np.array(r[kind]), len(theirs))} for r in mine]
        found[f"{kind}_on_top"] = sum(top == theirs for top in tops)
    return found


def _pair_table(found: dict[str, dict[str, Any]]) -> Table:
    """Return the pairs at the top."""
    rows = []
    for name, of_set in found.items():
        classes, theirs = of_set["classes"], THEIR_PAIRS.get(name)
        said = None if theirs is None else "; ".join(_named(pair, classes) for pair in theirs)
        for kind in KINDS:
            similarity = np.array(of_set[kind])
            beside = similarity[np.triu_indices(len(similarity), 1)]
            top = most_similar_pairs(similarity, N_SHOWN)
            ours = "; ".join(f"{_named((a, b), classes)} {value:.3f}" for a, b, value in top)
            often = None if theirs is None else f"{of_set[f'{kind}_on_top']}/{of_set['n_seeds']}"
            rows.append([name, said, kind, ours, often, f"{beside.min():.3f} to {beside.max():.3f}"])
    header = [
        "data set",
        "theirs",
        "cosine of",
        f"our {N_SHOWN} most similar pairs",
        "theirs on top",
        "range over pairs",
    ]
    return Table("The most similar pairs of classes, mean over the projections", header, rows)


def _named(pair: Pair, classes: list[str]) -> str:
    """Return the names of two classes."""
    return f"({classes[pair[0]]}, {classes[pair[1]]})"


def joins(similarity: Array, linkage: str) -> list[tuple[frozenset[int], float]]:
    """Return the classes below each branch of the tree of one minus the similarity, and its height, lowest first."""
    clusters = [frozenset([i]) for i in range(len(similarity))]
    found = []
    for first, second, height, _ in hierarchy.linkage(squareform(1 - similarity, checks=False), linkage):
        clusters.append(clusters[int(first)] | clusters[int(second)])
        found.append((clusters[-1], float(height)))
    return found


def height_of(classes: frozenset[int], branches: list[tuple[frozenset[int], float]]) -> tuple[float, bool]:
    """Return the smallest cluster that contains some classes, and whether it contains no others."""
    return next((height, branch == classes) for branch, height in branches if classes <= branch)


def _tree_table(name: str, of_set: dict[str, Any]) -> Table:
    """Return the heights of their branches in our trees."""
    branches = {linkage: joins(np.array(of_set["filters"]), linkage) for linkage in LINKAGES}
    rows = []
    for letters, theirs in THEIR_TREES[name]:
        row: list[Any] = ["all" if len(letters) == len(of_set["classes"]) else " ".join(letters), theirs]
        for linkage in LINKAGES:
            height, is_branch = height_of(_classes(letters, of_set), branches[linkage])
            row += [round(height, 4), "yes" if is_branch else "no"]
        rows.append(row)
    header = ["branch of theirs", "theirs"]
    for linkage in LINKAGES:
        header += [f"ours, {linkage} linkage", "a branch of ours"]
    return Table(f"{name}: height, one minus the cosine, at which classes are together", header, rows)


def _classes(letters: str, of_set: dict[str, Any]) -> frozenset[int]:
    """Return the positions of classes with names of one letter."""
    return frozenset(of_set["classes"].index(letter) for letter in letters)


def _pair_check(name: str, of_set: dict[str, Any]) -> Check:
    """Return whether the paper's pairs are the most similar."""
    theirs, classes = THEIR_PAIRS[name], of_set["classes"]
    top = [pair[:2] for pair in most_similar_pairs(np.array(of_set["filters"]), len(theirs))]
    said, ours = ("; ".join(_named(pair, classes) for pair in pairs) for pairs in (theirs, top))
    note = f"on top in {of_set['filters_on_top']} of {of_set['n_seeds']} projections"
    return Check(f"{name}: the two most similar pairs are the paper's", said, ours, set(top) == set(theirs), note)


def _tree_check(name: str, of_set: dict[str, Any]) -> Check:
    """Return whether most branches of theirs are branches of ours, by one of the linkages."""
    n_same = {
        linkage: sum(height_of(_classes(letters, of_set), branches)[1] for letters, _ in THEIR_TREES[name])
        for linkage, branches in ((one, joins(np.array(of_set["filters"]), one)) for one in LINKAGES)
    }
    n = len(THEIR_TREES[name])
    ours = ", ".join(f"{same} of {n} with {linkage} linkage" for linkage, same in n_same.items())
    claim = f"{name}: most branches of their tree are in ours"
    return Check(claim, f"{n} branches on the slides", ours, 2 * max(n_same.values()) > n)


def draw(summary: Summary) -> dict[str, Figure]:
    """Return for each data set the tree of the filters and a map of both similarities."""
    from flybloom.plots import ClassSimilarityDisplay  # noqa: PLC0415 - needs matplotlib, an extra

    found = summary.numbers["similarity"]
    figure, axes = new_figure(3, len(found), width=4.6, height=4.2)
    for row, (name, of_set) in enumerate(found.items()):
        maps = {
            kind: ClassSimilarityDisplay(np.array(of_set[kind]), display_labels=of_set["classes"]) for kind in KINDS
        }
        for ax, (kind, display) in zip(axes[3 * row :], maps.items(), strict=False):
            display.plot(ax=ax, colorbar=False, values_format=".3f" if kind == "filters" else ".2f")
            for text in [] if display.text_ is None else [text for text in display.text_.ravel() if text is not None]:
                text.set_fontsize(5.5)
            ax.set(title=f"{name}: cosine of {kind}", xlabel="", ylabel="")
        tree = axes[3 * row + 2]
        maps["filters"].plot(kind="dendrogram", ax=tree)
        tree.set(title=f"{name}: tree of the filters", xlabel="")
        if max(map(len, of_set["classes"])) > 1:
            tree.tick_params(axis="x", rotation=90)
    return {"similarity": figure}


EXPERIMENT = Experiment(
    "similarity",
    "Classes that resemble each other",
    ("Figure 4", "dendrograms (KDD talk, slides 24 and 25)"),
    plan,
    summarise,
    draw,
    "All training rows, the sizes of the authors' code (for Fashion-MNIST and CIFAR-10, whose are not known, those "
    "they timed), similarities averaged over 10 projections (theirs, and the profile full: 30). `filters` is the "
    "paper's cosine, close to 1 for all pairs as most components never win. `familiarity`, the cosine of one minus "
    "the filters, leaves that background out; it is this library's, and follows which classes are confused "
    "(docs/similarity.md). The authors do not say how their trees link; single linkage is the default of the function "
    "they use.",
)
