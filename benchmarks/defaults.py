"""How the defaults were chosen: every setting of a grid, 10-fold, on every tabular data set.

One hash of each data set serves all folds, numbers of winners and decays, because counts add: the counts without a
fold are all counts minus the fold's. Connections and scaling are shared by the folds, and neither sees a label.

Prints, for each setting, the median and the mean over the data sets of 1 - a / a_knn, where a_knn is the accuracy of
standardised 5-nearest neighbours on the same folds. Negative is better than the neighbours. Results go to
benchmarks/results/defaults.json; docs/benchmarks/defaults.md quotes them.

    python benchmarks/defaults.py [--quick]
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from datasets import NAMED, load, tabular
from flybloom import FlyHash
from flybloom.core._kernels.count import add_counts
from flybloom.core.readout.filters import Filters

RESULTS = Path(__file__).parent / "results" / "defaults.json"
COMPONENTS = (4096, 16384, 32768)
SHARES = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
PLAIN_SHARES = (0.1, 0.3, 0.5)
WINNERS = (16, 32, 64, 128)
DECAYS = (0.05, 0.1, 0.2, 0.4, 0.6, 1.0)
FOLDS = StratifiedKFold(10, shuffle=True, random_state=0)


def knn_accuracy(X: np.ndarray, y: np.ndarray) -> float:
    """Return the accuracy to compare with."""
    model = make_pipeline(StandardScaler(), KNeighborsClassifier())
    return float(cross_val_score(model, X, y, cv=FOLDS).mean())


def accuracies(hasher: FlyHash, X: np.ndarray, y: np.ndarray) -> dict[tuple[int, float], float]:
    """Return the mean accuracy over the folds, for each number of winners and decay."""
    all_winners = hasher.fit(X).winners(X)
    codes = np.unique(y, return_inverse=True)[1]
    ones = np.ones(len(y), np.int64)
    folds = [test for _, test in FOLDS.split(X, y)]
    result = {}
    for rho in WINNERS:
        winners = np.ascontiguousarray(all_winners[:, :rho])
        counts = np.zeros((hasher.n_components_, codes.max() + 1), np.int32)
        rows = np.zeros(codes.max() + 1, np.int64)
        add_counts(winners, codes, ones, counts, rows)
        hits = dict.fromkeys(DECAYS, 0.0)
        for test in folds:
            add_counts(winners[test], codes[test], -ones[test], counts, rows)
            for decay in DECAYS:
                read_out = Filters(counts, np.bincount(codes), decay).read_out(rho, hasher.seed_, winners.size)
                hits[decay] += float((read_out.labels(winners[test]) == codes[test]).mean())
            add_counts(winners[test], codes[test], ones[test], counts, rows)
        result.update({(rho, decay): hits[decay] / len(folds) for decay in DECAYS})
    return result


def settings(components: tuple[int, ...]) -> Iterator[dict[str, object]]:
    """Return what FlyHash is tried with; what is far behind only once."""
    for m, share, signed, scaling in itertools.product(components, SHARES, (True, False), ("standard", "none")):
        if (signed, scaling) == (True, "standard") or (m == 16384 and share in PLAIN_SHARES):
            yield {"n_components": m, "n_connections": share, "signed": signed, "encoding": scaling}


def measure(names: list[str], components: tuple[int, ...]) -> dict[str, object]:
    """Return the neighbours' accuracy on each data set, and that of each setting."""
    sizes, knn, found = {}, {}, {}
    for name in names:
        X, y = load(name)
        start = time.perf_counter()
        sizes[name] = X.shape
        knn[name] = round(knn_accuracy(X, y), 5)
        for setting in settings(components):
            hasher = FlyHash(**setting, n_winners=max(WINNERS), random_state=0, n_jobs=2)
            for (rho, decay), accuracy in accuracies(hasher, X, y).items():
                key = (*setting.values(), rho, decay)
                found.setdefault(key, {})[name] = round(accuracy, 5)
        print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    columns = ("m", "s", "signed", "scaling", "rho", "c")
    rows = [
        {**dict(zip(columns, key, strict=True)), "accuracy": list(by_set.values())} for key, by_set in found.items()
    ]
    return {"sets": sizes, "knn": list(knn.values()), "settings": rows}


def table(result: dict[str, object], most: int = 25) -> None:
    """Print the settings with the least loss against the neighbours."""
    chosen = np.array([name not in NAMED for name in result["sets"]])
    knn = np.array(result["knn"])
    for row in result["settings"]:
        losses = (1 - np.array(row["accuracy"]) / knn)[chosen]
        row["median"], row["mean"] = float(np.median(losses)), float(losses.mean())
    columns = ("scaling", "signed", "m", "s", "rho", "c")
    print("| scaling | signed | m | s / d | rho | c | median 1 - a/a_knn | mean |\n|---|---|---|---|---|---|---|---|")
    for row in sorted(result["settings"], key=lambda row: row["median"] + row["mean"])[:most]:
        print("|", " | ".join(str(row[name]) for name in columns), f"| {row['median']:+.4f} | {row['mean']:+.4f} |")


def main() -> None:
    """Measure, save, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="only the first three data sets and m = 4096")
    quick = parser.parse_args().quick
    names = list(tabular())
    result = measure(names[:3] if quick else names, COMPONENTS[:1] if quick else COMPONENTS)
    table(result)
    if not quick:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(result))


if __name__ == "__main__":
    main()
