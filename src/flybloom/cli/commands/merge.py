"""flybloom merge: add up models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flybloom.cli.console import print_result
from flybloom.cli.models import learned_facts, load_model, require_output
from flybloom.cli.options import Json, Output


def command(
    models: Annotated[list[Path], typer.Argument(help="Model files.", metavar="MODEL...", show_default=False)],
    output: Output,
    json: Json = False,
) -> None:
    """Add up models: the result has learned what each of them has.

    They must hash alike: train the first, and the others with --like.
    """
    require_output(output)
    total = load_model(models[0])
    for path in models[1:]:
        total.merge(load_model(path))
    total.save(output)
    print_result({"model": str(output), "models": len(models), **learned_facts(total)}, as_json=json)
