"""Novelty in time: rows of home classes, and now and then a few of a class that has not been met for long.

Half of the classes are at home. Their rows are met one after the other, those of streams in their order, and at even
distances come five rows of one of the other classes, in turn, each after at least 600 rows without it. All rows are
scored and then learned, in blocks of five, after 500 rows of home classes. The area under the curve says how well
scores tell the rows of the other classes from those at home; a detector that does not forget takes them for known when
they return. Detectors with a memory have one of 500 rows. Times are of scoring and learning, on one thread. Prints a
table and keeps it in benchmarks/results/novelty_streams.json; `python benchmarks/novelty_page.py` writes the page.
Needs river.

    python benchmarks/novelty_streams.py
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from river import anomaly, compose, preprocessing
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from datasets import load
from flybloom import FlyBloomNovelty
from peers.streams import FILES
from peers.streams import stream as drifting
from resumable import measured

SETS = ("digits", "satimage", "letter", "segment", "wall_robot_navigation", "mfeat_factors", "electricity", "nomao")
WARM, MEMORY, BURST, AWAY, BURSTS = 500, 500, 5, 600, 12
Score = Callable[[np.ndarray], np.ndarray]


def stream(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return rows in the order in which they are met, the first of them without others, and whether they are others."""
    X, y = drifting(name) if name in FILES else load(name)
    rng = np.random.default_rng(0)
    classes = np.unique(y)
    foreign = classes[(classes.size + 1) // 2 :]
    home = np.flatnonzero(~np.isin(y, foreign))
    home = home if name in FILES else rng.permutation(home)
    others = {c: iter(rng.permutation(np.flatnonzero(y == c))) for c in foreign}
    apart = max(60, -(-AWAY // foreign.size))
    order, is_other = list(home[:WARM]), [False] * WARM
    for burst in range(BURSTS * max(1, AWAY // (apart * 2))):
        known = home[(np.arange(apart) + WARM + burst * apart) % home.size]  # small tables are met again
        few = [next(others[foreign[burst % foreign.size]], None) for _ in range(BURST)]
        if None in few:
            break
        order += [*known, *few]
        is_other += [False] * apart + [True] * BURST
    return np.ascontiguousarray(X[order], np.float64), np.array(is_other)


def by_model(model: FlyBloomNovelty, *, is_windowed: bool = False) -> Callable[[np.ndarray], Score]:
    """Return a detector of ours with the encoder of the first rows; of a window, older rows are forgotten."""

    def start(X: np.ndarray) -> Score:
        encoder = model.fit(X).encoder_
        detector = type(model)(**{**model.get_params(), "encoding": encoder}).partial_fit(X)
        kept = [X]

        def score(rows: np.ndarray) -> np.ndarray:
            found = detector.novelty(rows)
            detector.partial_fit(rows)
            if is_windowed:
                kept[0] = np.vstack([kept[0], rows])
                old, kept[0] = kept[0][:-MEMORY], kept[0][-MEMORY:]
                detector.forget(old)
            return found

        return score

    return start


def by_distance(X: np.ndarray) -> Score:
    """Return the mean distance to five of the last rows."""
    scaler = StandardScaler().fit(X)
    kept = [scaler.transform(X)]

    def score(rows: np.ndarray) -> np.ndarray:
        new = scaler.transform(rows)
        found = NearestNeighbors(n_neighbors=5).fit(kept[0]).kneighbors(new)[0].mean(axis=1)
        kept[0] = np.vstack([kept[0], new])[-MEMORY:]
        return found

    return score


def by_trees(X: np.ndarray) -> Score:
    """Return what half-space trees of river find, after scaling to [0, 1]."""
    trees: Any = compose.Pipeline(
        preprocessing.MinMaxScaler(), anomaly.HalfSpaceTrees(n_trees=25, height=10, window_size=MEMORY // 2, seed=0)
    )
    for row in X:
        trees.learn_one(dict(enumerate(row)))

    def score(rows: np.ndarray) -> np.ndarray:
        found = np.array([trees.score_one(dict(enumerate(row))) for row in rows])
        for row in rows:
            trees.learn_one(dict(enumerate(row)))
        return found

    return score


DETECTORS: dict[str, Callable[[np.ndarray], Score]] = {
    "leverage, window": by_model(FlyBloomNovelty(1024), is_windowed=True),
    "leverage, all rows": by_model(FlyBloomNovelty(1024)),
    "filter, forget_after": by_model(FlyBloomNovelty(readout="filter", forget_after=MEMORY)),
    "5 neighbours, window": by_distance,
    "HalfSpaceTrees": by_trees,
}


def blocks(rows: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the rows after the first, a few at a time."""
    for begin in range(WARM, len(rows), BURST):
        yield rows[begin : begin + BURST]


def measure(name: str) -> dict[str, Any]:
    """Return the area and the microseconds per row of each detector."""
    rows, is_other = stream(name)
    result: dict[str, Any] = {"rows": len(rows)}
    for detector, start in DETECTORS.items():
        score = start(rows[:WARM])
        begin = time.perf_counter()
        found = np.concatenate([score(block) for block in blocks(rows)])
        seconds = time.perf_counter() - begin
        area = roc_auc_score(is_other[WARM:], found)
        result[detector] = [round(float(area), 3), round(1e6 * seconds / len(found))]
    return result


def main() -> None:
    """Measure what is missing, and print."""
    print("| stream | " + " | ".join(DETECTORS) + " |")
    print("|---" * (len(DETECTORS) + 1) + "|")
    for name in SETS:
        result = measured("novelty_streams", name, lambda name=name: measure(name))
        print(f"| {name} | " + " | ".join(f"{result[d][0]:.3f} ({result[d][1]})" for d in DETECTORS) + " |", flush=True)


if __name__ == "__main__":
    main()
