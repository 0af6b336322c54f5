"""Models whose rows all fit into their sketch: whatever happened to them, their file is that of a plain fit."""

from __future__ import annotations

import pickle
from collections import Counter
from copy import copy, deepcopy
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse
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
    SlidingWindow,
)
from flybloom.core import model as core_model
from flybloom.core import sketch
from laws.kinds import assert_same_state

SIZES = {"n_components": 64, "n_winners": 6}
LEAST = 4  # rows that are left
FORMS = ("floats", "integers", "repeated", "gaps", "sparse", "pixels", "wide", "table")


def kinds() -> dict[str, Any]:
    """One estimator of each kind: default settings but for the size."""
    return {
        "filters": FlyBloomClassifier(**SIZES),
        "Bayes": FlyBloomClassifier(**SIZES, readout="bayes"),
        "pairs": FlyRidgeClassifier(**SIZES),
        "values": FlyRidgeClassifier(n_winners=0),
        "regression": FlyRidgeRegressor(**SIZES),
        "several targets": FlyRidgeRegressor(**SIZES),
        "several labels": FlyRidgeMultiOutputClassifier(**SIZES),
        "novelty": FlyBloomNovelty(**SIZES),
        "novelty by filters": FlyBloomNovelty(**SIZES, readout="filter"),
        "outliers": FlyBloomNovelty(**SIZES, contamination=0.1),
        "open sets": OpenSetClassifier(FlyBloomClassifier(**SIZES)),
        "open sets of pairs": OpenSetClassifier(FlyRidgeClassifier(**SIZES), per_class=True),
        "best of a search": FlyBloomClassifierCV(64, n_winners=[4, 6], n_connections=1, cv="loo", random_state=0),
    }


def labels(name: str, y: np.ndarray) -> tuple[np.ndarray, ...]:
    """What a kind takes besides rows."""
    if name.startswith(("novelty", "outliers")):
        return ()
    if name == "several targets":
        return (np.stack([y * 1.5, np.sqrt(y)], axis=1),)
    return (np.stack([y > 0, y > 1], axis=1).astype(int),) if name == "several labels" else (y,)


def drawn(form: str, rng: np.random.Generator) -> tuple[Any, np.ndarray]:
    """Rows of a form, and labels."""
    n, d = int(rng.integers(8, 200)), int(rng.integers(1, 12))
    y = rng.permutation(np.concatenate([[0, 1], rng.integers(0, 3, n - 2)])).astype(float)
    X: Any = rng.standard_normal((n, d)).round(int(rng.integers(0, 6)))
    if form == "integers":
        X = rng.integers(-9, 10, (n, d))
    elif form == "repeated":
        X = X[rng.integers(0, min(n, 7), n)]
    elif form == "gaps":
        X[rng.random((n, d)) < 0.2] = np.nan
    elif form == "sparse":
        X = sparse.csr_array(rng.poisson(0.3, (n, 40)))
    elif form == "pixels":
        images = rng.standard_normal((n, 9, 9))
        X = (images[:, 1:, 1:] + images[:, :-1, 1:] + images[:, 1:, :-1] + images[:, :-1, :-1]).reshape(n, 64).round(1)
    elif form == "wide":
        X = np.concatenate([X[:, :1] + y[:, None], rng.standard_normal((n, 40)).round(2)], axis=1)
    elif form == "table":
        import pandas as pd  # noqa: PLC0415 - an extra

        words, days = (
            rng.choice(["ant", "bee", "fly", None], n),
            pd.Timestamp("2024-01-31") + pd.to_timedelta(rng.integers(0, 900, n), unit="h"),
        )
        X = pd.DataFrame({"number": X[:, 0], "word": pd.array(words, dtype="str"), "day": days})
    return X, y


def some(X: Any, rows: np.ndarray) -> Any:
    """Some of the rows."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


class Life:
    """A model, what it has learned, and what may happen to it."""

    def __init__(self, folder: Path, happened: Counter[str], rng: np.random.Generator) -> None:
        every = kinds()
        self.folder, self.happened, self.rng, self.name = folder, happened, rng, str(rng.choice([*every]))
        forms = [form for form in FORMS if form != "table" or self.name != "outliers"]
        self.form = str(rng.choice(forms))
        self.X, self.y = drawn(self.form, rng)
        self.there = rng.permutation(len(self.y))[: int(rng.integers(LEAST, len(self.y)))]
        estimator = every[self.name]
        if self.name == "best of a search":  # a model like others from there on
            estimator = clone(estimator.fit(self.X, self.y).best_estimator_)
        self.estimator = estimator
        self.model = self.learned(self.there, int(rng.integers(1, 3)))
        self.is_late = False  # whether predictions may still be those of fewer rows

    def actions(self) -> list[str]:
        """What may happen."""
        always = ["learn", "forget", "look", "stored", "pickled", "copied", "merge", "add", "subtract"]
        weighs = "sample_weight" in type(self.model).partial_fit.__code__.co_varnames
        return always + ["learn heavy rows"] * weighs

    def given(self, rows: np.ndarray) -> tuple[Any, ...]:
        """Rows and what comes with them."""
        return some(self.X, rows), *labels(self.name, self.y[rows])

    def learned(self, rows: np.ndarray, n_jobs: int | None = None) -> Any:
        """A model of rows."""
        model = clone(self.estimator)
        model.set_params(**{one: n_jobs for one in model.get_params() if one.endswith("n_jobs")})
        return model.partial_fit(*self.given(rows))

    def happen(self, action: str) -> None:
        """Let one thing happen."""
        rng, model, there = self.rng, self.model, self.there
        self.happened[action] += 1
        few = rng.integers(0, len(self.y), int(rng.integers(1, 20)))
        at = rng.permutation(len(there))[: int(rng.integers(1, len(there) + 1))]
        gone, left = there[at], np.delete(there, at)
        if action == "learn":
            model.partial_fit(*self.given(few))
            self.there = np.concatenate([there, few])
        elif action == "learn heavy rows":
            copies = np.maximum(rng.integers(0, 4, len(few)), np.arange(len(few)) == 0)
            model.partial_fit(*self.given(few), sample_weight=copies)
            self.there = np.concatenate([there, np.repeat(few, copies)])
        elif action in {"merge", "add"}:
            other = self.learned(few)
            self.model = model.merge(other) if action == "merge" else model + other
            self.there = np.concatenate([there, few])
        elif action == "forget" and left.size >= LEAST:
            forgotten = model.forget(*self.given(gone))
            assert getattr(forgotten, "extent", "complete") == "complete", f"something is left: {self.name}"
            self.there = left
        elif action == "subtract" and left.size >= LEAST:
            self.model, self.there = model - self.learned(gone), left
        elif action == "stored":
            model.save(self.folder / "meanwhile.fly")
            self.model = flybloom.load(self.folder / "meanwhile.fly")
        elif action == "pickled":
            self.model = pickle.loads(pickle.dumps(model))  # noqa: S301
        elif action == "copied":
            self.model = copy(model) if rng.integers(2) else deepcopy(model)
        elif action == "look":
            model.predict(some(self.X, np.arange(3)))
        keeps = action in {"look", "copied"} or (action in {"forget", "subtract"} and self.there.size == there.size)
        self.is_late = action.startswith("learn") or (keeps and self.is_late)

    def said(self, model: Any) -> bytes:
        """What a model predicts for all rows; of several outputs at once."""
        names = ("predict_proba", "decision_function", "predict")
        found = getattr(model, next(name for name in names if hasattr(model, name)))(self.X)
        return b"".join(np.asarray(one).tobytes() for one in (found if isinstance(found, list) else [found]))


def file_of(model: Any, path: Path) -> bytes:
    """The file of a model; nothing but the number of threads may differ."""
    model.set_params(**{one: None for one in model.get_params() if one.endswith("n_jobs")})
    getattr(model, "estimator_", model).set_params(n_jobs=None)
    model.save(path)
    return path.read_bytes()


def nothing_yet(folder: Path) -> tuple[Path, Counter[str]]:
    """Where files go, and what has happened."""
    return folder, Counter()


def what_happened(prepared: tuple[Path, Counter[str]]) -> str:
    """How often models were added."""
    return f"{prepared[1]['add'] + prepared[1]['merge']:,} sums"


@promise(
    "a model whose rows fit into its sketch has the file and the answers of a plain fit of them",
    nothing_yet,
    2.0,
    what_happened,
)
def live(prepared: tuple[Path, Counter[str]], rng: np.random.Generator) -> str:
    """Learn, merge, add, subtract, forget and look, in any order."""
    folder, happened = prepared
    few = int(rng.choice([0, core_model.FEW_ROWS]))  # with 0, models of few rows are late as larger ones are
    with patch.object(sketch, "MAX_ROWS", sketch.MAX_ROWS), patch.object(core_model, "FEW_ROWS", few):
        life = Life(folder, happened, rng)
        if rng.random() < 0.3:
            sketch.MAX_ROWS = len(life.y)  # just enough
        for _ in range(int(rng.integers(1, 8))):
            life.happen(str(rng.choice(life.actions())))
        if not life.is_late:
            assert life.said(life.model) == life.said(life.learned(life.there)), f"says other: {life.name}, {life.form}"
        found, expected = (file_of(m, folder / "model.fly") for m in (life.model, life.learned(life.there)))
    assert found == expected, f"another file: {life.name}, {life.form}"
    return life.name


@promise("a window has the counts of a plain fit of its last rows", Path, share=0.5)
def window(folder: Path, rng: np.random.Generator) -> str:
    """Whatever the blocks, saved and pickled in between."""
    X, y = drawn("floats", rng)
    name = str(rng.choice(["filters", "Bayes", "pairs", "novelty", "novelty by filters"]))
    model = kinds()[name].set_params(encoding="none")  # with others, the first rows stay until they fix the encoding
    following, n_rows = SlidingWindow(model, n_rows=int(rng.integers(LEAST, 60))), 0
    for block in np.array_split(np.arange(len(y)), int(rng.integers(1, 9))):
        if rng.random() < 0.3:
            following = pickle.loads(pickle.dumps(following))  # noqa: S301
        if n_rows and rng.random() < 0.3:
            following.save(folder / "window.fly")
            following = flybloom.load(folder / "window.fly")
        following.partial_fit(X[block], *labels(name, y[block]))
        n_rows += len(block)
    last = np.arange(len(y))[-following.n_rows :]
    assert_same_state(following.model_, clone(model).partial_fit(X[last], *labels(name, y[last])))
    return name
