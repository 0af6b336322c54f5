"""flybloom forget: unlearn rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flybloom.cli.console import print_result
from flybloom.cli.models import blocks_for, change_file, inside, needs_labels
from flybloom.cli.options import (
    DEFAULT_BLOCK_ROWS,
    BlockRows,
    Jobs,
    Json,
    LabelKind,
    LabelType,
    Model,
    OutputOrSame,
    Source,
    TargetIfAny,
    require_target,
)
from flybloom.cli.reading import AS_FOUND, Reading

if TYPE_CHECKING:
    from flybloom.blocks import Blocks


def command(
    model: Model,
    source: Source,
    target: TargetIfAny = None,
    output: OutputOrSame = None,
    label_type: LabelType = LabelKind.AUTO,
    reading: Reading = AS_FOUND,
    block_rows: BlockRows = DEFAULT_BLOCK_ROWS,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Unlearn the rows of SOURCE: afterwards MODEL is as if it had never learned them.

    Rows that cannot have been learned are refused, and MODEL stays as it is.
    """

    def blocks_of(learner: Any) -> Blocks:
        require_target(target, is_needed=needs_labels(learner))
        return blocks_for(learner, source, target, reading, label_type=label_type, block_rows=block_rows)

    learner, facts = change_file(model, output, blocks_of, jobs, stage="forgetting", by="forget")
    rows_left = inside(learner).n_rows_learned()
    print_result({"model": facts.pop("model"), "rows_left": rows_left, **facts}, as_json=json)
