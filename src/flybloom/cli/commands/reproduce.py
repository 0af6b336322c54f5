"""flybloom reproduce: reproduce the paper's tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flybloom.cli import options
from flybloom.cli.console import Stopwatch, count_progress, print_result

if TYPE_CHECKING:
    from flybloom.paper.experiment import Check

ALL = "all"
WIDTH = 100  # of the table, in columns


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
    json: options.Json = False,
) -> None:
    """Reproduce ITEM of the paper: run what is missing, then write tables, figures and a page.

    An interrupted run is resumed. Results are in OUTPUT/EXPERIMENT.
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
    if outcomes:
        _print_table(outcomes)
    if said := paper.caution(profile):
        typer.echo(f"\n{said}")


def _settings(item: str, profile: str) -> dict[str, dict[str, Any]]:
    """Return the settings of each requested experiment; "all" omits those missing in the profile."""
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
    """Return the outcome of a check."""
    holds = "within noise" if check.within_noise and not check.holds else check.holds
    return {"experiment": name, "claim": check.claim, "paper": check.theirs, "here": check.ours, "holds": holds}


def _print_table(outcomes: list[dict[str, Any]]) -> None:
    """Print a table with wrapped text."""
    from rich.console import Console  # noqa: PLC0415 - only this command waits for it
    from rich.table import Table  # noqa: PLC0415

    said = {True: "yes", False: "no"}
    table = Table(*outcomes[0], box=None, pad_edge=False, header_style="none")
    for outcome in outcomes:
        table.add_row(*(str(said.get(value, value)) for value in outcome.values()))
    with (console := Console(width=WIDTH, markup=False, highlight=False, color_system=None)).capture() as printed:
        console.print(table)
    typer.echo("\n".join(line.rstrip() for line in ["", *printed.get().splitlines()]))
