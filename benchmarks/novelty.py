"""FlyBloomNovelty against IsolationForest, LocalOutlierFactor and OneClassSVM: area under the curve and time.

For each data set, half of the rows of the largest class (at most 3000) are learned. The other half, and rows of the
other classes (at most 3000), are scored. LocalOutlierFactor and OneClassSVM get standardised columns; all else is as it
comes. Seconds are of fit and scores together, on one thread. Alarms are the share of new rows of the learned class that
FlyBloomNovelty finds outliers at a nominal 10 %, with two ways to set the threshold. Prints a table and writes
benchmarks/results/novelty.json.

    python benchmarks/novelty.py
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from datasets import load, load_split
from flybloom import FlyBloomNovelty

RESULTS = Path(__file__).parent / "results" / "novelty.json"
SETS = (
    "digits", "optdigits", "mfeat_pixel", "mfeat_factors", "semeion", "usps", "mnist", "fashion_mnist", "satimage",
    "segment", "letter", "spambase", "musk2", "wall_robot_navigation", "page_blocks", "steel_plates_fault",
)  # fmt: skip
MOST = 3000
NOMINAL = 0.1
DETECTORS = {
    "flybloom": lambda: FlyBloomNovelty(random_state=0),
    "isolation forest": lambda: IsolationForest(random_state=0),
    "local outlier factor": lambda: make_pipeline(StandardScaler(), LocalOutlierFactor(novelty=True)),
    "one-class SVM": lambda: make_pipeline(StandardScaler(), OneClassSVM()),
}


def problem(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rows to learn, the rows to score, and which of the latter are of another class."""
    X, y = load_split(name)[:2] if name in {"mnist", "fashion_mnist"} else load(name)
    rng = np.random.default_rng(0)
    usual = np.unique(y)[np.unique(y, return_counts=True)[1].argmax()]
    inside, outside = rng.permutation(np.flatnonzero(y == usual)), rng.permutation(np.flatnonzero(y != usual))[:MOST]
    half = min(len(inside) // 2, MOST)
    scored = np.concatenate([inside[half : 2 * half], outside])
    return X[inside[:half]], X[scored], y[scored] != usual


def false_alarms(learned: np.ndarray, same: np.ndarray) -> tuple[float, float]:
    """Return the share of new rows of the learned class that are outliers at a nominal 10 %.

    First with the detector's threshold, from rows left out; then with the quantile of the learned rows as they are.
    """
    detector = FlyBloomNovelty(random_state=0, contamination=NOMINAL).fit(learned)
    scores, limit = detector.score_samples(same), np.percentile(detector.score_samples(learned), 100 * NOMINAL)
    return float((scores < detector.offset_).mean()), float((scores < limit).mean())


def main() -> None:
    """Measure, print, save."""
    FlyBloomNovelty(random_state=0).fit(*problem("digits")[:1]).novelty(problem("digits")[1])  # compile
    records = []
    print(
        "| data set | learned | scored | features | "
        + " | ".join(DETECTORS)
        + " | alarms, left out | alarms, as they are |"
    )
    print("|---|---|---|---|" + "---|" * (len(DETECTORS) + 2))
    for name in SETS:
        learned, scored, is_other = problem(name)
        record: dict = {"set": name, "learned": len(learned), "scored": len(scored), "d": scored.shape[1]}
        for detector, make in DETECTORS.items():
            start = time.perf_counter()
            scores = make().fit(learned).score_samples(scored)
            record[detector] = [float(roc_auc_score(is_other, -scores)), time.perf_counter() - start]
        record["alarms"] = false_alarms(learned, scored[~is_other])
        records.append(record)
        cells = " | ".join(f"{record[d][0]:.3f} ({record[d][1]:.2f} s)" for d in DETECTORS)
        print(
            f"| {name} | {len(learned)} | {len(scored)} | {scored.shape[1]} | {cells} | {record['alarms'][0]:.2f} "
            f"| {record['alarms'][1]:.2f} |",
            flush=True,
        )
    means = " | ".join(
        f"{np.mean([r[d][0] for r in records]):.3f} ({np.sum([r[d][1] for r in records]):.1f} s)" for d in DETECTORS
    )
    alarms = " | ".join(f"{np.mean([r['alarms'][i] for r in records]):.2f}" for i in (0, 1))
    print(f"| mean, and seconds in all | | | | {means} | {alarms} |")
    ranks = np.mean([np.argsort(np.argsort([-r[d][0] for d in DETECTORS])) + 1 for r in records], axis=0)
    print("| mean rank | | | | " + " | ".join(f"{rank:.2f}" for rank in ranks) + " | | |")
    RESULTS.write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
