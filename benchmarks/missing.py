"""Tables of which a tenth of all values is missing: gaps left, gaps filled from other columns, and peers.

    python benchmarks/missing.py [SET ...]

All tables of at most 100 columns, at most 3000 rows of each; five stratified folds, everything learned inside them.
Values are taken out at random. Goes on where it was; docs/encodings.md quotes the means.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, SimpleImputer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from datasets import load, tabular
from flybloom import FlyBloomClassifier, FlyRidgeClassifier
from flybloom.core.encoding import auto_encoding
from flybloom.core.encoding.fill import MAX_FILLED

RESULTS = Path(__file__).parent / "results" / "missing.json"
ROWS, FOLDS, SHARE = 3000, 5, 0.1
LEFT = "gaps left"
CHOSEN_ON = {
    "magictelescope",
    "satimage",
    "segment",
    "wine_quality_red",
    "page_blocks",
    "wall_robot_navigation",
    "eeg_eye_state",
    "elevators",
    "letter",
    "ann_thyroid",
    "steel_plates_fault",
    "house_16h",
    "qsar_biodeg",
    "diabetic_retinopathy",
    "kc1",
    "wind",
    "fried",
    "cpu_act",
    "pol",
}  # fmt: skip - where ways to fill were compared
MODELS = {"counts": FlyBloomClassifier, "pairs": FlyRidgeClassifier}


def contestants(gaps: Any, full: Any) -> dict[str, tuple[Any, Any]]:
    """Return models and the rows they see."""
    found = {}
    for name, kind in MODELS.items():
        imputer = IterativeImputer(random_state=0)
        found |= {
            f"{name}, nothing missing": (kind(random_state=0), full),
            f"{name}, {LEFT}": (kind(random_state=0), gaps),
            f"{name}, imputer of means": (make_pipeline(SimpleImputer(), kind(random_state=0)), gaps),
            f"{name}, IterativeImputer": (make_pipeline(imputer, kind(random_state=0)), gaps),
            f"{name}, as it comes": (kind(random_state=0), gaps),
        }
    found["boosted trees"] = (HistGradientBoostingClassifier(random_state=0), gaps)
    found["5-NN, imputer of means"] = (make_pipeline(SimpleImputer(), StandardScaler(), KNeighborsClassifier()), gaps)
    return found


def measured(name: str) -> dict[str, float] | None:
    """Return the accuracy of each on one set; None where it is too wide, or an image."""
    X, y = load(name)
    if X.shape[1] > MAX_FILLED:
        return None
    chosen = np.random.default_rng(0).permutation(len(y))[:ROWS]
    X, y = X[chosen].astype(float), y[chosen]
    frequent = np.isin(y, [label for label in np.unique(y) if (y == label).sum() >= 2 * FOLDS])
    X, y = X[frequent], y[frequent]
    gaps = X.copy()
    gaps[np.random.default_rng(1).random(X.shape) < SHARE] = np.nan
    if not any(step.kind == "fill" for step in FlyBloomClassifier(64, random_state=0).fit(gaps, y).encoder_.steps):
        return None
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    scores = {}
    for contestant, (model, rows) in contestants(gaps, X).items():
        most = 0 if contestant.endswith(LEFT) else MAX_FILLED
        with patch.object(auto_encoding, "MAX_FILLED", most):  # "auto" without the step that fills
            scores[contestant] = float(cross_val_score(model, rows, y, cv=folds, error_score="raise").mean())
    return scores


def main() -> None:
    """Measure what is missing, print, save after each set."""
    warnings.simplefilter("ignore")
    records: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in sys.argv[1:] or tabular():
        if name not in records:
            print(name, file=sys.stderr, flush=True)
            records[name] = measured(name)
            RESULTS.write_text(json.dumps(records, indent=1))
    groups = {"compared on": [], "others": []}
    for name, record in records.items():
        if record is not None:
            groups["compared on" if name in CHOSEN_ON else "others"].append(record)
    print(f"| mean accuracy | {' | '.join(f'{group}: {len(found)} sets' for group, found in groups.items())} |")
    print("|---|" + "---:|" * len(groups))
    for contestant in next(filter(None, records.values())):
        means = [np.mean([record[contestant] for record in found]) if found else np.nan for found in groups.values()]
        print(f"| {contestant} | {' | '.join(f'{mean:.4f}' for mean in means)} |")


if __name__ == "__main__":
    main()
