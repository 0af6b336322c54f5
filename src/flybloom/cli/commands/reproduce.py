"""flybloom reproduce: the paper's tables and figures, made anew."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flybloom.cli.console import Stopwatch, count_progress, print_result, print_table
from flybloom.cli.options import Json

ALL = "all"


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
    from flybloom.paper import EXPERIMENTS, experiments_of, read_profile, run_experiment, write_page  # noqa: PLC0415

    try:
        settings, chosen = read_profile(profile), experiments_of(item)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    folder = output or Path("reproduced") / Path(profile).stem
    watch = Stopwatch()
    outcomes = []
    for name in chosen:
        if name not in settings:
            if item == ALL:
                continue
            msg = f"the profile {profile} has no table [{name}]. It has {', '.join(settings)}."
            raise typer.BadParameter(msg, param_hint="--profile")
        with count_progress(EXPERIMENTS[name].title) as tell:
            summary = run_experiment(EXPERIMENTS[name], settings[name], folder / name, data=data, jobs=jobs, tell=tell)
        outcomes += [(name, check) for check in summary.checks]
    page = write_page(folder, profile)
    facts = {
        "page": str(page),
        "checks": len(outcomes),
        "hold": sum(check.holds for _, check in outcomes),
        **watch.facts(),
    }
    table = [
        {"experiment": name, "claim": check.claim, "paper": check.theirs, "here": check.ours, "holds": check.holds}
        for name, check in outcomes
    ]
    print_result({**facts, "outcomes": table} if json else facts, as_json=json)
    if table and not json:
        typer.echo()
        print_table(
            list(table[0]), [["yes" if v is True else "no" if v is False else v for v in row.values()] for row in table]
        )
