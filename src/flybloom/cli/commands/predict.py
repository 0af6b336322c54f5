"""flybloom predict: labels for rows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from flybloom import cli
from flybloom._internal.atomic_write import atomic_write
from flybloom.cli import cluster
from flybloom.cli.console import Stopwatch, print_result
from flybloom.cli.models import blocks_for, for_each_block, load_classifier, require_output
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
    if output is None and "stdout" in cli.closed:
        msg = "standard output is closed, so predictions would be lost. Expected --output, a file."
        raise OSError(msg)
    classifier = load_classifier(model, jobs)

    from flybloom.cli.prediction_writer import PredictionWriter, check_kind  # noqa: PLC0415 - heavy

    blocks = None if cluster_address is not None else blocks_for(classifier, source, target, block_rows)
    if output is not None:
        check_kind(output)
        require_output(output, model, blocks)
    watch, n_rows = Stopwatch(), 0

    def write(file: BinaryIO) -> None:
        nonlocal n_rows
        suffix = ".csv" if output is None else output.suffix
        with PredictionWriter(file, suffix, classifier.classes_, probabilities=probabilities) as writer:

            def predict(block: Block) -> None:
                writer.write(classifier.predict(block.X), classifier.predict_proba(block.X) if probabilities else None)

            if blocks is not None:
                n_rows = for_each_block(blocks, "predicting", predict)
                return
            assert cluster_address is not None  # noqa: S101 - for mypy
            for labels, shares in cluster.predictions(
                classifier, source, cluster_address, target=target, probabilities=probabilities
            ):
                writer.write(labels, shares)
                n_rows += len(labels)

    if output is None:
        write(sys.stdout.buffer)
        sys.stdout.flush()
        return
    atomic_write(output, write)
    print_result({"predictions": str(output), **watch.facts(n_rows)}, as_json=json)
