"""What is promised, and how it is attacked: each promise has a trial, which is run again and again with other seeds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np


@dataclass
class Promise:
    """A sentence, and what would break it.

    `prepare` gets a folder and returns what the trials need; a trial gets that and a generator, and raises
    AssertionError where the promise does not hold. What it returns is counted: nothing, or what came of it.
    """

    sentence: str
    prepare: Callable[[Path], Any]
    trial: Callable[[Any, np.random.Generator], str | None]
    share: float = 1.0  # of the time
    finish: Callable[[Any], str | None] | None = None  # looks at all of it in the end, and says more about it
    needs: str = ""  # a module without which it cannot be attacked

    @property
    def missing(self) -> str:
        """What is not installed, if anything."""
        return f"not attacked: {self.needs} is not installed" if self.needs and find_spec(self.needs) is None else ""


@dataclass
class Outcome:
    """What came of the trials of a promise."""

    trials: int = 0
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0
    kinds: dict[str, int] = field(default_factory=dict)
    said: str = ""


PROMISES: list[Promise] = []


def promise(
    sentence: str, prepare: Callable[[Path], Any], share: float = 1.0, finish: Any = None, needs: str = ""
) -> Callable[..., Any]:
    """Make a trial one of a promise."""

    def add(trial: Callable[[Any, np.random.Generator], str | None]) -> Callable[..., Any]:
        PROMISES.append(Promise(sentence, prepare, trial, share, finish, needs))
        return trial

    return add


def attack(one: Promise, seed: int, *, seconds: float, most: int | None = None, first: int = 0) -> Outcome:
    """Run trials until the time is over, or so many were done; trial i of a seed is always the same."""
    outcome, number = Outcome(), first
    with _folder() as folder:
        prepared = one.prepare(folder)
        start = time.perf_counter()
        while (most is None or outcome.trials < most) and time.perf_counter() - start < seconds:
            try:
                kind = one.trial(prepared, np.random.default_rng([seed, number]))
                if kind is not None:
                    outcome.kinds[kind] = outcome.kinds.get(kind, 0) + 1
            except Exception as error:  # noqa: BLE001 - whatever it is, it was not promised
                outcome.wrong.append(f"trial {number}: {type(error).__name__}: {str(error)[:300]}")
            outcome.trials += 1
            number += 1
        if one.finish is not None:
            try:
                outcome.said = one.finish(prepared) or ""
            except AssertionError as error:
                outcome.wrong.append(f"in the end: {error}")
        outcome.seconds = time.perf_counter() - start
    return outcome


@contextmanager
def _folder() -> Iterator[Path]:
    """Give a folder that is gone afterwards."""
    with TemporaryDirectory(prefix="attack-", ignore_cleanup_errors=True) as name:
        yield Path(name)
