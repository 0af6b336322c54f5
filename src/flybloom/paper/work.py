"""Resumable work: many small units, each with its own result file."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from flybloom._internal.atomic_write import atomic_write
from flybloom.exceptions import CheckpointError

Result: TypeAlias = dict[str, Any]
OnProgress: TypeAlias = Callable[[str, int, int], None]  # what was done, how many of how many are


@dataclass(frozen=True)
class Unit:
    """A unit of work with its own result file.

    Parameters
    ----------
    key : str
        Its name among all units of an experiment: parts of letters, digits, dots and dashes, joined by slashes.
    run : callable
        What to do, a function of a module. It returns what JSON can hold.
    arguments : dict
        With what; JSON as well, so that they can be kept beside the result.
    data : str or None
        The folder of data sets, given to `run` as well. It is not kept: the same data may lie elsewhere tomorrow.
    """

    key: str
    run: Callable[..., Result]
    arguments: Result = field(default_factory=dict)
    data: str | None = None

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[\w.-]+(/[\w.-]+)*", self.key):
            msg = f"The key of a unit must be words joined by slashes. Got {self.key!r} instead."
            raise ValueError(msg)


RAW = "raw.json"  # the results of all units in one file, written when all are done


def run_units(
    units: Iterable[Unit], folder: Path, *, jobs: int = 1, on_progress: OnProgress | None = None
) -> dict[str, Result]:
    """Run the missing units, and return the results of all.

    Parameters
    ----------
    units : iterable of Unit
        The work.
    folder : Path
        Where the results are: a file for each unit in ``units/``, and in the end all of them in ``raw.json``. A unit
        that has left a result for the same arguments in either is not run again.
    jobs : int, default=1
        Number of processes.
    on_progress : callable, default=None
        Called with the key of each unit that is done, how many are done, and their number.

    Returns
    -------
    dict
        The result of each unit, by key, in the order of `units`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from flybloom.paper.work import Unit, run_units
    >>> def double(x):
    ...     return {"twice": 2 * x}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run_units([Unit("one", double, {"x": 1})], Path(folder))
    {'one': {'twice': 2}}
    """
    units = list(units)
    keys = [unit.key for unit in units]
    if len(set(keys)) < len(keys):
        msg = f"Units need names of their own. Got {sorted(key for key in keys if keys.count(key) > 1)} twice."
        raise ValueError(msg)
    done = _read(folder / RAW) if (folder / RAW).exists() else {}
    found = {unit.key: _kept(unit, _newest(unit, done, folder)) for unit in units}
    missing = [unit for unit in units if found[unit.key] is None]
    n_done = len(units) - len(missing)
    if n_done and on_progress is not None:
        on_progress("done before", n_done, len(units))
    for key, result in _computed(missing, folder, jobs):
        found[key] = result
        n_done += 1
        if on_progress is not None:
            on_progress(key, n_done, len(units))
    if missing or done.keys() != found.keys():
        write_json(folder / RAW, {unit.key: _newest(unit, done, folder) for unit in units}, indent=None)
    return {key: found[key] or {} for key in keys}


def processor_seconds(folder: Path) -> float:
    """Return the total processor time of all units of an experiment.

    Parameters
    ----------
    folder : Path
        As in `run_units`, with ``raw.json``.

    Returns
    -------
    float
        Seconds; units that were run in earlier runs count as long as they took then.
    """
    return float(sum(kept.get("seconds", {}).get("processor", 0) for kept in _read(folder / RAW).values()))


def _computed(units: list[Unit], folder: Path, jobs: int) -> Iterable[tuple[str, Result]]:
    """Yield stored results of units."""
    if jobs == 1:
        yield from (_run(unit, folder) for unit in units)
    elif units:
        yield from Parallel(jobs, return_as="generator_unordered")(delayed(_run)(unit, folder) for unit in units)


def _run(unit: Unit, folder: Path) -> tuple[str, Result]:
    """Run one unit on one thread and keep its result."""
    start = time.perf_counter(), time.process_time()
    with threadpool_limits(1):
        result = unit.run(**unit.arguments, **({} if unit.data is None else {"data": unit.data}))
    seconds = {"wall": time.perf_counter() - start[0], "processor": time.process_time() - start[1]}
    path = _path(unit, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, {"arguments": unit.arguments, "seconds": seconds, "result": result})
    return unit.key, json.loads(json.dumps(result))  # as it will be read back


def _path(unit: Unit, folder: Path) -> Path:
    """Return the path of the result of a unit."""
    return folder / "units" / f"{unit.key}.json"


def _read(path: Path) -> Result:
    """Read a result file, which must exist."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        msg = f"{path} is not the result of an experiment ({error}). Remove it to run this part again."
        raise CheckpointError(msg) from None
    if not isinstance(kept, dict):
        msg = f"{path} is not the result of an experiment, but {type(kept).__name__}. Remove it to run this part again."
        raise CheckpointError(msg)
    return kept


def _newest(unit: Unit, done: Result, folder: Path) -> Result:
    """Return the stored result of a unit, or None if it has not run."""
    path = _path(unit, folder)
    kept = _read(path) if path.exists() else done.get(unit.key)
    if kept is None:
        return {}
    if not isinstance(kept, dict) or not {"arguments", "result"} <= kept.keys():
        where = path if path.exists() else folder / RAW
        msg = f"{where} is not the result of an experiment: it lacks what came out. Remove it to run this part again."
        raise CheckpointError(msg)
    return kept


def _kept(unit: Unit, kept: Result) -> Result | None:
    """Return the stored result of a unit with the same arguments, if any."""
    is_same = kept.get("arguments") == json.loads(json.dumps(unit.arguments))
    return kept.get("result") if is_same else None


def write_json(path: Path, content: Any, indent: int | None = 1) -> None:
    """Write JSON to a file atomically."""
    atomic_write(path, json.dumps(content, indent=indent, allow_nan=False) + "\n")
