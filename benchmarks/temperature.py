"""Which temperature makes predict_proba most truthful: log-loss of rows left out, on every tabular data set.

10-fold; prints for each temperature the median over the data sets of the log-loss divided by that of always
predicting the shares of the classes (below 1 is better than knowing nothing of the row), and the best for each set.

    python benchmarks/temperature.py
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from datasets import load, tabular
from flybloom import FlyBloomClassifier

TEMPERATURES = np.array([0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0])
FOLDS = StratifiedKFold(10, shuffle=True, random_state=0)
MOST_ROWS = 6000  # of larger sets, as many rows as this are used


def main() -> None:
    """Measure and print."""
    model, relative = FlyBloomClassifier(random_state=0), []
    model.temperature = 1.0
    for name in tabular():
        X, y = load(name)
        kept = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
        X, codes = X[kept], np.unique(y[kept], return_inverse=True)[1]
        if np.bincount(codes).min() < FOLDS.n_splits:
            continue
        # probabilities at temperature 1 are the softmax of minus the novelty, so their logarithm gives it back
        probability = cross_val_predict(model, X, codes, cv=FOLDS, method="predict_proba")
        scores = np.log(probability)
        losses = [-log_softmax(scores / t, axis=1)[np.arange(len(codes)), codes].mean() for t in TEMPERATURES]
        shares = np.bincount(codes) / len(codes)
        relative.append(np.array(losses) / -(shares * np.log(shares)).sum())
        print(f"{name}: best {TEMPERATURES[np.argmin(losses)]}, {min(relative[-1]):.3f} of knowing nothing", flush=True)
    for t, values in zip(TEMPERATURES, np.array(relative).T, strict=True):
        print(f"temperature {t}: median {np.median(values):.3f}, mean {values.mean():.3f}")


if __name__ == "__main__":
    main()
