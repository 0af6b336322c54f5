"""flybloom evaluate: compare predictions with labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flybloom._internal.atomic_write import check_writable
from flybloom.cli import options
from flybloom.cli.console import Stopwatch, print_result, print_table
from flybloom.cli.errors import blaming
from flybloom.cli.models import blocks_for, load_learner, load_predictor
from flybloom.cli.sources import for_each_block, look_at, refuse_nothing, watched

if TYPE_CHECKING:
    from flybloom.blocks import Block, Blocks

ROWS_BEFORE_LEARNING = 64

TestThenTrain = Annotated[
    bool, typer.Option("--test-then-train", help="Learn the rows after they were predicted, as in a stream.")
]
LearnEvery = Annotated[
    int, typer.Option("--learn-every", min=1, help="With --test-then-train: how many rows are predicted, then learned.")
]
Picture = Annotated[
    Path | None, typer.Option("--picture", help="With --test-then-train: where to draw the curves, a PNG or SVG file.")
]


def command(
    context: typer.Context,
    model: options.Model,
    source: options.Source,
    target: options.Target,
    strict: options.Strict = False,
    test_then_train: TestThenTrain = False,
    learn_every: LearnEvery = ROWS_BEFORE_LEARNING,
    picture: Picture = None,
    reading: options.LabelReading = options.AS_FOUND,
    jobs: options.Jobs = 1,
    json: options.Json = False,
) -> None:
    """Compare predictions of MODEL for SOURCE with the labels.

    Labels for novelty are 1 for normal rows and -1 for outliers. MODEL is not changed, even with --test-then-train.
    Rows with infinite or non-numeric values are skipped and counted on standard error.
    """
    if test_then_train:
        learner = load_learner(model, jobs)
        if hasattr(learner, "leave_one_out_predict"):
            msg = f"it counts labels that were predicted right, and {model} predicts numbers. Leave it out."
            raise typer.BadParameter(msg, param_hint="--test-then-train")
        stream = blocks_for(learner, source, target, reading)
        if picture is not None:
            check_writable(picture, [model])
        print_result(streamed(learner, look_at(stream, picture), learn_every, picture), as_json=json)
        return
    options.refuse_options(
        options.given_options(context), ("learn_every", "picture"), "{} needs --test-then-train as well."
    )
    predictor = load_predictor(model, jobs)
    blocks = blocks_for(
        predictor, source, target, reading,
        incomplete="refuse" if strict else "mark",
    )  # fmt: skip
    look_at(blocks)

    import numpy as np  # noqa: PLC0415 - heavy

    from flybloom._internal.validation import check_targets  # noqa: PLC0415
    from flybloom.cli.sources import ScoredRows  # noqa: PLC0415
    from flybloom.core.counts.columns import unite  # noqa: PLC0415

    predicts_numbers = hasattr(predictor, "leave_one_out_predict")
    classes = getattr(predictor, "classes_", np.array([-1, 1]))

    pairs: Counter[tuple[Any, Any]] = Counter()
    scored = ScoredRows()

    def compare(block: Block) -> None:
        assert block.y is not None  # noqa: S101 - read_blocks has checked
        if not predicts_numbers:
            unite(classes, block.y)  # refuses to compare numbers with strings
        known, rows = scored.of(block)
        if rows is not None:
            truth = check_targets(block.y[known])[:, 0] if predicts_numbers else block.y[known]
            pairs.update(zip(truth.tolist(), predictor.predict(rows).tolist(), strict=True))

    watch = Stopwatch()
    n_rows = for_each_block(blocks, "predicting", compare)
    if n_rows == scored.n_skipped:
        refuse_nothing([source])
    scored.tell("they are left out")
    found = numeric_scores(pairs) if predicts_numbers else scores(pairs)
    result = {**found, **scored.facts(), **watch.facts(n_rows)}
    print_result(result, as_json=json)
    if not json and not predicts_numbers:
        typer.echo()
        rows = [[str(entry["label"]), *[*entry.values()][1:]] for entry in result["per_class"]]
        print_table(["class", "rows", "recall", "precision"], rows)


def numeric_scores(pairs: Counter[tuple[Any, Any]]) -> dict[str, float]:
    """Return regression scores."""
    from sklearn import metrics  # noqa: PLC0415 - heavy

    targets, predictions = zip(*pairs, strict=True)
    weights = list(pairs.values())

    def score(name: str) -> float:
        return float(getattr(metrics, name)(targets, predictions, sample_weight=weights))

    return {
        "r2": round(score("r2_score"), 4) if len(set(targets)) > 1 else 0.0,
        "mean_absolute_error": round(score("mean_absolute_error"), 6),
        "root_mean_squared_error": round(score("root_mean_squared_error"), 6),
    }


def streamed(learner: Any, blocks: Blocks, learn_every: int, picture: Path | None) -> dict[str, Any]:
    """Return facts of a test-then-train evaluation."""
    from flybloom.streams import test_then_train  # noqa: PLC0415 - heavy

    at: list[str] = []

    def told() -> Iterator[Block]:
        for block in watched(blocks, "predicting, then learning"):
            at[:] = [block.where]
            yield block

    try:
        scores = test_then_train(learner, told(), block_rows=learn_every)
    except ValueError:
        if not at:
            refuse_nothing(part.name for part in blocks.parts)
        with blaming(at[0]):
            raise
    if picture is not None:
        from flybloom.plots import StreamDisplay  # noqa: PLC0415 - an extra

        StreamDisplay.from_scores({"model": scores}).figure_.savefig(picture)
    return {
        "accuracy": scores.accuracy,
        "accuracy_of_no_change": scores.no_change_accuracy,
        "accuracy_of_majority": scores.majority_accuracy,
        "kappa_against_no_change": scores.kappa_no_change,
        "kappa_against_majority": scores.kappa_majority,
        "bytes_in_memory": scores.memory,
        "rows": scores.n_rows,
        "seconds": round(scores.seconds, 3),
        "rows_per_second": round(scores.rows_per_second),
    }


def scores(pairs: Counter[tuple[Any, Any]]) -> dict[str, Any]:
    """Return accuracy, balanced accuracy and class scores from a confusion matrix."""
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
