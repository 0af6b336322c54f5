"""flybloom evaluate: how good a model is on labelled data."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import typer

from flybloom.cli.console import Stopwatch, print_result, print_table
from flybloom.cli.models import blocks_for, for_each_block, load_classifier
from flybloom.cli.options import DEFAULT_BLOCK_ROWS, BlockRows, Jobs, Json, Model, Source, Target
from flybloom.exceptions import SourceError

if TYPE_CHECKING:
    from flybloom.blocks import Block


def command(
    model: Model,
    source: Source,
    target: Target,
    block_rows: BlockRows = DEFAULT_BLOCK_ROWS,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Compare what MODEL predicts for SOURCE with the labels there."""
    classifier = load_classifier(model, jobs)

    from flybloom.core.counts.columns import unite  # noqa: PLC0415 - heavy

    pairs: Counter[tuple[Any, Any]] = Counter()

    def compare(block: Block) -> None:
        assert block.y is not None  # noqa: S101 - read_blocks has checked
        unite(classifier.classes_, block.y)  # refuses to compare numbers with strings
        pairs.update(zip(block.y.tolist(), classifier.predict(block.X).tolist(), strict=True))

    watch = Stopwatch()
    n_rows = for_each_block(blocks_for(classifier, source, target, block_rows), "predicting", compare)
    if n_rows == 0:
        msg = f"{source}: no rows. Expected at least one."
        raise SourceError(msg)
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
