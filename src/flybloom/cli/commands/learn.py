"""flybloom learn: go on learning with a model."""

from __future__ import annotations

from flybloom.cli.console import print_result
from flybloom.cli.models import change_file, learned_facts
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
    """Learn the rows of SOURCE in addition to what MODEL has learned.

    New labels are welcome. If anything goes wrong, MODEL stays as it is.
    """
    learner, facts = change_file(model, output, source, target, block_rows, jobs, stage="learning", by="partial_fit")
    print_result({"model": facts.pop("model"), **learned_facts(learner), **facts}, as_json=json)
