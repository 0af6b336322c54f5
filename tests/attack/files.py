"""Damaged and hostile files: refused with one kind of error, or a model that works; little memory in any case."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

import numpy as np  # noqa: TC002 - annotations are documentation

from attack.promises import promise
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
