"""The paper in plain numpy against the kernels: winners, counts and novelties, equal in every bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import reference
from attack.promises import promise
from flybloom import FlyBloomClassifier, FlyBloomNovelty

TYPES = (np.float64, np.float32, np.float16, np.int64, np.int32, np.int16, np.int8, np.uint8, np.uint16, bool)


def nothing(_folder: Path) -> None:
    """Nothing is needed."""


def drawn(rng: np.random.Generator) -> tuple[Any, Any, dict[str, Any]]:
    """Rows with ties and zeros, labels, and settings."""
    n, d = int(rng.integers(2, 40)), int(rng.integers(1, 40))
    m = int(rng.integers(2, 300))
    settings = {
        "n_components": m,
        "n_connections": int(rng.integers(1, d + 1)),
        "n_winners": int(rng.integers(1, min(m, 40))) if m > 2 else 1,
        "signed": bool(rng.integers(2)),
        "random_state": int(rng.integers(2**31)),
        "n_jobs": int(rng.integers(1, 3)),
    }
    dtype = TYPES[rng.integers(len(TYPES))]
    spread = 10.0 ** rng.integers(-3, 3)
    values = rng.standard_normal((n, d)) * spread
    values = values if np.dtype(dtype).kind == "f" else np.round(np.clip(values, 0, 127))
    values[rng.random((n, d)) < rng.random()] = 0
    X = values.astype(dtype)
    y = np.concatenate([[0, 1], rng.integers(0, rng.integers(2, 12), n - 2)])
    return X, rng.permutation(y), settings


@promise("winners, counts and novelties are those of the paper in plain numpy", nothing, share=2.0)
def classify(_nothing: None, rng: np.random.Generator) -> str:
    """Without scaling and with it, dense and sparse, in one block or several."""
    X, y, settings = drawn(rng)
    scaling = str(rng.choice(["none", "standard+clip=inf"]))
    decay = float(rng.choice([1.0, 0.4, 0.1, 1e-6]))
    rows = sparse.csr_matrix(X) if scaling == "none" and X.dtype != np.float16 and rng.random() < 0.3 else X
    model = FlyBloomClassifier(**settings, decay=decay, encoding=scaling)
    if scaling == "none" and rng.random() < 0.5:
        cut = int(rng.integers(1, len(y)))
        model.partial_fit(rows[:cut], y[:cut]).partial_fit(rows[cut:], y[cut:])
    else:
        model.fit(rows, y)
    seen = X if scaling == "none" else reference.standardise(X)
    winners = reference.winners(seen, model.connections_, model.signs_, model.n_winners_)
    counts = reference.counts(reference.hashes(winners, settings["n_components"]), y, model.classes_)
    assert np.array_equal(model.counts_, counts), f"counts differ: {settings}, {X.dtype}, {scaling}"
    novelty = reference.novelty(reference.filters(counts, decay), winners)
    assert np.array_equal(model.novelty(rows), novelty), f"novelties differ: {settings}, {X.dtype}, {scaling}"
    one = int(rng.integers(len(y)))
    assert np.array_equal(model.novelty(rows[one : one + 1]), novelty[one : one + 1]), "one row by itself differs"
    return "sparse" if sparse.issparse(rows) else "dense"


@promise("what is forgotten was never learned, in any order", nothing)
def forget(_nothing: None, rng: np.random.Generator) -> None:
    """Rows learned in any order, and some of them forgotten, one by one or at once."""
    X, y, settings = drawn(rng)
    X = np.asarray(X, np.float64 if X.dtype.kind == "f" else X.dtype)
    kept = np.flatnonzero(rng.random(len(y)) < 0.7)
    kept = kept if kept.size else np.array([0])
    gone = rng.permutation(np.setdiff1d(np.arange(len(y)), kept))
    for kind, labels in ((FlyBloomClassifier, y), (FlyBloomNovelty, None)):
        model = kind(**settings, encoding="none")
        never = kind(**settings, encoding="none")
        order = rng.permutation(len(y))
        for block in np.array_split(order, int(rng.integers(1, 5))):
            if block.size:
                model.partial_fit(X[block], *([] if labels is None else [labels[block]]))
        for block in np.array_split(gone, max(1, int(rng.integers(1, gone.size + 2)))):
            if block.size:
                model.forget(X[block], *([] if labels is None else [labels[block]]))
        never.partial_fit(X[kept], *([] if labels is None else [labels[kept]]))
        assert np.array_equal(model.counts_, never.counts_), f"counts differ: {settings}"
