"""What a prediction would be without a learned row, beside forgetting the row: the largest difference of 1000 trials.

Models of a hundred to a thousand rows, of labels and of numbers, with random sizes and penalties from 1e-3 on.
Differences are in units of the targets' scale.

    python benchmarks/influence.py
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.datasets import make_friedman1

from flybloom import FlyRidgeClassifier, FlyRidgeRegressor
from flybloom.core.readout.left_out import LeftOut
from flybloom.estimators.access import leaving_out, reading_learned, scoring

TRIALS, PER_MODEL = 1000, 20


def mean_eigenvalue(counts: Any) -> float:
    """Return that of which penalties are multiples."""
    won = counts.won.astype(float)
    return float((won - won**2 / counts.n_rows).sum() / len(won))


def largest_difference(rng: np.random.Generator) -> float:
    """Return that of some rows of one model."""
    n, m = int(rng.integers(100, 1000)), int(rng.integers(64, 512))
    X, y = make_friedman1(n + 1, noise=1.0, random_state=int(rng.integers(2**31)))
    has_labels, alpha = bool(rng.integers(2)), 10.0 ** rng.uniform(-3, 1)
    kind, targets = (FlyRidgeClassifier, y > np.median(y)) if has_labels else (FlyRidgeRegressor, y)
    model = kind(m, n_winners=m // 8, encoding="none", alpha=alpha, random_state=0).fit(X[1:], targets[1:]).like()
    model.partial_fit(X[1:], targets[1:])
    with leaving_out(model, X[1:], targets[1:]) as rows, scoring(model, X[:1]) as (one, learned):
        winners = learned.hasher.winners(one)
        now = rows.left_out.scores(winners)[0]
        without = now + rows.left_out.changes(winners, rows.winners, rows.truth - rows.own())[0]
        before = learned.counts
    largest = 0.0
    for row in rng.permutation(n)[:PER_MODEL]:
        left = copy(model)
        left.forget(X[1:][row : row + 1], targets[1:][row : row + 1])
        with reading_learned(left) as after:
            scaled = alpha * mean_eigenvalue(before) / mean_eigenvalue(after.counts)
            scores = LeftOut(after.counts, scaled).scores(winners)[0]
        largest = max(largest, float(np.abs(scores - without[row]).max()))
    return largest


def main() -> None:
    """Measure and print."""
    rng = np.random.default_rng(0)
    found = [largest_difference(rng) for _ in range(TRIALS // PER_MODEL)]
    print(f"{TRIALS} trials, largest difference {max(found):.2e}")


if __name__ == "__main__":
    main()
