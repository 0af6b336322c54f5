"""Models whose rows all fit into their sketch: whatever happened to them, their file is that of a plain fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from attack.promises import promise
from flybloom import (
    FlyBloomClassifier,
    FlyBloomNovelty,
    FlyRidgeClassifier,
    FlyRidgeMultiOutputClassifier,
    FlyRidgeRegressor,
    OpenSetClassifier,
)

SIZES = {"n_components": 64, "n_winners": 6}


def kinds(n_jobs: int) -> dict[str, Any]:
    """One estimator of each kind: default settings but for the size."""
    given = {**SIZES, "n_jobs": n_jobs}
    return {
        "filters": FlyBloomClassifier(**given),
        "Bayes": FlyBloomClassifier(**given, readout="bayes"),
        "pairs": FlyRidgeClassifier(**given),
        "regression": FlyRidgeRegressor(**given),
        "several labels": FlyRidgeMultiOutputClassifier(**given),
        "novelty": FlyBloomNovelty(**given),
        "novelty by filters": FlyBloomNovelty(**given, readout="filter"),
        "open sets": OpenSetClassifier(FlyBloomClassifier(**given)),
    }


def labels(name: str, y: np.ndarray) -> tuple[np.ndarray, ...]:
    """What a kind takes besides rows."""
    if name.startswith("novelty"):
        return ()
    return (np.stack([y > 0, y > 1], axis=1).astype(int),) if name == "several labels" else (y,)


@promise("a model whose rows fit into its sketch has the file of a plain fit of them", lambda folder: folder)
def live(folder: Path, rng: np.random.Generator) -> str:
    """Learn, merge, add, subtract, forget and look, in any order."""
    every = kinds(int(rng.integers(1, 3)))
    name = str(rng.choice([*every]))
    n, d = int(rng.integers(8, 200)), int(rng.integers(1, 12))
    X = rng.standard_normal((n, d)).round(int(rng.integers(0, 6)))
    y = rng.permutation(np.concatenate([[0, 1], rng.integers(0, 3, n - 2)])).astype(float)

    def learned(rows: np.ndarray) -> Any:
        return kinds(1)[name].partial_fit(X[rows], *labels(name, y[rows]))

    there = rng.permutation(n)[: int(rng.integers(4, n))]
    model = every[name].partial_fit(X[there], *labels(name, y[there]))
    actions = ["learn", "forget", "look"] + ["merge", "add", "subtract"] * hasattr(model, "merge")
    for _ in range(int(rng.integers(1, 8))):
        some = rng.integers(0, n, int(rng.integers(1, 20)))
        at = rng.permutation(len(there))[: int(rng.integers(1, len(there) + 1))]
        gone, left = there[at], np.delete(there, at)
        action = rng.choice(actions)
        if action == "learn":
            model.partial_fit(X[some], *labels(name, y[some]))
            there = np.concatenate([there, some])
        elif action in {"merge", "add"}:
            model = model + learned(some) if action == "add" else model.merge(learned(some))
            there = np.concatenate([there, some])
        elif action == "forget" and left.size > 3:
            left_over = model.forget(X[gone], *labels(name, y[gone]))
            assert getattr(left_over, "extent", "complete") == "complete", f"something is left: {name}"
            there = left
        elif action == "subtract" and left.size > 3:
            model, there = model - learned(gone), left
        else:
            model.predict(X[:3])
    plain = learned(there)
    for one in (model, plain):  # nothing but the number of threads may differ
        one.set_params(**{parameter: None for parameter in one.get_params() if parameter.endswith("n_jobs")})
        getattr(one, "estimator_", one).set_params(n_jobs=None)
    model.save(folder / "model.fly")
    plain.save(folder / "plain.fly")
    assert (folder / "model.fly").read_bytes() == (folder / "plain.fly").read_bytes(), f"another file: {name}"
    return name
