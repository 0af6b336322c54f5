"""flybloom learn: go on learning with a model."""

from __future__ import annotations

from flybloom.cli.console import Stopwatch, print_result
from flybloom.cli.models import blocks_for, for_each_block, learned_facts, load_model, require_output
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
    """Learn the rows of SOURCE in addition to what MODEL has learned.

    New labels are welcome. If anything goes wrong, MODEL stays as it is.
    """
    learner = load_model(model, jobs)
    require_target(target, is_needed=learner.needs_labels)
    blocks = blocks_for(learner, source, target, block_rows)
    require_output(output or model, blocks=blocks)
    watch = Stopwatch()
    n_rows = for_each_block(
        blocks,
        "learning",
        lambda block: learner.partial_fit(block.X, block.y),
    )
    facts = watch.facts(n_rows)
    learner.save(output or model)
    print_result({"model": str(output or model), **learned_facts(learner), **facts}, as_json=json)
