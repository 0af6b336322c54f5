"""Damaged and hostile files and checkpoints: refused with one kind of error, or what works; in little memory."""

from __future__ import annotations

import resource
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

import flybloom
from attack.promises import promise
from flybloom.exceptions import CheckpointError, ModelFileError
from mutations import mutated, sample_files, survives

MOST_MEGABYTES = 100


def peak() -> float:
    """Megabytes that this process had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def files(folder: Path) -> dict[str, Any]:
    """Models of all kinds, and a first look at each of them, which compiles what it needs."""
    found = sample_files(folder)
    for i in range(len(found)):
        survives(folder / f"{i}.fly")
    return {"files": found, "path": folder / "mutated.fly", "peak": peak(), "largest": max(map(len, found))}


def little(prepared: dict[str, Any]) -> str:
    """No more than was promised."""
    grown = peak() - prepared["peak"]
    most = MOST_MEGABYTES + 4 * prepared["largest"] / 2**20
    assert grown <= most, f"peak memory grew by {grown:.0f} MB, more than {most:.0f}"
    return f"memory grew by {grown:.0f} MB"


@promise("a damaged or hostile file gives one kind of error, or a model that works", files, share=2.0, finish=little)
def fuzz(prepared: dict[str, Any], rng: np.random.Generator) -> str:
    """Bits flipped, cut, swapped, absurd; with a wrong checksum or a right one."""
    data, _ = mutated(prepared["files"], int(rng.integers(2**62)))
    prepared["largest"] = max(prepared["largest"], len(data))
    prepared["path"].write_bytes(data)
    return "loaded" if survives(prepared["path"]) else "refused"


class Stopped(Exception):  # noqa: N818 - it is none of ours
    """Ends a training between two blocks."""


def checkpoints(folder: Path) -> dict[str, Any]:
    """A CSV file, and checkpoints of trainings that were stopped midway."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4)).round(2)
    lines = [",".join(map(str, [*row, label])) for row, label in zip(X.tolist(), "abcabc" * 10, strict=True)]
    (folder / "rows.csv").write_text("\n".join(["a,b,c,d,y", *lines, ""]), encoding="utf-8")
    sizes = {"n_components": 40, "n_winners": 4, "random_state": 0}
    models = [flybloom.FlyBloomClassifier(**sizes), flybloom.FlyRidgeClassifier(**sizes, encoding="none"),
              flybloom.FlyBloomClassifier(**sizes, readout="bayes", encoding="bins+relevance")]  # fmt: skip
    found = []
    for i, model in enumerate(models):
        blocks = count()

        def stop(stage: str, _rows: int, blocks: Any = blocks) -> None:
            if stage == "learning" and next(blocks) == 2:
                raise Stopped

        try:
            resume(model, folder / str(i), folder / "rows.csv", on_progress=stop)
        except Stopped:
            found.append((model, (folder / str(i) / "checkpoint.fly").read_bytes()))
    assert len(found) == len(models), "a training was not stopped"
    return {"folder": folder, "saved": found}


def resume(model: Any, saved: Path, source: Path, **options: Any) -> Any:
    """Train, going on from what was saved."""
    return flybloom.train(clone(model), source, "y", block_rows=10, checkpoint=saved, checkpoint_rows=10, resume=True,
                          **options)  # fmt: skip


@promise("a damaged or hostile checkpoint gives one kind of error, or a training that goes on", checkpoints)
def fuzz_checkpoint(prepared: dict[str, Any], rng: np.random.Generator) -> str:
    """As files of models are damaged."""
    which = int(rng.integers(len(prepared["saved"])))
    model = prepared["saved"][which][0]
    data, _ = mutated([prepared["saved"][which][1]], int(rng.integers(2**62)))
    saved = prepared["folder"] / "damaged"
    saved.mkdir(exist_ok=True)
    (saved / "checkpoint.fly").write_bytes(data)
    try:
        trained = resume(model, saved, prepared["folder"] / "rows.csv")
    except (CheckpointError, ModelFileError):
        return "refused"
    assert trained.predict(pd.DataFrame(np.zeros((2, 4)), columns=list("abcd"))).shape == (2,)
    return "went on"
