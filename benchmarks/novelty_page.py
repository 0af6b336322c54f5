"""Writes docs/benchmarks/novelty.md, and the picture of scores in two dimensions, from what was measured.

python benchmarks/novelty_page.py
"""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib as mpl
import numpy as np
from scipy.stats import rankdata
from sklearn.datasets import make_moons

from flybloom import FlyBloomNovelty
from novelty import MOST, OF_ISSUE, RESULTS

mpl.use("agg")
from matplotlib import pyplot as plt

DOCS = Path(__file__).resolve().parents[1] / "docs"
OPEN_SETS = RESULTS.with_name("open_set.json")
PLANE = DOCS / "images" / "novelty.png"
DETECTORS = (
    "FlyBloomNovelty", "its filter", "5 neighbours", "LOF", "one-class SVM", "isolation forest", "ECOD", "COPOD",
)  # fmt: skip
OURS, NEIGHBOURS = DETECTORS[0], DETECTORS[2]
STREAMS = RESULTS.with_name("novelty_streams.json")
STREAMS_HEAD = """## Streams

Rows of half of the classes come one after the other, and in between five rows of one of the other classes, in turn,
each after at least 600 rows without it (`scripts/bench novelty_streams`). All rows are scored and then learned, five at
a time; windows and `forget_after` are 500 rows. Areas under the curve, and microseconds for a row on one thread of a
busy machine. Leverage has 1024 components; HalfSpaceTrees, of river, are 25 trees of height 10.
"""
OPEN_SETS_HEAD = """## Open sets

Learn the digits 0 to 7, meet 8 and 9 as well (`scripts/bench open_set`; half of Digits, 10 000 rows of MNIST). The
nearest neighbour rejects by distance, with a threshold from the same quantile of leave-one-out distances.
"""
HEAD = f"""# Outliers and open sets

Written by `benchmarks/novelty_page.py` from `benchmarks/results`; how detectors work is in the [guide](../novelty.md).

Each of up to four of the largest classes of a set is the known one in turn: half of its rows (of at most {MOST}) are
learned, and the other half is scored with up to {MOST} rows of other classes (`scripts/bench novelty`). Figures are the
area under the curve, the mean over known classes. "5 neighbours" is the mean distance to the nearest five learned
rows; distances, LOF and the SVM see columns standardised by the learned rows. "Its filter" is `readout="filter"`. All
detectors are as they come. ECOD and COPOD (pyod) rank the rows they score among themselves, so they get few at a time.
The encoding, the sizes and alpha of FlyBloomNovelty were chosen on the first draw of these sets, and on sets of two
classes (kc1, pc1, pc4, qsar_biodeg, house_16h, magictelescope, ...).
"""


def areas(results: dict, seeds: set[str], contamination: str) -> dict[str, np.ndarray]:
    """Return the mean area of each detector for each set."""
    found: dict[str, list[list[float]]] = {}
    for key, measured in results.items():
        name, _, seed, share = key.split("/")
        if share == contamination and seed in seeds and all(d in measured for d in DETECTORS):
            found.setdefault(name, []).append([measured[d][0] for d in DETECTORS])
    order = [*OF_ISSUE, *sorted(set(found) - set(OF_ISSUE))]
    return {name: np.mean(found[name], axis=0) for name in order if name in found}


def row(name: str, values: np.ndarray, digits: int = 3) -> str:
    """Return a line of a table, the best of it bold."""
    best = values.min() if "rank" in name else values.max()
    cells = (f"**{v:.{digits}f}**" if v == best else f"{v:.{digits}f}" for v in values)
    return f"| {name} | " + " | ".join(cells) + " |"


def table(means: dict[str, np.ndarray], *, with_sets: bool) -> list[str]:
    """Return the lines of a table: sets, means of the first thirteen and of all, and mean ranks."""
    lines = ["| data set | " + " | ".join(DETECTORS) + " |", "|---" * (len(DETECTORS) + 1) + "|"]
    if with_sets:
        lines += [row(name, values) for name, values in means.items()]
    first = np.array([values for name, values in means.items() if name in OF_ISSUE])
    every = np.array(list(means.values()))
    lines += [
        row(f"mean of the first {len(first)}", first.mean(axis=0)),
        row(f"mean of all {len(every)}", every.mean(axis=0)),
    ]
    return [*lines, row("mean rank", np.mean([rankdata(-values) for values in every], axis=0), 2)]


def behind(means: dict[str, np.ndarray]) -> str:
    """Return where ours is not the best."""
    better = {name: values for name, values in means.items() if values.max() > values[0]}
    words = (
        f"{name} ({DETECTORS[int(values.argmax())]}, by {values.max() - values[0]:.3f})"
        for name, values in better.items()
    )
    gaps = {name: values[0] - values[DETECTORS.index(NEIGHBOURS)] for name, values in means.items()}
    worst = min(gaps, key=gaps.__getitem__)
    return (
        f"Another detector is ahead on {len(better)} of {len(means)} sets: {', '.join(words)}. "
        f"The largest step behind the neighbours is {-gaps[worst]:.3f} ({worst})."
    )


def open_sets() -> list[str]:
    """Return the lines of the table of open sets."""
    lines = [
        "| data set | method | known accepted | of those correct | unknown rejected | area under the curve |",
        "|---|---|---|---|---|---|",
    ]
    for entry in json.loads(OPEN_SETS.read_text()):
        values = " | ".join(f"{entry[name]:.3f}" for name in ("accepted", "correct", "rejected", "area"))
        lines.append(f"| {entry['set']} | {entry['method']} | {values} |")
    return lines


def streams() -> list[str]:
    """Return the lines of the table of streams."""
    found = json.loads(STREAMS.read_text())
    names = [name for name in next(iter(found.values())) if name != "rows"]
    lines = ["| stream | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for stream, values in found.items():
        lines.append(f"| {stream} | " + " | ".join(f"{values[n][0]:.3f} ({values[n][1]})" for n in names) + " |")
    means = [np.mean([values[n] for values in found.values()], axis=0) for n in names]
    return [*lines, "| mean | " + " | ".join(f"{area:.3f} ({time:.0f})" for area, time in means) + " |"]


def draw() -> None:
    """Draw the novelty of the plane around two moons, to leverage and to filters."""
    X, _ = make_moons(400, noise=0.08, random_state=0)
    x, y = np.meshgrid(np.linspace(-2, 3, 160), np.linspace(-1.5, 2, 120))
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
    for axis, readout in zip(axes, ("leverage", "filter"), strict=True):
        model = FlyBloomNovelty(readout=readout, contamination=0.05, random_state=0).fit(X)
        novelty = model.novelty(np.c_[x.ravel(), y.ravel()]).reshape(x.shape)
        shown = axis.contourf(x, y, novelty, levels=16, cmap="Blues")
        axis.contour(x, y, novelty, levels=[-model.offset_], colors="#b5482a", linewidths=1.5)
        axis.plot(*X.T, ".", color="0.2", ms=2)
        axis.set_title(f'readout="{readout}"', fontsize=10)
        figure.colorbar(shown, ax=axis)
    figure.savefig(PLANE, dpi=110)
    plt.close(figure)


def main() -> None:
    """Write the page and the picture."""
    results = json.loads(RESULTS.read_text())
    keys = [key.split("/") for key, measured in results.items() if all(d in measured for d in DETECTORS)]
    sets_of = {seed: {k[0] for k in keys if k[2] == seed and k[3] == "0"} for seed in "012"}
    seeds = {seed for seed, names in sets_of.items() if names == sets_of["0"]}
    means = areas(results, seeds, "0")
    text = [HEAD, f"Rows drawn with {len(seeds)} seed(s):\n", *table(means, with_sets=True), "", behind(means), ""]
    for share in ("0.05", "0.1"):
        dirty = areas(results, {"0"}, share)
        text += [f"With rows of other classes among the learned ones, {float(share):.0%} as many (one seed):\n"]
        text += [*table(dirty, with_sets=False), ""]
    alarms = np.array([measured["alarms"] for measured in results.values() if "alarms" in measured]).mean(axis=0)
    seconds = [sum(m[d][1] for m in results.values() if d in m) for d in DETECTORS]
    text += [
        "A larger `alpha` does better with such rows, and a little worse without.",
        "",
        (
            f"Of new rows of the known class {OURS} finds {alarms[0]:.1%} outliers by its usual threshold, and "
            f"{alarms[1]:.1%} at a nominal 10 %, means over all known classes."
        ),
        "",
        (
            "Seconds for all of this together, on one thread of a busy machine, so that only ratios mean something: "
            + ", ".join(f"{d} {s:.0f}" for d, s in zip(DETECTORS, seconds, strict=True))
            + "."
        ),
        "",
        STREAMS_HEAD,
        *streams(),
        "",
        OPEN_SETS_HEAD,
        *open_sets(),
        "",
    ]
    (DOCS / "benchmarks" / "novelty.md").write_text("\n".join(text))
    draw()


if __name__ == "__main__":
    main()
