"""flybloom forget: unlearn rows."""

from __future__ import annotations

from flybloom.cli.console import Stopwatch, print_result
from flybloom.cli.models import blocks_for, for_each_block, load_model, require_output
from flybloom.cli.options import (
    DEFAULT_BLOCK_ROWS,
    BlockRows,
    Jobs,
    Json,
    Model,
    OutputOrSame,
    Source,
    TargetIfAny,
    require_target,
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
    learner = load_model(model, jobs)
    require_target(target, is_needed=learner.needs_labels)
    blocks = blocks_for(learner, source, target, block_rows)
    require_output(output or model, blocks=blocks)
    watch = Stopwatch()
    n_rows = for_each_block(
        blocks,
        "forgetting",
        lambda block: learner.forget(block.X, block.y),
    )
    facts = watch.facts(n_rows)
    learner.save(output or model)
    result = {"model": str(output or model), "rows_left": learner.n_rows_learned(), **facts}
    print_result(result, as_json=json)
