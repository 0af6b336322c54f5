"""FlyBloomNovelty against detectors of scikit-learn and pyod, each class in turn the known one: area under the curve.

For each table, each of up to four of its largest classes (of at least 20 rows) is the known one: of at most 2000 of its
rows half are learned, and the rest is scored with up to 2000 rows of other classes. Tables are Digits, Wine and breast
cancer of scikit-learn, spambase, and all those of the data folder with at least three classes. Rows are drawn with
three seeds. With the first, rows of other classes are also put among the learned ones, 5 and 10 % as many.

Distances, LocalOutlierFactor and OneClassSVM get columns standardised by the learned rows; all else is as it comes, and
all settings are the defaults. Seconds are of fit and scores together, on one thread. Alarms are the shares of new rows
of the known class that FlyBloomNovelty finds outliers, by its usual threshold and at a nominal 10 %. ECOD and COPOD
take part where pyod is installed; they rank the rows they score among themselves as well, so they get few at a time, a
twentieth of those learned. What was measured is kept in benchmarks/results/novelty.json, and a run goes on from there;
`python benchmarks/novelty_page.py` writes the page.

    python benchmarks/novelty.py [--only SET ...] [--again DETECTOR ...]
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM
from threadpoolctl import threadpool_limits

from datasets import load, tabular
from flybloom import FlyBloomNovelty

try:
    from pyod.models.copod import COPOD
    from pyod.models.ecod import ECOD
except ImportError:
    ECOD = COPOD = None

RESULTS = Path(__file__).parent / "results" / "novelty.json"
OF_ISSUE = (
    "digits", "wine", "breast_cancer", "satimage", "segment", "letter", "spambase", "wall_robot_navigation",
    "page_blocks", "steel_plates_fault", "mfeat_zernike", "waveform_5000", "cardiotocography_nsp",
)  # fmt: skip
MOST, CLASSES, LEAST, SEEDS = 2000, 4, 20, (0, 1, 2)
CONTAMINATED = (0.05, 0.1)
NOMINAL = 0.1
N_NEIGHBORS = 5


class Problem(NamedTuple):
    """Rows to learn, rows to score, and which of the latter are of another class."""

    learned: np.ndarray
    scored: np.ndarray
    is_other: np.ndarray


def rows_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and labels of a table."""
    ours = {"wine": load_wine, "breast_cancer": load_breast_cancer}
    X, y = ours[name](return_X_y=True) if name in ours else load(name)
    return np.ascontiguousarray(X, np.float64), np.asarray(y)


def tables() -> list[str]:
    """Return the names of all tables: the thirteen first."""
    return [*OF_ISSUE, *(name for name in tabular() if name not in OF_ISSUE and np.unique(load(name)[1]).size > 2)]


def known_classes(y: np.ndarray) -> list[int]:
    """Return the largest classes that have enough rows."""
    labels, counts = np.unique(y, return_counts=True)
    largest = np.argsort(-counts, kind="stable")[:CLASSES]
    return [int(labels[i]) for i in largest if counts[i] >= LEAST]


def problem(X: np.ndarray, y: np.ndarray, known: int, seed: int, contamination: float = 0.0) -> Problem:
    """Return what is learned and scored where one class is known."""
    rng = np.random.default_rng(seed)
    inside = X[rng.permutation(np.flatnonzero(y == known))[:MOST]]
    outside = X[rng.permutation(np.flatnonzero(y != known))[:MOST]]
    half, n_wrong = len(inside) // 2, round(contamination * (len(inside) // 2))
    learned = np.vstack([inside[:half], outside[len(outside) - n_wrong :]])
    outside = outside[: len(outside) - n_wrong]
    return Problem(
        learned, np.vstack([inside[half:], outside]), np.arange(len(inside) - half + len(outside)) >= len(inside) - half
    )


def distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the mean distance to the nearest learned rows."""
    neighbors = NearestNeighbors(n_neighbors=min(N_NEIGHBORS, len(a))).fit(a)
    return neighbors.kneighbors(b)[0].mean(axis=1)


def standardised(
    novelty: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return a detector that sees standardised columns."""

    def see(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        scaler = StandardScaler().fit(a)
        return novelty(scaler.transform(a), scaler.transform(b))

    return see


def by(make: Callable[..., Any], **options: Any) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return the novelty that an estimator of scikit-learn finds."""
    return lambda a, b: -make(**options).fit(a).score_samples(b)


def few_at_a_time(make: Callable[[], Any]) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return the novelty that a detector of pyod finds which ranks scored rows among the learned and each other."""

    def score(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        model, n = make().fit(a), max(1, len(a) // 20)
        return np.concatenate([model.decision_function(b[i : i + n]) for i in range(0, len(b), n)])

    return score


DETECTORS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "FlyBloomNovelty": by(FlyBloomNovelty, random_state=0),
    "its filter": by(FlyBloomNovelty, readout="filter", random_state=0),
    "5 neighbours": standardised(distances),
    "LOF": standardised(by(LocalOutlierFactor, novelty=True)),
    "one-class SVM": standardised(by(OneClassSVM)),
    "isolation forest": by(IsolationForest, random_state=0),
}
if ECOD is not None:
    DETECTORS["ECOD"] = few_at_a_time(ECOD)
    DETECTORS["COPOD"] = few_at_a_time(COPOD)


def alarms(task: Problem) -> tuple[float, float]:
    """Return which share of new rows of the known class are outliers, by the usual threshold and at a nominal 10 %."""
    new = task.scored[~task.is_other]
    usual, nominal = (FlyBloomNovelty(random_state=0, contamination=c).fit(task.learned) for c in ("auto", NOMINAL))
    return tuple(float((model.predict(new) == -1).mean()) for model in (usual, nominal))


def units(names: list[str]) -> Iterator[tuple[str, str, int, float]]:
    """Yield the key of each problem with its table, seed and contamination: the first seed of all tables first."""
    for seed, contamination in (
        *((seed, 0.0) for seed in SEEDS[:1]),
        *((0, c) for c in CONTAMINATED),
        *((s, 0.0) for s in SEEDS[1:]),
    ):
        for name in names:
            yield f"{name}/{{}}/{seed}/{contamination:g}", name, seed, contamination


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=None, help="tables; all by default")
    parser.add_argument("--again", nargs="+", default=[], help="detectors to measure again")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for measured in results.values():
        for name in options.again:
            measured.pop(name, None)
    warm = problem(*rows_of("digits"), 0, 0)
    for detect in DETECTORS.values():
        detect(warm.learned, warm.scored)  # compile, import
    for key, name, seed, contamination in units(options.only or tables()):
        X, y = rows_of(name)
        for known in known_classes(y):
            measured = results.setdefault(key.format(known), {})
            missing = [detector for detector in DETECTORS if detector not in measured]
            if not missing:
                continue
            task = problem(X, y, known, seed, contamination)
            measured["shape"] = [*task.learned.shape, len(task.scored)]
            for detector in missing:
                start = time.perf_counter()
                with threadpool_limits(1):
                    novelty = DETECTORS[detector](task.learned, task.scored)
                seconds = time.perf_counter() - start
                measured[detector] = [round(float(roc_auc_score(task.is_other, novelty)), 5), round(seconds, 3)]
            if seed == 0 and contamination == 0 and "FlyBloomNovelty" in missing:
                measured["alarms"] = alarms(task)
            print(key.format(known), {k: v[0] for k, v in measured.items() if k in DETECTORS}, flush=True)
            RESULTS.write_text(json.dumps(results, indent=0, sort_keys=True))


if __name__ == "__main__":
    main()
