"""flybloom forget: unlearn rows."""

from __future__ import annotations

from flybloom.cli.console import print_result
from flybloom.cli.models import change_file
from flybloom.cli.options import (
    DEFAULT_BLOCK_ROWS,
    BlockRows,
    Jobs,
    Json,
    Model,
    OutputOrSame,
    Source,
    TargetIfAny,
)


def command(
    model: Model,
    source: Source,
    target: TargetIfAny = None,
    output: OutputOrSame = None,
    block_rows: BlockRows = DEFAULT_BLOCK_ROWS,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Unlearn the rows of SOURCE: afterwards MODEL is as if it had never learned them.

    Rows that cannot have been learned are refused, and MODEL stays as it is.
    """
    learner, facts = change_file(model, output, source, target, block_rows, jobs, stage="forgetting", by="forget")
    print_result({"model": facts.pop("model"), "rows_left": learner.n_rows_learned(), **facts}, as_json=json)
