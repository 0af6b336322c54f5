"""flybloom audit: find label errors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flybloom._internal.atomic_write import atomic_write, check_writable
from flybloom.cli import options
from flybloom.cli.console import print_result, print_table, work_without_blocks
from flybloom.cli.errors import blaming
from flybloom.cli.models import blocks_for, load_classifier
from flybloom.cli.sources import look_at, read_all
from flybloom.exceptions import require_extra

SHOWN = 10  # rows on the screen


def command(
    model: options.Model,
    source: options.Source,
    target: options.Target,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A page to write, HTML.")] = None,
    most: Annotated[int, typer.Option(min=1, help="How many rows to list.")] = 50,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    reading: options.LabelReading = options.AS_FOUND,
    jobs: options.Jobs = 1,
    json: options.Json = False,
) -> None:
    """List rows of SOURCE, which MODEL has learned, whose label looks wrong.

    Each row is scored by the model without it. Positions count from 0.
    """
    if output is not None:
        require_extra("jinja2", "report", "flybloom audit --output")
        check_writable(output, [model])
    audited = load_classifier(model, jobs, or_regressor=True)
    blocks = blocks_for(audited, source, target, reading)
    rows, labels = read_all(look_at(blocks, output))

    from flybloom.audit import facts, render  # noqa: PLC0415 - heavy

    with work_without_blocks(), blaming(source):
        found = facts(audited, rows, labels, title=title or f"Training rows of {model.name}", most=most)
    if output is not None:
        atomic_write(output, render(found))
    if json:
        print_result(found, as_json=True)
        return
    names = ("rows", "disputed", "repeated_rows", "contradicting_rows")
    page = {} if output is None else {"page": str(output)}
    print_result({**page, **{name: found[name] for name in names if name in found}}, as_json=False)
    typer.echo()
    last = "quality" if "disputed" in found else "distance"
    shown = [[str(row[name]) for name in ("position", "label", "suggested", last)] for row in found["suspicious"]]
    print_table(["position", "label", "suggested", last], shown[:SHOWN])
