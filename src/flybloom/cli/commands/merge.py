"""flybloom merge: add models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flybloom._internal.atomic_write import check_writable
from flybloom.cli import options
from flybloom.cli.console import print_result
from flybloom.cli.models import learned_facts, load_any, save_model
from flybloom.exceptions import IncompatibleHashError, ModelFileError


def command(
    models: Annotated[list[Path], typer.Argument(help="Model files.", metavar="MODEL...", show_default=False)],
    output: options.Output,
    json: options.Json = False,
) -> None:
    """Add models: the result has learned the rows of all of them.

    They must hash alike: train the others with --encoding-from the first.
    """
    check_writable(output)
    total, _ = load_any(models[0])
    if not hasattr(total, "merge"):
        msg = f"{models[0]} is a {type(total).__name__}, of which there is no sum. Expected models of `flybloom train`."
        raise ModelFileError(msg)
    for path in models[1:]:
        other, _ = load_any(path)
        if type(other) is not type(total):
            msg = (
                f"{models[0]} is a {type(total).__name__}, {path} a {type(other).__name__}. "
                "Expected models of one kind. Train the second with --like the first."
            )
            raise IncompatibleHashError(msg)
        total.merge(other)
    save_model(total, output)
    print_result({"model": str(output), "models": len(models), **learned_facts(total)}, as_json=json)
