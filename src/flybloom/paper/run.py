"""Run an experiment: one table of settings in, one folder of results out."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from flybloom._internal.atomic_write import atomic_write, check_writable
from flybloom.exceptions import require_extra
from flybloom.paper.experiment import Experiment, Settings, Summary
from flybloom.paper.work import OnProgress, run_units, write_json

RESULT = "result.json"
PACKAGES = ("flybloom", "numpy", "scipy", "scikit-learn", "numba")


def run_experiment(
    experiment: Experiment,
    settings: Settings,
    folder: Path,
    *,
    data: str | None = None,
    jobs: int = 1,
    on_progress: OnProgress | None = None,
) -> Summary:
    """Run the remaining units of an experiment, and write its results.

    Parameters
    ----------
    experiment : Experiment
        One of ``EXPERIMENTS``.
    settings : dict
        Its table of a profile.
    folder : Path
        Where to: ``units/`` with a file for each piece of work, ``raw.json`` with all of them, ``result.json`` with
        what follows, and a PNG for each figure. A run that was stopped continues where it was.
    data : str or None, default=None
        Folder of data sets; see ``flybloom.paper.datasets``.
    jobs : int, default=1
        Number of processes; an experiment that must run alone takes one.
    on_progress : callable, default=None
        See `run_units`.

    Returns
    -------
    Summary
        Tables, checks and numbers.
    """
    check_can_run([settings], folder)
    units = experiment.plan(settings, data)
    results = run_units(units, folder, jobs=1 if experiment.alone else jobs, on_progress=on_progress)
    summary = experiment.summarise(settings, results)
    figures = experiment.draw(summary)
    for name, figure in figures.items():
        atomic_write(folder / f"{name}.png", partial(figure.savefig, format="png", dpi=110))
    description = {"experiment": experiment.name, "figures": list(figures), "settings": settings}
    write_json(folder / RESULT, {**description, "environment": environment(), **asdict(summary)})
    return summary


def check_can_run(tables: Iterable[Settings], folder: Path) -> None:
    """Raise an error for missing extras or a folder that cannot be written, before anything runs.

    Parameters
    ----------
    tables : iterable of dict
        The tables of a profile that are to be run.
    folder : Path
        Where results go; made if there is none.
    """
    needed = ["matplotlib", "jinja2"] + ["skopt"] * any(_searches_bayesian(table) for table in tables)
    for module in needed:
        require_extra(module, "paper", "Reproducing the paper")
    folder.mkdir(parents=True, exist_ok=True)
    check_writable(folder / RESULT)


def _searches_bayesian(table: Any) -> bool:
    """Return whether a table uses the authors' search."""
    if isinstance(table, dict):
        return table.get("search", "grid") != "grid" or any(map(_searches_bayesian, table.values()))
    return isinstance(table, list) and any(map(_searches_bayesian, table))


def environment() -> dict[str, Any]:
    """Return the versions of libraries used."""
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        **{name: version(name) for name in PACKAGES},
    }
