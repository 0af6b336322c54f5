"""flybloom learn: go on learning with a model."""

from __future__ import annotations

from flybloom.cli.console import Stopwatch, print_result
from flybloom.cli.models import blocks_for, for_each_block, load_classifier
from flybloom.cli.options import DEFAULT_BLOCK_ROWS, BlockRows, Jobs, Json, Model, OutputOrSame, Source, Target


def command(
    model: Model,
    source: Source,
    target: Target,
    output: OutputOrSame = None,
    block_rows: BlockRows = DEFAULT_BLOCK_ROWS,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Learn the rows of SOURCE in addition to what MODEL has learned.

    New labels are welcome. If anything goes wrong, MODEL stays as it is.
    """
    classifier = load_classifier(model, jobs)
    watch = Stopwatch()
    n_rows = for_each_block(
        blocks_for(classifier, source, target, block_rows),
        "learning",
        lambda block: classifier.partial_fit(block.X, block.y),
    )
    facts = watch.facts(n_rows)
    classifier.save(output or model)
    print_result({"model": str(output or model), "classes": classifier.classes_.size, **facts}, as_json=json)
