"""flybloom train: make a model from data."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flybloom.cli import cluster
from flybloom.cli.console import Stopwatch, print_result, progress
from flybloom.cli.models import load_classifier
from flybloom.cli.options import (
    DEFAULT_BLOCK_ROWS,
    BlockRows,
    ClassWeight,
    Jobs,
    Json,
    Output,
    Source,
    Target,
    names,
    size,
)

if TYPE_CHECKING:
    from flybloom import FlyBloomClassifier


def command(
    source: Source,
    target: Target,
    output: Output,
    features: Annotated[
        str | None, typer.Option(help="Columns of the features, separated by commas; without it, all but the target.")
    ] = None,
    components: Annotated[str, typer.Option(help="How many components: 4096, 20x the features, or auto.")] = "auto",
    connections: Annotated[str, typer.Option(help="Features that each sums: 8, 10% of them, or auto.")] = "auto",
    winners: Annotated[str, typer.Option(help="How many win in each row: 64, 1% of the components, or auto.")] = "auto",
    decay: Annotated[float, typer.Option(help="How fast a filter forgets that a component is new; 1 is binary.")] = 0.4,
    class_weight: ClassWeight = None,
    unsigned: Annotated[bool, typer.Option("--unsigned", help="Connections without signs, as in the paper.")] = False,
    scaling: Annotated[str, typer.Option(help="none, center or standard.")] = "standard",
    seed: Annotated[int, typer.Option(help="Seed of the connections.")] = 0,
    like: Annotated[
        Path | None, typer.Option(help="Hash as this model does, scaling included, so that the two can be merged.")
    ] = None,
    single_pass: Annotated[
        bool, typer.Option("--single-pass", help="Read the source once; the first block gives the scaling.")
    ] = False,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Folder in which to save model and position from time to time.")
    ] = None,
    every: Annotated[str, typer.Option(help="When to save a checkpoint: after 60s, or after 100000 rows.")] = "60s",
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint, if there is one.")] = False,
    cluster_address: Annotated[str | None, typer.Option("--cluster", help=cluster.HELP)] = None,
    block_rows: BlockRows = DEFAULT_BLOCK_ROWS,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Learn a model from SOURCE and save it.

    The source is read twice, for the scaling and to learn, unless --single-pass or --scaling none is given.
    """
    every_rows, every_seconds = _interval(every)
    if cluster_address is not None and (checkpoint is not None or single_pass or like is not None):
        msg = "--cluster does not go with --checkpoint, --single-pass or --like. Leave them out."
        raise typer.BadParameter(msg)
    n_components, n_connections, n_winners = size(components), size(connections), size(winners)

    from flybloom import FlyBloomClassifier, read_blocks  # noqa: PLC0415 - heavy
    from flybloom import train as train_on  # noqa: PLC0415

    if like is None:
        model = FlyBloomClassifier(
            n_components,
            n_connections=n_connections,
            n_winners=n_winners,
            decay=decay,
            class_weight=class_weight,
            signed=not unsigned,
            scaling=scaling,
            random_state=seed,
            n_jobs=jobs,
        )
    else:
        model = load_classifier(like, jobs)
        model = model - model
        if class_weight is not None:
            model.set_params(class_weight=class_weight)
    columns = names(features)
    if columns is None and hasattr(model, "feature_names_in_"):
        columns = model.feature_names_in_.tolist()
    watch = Stopwatch()
    if cluster_address is not None:
        cluster.train(model, source, target, columns, cluster_address, progress=sys.stderr.isatty())
        _save(model, output, watch, as_json=json)
        return
    with progress(read_blocks(source, target).n_rows()) as tell:
        train_on(
            model,
            source,
            target,
            features=columns,
            single_pass=single_pass,
            block_rows=block_rows,
            checkpoint=checkpoint,
            every_rows=every_rows,
            every_seconds=every_seconds,
            resume=resume,
            progress=tell,
        )
    _save(model, output, watch, as_json=json)


def _save(model: FlyBloomClassifier, path: Path, watch: Stopwatch, *, as_json: bool) -> None:
    """Save the model and print what was done."""
    facts = watch.facts(int(model.class_count_.sum()))
    model.save(path)
    print_result({"model": str(path), "classes": model.classes_.size, **facts}, as_json=as_json)


def _interval(text: str) -> tuple[int | None, float | None]:
    """Return rows or seconds."""
    try:
        return (None, float(text[:-1])) if text.endswith("s") else (int(text), None)
    except ValueError:
        msg = f"expected seconds such as 60s, or rows such as 100000. Got {text!r}."
        raise typer.BadParameter(msg, param_hint="--every") from None
