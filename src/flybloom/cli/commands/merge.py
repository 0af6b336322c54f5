"""flybloom merge: add up models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flybloom.cli.console import print_result
from flybloom.cli.models import load_classifier
from flybloom.cli.options import Json, Output


def command(
    models: Annotated[list[Path], typer.Argument(help="Model files.", metavar="MODEL...", show_default=False)],
    output: Output,
    json: Json = False,
) -> None:
    """Add up models: the result has learned what each of them has.

    They must hash alike: train the first, and the others with --like.
    """
    total = load_classifier(models[0])
    for path in models[1:]:
        total.merge(load_classifier(path))
    total.save(output)
    result = {
        "model": str(output),
        "models": len(models),
        "classes": total.classes_.size,
        "rows": int(total.class_count_.sum()),
    }
    print_result(result, as_json=json)
