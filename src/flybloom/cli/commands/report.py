"""flybloom report: write an HTML report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flybloom._internal.atomic_write import atomic_write, check_writable
from flybloom.cli import options
from flybloom.cli.console import print_result, work_without_blocks
from flybloom.cli.errors import blaming
from flybloom.cli.models import blocks_for, load_classifier
from flybloom.cli.sources import look_at, read_all
from flybloom.exceptions import require_extra


def command(
    model: options.Model,
    data: Annotated[str, typer.Option("--data", "-d", help="Labelled rows to test with; as SOURCE elsewhere.")],
    target: options.Target,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write, HTML.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    image: Annotated[str | None, typer.Option(help="Rows are images of this height and width, such as 28x28.")] = None,
    reading: options.LabelReading = options.AS_FOUND,
    jobs: options.Jobs = 1,
    json: options.Json = False,
) -> None:
    """Write an HTML report on MODEL: one file without scripts.

    --json also prints all facts.
    """
    image_shape = _shape(image)
    require_extra("jinja2", "report", "flybloom report")
    check_writable(output, [model])
    classifier = load_classifier(model, jobs)
    blocks = blocks_for(classifier, data, target, reading)
    rows, labels = read_all(look_at(blocks, output))

    from flybloom.report import facts, render  # noqa: PLC0415 - heavy

    with work_without_blocks(), blaming(data):
        found = facts(classifier, rows, labels, title=title or f"Report on {model.name}", image_shape=image_shape)
    atomic_write(output, render(found))
    if json:
        print_result(found, as_json=True)
    else:
        names = ("accuracy", "balanced_accuracy", "mistakes")
        scores = {name: found["scores"][name] for name in names}
        print_result({"page": str(output), "rows": len(labels), **scores}, as_json=False)


def _shape(text: str | None) -> tuple[int, int] | None:
    """Return height and width."""
    if text is None:
        return None
    try:
        height, width = (int(number) for number in text.split("x"))
    except ValueError:
        msg = f"expected height and width such as 28x28. Got {text!r}."
        raise typer.BadParameter(msg, param_hint="--image") from None
    if height < 1 or width < 1:
        msg = f"expected height and width of at least 1, such as 28x28. Got {text!r}."
        raise typer.BadParameter(msg, param_hint="--image")
    return height, width
