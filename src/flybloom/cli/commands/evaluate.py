"""flybloom evaluate: how good a model is on labelled data."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import typer

from flybloom.cli.console import Stopwatch, print_result, print_table
from flybloom.cli.models import blocks_for, load_predictor
from flybloom.cli.options import (
    DEFAULT_BLOCK_ROWS,
    BlockRows,
    Jobs,
    Json,
    LabelKind,
    LabelType,
    Model,
    Source,
    Target,
)
from flybloom.cli.reading import AS_FOUND, Reading
from flybloom.cli.sources import for_each_block, look_at, refuse_nothing

if TYPE_CHECKING:
    from flybloom.blocks import Block


def command(
    model: Model,
    source: Source,
    target: Target,
    label_type: LabelType = LabelKind.AUTO,
    reading: Reading = AS_FOUND,
    block_rows: BlockRows = DEFAULT_BLOCK_ROWS,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Compare what MODEL predicts for SOURCE with the labels there.

    The labels of novelty are 1 for what is usual and -1 for outliers.
    """
    predictor = load_predictor(model, jobs)
    blocks = look_at(blocks_for(predictor, source, target, reading, label_type=label_type, block_rows=block_rows))

    import numpy as np  # noqa: PLC0415 - heavy

    from flybloom.core.counts.columns import unite  # noqa: PLC0415

    classes = getattr(predictor, "classes_", np.array([-1, 1]))

    pairs: Counter[tuple[Any, Any]] = Counter()

    def compare(block: Block) -> None:
        assert block.y is not None  # noqa: S101 - read_blocks has checked
        unite(classes, block.y)  # refuses to compare numbers with strings
        pairs.update(zip(block.y.tolist(), predictor.predict(block.X).tolist(), strict=True))

    watch = Stopwatch()
    n_rows = for_each_block(blocks, "predicting", compare)
    if n_rows == 0:
        refuse_nothing([source])
    result = {**scores(pairs), **watch.facts(n_rows)}
    print_result(result, as_json=json)
    if not json:
        typer.echo()
        rows = [[str(entry["label"]), *[*entry.values()][1:]] for entry in result["per_class"]]
        print_table(["class", "rows", "recall", "precision"], rows)


def scores(pairs: Counter[tuple[Any, Any]]) -> dict[str, Any]:
    """Return accuracy, balanced accuracy and what holds for each class, from how often a label met a prediction."""
    import numpy as np  # noqa: PLC0415 - heavy

    from flybloom._internal.scores import mean_recall  # noqa: PLC0415

    truth, predicted, right = Counter[Any](), Counter[Any](), Counter[Any]()
    for (label, answer), n in pairs.items():
        truth[label] += n
        predicted[answer] += n
        right[label] += n * (label == answer)
    per_class = [
        {
            "label": label,
            "rows": truth[label],
            "recall": right[label] / truth[label] if truth[label] else None,
            "precision": right[label] / predicted[label] if predicted[label] else None,
        }
        for label in sorted(truth.keys() | predicted.keys(), key=lambda label: (str(type(label)), label))
    ]
    return {
        "accuracy": right.total() / truth.total(),
        "balanced_accuracy": mean_recall(*(np.array([n[label] for label in truth]) for n in (right, truth))),
        "per_class": per_class,
        "confusion": [
            {"label": label, "predicted": answer, "rows": n} for (label, answer), n in sorted(pairs.items(), key=str)
        ],
    }
