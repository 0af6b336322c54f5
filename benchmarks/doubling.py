"""Whether more components can hurt: accuracy of FlyRidgeClassifier while components double, on tables of few rows.

At most 4000 rows, 10 folds, the penalty chosen by the model. What doubling costs is shown beside its standard error
over the folds, because accuracies of a table differ by as much from seed to seed.

    python benchmarks/doubling.py
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from flybloom import FlyRidgeClassifier
from pairs_accuracy import some_rows
from resumable import measured

SIZES = (512, 1024, 2048, 4096)
TABLES = (
    "steel_plates_fault", "diabetic_retinopathy", "wine_quality_red", "wine_quality_white", "pc3", "kc1",
    "qsar_biodeg", "cardiotocography_nsp", "segment", "mfeat_zernike", "fri_c0_1000_25", "fri_c4_1000_50", "spambase",
    "satimage", "wall_robot_navigation", "elevators", "hill_valley_noise",
)  # fmt: skip
FOLDS = StratifiedKFold(10, shuffle=True, random_state=0)
MAX_ROWS = 4000


def scored(name: str, m: int) -> dict[str, Any]:
    """Return the accuracy of each fold."""
    X, y = some_rows(name, MAX_ROWS)
    scores = []
    for train, test in FOLDS.split(X, y):
        model = FlyRidgeClassifier(m, random_state=0).fit(X[train], y[train])
        scores.append(float((model.predict(X[test]) == y[test]).mean()))
    return {"rows": len(y), "accuracy": scores}


def main() -> None:
    """Print a table."""
    doubled = [f"{a} to {b}" for a, b in pairwise(SIZES)]
    print(f"| table | rows | {' | '.join(map(str, SIZES))} | {' | '.join(doubled)} |")
    print("|---|" + "---:|" * (len(SIZES) + len(doubled) + 1))
    for name in TABLES:
        found = [measured("doubling", f"{name} {m}", partial(scored, name, m)) for m in SIZES]
        folds = np.array([one["accuracy"] for one in found])
        steps = np.diff(folds, axis=0)
        errors = steps.std(axis=1, ddof=1) / np.sqrt(folds.shape[1])
        changes = [f"{mean:+.4f} ± {error:.4f}" for mean, error in zip(steps.mean(axis=1), errors, strict=True)]
        accuracies = " | ".join(f"{mean:.4f}" for mean in folds.mean(axis=1))
        print(f"| {name} | {found[0]['rows']} | {accuracies} | {' | '.join(changes)} |", flush=True)


if __name__ == "__main__":
    main()
