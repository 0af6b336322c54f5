"""flybloom learn: update a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flybloom.cli import options
from flybloom.cli.console import print_result
from flybloom.cli.models import blocks_for, change_file, learned_facts
from flybloom.estimators.access import has_labels

if TYPE_CHECKING:
    from flybloom.blocks import Blocks


def command(
    model: options.Model,
    source: options.Source,
    target: options.TargetIfAny = None,
    output: options.OutputOrSame = None,
    reading: options.LabelReading = options.AS_FOUND,
    jobs: options.Jobs = 1,
    json: options.Json = False,
) -> None:
    """Update MODEL with the rows of SOURCE.

    New labels are allowed. If anything fails, MODEL is not changed.
    """

    def blocks_of(learner: Any) -> Blocks:
        options.require_target(target, is_needed=has_labels(learner))
        return blocks_for(learner, source, target, reading)

    learner, facts = change_file(model, output, blocks_of, jobs, stage="learning", by="partial_fit")
    print_result({"model": facts.pop("model"), **learned_facts(learner), **facts}, as_json=json)
