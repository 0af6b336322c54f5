"""flybloom reproduce: the paper's tables and figures, made anew."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import zip_longest
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flybloom.cli.console import Stopwatch, count_progress, print_result
from flybloom.cli.options import Json

if TYPE_CHECKING:
    from flybloom.paper.experiment import Check

ALL = "all"
WIDTH = 100  # of the table, in columns
GAP = "  "


def command(
    item: Annotated[
        str, typer.Argument(help="An experiment, a figure or table of the paper such as figure-2a, or all.")
    ],
    profile: Annotated[
        str, typer.Option(help="quick, standard, full, or a TOML file with a table for each experiment.")
    ] = "quick",
    data: Annotated[
        str | None,
        typer.Option(
            help="Folder of data sets. Without it, the environment variable FLYBLOOM_DATA.", envvar="FLYBLOOM_DATA"
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder for results, figures and the page. Without it, reproduced/PROFILE.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 1,
    json: Json = False,
) -> None:
    """Reproduce ITEM of the paper: run what has not been run yet, then write tables, figures and a page.

    A run that was stopped goes on where it was. Results land in OUTPUT/EXPERIMENT.
    """
    from flybloom import paper  # noqa: PLC0415 - heavy

    settings = _settings(item, profile)
    folder = output or Path("reproduced") / Path(profile).stem
    paper.check_can_run(settings.values(), folder)
    watch = Stopwatch()
    outcomes = []
    for name, table in settings.items():
        experiment = paper.EXPERIMENTS[name]
        with count_progress(experiment.title) as on_progress:
            summary = paper.run_experiment(
                experiment, table, folder / name, data=data, jobs=jobs, on_progress=on_progress
            )
        outcomes += [_outcome(name, check) for check in summary.checks]
    page = paper.write_page(folder, profile)
    held = sum(outcome["holds"] is True for outcome in outcomes)
    facts = {"page": str(page), "checks": len(outcomes), "hold": held if outcomes else None, **watch.facts()}
    if json:
        print_result({**facts, "caution": paper.caution(profile), "outcomes": outcomes}, as_json=True)
        return
    print_result(facts, as_json=False)
    for line in _table(outcomes):
        typer.echo(line)
    if said := paper.caution(profile):
        typer.echo(f"\n{said}")


def _settings(item: str, profile: str) -> dict[str, dict[str, Any]]:
    """Return the settings of each experiment that is asked for; those that the profile lacks are left out of all."""
    from flybloom.paper import experiments_of, read_profile  # noqa: PLC0415 - heavy

    try:
        settings, chosen = read_profile(profile), experiments_of(item)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    missing = [name for name in chosen if name not in settings]
    if missing and item != ALL:
        msg = f"the profile {profile} has no table [{missing[0]}]. It has {', '.join(settings)}."
        raise typer.BadParameter(msg, param_hint="--profile")
    return {name: settings[name] for name in chosen if name in settings}


def _outcome(name: str, check: Check) -> dict[str, Any]:
    """Return what is printed of a check."""
    holds = "within noise" if check.within_noise and not check.holds else check.holds
    return {"experiment": name, "claim": check.claim, "paper": check.theirs, "here": check.ours, "holds": holds}


def _table(outcomes: list[dict[str, Any]], width: int = WIDTH) -> Iterator[str]:
    """Yield the lines of a table that is no wider than `width`, its words wrapped."""
    if not outcomes:
        return
    said = {True: "yes", False: "no"}
    rows = [list(outcomes[0]), *([said.get(value, value) for value in row.values()] for row in outcomes)]
    widths = _fitted(rows, width - len(GAP) * (len(rows[0]) - 1))
    yield ""
    for row in rows:
        columns = [_wrapped(cell, room) for cell, room in zip(row, widths, strict=True)]
        for parts in zip_longest(*columns, fillvalue=""):
            yield GAP.join(part.ljust(room) for part, room in zip(parts, widths, strict=True)).rstrip()


def _fitted(rows: list[list[str]], width: int) -> list[int]:
    """Return widths of columns that add up to `width`: narrower where that adds the fewest lines, words whole."""
    height = cache(lambda cell, room: len(_wrapped(cell, room)))

    def cost(widths: list[int]) -> tuple[int, int]:
        return sum(max(map(height, row, widths)) for row in rows), max(widths)

    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    longest = [max(len(word) for cell in column for word in cell.split()) for column in columns]
    while sum(widths) > width and widths != longest:
        narrower = [
            [*widths[:i], widths[i] - 1, *widths[i + 1 :]] for i in range(len(widths)) if widths[i] > longest[i]
        ]
        widths = min(narrower, key=cost)
    return widths


def _wrapped(text: str, width: int) -> list[str]:
    """Return lines of whole words."""
    return wrap(text, width, break_on_hyphens=False)
