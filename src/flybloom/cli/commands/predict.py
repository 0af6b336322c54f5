"""flybloom predict: labels for rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flybloom.cli import cluster
from flybloom.cli.console import Stopwatch, print_result
from flybloom.cli.models import blocks_for, for_each_block, load_classifier
from flybloom.cli.options import DEFAULT_BLOCK_ROWS, BlockRows, Jobs, Json, Model, Source

if TYPE_CHECKING:
    from flybloom.blocks import Block


def command(
    model: Model,
    source: Source,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A .csv or .parquet file; without it, CSV on standard output.")
    ] = None,
    probabilities: Annotated[bool, typer.Option("--probabilities", help="A column for each class as well.")] = False,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="A column to leave out, if MODEL knows no names of features.")
    ] = None,
    cluster_address: Annotated[str | None, typer.Option("--cluster", help=cluster.HELP)] = None,
    block_rows: BlockRows = DEFAULT_BLOCK_ROWS,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Write the label that MODEL predicts for each row of SOURCE."""
    if json and output is None:
        msg = "--json reports about a file. Expected --output as well."
        raise typer.BadParameter(msg)
    classifier = load_classifier(model, jobs)

    from flybloom.cli.prediction_writer import PredictionWriter  # noqa: PLC0415 - heavy

    watch = Stopwatch()
    with PredictionWriter(output, classifier.classes_, probabilities=probabilities) as writer:

        def predict(block: Block) -> None:
            writer.write(classifier.predict(block.X), classifier.predict_proba(block.X) if probabilities else None)

        if cluster_address is None:
            n_rows = for_each_block(blocks_for(classifier, source, target, block_rows), "predicting", predict)
        else:
            n_rows = 0
            for labels, shares in cluster.predictions(
                classifier, source, cluster_address, target=target, probabilities=probabilities
            ):
                writer.write(labels, shares)
                n_rows += len(labels)
    if output is not None:
        print_result({"predictions": str(output), **watch.facts(n_rows)}, as_json=json)
