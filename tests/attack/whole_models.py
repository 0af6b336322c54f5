"""Models whose rows all fit into their sketch: whatever happened to them, their file is that of a plain fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from attack.promises import promise
from flybloom import FlyBloomClassifier, FlyBloomNovelty, FlyRidgeClassifier, FlyRidgeRegressor

KINDS = (FlyBloomClassifier, FlyBloomNovelty, FlyRidgeClassifier, FlyRidgeRegressor)


def given(kind: Any, y: np.ndarray) -> tuple[Any, ...]:
    """What a kind takes besides rows."""
    return () if kind is FlyBloomNovelty else (y,)


@promise("a model whose rows fit into its sketch has the file of a plain fit of them", lambda folder: folder)
def live(folder: Path, rng: np.random.Generator) -> str:
    """Learn, add, subtract, forget and look, in any order, with default settings but the size."""
    kind = KINDS[rng.integers(len(KINDS))]
    n, d = int(rng.integers(8, 200)), int(rng.integers(1, 12))
    X = rng.standard_normal((n, d)).round(int(rng.integers(0, 6)))
    y = rng.permutation(np.concatenate([[0, 1], rng.integers(0, 3, n - 2)])).astype(float)
    settings = {"n_components": 64, "n_winners": 6, "random_state": 0, "n_jobs": int(rng.integers(1, 3))}
    there = rng.permutation(n)[: int(rng.integers(4, n))]
    model = kind(**settings).partial_fit(X[there], *given(kind, y[there]))
    for _ in range(int(rng.integers(1, 8))):
        some = rng.integers(0, n, int(rng.integers(1, 20)))
        at = rng.permutation(len(there))[: int(rng.integers(1, len(there) + 1))]
        gone, left = there[at], np.delete(there, at)
        action = rng.choice(["learn", "add", "forget", "subtract", "look"])
        if action == "learn":
            model.partial_fit(X[some], *given(kind, y[some]))
            there = np.concatenate([there, some])
        elif action == "add":
            model = model + kind(**settings).partial_fit(X[some], *given(kind, y[some]))
            there = np.concatenate([there, some])
        elif action == "forget" and left.size > 3:
            assert model.forget(X[gone], *given(kind, y[gone])).extent == "complete", "something is left"
            there = left
        elif action == "subtract" and left.size > 3:
            model, there = model - kind(**settings).partial_fit(X[gone], *given(kind, y[gone])), left
        else:
            model.predict(X[:3])
    plain = kind(**settings).partial_fit(X[there], *given(kind, y[there]))
    model.save(folder / "model.fly")
    plain.save(folder / "plain.fly")
    same = (folder / "model.fly").read_bytes() == (folder / "plain.fly").read_bytes()
    assert same, f"another file: {kind.__name__}, {settings}"
    return kind.__name__
