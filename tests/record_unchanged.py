"""What flybloom 0.1.0 answered, in many settings, so that a rebuilt core can be held against it bit for bit.

Each setting is a function of an empty folder that returns named arrays, made with nothing but the public API.
`test_unchanged.py` calls the same functions and compares. What was recorded lies in `data/unchanged`: in arrays.json
the values of small arrays and the SHA-256 of large ones, and beside it a few models as the files they were saved to.

    python tests/record_unchanged.py        # records anew, and says what changed: a promise broken, or a new setting

The data are whole numbers of numpy's raw PCG64 stream, which is the same everywhere and in every version, divided where
floats are needed, so that all machines have the same rows.
"""

import hashlib
import json
import re
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from scipy import sparse

import flybloom
from flybloom import (
    Densify,
    FlyBloomClassifier,
    FlyBloomClassifierCV,
    FlyBloomNovelty,
    FlyHash,
    OpenSetClassifier,
    distributed,
)
from flybloom.report import class_profiles, class_similarity, most_similar_classes
from forgetting import after_forgetting

FOLDER = Path(__file__).parent / "data" / "unchanged"
FEW = 4  # rows of what is stored whole
MOST_VALUES = 40  # of an array that is stored whole
SCALED = {"none": "none", "center": "center", "standard": "standard+clip=inf"}
SIZES = ("n_components", "n_connections", "n_winners", "decay")
ROUNDED = frozenset({"probability", "oof_probability", "temperature", "shares", "similarity", "log_loss"})
"""Names of arrays that come from exp and log, whose last bits are the machine's: compared up to rounding."""

Arrays = dict[str, Any]
SETTINGS: dict[str, Callable[[Path], Arrays]] = {}
MODELS: dict[str, Callable[[], tuple[Any, Any]]] = {}
"""Models that are stored as files as well, each with rows to ask about; each is a setting, too."""


class Task(NamedTuple):
    """Rows to learn, their labels, and rows to ask about."""

    X: Any
    y: Any
    new: Any


def setting(function: Callable[[Path], Arrays]) -> Callable[[Path], Arrays]:
    """Record what a function returns under its name."""
    SETTINGS[function.__name__.replace("_", " ")] = function
    return function


def add(name: str, function: Callable[..., Arrays], task: Callable[[], Task], **parameters: Any) -> None:
    """Record what a function returns for a task and parameters."""
    SETTINGS[name] = lambda folder: function(task(), folder, **parameters)


def draw(seed: int, *shape: int, below: int) -> np.ndarray:
    """Return whole numbers from 0 up to `below`."""
    return (np.random.PCG64(seed).random_raw(shape) % np.uint64(below)).astype(np.int64)


def whole(n: int = 160, d: int = 20, k: int = 5, seed: int = 1) -> Task:
    """Return whole numbers from 0 to 110, in k classes that overlap, the first of which is larger."""
    y = np.arange(n + 40) % k
    y[::7] = 0
    X = draw(seed, k, d, below=40)[y] + draw(seed + 1000, n + 40, d, below=71)
    return Task(X[:n], y[:n], X[n:])


def floats(**sizes: int) -> Task:
    """Return float64 rows, positive and negative, that are not whole."""
    return converted(whole(**sizes), lambda X: X / 7 - 8)


def rare(share: int, **sizes: int) -> Task:
    """Return whole numbers of which about `share` in a thousand are not zero."""
    task = whole(**{"d": 1500, **sizes})
    n = len(task.X)
    kept = draw(5, n + 40, task.X.shape[1], below=1000) < share
    return Task(task.X * kept[:n], task.y, task.new * kept[n:])


def converted(task: Task, convert: Callable[[np.ndarray], Any]) -> Task:
    """Return a task with other rows."""
    return Task(convert(task.X), task.y, convert(task.new))


def relabelled(task: Task, labels: np.ndarray) -> Task:
    """Return a task with other labels."""
    return task._replace(y=labels[task.y])


def small(**parameters: Any) -> FlyBloomClassifier:
    """Return a small classifier."""
    return FlyBloomClassifier(
        **{
            "n_components": 256,
            "n_winners": 16,
            "decay": 0.4,
            "random_state": 7,
            "encoding": SCALED["standard"],
            **parameters,
        }
    )


def frame(task: Task) -> pd.DataFrame:
    """Return the rows to learn as a table with names, and with their labels as words."""
    table = pd.DataFrame(task.X, columns=[f"feature {i}" for i in range(task.X.shape[1])])
    return table.assign(label=np.array(["ant", "bee", "cricket", "fly", "moth"])[task.y])


def without_version(data: bytes) -> bytes:
    """Return the bytes of a saved model without what the version changes: its name, the checksum, and the padding."""
    length = int.from_bytes(data[:8], "little")
    header = re.sub(rb'(?<="flybloom":")[0-9a-f]{64} ', b"", data[8 : 8 + length].rstrip())
    header, n = re.subn(rb'\\"flybloom\\": \\"[^"\\]+\\", ', b"", header, count=1)
    assert n == 1, header
    return header + data[8 + length :]


def saved(model: Any, folder: Path) -> np.ndarray:
    """Return the bytes that a model is saved as, without the version."""
    model.save(folder / "model.fly")
    return np.frombuffer(without_version((folder / "model.fly").read_bytes()), np.uint8)


def scaling_of(model: Any) -> Arrays:
    """Return what a fitted estimator does to rows before it hashes them, and how it hashes them."""
    arrays = {"connections": model.connections_, "signs": model.signs_}
    arrays["sizes"] = np.array([model.n_components_, model.n_connections_, model.n_winners_, model.seed_])
    for name in ("center", "scale"):
        if getattr(model, f"{name}_") is not None:
            arrays[name] = getattr(model, f"{name}_")
    return arrays


def learned(model: FlyBloomClassifier) -> Arrays:
    """Return all that a classifier has learned."""
    return {"classes": as_plain(model.classes_), "class_count": model.class_count_, "counts": model.counts_}


def answers(model: FlyBloomClassifier, rows: Any) -> Arrays:
    """Return what a classifier says of rows, together and one by one."""
    few = [rows[i : i + 1] if not isinstance(rows, pd.DataFrame) else rows.iloc[i : i + 1] for i in range(FEW)]
    return {
        "predictions": as_plain(model.predict(rows)),
        "novelty": model.novelty(rows),
        "decisions": model.decision_function(rows),
        "probability": model.predict_proba(rows[:FEW]),
        "single_predictions": as_plain(np.concatenate([model.predict(row) for row in few])),
        "single_novelty": np.concatenate([model.novelty(row) for row in few]),
    }


def all_of(model: FlyBloomClassifier, rows: Any, folder: Path) -> Arrays:
    """Return everything about a fitted classifier."""
    return {
        **scaling_of(model),
        **learned(model),
        "filters": model.filters_,
        **answers(model, rows),
        "file": saved(model, folder),
    }


def as_plain(labels: Any) -> np.ndarray:
    """Return labels as an array that can be stored, with the type that they had in the last line."""
    labels = np.asarray(labels)
    return np.array([*map(str, labels), "object"]) if labels.dtype == object else labels


def fitted(task: Task, folder: Path, sample_weight: Any = None, **parameters: Any) -> Arrays:
    """Return everything about a classifier of a task, and the winners of its hash."""
    model = small(**parameters).fit(task.X, task.y, sample_weight=sample_weight)
    arrays = all_of(model, task.new, folder)
    if sample_weight is None:  # a hash knows no weights, so it would scale otherwise
        same = {name: getattr(model, name) for name in FlyHash().get_params()} | {"random_state": model.seed_}
        arrays["winners"] = FlyHash(**same).fit(task.X).winners(task.new)
    return arrays


# Every kind of rows, scaling and sign.

KINDS: dict[str, Callable[[], Task]] = {
    "float64": floats,
    "float32": lambda: converted(floats(), np.float32),
    "uint8": lambda: converted(whole(), np.uint8),
    "int8": lambda: converted(whole(), lambda X: (X - 60).astype(np.int8)),
    "int16 large": lambda: converted(whole(), lambda X: (500 * X - 28_000).astype(np.int16)),
    "int32 large": lambda: converted(whole(), lambda X: (X * 2**24 - 2**30).astype(np.int32)),
    "int64 small": whole,
    "int64 large": lambda: converted(whole(), lambda X: X * 2**50 - 2**56),
    "uint8 many connections": lambda: converted(whole(d=300), np.uint8),
    "bool": lambda: converted(whole(), lambda X: X > 55),
    "fortran order": lambda: converted(floats(), np.asfortranarray),
    "one feature": lambda: floats(d=1),
    "one constant feature": lambda: converted(floats(), lambda X: np.hstack([X, np.full((len(X), 1), 3.5)])),
    "sparse float": lambda: converted(rare(10), lambda X: sparse.csr_matrix(X / 7)),
    "sparse int": lambda: converted(rare(10), sparse.csr_matrix),
    "sparse int large": lambda: converted(rare(10), lambda X: sparse.csr_matrix(X * 2**40)),
    "sparse float, rather dense": lambda: converted(rare(100, d=60), lambda X: sparse.csr_matrix(X / 7)),
    "sparse csc": lambda: converted(rare(10), lambda X: sparse.csc_matrix(X / 7)),
    "sparse array": lambda: converted(rare(10), lambda X: sparse.csr_array(X / 7)),
}


for kind, rows in KINDS.items():
    connections = {"n_connections": 250} if "many connections" in kind else {}
    for scaling in ("none",) if kind.startswith("sparse") else ("none", "center", "standard"):
        for signed in (True, False):
            name = f"{kind}, scaling {scaling}, {'signed' if signed else 'unsigned'}"
            add(name, fitted, rows, encoding=SCALED[scaling], signed=signed, **connections)


# Sizes, weights, decays and labels.

add("sizes as shares", fitted, floats, n_components=20.0, n_connections=0.3, n_winners=0.05)
add("components that fill no octet", fitted, floats, n_components=77, n_connections=20, n_winners=77)
add("most components win", fitted, floats, n_winners=200)
add("more features than 16 bits name", fitted, lambda: floats(n=30, d=40_000, k=3), n_components=64, n_winners=8)
add("several blocks on two threads", fitted, lambda: converted(floats(n=2500, d=12), np.float32), n_jobs=2)
add("two classes", fitted, lambda: floats(k=2))
add("weights", fitted, floats, sample_weight=np.arange(160) % 4)
add("class weight balanced", fitted, floats, class_weight="balanced")
add("class weight balanced, weighted rows", fitted, floats, class_weight="balanced", sample_weight=np.arange(160) % 3)
add("class weight balanced, slow decay", fitted, floats, class_weight="balanced", decay=0.05)
add("class weight given", fitted, floats, class_weight={0: 0.5, 2: 3, 4: 1.25})
for decay in (1.0, 0.9, 0.4, 0.05, 1e-6):
    add(f"decay {decay:g}", fitted, floats, decay=decay)
    add(f"decay {decay:g}, whole numbers", fitted, whole, decay=decay, encoding="none", n_winners=3)

LABELS = {
    "strings": np.array(["ant", "bee", "cricket", "fl\N{LATIN SMALL LETTER Y WITH DIAERESIS}", "moth"]),
    "objects": np.array(["wasp", "ant", "bee", "fly", "moth"], object),
    "negative ints": np.array([-300, -2, 0, 7, 2**40]),
    "small ints": np.array([3, 1, 2, 200, 5], np.uint8),
    "floats": np.array([-1.0, 0.0, 2.0, 3.0, 1e6]),
    "bools": np.array([False, True, False, True, True]),
}
for kind, labels in LABELS.items():
    add(f"labels that are {kind}", fitted, partial(relabelled, floats(), labels), n_winners=4, decay=1.0)


@setting
def random_state_of_numpy(folder: Path) -> Arrays:
    """Return what a model with a drawn seed says."""
    return fitted(floats(), folder, random_state=np.random.RandomState(3), encoding="none")


@setting
def default_sizes(folder: Path) -> Arrays:
    """Return what a model says that was told nothing but a seed."""
    task = floats(n=60, d=30, k=3)
    return all_of(
        FlyBloomClassifier(decay=0.4, encoding=SCALED["standard"], random_state=0).fit(task.X, task.y), task.new, folder
    )


@setting
def many_classes(folder: Path) -> Arrays:
    """Return what a model of so many classes says that they are looked up in lists."""
    task = floats(n=200, k=40)
    model = small(n_components=1024).fit(task.X, task.y)
    rows = np.concatenate([task.new, task.X])
    more = {"all_predictions": model.predict(rows), "all_novelty": model.novelty(rows)}
    full = small(n_components=64).fit(task.X, task.y)  # few of its counts are zero, so lists would not pay
    more |= {"full_predictions": full.predict(rows), "full_novelty": full.novelty(rows)}
    return {**all_of(model, task.new, folder), **more}


@setting
def huge_weights(folder: Path) -> Arrays:
    """Return what a model says whose counts take 64 bits."""
    task = floats()
    heavy = np.full(160, 2**29)
    model = small().fit(task.X, task.y, sample_weight=heavy)
    return all_of(model.partial_fit(task.X, task.y, sample_weight=heavy), task.new, folder)


@setting
def parameters_changed_after_fit(folder: Path) -> Arrays:
    """Return what a model says as its reading of the counts is changed."""
    task = floats()
    model = small().fit(task.X, task.y)
    arrays = {}
    for name, parameters in (
        ("weighted", {"class_weight": "balanced"}),
        ("faster", {"class_weight": None, "decay": 0.7}),
        ("hotter", {}),
    ):
        model.temperature = 2.5 if name == "hotter" else model.temperature
        found = answers(model.set_params(**parameters), task.new)
        arrays |= {f"{name}_{key}": array for key, array in found.items() if key not in ROUNDED}
    return {**arrays, "probability": model.predict_proba(task.new[:FEW]), "file": saved(model, folder)}


# Learning step by step, and what adds up.


@setting
def blocks(folder: Path) -> Arrays:
    """Return what a model says that learned in blocks, the first of which gave the scaling."""
    task = floats()
    model = small()
    for rows in (slice(0, 50), slice(50, 51), slice(51, 160)):
        model.partial_fit(task.X[rows], task.y[rows])
    return all_of(model, task.new, folder)


@setting
def classes_that_come_later(folder: Path) -> Arrays:
    """Return what a model says that met one class after the other, with labels that grow longer."""
    task = relabelled(floats(), LABELS["strings"])
    model = small()
    for label in ("bee", "ant", "cricket"):
        model.partial_fit(task.X[task.y == label], task.y[task.y == label])
    return all_of(model, task.new, folder)


@setting
def classes_that_are_announced(folder: Path) -> Arrays:
    """Return what a model says that knows a class without rows, before and after it meets one."""
    task = floats()
    model = small().partial_fit(task.X[:50], task.y[:50], classes=[0, 1, 2, 3, 4, 9])
    before = answers(model, task.new)["novelty"]
    model.partial_fit(task.X[50:60], np.full(10, 9), sample_weight=np.arange(10))
    return {**all_of(model, task.new, folder), "novelty_before": before}


@setting
def forgotten_rows(folder: Path) -> Arrays:
    """Return what a model says that forgot rows, weighted ones among them."""
    task = floats()
    model = small().fit(task.X, task.y, sample_weight=np.arange(160) % 4)
    model.forget(task.X[:40], task.y[:40], sample_weight=np.arange(40) % 4)
    return all_of(after_forgetting(model, task.X[43:44], task.y[43:44]), task.new, folder)


@setting
def forgotten_class(folder: Path) -> Arrays:
    """Return what a model says that forgot all rows of a class."""
    task = floats()
    is_gone = task.y == 2
    return all_of(after_forgetting(small().fit(task.X, task.y), task.X[is_gone], task.y[is_gone]), task.new, folder)


def halves(**parameters: Any) -> tuple[FlyBloomClassifier, FlyBloomClassifier, Task]:
    """Return two models of parts of a task that share some classes."""
    task = floats()
    first, second = slice(0, 100), np.flatnonzero((task.y > 0) & (np.arange(160) >= 100))
    parameters = {"encoding": "none", **parameters}
    return (
        small(**parameters).fit(task.X[first], task.y[first]),
        small(**parameters).fit(task.X[second], task.y[second]),
        task,
    )


@setting
def merged(folder: Path) -> Arrays:
    """Return what the sum of two models says."""
    a, b, task = halves()
    return all_of(a + b, task.new, folder)


@setting
def merged_in_place(folder: Path) -> Arrays:
    """Return what a model says after merging, and the other one, which stays."""
    a, b, task = halves(signed=False)
    arrays = all_of(sum([a.merge(b), b]), task.new, folder)
    return {**arrays, **{f"other_{name}": array for name, array in learned(b).items()}}


@setting
def subtracted(folder: Path) -> Arrays:
    """Return what the difference of two models says."""
    a, b, task = halves()
    return all_of((a + b) - a, task.new, folder)


@setting
def of_no_rows(folder: Path) -> Arrays:
    """Return what is left of a model without itself, and what it learns then."""
    task = floats()
    model = small().fit(task.X, task.y)
    empty = model - model
    arrays = {"empty_counts": empty.counts_, "empty_file": saved(empty, folder)}
    return {**all_of(empty.partial_fit(task.X[:30], task.y[:30]), task.new, folder), **arrays}


@setting
def named_features(folder: Path) -> Arrays:
    """Return what a model of a table says, as a whole and after it was loaded."""
    task = floats()
    table = frame(task)
    rows = pd.DataFrame(task.new, columns=table.columns[:-1])
    model = small().fit(table.drop(columns="label"), table["label"])
    arrays = all_of(model, rows, folder)
    again = flybloom.load(folder / "model.fly")
    names = np.array([str(name) for name in again.feature_names_in_])
    return {**arrays, "names": names, "loaded_novelty": again.novelty(rows)}


# Insight.


def insight(task: Task, _folder: Path, **parameters: Any) -> Arrays:
    """Return all that a model can tell beyond labels."""
    model = small(**parameters).fit(task.X, task.y)
    rows = task.new[:FEW]
    pairs = [most_similar_classes(model, 4, kind=of) for of in ("filters", "familiarity")]
    return {
        "left_out": model.leave_one_out_novelty(task.X[:30], task.y[:30]),
        "shares": np.stack(
            [
                model.explain(rows),
                model.explain(rows, kind="familiarity"),
                model.explain(rows, labels=1),
                model.explain(rows, labels=np.arange(FEW) % 3, kind="familiarity"),
            ]
        ),
        "similarity": np.stack([class_similarity(model), class_similarity(model, kind="familiarity")]),
        "similar_pairs": np.array([[(a, b) for a, b, _ in found] for found in pairs]),
        "profiles": class_profiles(model),
        "profiles_without_contrast": class_profiles(model, contrast=False),
    }


add("insight", insight, floats)
add("insight into whole numbers", insight, whole, encoding="none", signed=False)
add("insight into balanced classes", insight, floats, class_weight="balanced")
add("insight into weighted classes", insight, floats, class_weight={1: 2.5, 3: 0.25}, decay=0.05)
add("insight into sparse rows", insight, KINDS["sparse float, rather dense"], encoding="none")
add("insight into binary filters", insight, floats, decay=1.0)


# The hash, and what spreads features.


@setting
def hash_of_rows(folder: Path) -> Arrays:
    """Return winners and hashes, also of a second block, which changes nothing."""
    task = floats()
    hasher = (
        FlyHash(200, n_winners=9, encoding=SCALED["standard"], random_state=3)
        .partial_fit(task.X[:80])
        .partial_fit(task.X[80:])
    )
    hashes = hasher.transform(task.new)
    return {
        **scaling_of(hasher),
        "winners": hasher.winners(task.new),
        "single_winners": hasher.winners(task.new[:1]),
        "indices": hashes.indices,
        "indptr": hashes.indptr,
        "data": hashes.data,
        "file": saved(hasher, folder),
    }


@setting
def hash_by_default(folder: Path) -> Arrays:
    """Return winners at the default sizes."""
    task = floats()
    hasher = FlyHash(encoding="standard+clip=inf", random_state=0).fit(task.X)
    return {"winners": hasher.winners(task.new), "file": saved(hasher, folder)}


@setting
def spread_features(_folder: Path) -> Arrays:
    """Return what Densify makes of rows, and what it makes of that."""
    task = floats()
    spread = Densify(random_state=5).fit(task.X)
    rows = spread.transform(task.new)
    single = spread.transform(task.new.astype(np.float32))
    return {"signs": spread.signs_, "rows": rows, "back": spread.inverse_transform(rows), "single": single}


# Novelty.


def detected(detector: FlyBloomNovelty, task: Task) -> Arrays:
    """Return all about a fitted detector."""
    return {
        **scaling_of(detector),
        "counts": detector.counts_,
        "state": np.array([detector.n_rows_, detector.clock_, detector.epoch_ or 0, detector.n_bias_columns_]),
        "offset": np.array(detector.offset_),
        "novelty": detector.novelty(task.new),
        "scores": detector.score_samples(task.X),
        "decisions": detector.decision_function(task.new),
        "predictions": detector.predict(task.new),
    }


def detector(**parameters: Any) -> FlyBloomNovelty:
    """Return a small detector."""
    usual = {"readout": "filter", "bias_columns": 0.25, "encoding": SCALED["standard"], "random_state": 7}
    return FlyBloomNovelty(**{"n_components": 256, "n_winners": 16, **usual, **parameters})


def judged(task: Task, _folder: Path, **parameters: Any) -> Arrays:
    """Return all about a detector of a task, and what it says of the rows that it learned."""
    found = detector(**parameters).fit_predict(task.X)
    return {**detected(detector(**parameters).fit(task.X), task), "judged": found}


add("outliers", judged, floats)
add("outliers without anchors", judged, floats, bias_columns=0)
add("outliers with few anchors", judged, floats, bias_columns=0.13)
add("outliers with recovery", judged, floats, forget_after=90)
add("outliers with fast recovery", judged, floats, forget_after=5, decay=1.0)
add("outliers with contamination", judged, floats, contamination=0.1)
add("outliers with contamination and recovery", judged, floats, contamination=0.2, forget_after=400, decay=0.05)
add("outliers among whole numbers", judged, whole, encoding="none", signed=False)
add("outliers among centred rows", judged, floats, encoding="center", decay=1.0)
add("outliers among sparse rows", judged, KINDS["sparse float"], encoding="none")


@setting
def outliers_after_forgetting(_folder: Path) -> Arrays:
    """Return what a detector says that forgot rows."""
    task = floats()
    return detected(after_forgetting(detector(contamination=0.1).fit(task.X), task.X[20:70]), task)


@setting
def outliers_in_a_stream(_folder: Path) -> Arrays:
    """Return what a detector says that learned in blocks and was calibrated later."""
    task = floats()
    model = detector().partial_fit(task.X[:50]).partial_fit(task.X[50:])
    return detected(model.calibrate(task.new, 0.25), task)


@setting
def outliers_in_a_stream_that_fades(_folder: Path) -> Arrays:
    """Return what a detector with recovery says that learned in blocks and forgot rows of several ages."""
    task = floats()
    model = detector(forget_after=90).partial_fit(task.X[:70]).partial_fit(task.X[70:71]).partial_fit(task.X[71:])
    some = np.array([10, 70, 71, 100, 159])
    return detected(after_forgetting(model, task.X[some], positions=some), task)


# Search for settings.


def searched(task: Task, _folder: Path, **parameters: Any) -> Arrays:
    """Return all that a search finds, but for the times it took."""
    grid = {"n_components": [64, 256], "n_connections": [4, 0.5], "n_winners": [4, 16], "decay": [0.2, 1.0]}
    search = FlyBloomClassifierCV(**{**grid, "random_state": 7, "encoding": "standard+clip=inf", **parameters}).fit(
        task.X, task.y
    )
    results = search.cv_results_
    scores = [results[name] for name in sorted(results) if name.endswith("_test_score") and name[:4] != "rank"]
    best = search.best_estimator_
    return {
        "log_loss" if search.scoring == "neg_log_loss" else "scores": np.stack(scores),
        "ranks": results["rank_test_score"],
        "settings": np.array([str(setting) for setting in results["params"]]),
        "best": np.array([str(search.best_params_), str(search.best_index_), str(search.n_splits_)]),
        "temperature": np.array(search.temperature_),
        "oof_novelty": search.oof_novelty_,
        "oof_decisions": search.oof_decision_,
        "oof_probability": search.oof_predict_proba_[:FEW],
        **scaling_of(best),
        **learned(best),
        **answers(search, task.new),
    }


DEFAULT_GRID = {**dict.fromkeys(SIZES, "auto"), "decay": [0.1, 0.2, 0.4, 0.7, 1.0]}  # what it was in 0.1.0


def even_and_odd(n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return two splits, of which some rows are tested by both and some by none."""
    rows = np.arange(n)
    return [(rows[rows % 2 == 0], rows[rows % 2 == 1]), (rows[rows % 4 != 1], rows[rows % 4 == 1])]


add("leave-one-out", searched, floats)
add("leave-one-out, balanced accuracy", searched, floats, scoring="balanced_accuracy")
add("leave-one-out, balanced classes", searched, floats, scoring="balanced_accuracy", class_weight="balanced")
add("leave-one-out, two classes", searched, lambda: floats(k=2), n_jobs=2)
add("leave-one-out, log loss", searched, floats, scoring="neg_log_loss")
add("leave-one-out, default grid", searched, lambda: floats(n=40, k=2), **DEFAULT_GRID)
add("3 folds", searched, floats, cv=3)
add("3 folds, balanced accuracy", searched, floats, cv=3, scoring="balanced_accuracy")
add("3 folds, weighted classes", searched, floats, cv=3, class_weight={0: 0.5, 3: 2})
add("3 folds, whole numbers, unsigned", searched, whole, cv=3, encoding="none", signed=False)
add("3 folds, sparse rows", searched, KINDS["sparse float"], cv=3, encoding="none", n_connections=[0.01, 0.1])
add("3 folds, strings", searched, partial(relabelled, floats(), LABELS["strings"]), cv=3)
add("2 uneven splits", searched, floats, cv=even_and_odd(160))


# None of these.


def open_set(task: Task, _folder: Path, **parameters: Any) -> Arrays:
    """Return what a classifier says that knows all classes but two."""
    known = np.isin(task.y, np.unique(task.y)[:3])
    model = OpenSetClassifier(small(), **parameters).fit(task.X[known], task.y[known])
    return {
        "threshold": model.threshold_,
        "unknown": np.array(model.unknown_),
        "predictions": as_plain(model.predict(task.X)),
        "acceptance": model.acceptance(task.X),
    }


add("open set", open_set, floats)
add("open set, class by class", open_set, floats, per_class=True, quantile=0.8, unknown=99)
add("open set, strings", open_set, partial(relabelled, floats(), LABELS["strings"]), quantile=0.7)


# Dask.


@setting
def dask_arrays(folder: Path) -> Arrays:
    """Return what a model says that learned blocks of arrays, with weights, on threads; and what it says lazily."""
    task = floats()
    rows, new = da.from_array(task.X, chunks=(33, 11)), da.from_array(task.new, chunks=(7, 20))
    with dask.config.set(scheduler="threads", num_workers=2):
        model = distributed.fit(small(), rows, da.from_array(task.y, chunks=50), sample_weight=np.arange(160) % 3)
        lazily = {name: getattr(distributed, name)(model, new).compute() for name in ("predict", "novelty")}
        lazily["probability"] = distributed.predict_proba(model, new).compute()[:FEW]
    return {**lazily, **all_of(model, task.new, folder)}


@setting
def dask_frames(folder: Path) -> Arrays:
    """Return what a model says that learned a table, and then a part of it again."""
    task = floats()
    table = frame(task)
    with dask.config.set(scheduler="threads", num_workers=2):
        model = distributed.fit(small(), dd.from_pandas(table, npartitions=5), "label")
        model = distributed.partial_fit(model, dd.from_pandas(table[:20], npartitions=2), "label", classes=["aphid"])
        new = pd.DataFrame(task.new, columns=table.columns[:-1])
        lazily = [distributed.predict(model, dd.from_pandas(new, npartitions=3)).compute()]
        lazily.append(distributed.novelty(model, dd.from_pandas(new, npartitions=3)).compute())
    read = {"predict": as_plain(lazily[0].astype(object)), "novelties": lazily[1].to_numpy()}
    return {**read, **all_of(model, new, folder)}


@setting
def dask_arrays_of_sparse_rows(folder: Path) -> Arrays:
    """Return what a model says that learned sparse blocks."""
    task = rare(10)
    rows = da.from_array(task.X, chunks=(33, 1500)).map_blocks(sparse.csr_matrix)
    with dask.config.set(scheduler="threads", num_workers=2):
        model = distributed.fit(small(encoding="none"), rows, task.y)
    return all_of(model, sparse.csr_matrix(task.new), folder)


# Files of data.


def trained(folder: Path, source: Any, target: str | int, rows: Any, prefix: str = "", **options: Any) -> Arrays:
    """Return what a model says that was trained from a source, under names that tell it from others."""
    model = small(**options.pop("parameters", {}))
    found = all_of(flybloom.train(model, source, target, block_rows=50, **options), rows, folder)
    return {f"{prefix}{key}" if key not in ROUNDED else key: array for key, array in found.items()}


@setting
def trained_from_csv(folder: Path) -> Arrays:
    """Return what models say that were trained from whole numbers as text."""
    table = frame(whole())
    table.to_csv(folder / "rows.csv", index=False)
    rows = pd.DataFrame(whole().new, columns=table.columns[:-1])
    once = trained(folder, folder / "rows.csv", "label", rows, "single_pass_", single_pass=True)
    return {**once, **trained(folder, folder / "rows.csv", "label", rows)}


@setting
def trained_from_parquet(folder: Path) -> Arrays:
    """Return what models say that were trained from named columns, all of them and some in another order."""
    task = floats()
    table = frame(task)
    (folder / "parts").mkdir()
    table[:90].to_parquet(folder / "parts" / "0.parquet", row_group_size=40)
    table[90:].to_parquet(folder / "parts" / "1.parquet")
    rows = pd.DataFrame(task.new, columns=table.columns[:-1])
    some = [f"feature {i}" for i in (7, 3, 11, 0)]
    few = trained(folder, folder / "parts", "label", rows[some], "few_", features=some)
    return {**few, **trained(folder, folder / "parts", "label", rows)}


@setting
def trained_from_arrays(folder: Path) -> Arrays:
    """Return what models say that were trained from an NPZ file, and from blocks that are met once."""
    task = floats()
    np.savez(folder / "rows.npz", X=task.X, y=task.y)
    pairs = ((task.X[at : at + 30], task.y[at : at + 30]) for at in range(0, 160, 30))
    stream = trained(folder, pairs, "y", task.new, "stream_", single_pass=True)
    return {**stream, **trained(folder, folder / "rows.npz", "y", task.new)}


@setting
def trained_from_svmlight(folder: Path) -> Arrays:
    """Return what a model says that was trained from sparse rows as text."""
    task = rare(10)
    lines = (
        " ".join([str(label), *(f"{at + 1}:{row[at]}" for at in np.flatnonzero(row))])
        for row, label in zip(task.X, task.y, strict=True)
    )
    (folder / "rows.svm").write_text("\n".join(lines) + "\n")
    new = sparse.csr_matrix(task.new[:, : 1 + np.flatnonzero(task.X.any(axis=0)).max()])
    return trained(folder, folder / "rows.svm", "label", new, parameters={"encoding": "none"})


@setting
def trained_with_checkpoints(folder: Path) -> Arrays:
    """Return what a model says whose training was stopped and went on."""
    task = floats()
    frame(task).to_parquet(folder / "rows.parquet")

    def stop(what: str, rows: int) -> None:
        learned_rows.append(rows * (what == "learning"))
        if sum(learned_rows) > 100:
            raise KeyboardInterrupt

    learned_rows: list[int] = []
    options: dict[str, Any] = {"checkpoint": folder / "saved", "checkpoint_rows": 50}
    with suppress(KeyboardInterrupt):
        flybloom.train(small(), folder / "rows.parquet", "label", block_rows=50, on_progress=stop, **options)
    rows = pd.DataFrame(task.new, columns=[f"feature {i}" for i in range(20)])
    return trained(folder, folder / "rows.parquet", "label", rows, resume=True, **options)


# Models as files.


def model_file(function: Callable[[], tuple[Any, Any]]) -> Callable[[], tuple[Any, Any]]:
    """Store a model under its name, and record what it says."""
    name = function.__name__.replace("_", "-")
    MODELS[name] = function
    SETTINGS[f"file {name}"] = lambda _folder: said(*function())
    return function


def said(model: Any, rows: Any) -> Arrays:
    """Return what a model that may have been loaded holds and says."""
    if isinstance(model, FlyHash):
        return {**scaling_of(model), "winners": model.winners(rows)}
    return {**scaling_of(model), **learned(model), **answers(model, rows)}


@model_file
def scaled_floats() -> tuple[Any, Any]:
    """Return an ordinary model."""
    task = floats()
    return small().fit(task.X, task.y), task.new


@model_file
def unsigned_integers() -> tuple[Any, Any]:
    """Return a model as in the paper, of counts that take 16 bits."""
    task = converted(whole(), np.uint8)
    model = small(signed=False, encoding="none", decay=1.0, n_connections=0.1, n_components=10.0)
    return model.fit(task.X, task.y, sample_weight=np.arange(160) * 10), task.new


@model_file
def weighted_strings() -> tuple[Any, Any]:
    """Return a model with class weights, centred."""
    task = relabelled(floats(), LABELS["strings"])
    return small(class_weight={"ant": 0.5, "moth": 2}, encoding="center", decay=0.05).fit(task.X, task.y), task.new


@model_file
def named_columns() -> tuple[Any, Any]:
    """Return a model of a table, with labels that are objects."""
    task = relabelled(floats(), LABELS["objects"])
    table = frame(task._replace(y=whole().y)).drop(columns="label")
    model = small(class_weight="balanced", n_jobs=2).fit(table, task.y)
    return model, pd.DataFrame(task.new, columns=table.columns)


@model_file
def negative_labels() -> tuple[Any, Any]:
    """Return a model of sparse rows, with a class that has none."""
    task = relabelled(KINDS["sparse int"](), LABELS["negative ints"])
    model = small(encoding="none", n_components=128, random_state=np.random.RandomState(0))
    return model.partial_fit(task.X, task.y, classes=[-7]), task.new


@model_file
def true_or_false() -> tuple[Any, Any]:
    """Return a model of two classes, with a temperature."""
    task = relabelled(floats(), LABELS["bools"])
    model = small(n_components=100, n_winners="auto").fit(task.X, task.y)
    model.temperature = 0.75
    return model, task.new


@model_file
def scaled_hash() -> tuple[Any, Any]:
    """Return a hash."""
    task = floats()
    return FlyHash(n_components=3.5, n_winners=0.2, encoding="standard+clip=inf", random_state=11).fit(task.X), task.new


# Recording, and reading what was recorded.


def digest(array: Any) -> str:
    """Return a hash of the values of an array."""
    array = np.asarray(array)
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return hashlib.sha256(np.ascontiguousarray(little).tobytes()).hexdigest()


def note(name: str, array: Any) -> dict[str, Any]:
    """Return what is recorded of an array: type, shape, and its values, where these are few or rounded, or a hash."""
    array = np.asarray(array)
    is_whole = name in ROUNDED or array.size <= MOST_VALUES
    values = {"values": array.tolist()} if is_whole else {"sha256": digest(array)}
    return {"dtype": array.dtype.newbyteorder("<").str, "shape": list(array.shape), **values}


def recorded() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the notes of each array of each setting."""
    notes: dict[str, dict[str, dict[str, Any]]] = json.loads((FOLDER / "arrays.json").read_text())["settings"]
    return notes


def as_json(notes: dict[str, dict[str, dict[str, Any]]]) -> str:
    """Return notes as text, with a line for each array."""
    settings = (
        f"{json.dumps(name)}: {{\n" + ",\n".join(f"{json.dumps(key)}: {json.dumps(of[key])}" for key in of) + "}"
        for name, of in notes.items()
    )
    version = json.dumps(flybloom.__version__)
    return f'{{"flybloom": {version}, "settings": {{\n' + ",\n".join(settings) + "}}\n"


def main() -> None:
    """Record all settings."""
    FOLDER.mkdir(exist_ok=True)
    before = {path.name: path.read_bytes() for path in FOLDER.iterdir()}
    notes = {}
    for name, run in SETTINGS.items():
        with tempfile.TemporaryDirectory() as folder:
            notes[name] = {key: note(key, array) for key, array in run(Path(folder)).items()}
    (FOLDER / "arrays.json").write_text(as_json(notes))
    for name, function in MODELS.items():
        function()[0].save(FOLDER / f"{name}.fly")
    changed = [path.name for path in sorted(FOLDER.iterdir()) if path.read_bytes() != before.get(path.name)]
    sys.stdout.write(f"{len(SETTINGS)} settings recorded; changed: {', '.join(changed) or 'nothing'}\n")


if __name__ == "__main__":
    main()
