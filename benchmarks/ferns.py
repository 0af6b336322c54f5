"""What ferns and more components are worth to FlyRidgeClassifier: the 59 tables, at most 4000 rows, first folds of ten.

python benchmarks/ferns.py [--folds 1]
"""

from __future__ import annotations

import argparse
import warnings
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from flybloom import FlyRidgeClassifier
from resumable import measured
from table_peers import FOLDS, OURS, Set, scored_by, sets


class WithoutFerns(FlyRidgeClassifier):
    """The encoding without ferns."""

    _has_ferns = False


def components(one: Set, many: int) -> int:
    """Return as many as there are, or 1024 up to 1000 rows of a fold."""
    return 1024 if 0.9 * len(one.codes) <= 1000 else many


VARIANTS = {
    "2048, no ferns": lambda one: WithoutFerns(components(one, 2048), random_state=0),
    "2048": lambda one: FlyRidgeClassifier(components(one, 2048), random_state=0),
    "4096": lambda one: FlyRidgeClassifier(components(one, 4096), random_state=0),
}
FIGURES = ("accuracy", "log_loss", "brier")


def main() -> None:
    """Measure what is missing, and print the means and the changes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", type=int, default=1)
    n_folds = parser.parse_args().folds
    warnings.simplefilter("ignore")
    found: dict[str, list[list[dict[str, Any]]]] = {name: [] for name in VARIANTS}
    for one in sets("tables"):
        for name, make in VARIANTS.items():
            folds = [
                measured("ferns", f"{one.name} {fold} {name}", partial(scored_by, make(one), one, train, test))
                for fold, (train, test) in enumerate(islice(FOLDS.split(one.codes, one.codes), n_folds))
            ]
            found[name].append(folds)
    means = {
        name: np.array([[np.mean([fold[f] for fold in folds]) for f in FIGURES] for folds in of])
        for name, of in found.items()
    }
    print(f"| {OURS}, {n_folds} folds | accuracy | log-loss | Brier score | change of accuracy | more, fewer right |")
    print("|---|---:|---:|---:|---:|---:|")
    before = None
    for name, values in means.items():
        cells = [f"{value:.4f}" for value in values.mean(axis=0)]
        if before is not None:
            change = (values - before)[:, 0]
            error = change.std(ddof=1) / np.sqrt(len(change))
            cells += [f"{change.mean():+.4f} ± {error:.4f}", f"{(change > 0).sum()}, {(change < 0).sum()}"]
        print(f"| {name} | {' | '.join(cells)} |")
        before = values


if __name__ == "__main__":
    main()
