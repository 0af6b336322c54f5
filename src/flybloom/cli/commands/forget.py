"""flybloom forget: remove rows from a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flybloom._internal.atomic_write import check_writable
from flybloom.cli import options
from flybloom.cli.console import print_result
from flybloom.cli.models import blocks_for, change_file, inside
from flybloom.estimators.access import has_labels, n_rows_learned

if TYPE_CHECKING:
    from flybloom.blocks import Blocks

ReceiptFile = Annotated[
    Path | None, typer.Option("--receipt", help="Write a receipt, which `flybloom verify` checks, to this file.")
]


def command(
    model: options.Model,
    source: options.Source,
    target: options.TargetIfAny = None,
    output: options.OutputOrSame = None,
    reading: options.LabelReading = options.AS_FOUND,
    receipt: ReceiptFile = None,
    jobs: options.Jobs = 1,
    json: options.Json = False,
) -> None:
    """Remove the rows of SOURCE from MODEL, as if it had never learned them.

    Rows that cannot have been learned are refused, and MODEL is not changed.
    """
    from flybloom.core.files.receipt import Receipt, snapshot  # noqa: PLC0415 - heavy
    from flybloom.estimators.counting import forgotten_by  # noqa: PLC0415

    before = []
    if receipt is not None:
        check_writable(receipt, [model])

    def blocks_of(learner: Any) -> Blocks:
        options.require_target(target, is_needed=has_labels(learner))
        if receipt is not None:
            before.append(snapshot(inside(learner)))
        return blocks_for(learner, source, target, reading)

    learner, facts = change_file(model, output, blocks_of, jobs, stage="forgetting", by="forget")
    if receipt is not None:
        Receipt.between(before[0], snapshot(inside(learner)), forgotten_by(inside(learner))).save(receipt)
    left = forgotten_by(inside(learner))
    result = {"model": facts.pop("model"), "rows_left": n_rows_learned(inside(learner)), "forgotten": left.extent}
    if left.steps:
        result["still_of_these_rows"] = ", ".join(left.steps)
    print_result({**result, **facts}, as_json=json)
