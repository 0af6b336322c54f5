"""Nothing but the rows decides: not their order, the blocks they come in, threads, or weights in place of copies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

import flybloom
from attack.promises import promise
from flybloom import (
    FlyBloomClassifier,
    FlyBloomClassifierCV,
    FlyBloomNovelty,
    FlyRidgeClassifier,
    FlyRidgeMultiOutputClassifier,
    FlyRidgeRegressor,
    OpenSetClassifier,
)

ENCODINGS = ("auto", "none", "center", "standard", "standard+fill", "standard+fill=classes", "bins", "bins+passthrough",
             "bins+relevance", "rotation=3", "clip=2.0", "none+relevance", "standard+ferns",
             "bins+ferns+relevance", "unskew+bins")  # fmt: skip
MAX_COPIES = 9


def kinds(rng: np.random.Generator) -> dict[str, Any]:
    """One estimator of each sort, with drawn settings."""
    sizes = {"n_components": 64, "n_winners": 6, "random_state": int(rng.integers(2**31))}
    encoding = str(rng.choice(ENCODINGS))
    labelled = {**sizes, "encoding": encoding}
    unlabelled = {**sizes, "encoding": encoding.replace("+relevance", "").replace("=classes", "").replace("+ferns", "")}
    return {
        "filters": FlyBloomClassifier(**labelled),
        "Bayes": FlyBloomClassifier(**labelled, readout="bayes"),
        "pairs": FlyRidgeClassifier(**labelled),
        "values": FlyRidgeClassifier(n_winners=0, random_state=sizes["random_state"], encoding=unlabelled["encoding"]),
        "regression": FlyRidgeRegressor(**unlabelled),
        "several outputs": FlyRidgeMultiOutputClassifier(**unlabelled),
        "novelty": FlyBloomNovelty(**unlabelled, contamination=0.2),
        "novelty by filters": FlyBloomNovelty(**unlabelled, readout="filter", contamination=0.2),
        "open sets": OpenSetClassifier(FlyBloomClassifier(**unlabelled)),
        "open sets of pairs": OpenSetClassifier(FlyRidgeClassifier(**unlabelled)),
        "search": FlyBloomClassifierCV([32, 64], n_connections=[2], n_winners=[4, 6], decay=[0.3, 1.0], cv="loo",
                                       encoding=unlabelled["encoding"], random_state=0),
    }  # fmt: skip


def drawn(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct or repeated rows, with gaps, ties and constant columns, or images; labels, and copies of each."""
    n, d = int(rng.integers(6, 70)), int(rng.integers(2, 7))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-3, 4, d)
    if rng.random() < 0.1:
        X = rng.standard_normal((n, 9, 9)).cumsum(axis=1).cumsum(axis=2).reshape(n, 81)
    if rng.random() < 0.5:
        X = np.round(X, 1)
    if rng.random() < 0.4:
        X = X[rng.integers(0, min(n, 6), n)]
    if rng.random() < 0.4:
        X[rng.random(X.shape) < 0.2] = np.nan
    y = rng.permutation(np.arange(n) % int(rng.integers(2, 5)))
    return X, y, rng.integers(1, MAX_COPIES, n)


def ways(model: Any) -> list[str]:
    """How a model may learn the same rows."""
    found = ["shuffled", "on threads"]
    if isinstance(model, FlyBloomClassifier | FlyRidgeClassifier | FlyRidgeRegressor | FlyBloomNovelty):
        found.append("in blocks")
    if isinstance(model, FlyBloomClassifier | FlyRidgeClassifier | FlyRidgeRegressor | FlyRidgeMultiOutputClassifier):
        found += ["weighted", "weighted in pieces"]
    return found


def learned(model: Any, X: Any, y: Any, copies: Any, way: str, rng: np.random.Generator) -> Any:
    """The model of the rows with their copies, learned in some way."""
    if way == "weighted":
        return model.fit(X, y, sample_weight=copies)
    if way == "weighted in pieces":
        less = rng.integers(1, copies + 1)  # the rest of the weight comes with the same row again, or is 0
        at = rng.permutation(2 * len(y))
        weights = np.concatenate([less, copies - less])
        return model.fit(np.concatenate([X, X])[at], np.concatenate([y, y])[at], sample_weight=weights[at])
    at = np.repeat(np.arange(len(y)), copies)
    if way != "as they are":
        at = rng.permutation(at)
    if way == "on threads":
        model.set_params(**{name: 2 for name in model.get_params() if name.endswith("n_jobs")})
    if way == "in blocks":
        target = None if isinstance(model, FlyBloomNovelty) else "y"
        return flybloom.train(model, (X[at], y[at]), target, block_rows=int(rng.integers(1, 40)))
    return model.fit(X[at], y[at])


def told(model: Any, X: Any, path: Path) -> dict[str, bytes]:
    """The file of a model, and what it says of rows."""
    found = {}
    if not isinstance(model, FlyBloomClassifierCV):  # which keeps how long each setting took
        inside = getattr(model, "estimator_", model)
        inside.set_params(n_jobs=None)
        model.set_params(**{name: None for name in model.get_params() if name.endswith("n_jobs")})
        model.save(path)
        found["file"] = path.read_bytes()
    for name in ("predict", "predict_proba", "novelty", "decision_function", "score_samples"):
        if hasattr(model, name):
            values = getattr(model, name)(X)
            found[name] = (np.hstack(values) if isinstance(values, list) else np.asarray(values)).tobytes()
    for name in (
        "temperature_",
        "decay_",
        "offset_",
        "threshold_",
        "thresholds_",
        "temperatures_",
        "filters_",
        "alpha_",
        "class_weight_",
        "coef_",
        "best_score_",
    ):
        if hasattr(model, name):
            found[name] = np.asarray(getattr(model, name)).tobytes()
    return found


@promise("the same rows make the same model: in any order, in blocks, on threads, and as weights", Path, share=2.0)
def same(folder: Path, rng: np.random.Generator) -> str:
    """One file, and the same answers, in every bit."""
    X, y, copies = drawn(rng)
    every = kinds(rng)
    name = str(rng.choice([*every]))
    way = str(rng.choice(ways(every[name])))
    if name == "several outputs":
        y = np.stack([y, y % 2], axis=1)
    expected = told(learned(clone(every[name]), X, y, copies, "as they are", rng), X, folder / "model.fly")
    found = told(learned(clone(every[name]), X, y, copies, way, rng), X, folder / "model.fly")
    different = [what for what in expected if expected[what] != found.get(what)]
    assert not different, f"{name} {way}: {', '.join(different)} differ; {every[name]}"
    return way
