"""How time and memory grow with rows, features, components, connections, winners, classes and threads.

One size grows at a time, the others stay at the base. Exponents are the slopes of log cost over log size in the upper
half of each range; in brackets those of the theory at the same points: n (ms + m log rho + rho) steps to learn, rho
more for each class and row to predict, and the memory of connections, counts and winners. Best of three rounds; times
are those of the processor, except for threads. Writes benchmarks/results/grow.json and docs/images/growth.png.

    python benchmarks/grow.py [--quick]
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np

from flybloom import FlyBloomClassifier
from many_classes import peak_megabytes
from peers.machine import save

mpl.use("agg")
from matplotlib import pyplot as plt

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 3
BASE = {"n": 4096, "d": 256, "m": 16384, "s": 32, "rho": 64, "classes": 10, "threads": 1}
RANGES = {
    "n": [1024, 2048, 4096, 8192, 16384, 32768],
    "d": [64, 128, 256, 512, 1024, 2048],
    "m": [2048, 4096, 8192, 16384, 32768, 65536, 131072],
    "s": [4, 8, 16, 32, 64, 128, 256],
    "rho": [8, 16, 32, 64, 128, 256, 512],
    "classes": [10, 32, 100, 316, 1000, 3162, 10_000],
    "threads": [1, 2],
}
NAMES = {
    "n": "rows n",
    "d": "features d",
    "m": "components m",
    "s": "connections s",
    "rho": "winners rho",
    "classes": "classes",
    "threads": "threads",
}
COSTS = ("fit, s", "predict, s", "fit, MB", "predict, MB")
Point = dict[str, float]


def theory(size: dict[str, int]) -> Point:
    """Return what the theory says, but for constants of time."""
    n, m, s, rho, classes = (size[name] for name in ("n", "m", "s", "rho", "classes"))
    learn = n * (m * s + m * math.log2(rho) + rho) / size["threads"]
    counts, winners = 4 * m * classes, 4 * n * rho
    return {
        "fit, s": learn,
        "predict, s": learn + n * rho * (classes - 1) / size["threads"],
        "fit, MB": (2 * m * s + counts + min(winners, counts)) / 2**20,
        "predict, MB": float("nan"),  # bounded: blocks of rows, and lists where they pay
    }


def measure(size: dict[str, int], clock: Callable[[], float] = time.process_time) -> Point:
    """Return the best times and the largest peaks of a few rounds."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((size["n"], size["d"]), np.float32)
    y = rng.permutation(np.arange(size["n"]) % size["classes"])
    result = dict.fromkeys(COSTS[:2], math.inf) | dict.fromkeys(COSTS[2:], 0.0)
    for _ in range(ROUNDS):
        model = FlyBloomClassifier(
            size["m"],
            n_connections=size["s"],
            n_winners=size["rho"],
            n_jobs=size["threads"],
            encoding="center",
            random_state=0,
        )
        for name, call in (
            ("fit", lambda model=model: model.fit(X, y)),
            ("predict", lambda model=model: model.predict(X)),
        ):
            with peak_megabytes() as grown:
                start = clock()
                call()
                seconds = clock() - start
            result[f"{name}, s"] = min(result[f"{name}, s"], seconds)
            result[f"{name}, MB"] = max(result[f"{name}, MB"], grown[0])
    return result


def slope(sizes: list[int], costs: list[float]) -> float:
    """Return the exponent by least squares over the upper half of the range."""
    first = min(len(sizes) // 2, len(sizes) - 2)
    if not all(math.isfinite(cost) and cost > 0 for cost in costs[first:]):
        return math.nan
    return float(np.polyfit(np.log(sizes[first:]), np.log(costs[first:]), 1)[0])


def show(text: str) -> None:
    """Show progress, where somebody looks."""
    if sys.stderr.isatty():
        print(f"\r{text:60}", end="", file=sys.stderr, flush=True)


def grow(name: str, values: list[int]) -> dict[str, object]:
    """Measure along one size, the others at the base."""
    base = BASE | {"n": {"classes": 20_480, "threads": 16_384}.get(name, BASE["n"])}
    points, expected = [], []
    for value in values:
        show(f"{NAMES[name]} {value}")
        size = base | {name: value}
        points.append(measure(size, time.perf_counter if name == "threads" else time.process_time))
        expected.append(theory(size))
    exponents = {cost: slope(values, [point[cost] for point in points]) for cost in COSTS}
    theirs = {cost: slope(values, [point[cost] for point in expected]) for cost in COSTS}
    return {"base": base, "values": values, "points": points, "exponents": exponents, "theory": theirs}


def table(results: dict[str, dict]) -> str:
    """Return exponents as Markdown, and the costs of the smallest and the largest size."""
    kinds = [("fit, s", "time of fit"), ("predict, s", "time of predict"), ("fit, MB", "memory of fit")]
    lines = ["| | from | to | " + " | ".join(f"{kind} | from, to" for _, kind in kinds) + " | memory of predict |"]
    lines.append("|---" * (4 + 2 * len(kinds)) + "|")
    for name, result in results.items():
        values, first, last = result["values"], result["points"][0], result["points"][-1]
        cells = [NAMES[name], str(values[0]), str(values[-1])]
        for cost, _ in kinds:
            cells.append(f"{result['exponents'][cost]:.2f} ({result['theory'][cost]:.2f})")
            cells.append(f"{first[cost]:.3g}, {last[cost]:.3g}{cost[4:] if cost[0] == 'f' else cost[8:]}")
        cells.append(f"{first['predict, MB']:.3g}, {last['predict, MB']:.3g} MB")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(results: dict[str, dict], path: Path) -> None:
    """Draw small multiples: time above, memory below, one column for each size."""
    figure, panels = plt.subplots(2, len(results), figsize=(2.5 * len(results), 5), sharey="row", layout="constrained")
    for column, (name, result) in zip(panels.T, results.items(), strict=True):
        for panel, unit in zip(column, ("s", "MB"), strict=True):
            for verb, color in (("fit", "C0"), ("predict", "C1")):
                costs = [max(point[f"{verb}, {unit}"], 1e-2) for point in result["points"]]
                exponent = result["exponents"][f"{verb}, {unit}"]
                label = f"{verb}, {exponent:.2f}" if unit == "s" or verb == "fit" else verb
                panel.plot(result["values"], costs, "o-", ms=3, lw=1, color=color, label=label)
            panel.set(xscale="log", yscale="log")
            panel.grid(alpha=0.3)
            panel.legend(fontsize=7, frameon=False)
            panel.minorticks_off()
        if name == "threads":
            for panel in column:
                panel.set_xticks(result["values"], [str(value) for value in result["values"]])
        column[1].set_xlabel(NAMES[name])
    panels[0, 0].set_ylabel("seconds")
    panels[1, 0].set_ylabel("peak MB above the rows")
    figure.savefig(path, dpi=90)


def main() -> None:
    """Measure, print, draw and save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="every other size, few rows; nothing saved")
    quick = parser.parse_args().quick
    if quick:
        BASE["n"] = 1024
    measure(BASE | {"n": 256})  # compiles
    measure(BASE | {"n": 1024, "classes": 100})
    ranges = {name: values[::3] if quick and name != "threads" else values for name, values in RANGES.items()}
    results = {name: grow(name, values) for name, values in ranges.items()}
    show("")
    print(table(results))
    if quick:
        return
    save("grow", results)
    draw(results, ROOT / "docs" / "images" / "growth.png")


if __name__ == "__main__":
    main()
