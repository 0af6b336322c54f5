"""Run an experiment: one table of settings in, one folder of results out."""

from __future__ import annotations

import platform
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from flybloom._internal.atomic_write import atomic_write
from flybloom.paper.experiment import Experiment, Settings, Summary
from flybloom.paper.work import Tell, run_units, write_json

RESULT = "result.json"
PACKAGES = ("flybloom", "numpy", "scipy", "scikit-learn", "numba")


def run_experiment(
    experiment: Experiment,
    settings: Settings,
    folder: Path,
    *,
    data: str | None = None,
    jobs: int = 1,
    tell: Tell | None = None,
) -> Summary:
    """Do what is left of an experiment, and write what it found.

    Parameters
    ----------
    experiment : Experiment
        One of ``EXPERIMENTS``.
    settings : dict
        Its table of a profile.
    folder : Path
        Where to: ``units/`` with a file for each piece of work, ``raw.json`` with all of them, ``result.json`` with
        what follows, and a PNG for each figure. A run that was stopped goes on where it was.
    data : str or None, default=None
        Folder of data sets; see ``flybloom.datasets``.
    jobs : int, default=1
        Number of processes; an experiment that must run alone takes one.
    tell : callable, default=None
        See `run_units`.

    Returns
    -------
    Summary
        Tables, checks and numbers.
    """
    units = experiment.plan(settings, data)
    results = run_units(units, folder, jobs=1 if experiment.alone else jobs, tell=tell)
    summary = experiment.summarise(settings, results)
    figures = experiment.draw(summary)
    for name, figure in figures.items():
        atomic_write(folder / f"{name}.png", partial(figure.savefig, format="png", dpi=110))
    description = {"experiment": experiment.name, "figures": list(figures), "settings": settings}
    write_json(folder / RESULT, {**description, "environment": environment(), **asdict(summary)})
    return summary


def environment() -> dict[str, Any]:
    """Return the versions that a result was made with."""
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        **{name: version(name) for name in PACKAGES},
    }
