"""flybloom verify: check a receipt of forgetting."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flybloom.cli import options
from flybloom.cli.console import print_result
from flybloom.cli.models import blocks_for, inside, load_learner
from flybloom.exceptions import ReceiptError

ReceiptFile = Annotated[
    Path, typer.Argument(help="What `flybloom forget --receipt` wrote.", metavar="RECEIPT", show_default=False)
]
SourceIfAny = Annotated[
    str | None, typer.Argument(help=f"The rows that were forgotten. {options.SOURCE_HELP}", metavar="[SOURCE]")
]


def command(
    receipt: ReceiptFile,
    model: options.Model,
    source: SourceIfAny = None,
    target: options.TargetIfAny = None,
    reading: options.LabelReading = options.AS_FOUND,
    jobs: options.Jobs = 1,
    json: options.Json = False,
) -> None:
    """Verify that MODEL is the one of RECEIPT and, given the rows of SOURCE, that it lacks exactly these.

    Nothing is changed.
    """
    from flybloom.core.files.receipt import Receipt, verify  # noqa: PLC0415 - heavy

    if (source is None) != (target is None):
        msg = "the rows that were forgotten need their labels: expected SOURCE and --target, or neither."
        raise typer.BadParameter(msg)
    try:
        found = Receipt.load(receipt)
    except FileNotFoundError:
        msg = f"There is no receipt {receipt}. Check the path."
        raise ReceiptError(msg) from None
    learner = load_learner(model, jobs)
    rows = None
    if source is not None:
        blocks = blocks_for(learner, source, target, reading)
        rows = ((block.X, block.y) for block in blocks)
    holds = verify(found, inside(learner), rows)
    proven = "the model is the one of the receipt"
    proven += ", and equals one that never learned these rows" if holds["rows"] else "; give the rows to prove more"
    facts = {
        "receipt": str(receipt),
        "model": str(model),
        "rows": found.rows,
        "forgotten": found.time,
        "holds": proven,
    }
    print_result(facts, as_json=json)
