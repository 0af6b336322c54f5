"""How often forgetting is complete with default settings: nothing is left of the rows, in counts, sketch or encoder.

    python benchmarks/forget_complete.py            # measures what is not measured yet
    python benchmarks/forget_complete.py mnist pol  # of these sets alone
    python benchmarks/forget_complete.py --page     # writes docs/benchmarks/forgetting.md from the results

Up to 8192 distinct rows the answer is always yes. So the sets are the largest there are, and MNIST.
"""

from __future__ import annotations

import json
import sys
from copy import copy
from pathlib import Path

import numpy as np

from datasets import folder, load, load_split
from flybloom import FlyBloomClassifier, FlyRidgeClassifier
from flybloom.core.sketch import MAX_ROWS
from flybloom.paper import datasets

RESULTS = Path(__file__).parent / "results" / "forget_complete.json"
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "forgetting.md"
FORGOTTEN, TRIALS, N_TABLES = (1, 10, 100), 20, 20


def names() -> list[str]:
    """Return MNIST, and the largest tables."""
    tables = [name for name in datasets.names(folder()) if name not in datasets.VISION]
    return ["mnist", *sorted(tables, key=lambda name: -len(load(name)[1]))[:N_TABLES]]


def measure(name: str, kind: type) -> dict[str, object]:
    """Return in how many trials of each number of rows nothing was left of them."""
    X, y = load_split(name)[:2] if name == "mnist" else load(name)
    model = kind(random_state=0).fit(X, y)
    rng, complete, steps = np.random.default_rng(0), {}, set()
    for n in FORGOTTEN:
        found = []
        for _ in range(TRIALS):
            gone = rng.permutation(len(y))[:n]
            found.append(copy(model).forget(X[gone], y[gone]))
        complete[str(n)] = sum(left.extent == "complete" for left in found)
        steps |= {step for left in found for step in left.steps}
    return {"rows": len(y), "complete": complete, "steps": sorted(steps)}


def page(results: dict[str, dict[str, object]]) -> str:
    """Return the page of the results."""
    lines = [
        "# How often forgetting is complete",
        "",
        "What is promised: [forgetting](../forgetting.md).",
        "",
        f"`benchmarks/forget_complete.py`, default settings: {TRIALS} times, 1, 10 or 100 random rows are forgotten.",
        f"Up to {MAX_ROWS} distinct rows a model is its rows, and forgetting is always complete. Beyond that it is",
        "complete where the encoder that the remaining sketch gives is the one in use; steps are those that differed.",
        "",
        "| set | rows | model | 1 row | 10 rows | 100 rows | steps |",
        "|---|---:|---|---:|---:|---:|---|",
    ]
    for key, found in results.items():
        name, kind = key.split("/")
        shares = " | ".join(f"{found['complete'][str(n)] / TRIALS:.0%}" for n in FORGOTTEN)  # type: ignore[index]
        lines.append(f"| {name} | {found['rows']} | {kind} | {shares} | {', '.join(found['steps']) or '-'} |")  # type: ignore[arg-type]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure what is missing, or write the page."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if "--page" in sys.argv:
        PAGE.write_text(page(results))
        return
    for name in sys.argv[1:] or names():
        for kind in (FlyBloomClassifier, FlyRidgeClassifier):
            key = f"{name}/{kind.__name__}"
            if key not in results:
                results[key] = measure(name, kind)
                print(key, results[key], flush=True)
                RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
