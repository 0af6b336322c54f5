"""Experiments: a plan of units, a summary of their results, and figures of the summary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from flybloom.paper.work import Result, Unit

Settings: TypeAlias = dict[str, Any]  # the experiment's table of a profile
Results: TypeAlias = dict[str, Result]  # by key of the unit
Figure: TypeAlias = Any  # matplotlib's, which is an extra


@dataclass(frozen=True)
class Table:
    """A table for pages: cells are text, numbers or None."""

    title: str
    header: list[str]
    rows: list[list[Any]]


@dataclass(frozen=True)
class Check:
    """A statement of the paper or a goal of this library, compared with measurements.

    Parameters
    ----------
    claim : str
        What is stated.
    theirs, ours : str
        The paper's figure and this run's.
    holds : bool
        Whether this run agrees.
    note : str
        Why not, or what to know.
    within_noise : bool
        Whether a figure that falls short does so by no more than its own uncertainty.
    """

    claim: str
    theirs: str
    ours: str
    holds: bool
    note: str = ""
    within_noise: bool = False


@dataclass(frozen=True)
class Summary:
    """Result of an experiment: tables, checks and the data of figures."""

    tables: list[Table] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    numbers: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """One part of the paper.

    Parameters
    ----------
    name : str
        What the command line calls it.
    title : str
        What it is about.
    items : tuple of str
        The figures and tables of the paper that it makes.
    plan : callable
        From settings and the folder of data sets (or None) to units.
    summarise : callable
        From settings and the results of the units to a summary.
    draw : callable
        From a summary to figures, by name.
    explanation : str
        What was done, how it departs from the paper, and why, for the reader of the page.
    alone : bool, default=False
        Whether its units must not run beside each other: those that measure time.
    """

    name: str
    title: str
    items: tuple[str, ...]
    plan: Callable[[Settings, str | None], list[Unit]]
    summarise: Callable[[Settings, Results], Summary]
    draw: Callable[[Summary], dict[str, Figure]]
    explanation: str
    alone: bool = False
