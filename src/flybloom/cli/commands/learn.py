"""flybloom learn: update a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flybloom.cli.console import print_result
from flybloom.cli.models import blocks_for, change_file, learned_facts
from flybloom.cli.options import (
    AS_FOUND,
    Jobs,
    Json,
    LabelKind,
    LabelType,
    Model,
    OutputOrSame,
    Reading,
    Source,
    TargetIfAny,
    require_target,
)
from flybloom.estimators.access import has_labels

if TYPE_CHECKING:
    from flybloom.blocks import Blocks


def command(
    model: Model,
    source: Source,
    target: TargetIfAny = None,
    output: OutputOrSame = None,
    label_type: LabelType = LabelKind.AUTO,
    reading: Reading = AS_FOUND,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Update MODEL with the rows of SOURCE.

    New labels are allowed. If anything fails, MODEL is not changed.
    """

    def blocks_of(learner: Any) -> Blocks:
        require_target(target, is_needed=has_labels(learner))
        return blocks_for(learner, source, target, reading, label_type=label_type)

    learner, facts = change_file(model, output, blocks_of, jobs, stage="learning", by="partial_fit")
    print_result({"model": facts.pop("model"), **learned_facts(learner), **facts}, as_json=json)
