"""Kills, forks and threads."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_info

from attack.promises import promise
from flybloom import FlyBloomClassifier, FlyRidgeClassifier, train
from flybloom.estimators.access import n_rows_learned

PROCESSES = get_context("forkserver")  # has imported everything, so that a kill meets work and no imports
SOURCES = {
    "floats": ("float64", "float64", "float64"),
    "integers": ("int64", "int64", "int64"),
    "mixed": ("float64", "int64", "float64"),
    "mixed from the end": ("int64", "int64", "float64"),
}
N_ROWS = 6000


def sources(folder: Path) -> dict[str, Any]:
    """Folders of files whose types differ or not, and the model of each, learned without a kill."""
    PROCESSES.set_forkserver_preload(["flybloom.estimators.learning.train", "pyarrow.parquet", "numba"])
    rng = np.random.default_rng(0)
    import pyarrow as pa  # noqa: PLC0415 - an extra
    from pyarrow import parquet  # noqa: PLC0415

    prepared: dict[str, Any] = {"folder": folder, "whole": {}, "seconds": {}}
    for name, types in SOURCES.items():
        data = folder / name
        data.mkdir()
        for i, dtype in enumerate(types):
            values = (rng.standard_normal((N_ROWS, 12)) * 50).astype(dtype)
            columns = {f"x{j}": pa.array(column) for j, column in enumerate(values.T)}
            parquet.write_table(pa.table({**columns, "label": pa.array(np.arange(N_ROWS) % 7)}), data / f"{i}.parquet")
        for scaling in ("none", "standard"):
            for _ in range(2):  # the first time starts the server
                began = time.perf_counter()
                process = start(data, scaling, folder / "whole.fly", None)
                process.join()
                assert process.exitcode == 0, f"the training on {name} failed"
            prepared["whole"][name, scaling] = (folder / "whole.fly").read_bytes()
            prepared["seconds"][name, scaling] = time.perf_counter() - began
    return prepared


def work(data: Path, scaling: str, output: Path, saved: Path | None) -> None:
    """Train, going on from a checkpoint if there is one, and save the model."""
    model = FlyBloomClassifier(1024, encoding=scaling, random_state=0)
    options: dict[str, Any] = {}
    if saved is not None:
        options = {"checkpoint": saved, "checkpoint_rows": 1024, "resume": True}
    train(model, data, "label", block_rows=512, **options).save(output)


def start(data: Path, scaling: str, output: Path, saved: Path | None) -> Any:
    """Start a training in another process."""
    process = PROCESSES.Process(target=work, args=(data, scaling, output, saved))
    process.start()
    return process


@promise("a training that is killed and resumed ends with the same bytes, whatever the types of its files", sources)
def kill(prepared: dict[str, Any], rng: np.random.Generator) -> str:
    """Killed at random moments, up to three times, then let go to its end."""
    name, scaling = list(prepared["whole"])[rng.integers(len(prepared["whole"]))]
    folder = prepared["folder"]
    output, saved = folder / "resumed.fly", folder / "saved"
    n_kills = 0
    for _ in range(int(rng.integers(1, 4))):
        process = start(folder / name, scaling, output, saved)
        time.sleep(rng.uniform(0.0, 0.8) * prepared["seconds"][name, scaling])
        process.kill()
        process.join()
        n_kills += process.exitcode != 0
    process = start(folder / name, scaling, output, saved)
    process.join()
    assert process.exitcode == 0, f"{name}, {scaling}: the resumed training failed"
    same = output.read_bytes() == prepared["whole"][name, scaling]
    output.unlink()
    shutil.rmtree(saved)
    assert same, f"{name}, {scaling}: another model"
    return f"{n_kills} kills"


def small_model(_folder: Path) -> Any:
    """A model, and rows to learn."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 8)), np.arange(200) % 5
    model = FlyBloomClassifier(300, n_winners=8, encoding="none", random_state=0).fit(X, y)
    model.partial_fit(X[:1], y[:1])
    return model, X, y


def first_rows(_folder: Path) -> Any:
    """Models that have learned nothing, and rows: encodings come from the first of these, or need none."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 8)), np.arange(200) % 5
    models = [FlyBloomClassifier(300, n_winners=8, encoding=encoding, random_state=0) for encoding in ("auto", "none")]
    models.append(FlyRidgeClassifier(64, n_winners=4, random_state=0))
    for model in models:
        clone(model).partial_fit(X, y).predict(X[:5])
    return models, X, y


@promise("threads that bring the first rows of a model, and a child forked meanwhile, lose none of them", first_rows)
def first(prepared: Any, rng: np.random.Generator) -> str:
    """Learners from the first row on, readers before there is anything to read, and perhaps a fork."""
    models, X, y = prepared
    model, done = clone(models[rng.integers(len(models))]), Event()
    blocks = np.array_split(rng.permutation(200), int(rng.integers(2, 40)))
    forks = bool(rng.integers(2)) and (model.encoding == "none" or not blas_has_threads())
    interval = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)

    def look() -> bool:
        whole = True
        while not done.is_set():
            try:
                whole &= set(model.predict(X[:5]).tolist()) <= set(range(5))
            except NotFittedError:
                continue
        return whole

    status = 0
    try:
        with ThreadPoolExecutor(5) as pool:
            looking = pool.submit(look)
            learning = [pool.submit(model.partial_fit, X[block], y[block]) for block in blocks]
            try:
                if forks:
                    time.sleep(rng.uniform(0, 0.01))
                    status = _status_of_child(model, X, y)
                for learned in learning:
                    learned.result()
            finally:
                done.set()  # else the reader would be waited for
            assert looking.result(), "a thread saw labels that nobody learned"
    finally:
        sys.setswitchinterval(interval)
    assert status == 0, f"the child ended with {status}"
    assert n_rows_learned(model) == len(y), f"{len(y) - n_rows_learned(model)} rows were lost"
    assert np.array_equal(model.class_count_, np.bincount(y)), "rows of a class were lost"
    if model.encoding == "none":
        assert np.array_equal(model.counts_, clone(model).partial_fit(X, y).counts_), "counts differ"
    return "forked" if forks else "threads"


def blas_has_threads() -> bool:
    """Whether BLAS has several threads, which are at work while an encoding is chosen: OpenBLAS may hang in a fork."""
    return any(library["num_threads"] > 1 for library in threadpool_info() if library["user_api"] == "blas")


def _status_of_child(model: Any, X: Any, y: Any) -> int:
    """How a child ends that learns more rows, and predicts."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.alarm(60)
            model.partial_fit(X, y)
            n_rows = n_rows_learned(model)
            code = 0 if len(y) <= n_rows <= 2 * len(y) and model.predict(X[:3]).shape == (3,) else 3
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1]


def is_whole(model: Any) -> bool:
    """Whether counts and rows belong together."""
    model = pickle.loads(pickle.dumps(model))  # noqa: S301
    return bool((model.counts_.sum(axis=1) == model.n_winners_ * model.class_count_).all())


@promise("a process that is forked while threads learn has a whole model, and learns on", small_model)
def fork(prepared: Any, rng: np.random.Generator) -> None:
    """The child must come to its end."""
    start_model, X, y = prepared
    model, done = pickle.loads(pickle.dumps(start_model)), Event()  # noqa: S301

    def learn() -> None:
        while not done.is_set():
            model.partial_fit(X[:1], y[:1])
            model.partial_fit(X, y)

    threads = [Thread(target=learn) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        time.sleep(rng.uniform(0, 0.02))
        child = os.fork()
        if child == 0:
            code = 1
            try:
                signal.alarm(30)
                whole = is_whole(model)
                model.partial_fit(X[:3], y[:3])
                model.forget(X[:3], y[:3])
                code = 0 if whole and is_whole(model) else 3
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert status == 0, f"the child ended with {status} ({'hung' if os.WIFSIGNALED(status) else 'torn'})"
    assert is_whole(model), "the parent is torn"


@promise("threads see a model before or after a block, and none of what they learn is lost", small_model)
def threads(prepared: Any, rng: np.random.Generator) -> None:
    """Learners, and readers that look at it meanwhile."""
    start_model, X, y = prepared
    model, done = pickle.loads(pickle.dumps(start_model)), Event()  # noqa: S301
    blocks = np.array_split(rng.permutation(200), int(rng.integers(2, 30)))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)

    def look() -> bool:
        whole = True
        while not done.is_set():
            whole &= is_whole(model)
            model.predict(X[:5])
        return whole

    try:
        with ThreadPoolExecutor(4) as pool:
            looking = pool.submit(look)
            for learned in [pool.submit(model.partial_fit, X[block], y[block]) for block in blocks]:
                learned.result()
            done.set()
            assert looking.result(), "a thread saw half a block"
    finally:
        done.set()
        sys.setswitchinterval(interval)
    expected = pickle.loads(pickle.dumps(start_model)).partial_fit(X, y)  # noqa: S301
    assert np.array_equal(model.counts_, expected.counts_), "rows were lost"
