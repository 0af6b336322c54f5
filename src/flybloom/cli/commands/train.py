"""flybloom train: make a model from data."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flybloom.cli import cluster
from flybloom.cli.console import Stopwatch, print_result, progress
from flybloom.cli.models import learned_facts, load_model, require_output
from flybloom.cli.options import (
    DEFAULT_BLOCK_ROWS,
    BlockRows,
    ClassWeight,
    EncodingOption,
    Jobs,
    Json,
    Output,
    ScalingOption,
    Source,
    TargetIfAny,
    given_options,
    names,
    refuse_together,
    require_target,
    size,
)

if TYPE_CHECKING:
    from flybloom.estimators.counting import CountingEstimator

FIXED_BY_LIKE = ("components", "connections", "winners", "unsigned", "encoding", "scaling", "seed", "novelty")
NOT_ON_A_CLUSTER = ("checkpoint", "every", "resume", "single_pass", "like", "block_rows", "jobs")
FOR_CLASSES, FOR_NOVELTY = ("class_weight", "target"), ("contamination", "recovery")


def command(
    context: typer.Context,
    source: Source,
    output: Output,
    target: TargetIfAny = None,
    novelty: Annotated[
        bool, typer.Option("--novelty", help="Learn what is usual, without labels: a detector of outliers.")
    ] = False,
    features: Annotated[
        str | None, typer.Option(help="Columns of the features, separated by commas; without it, all but the target.")
    ] = None,
    components: Annotated[str, typer.Option(help="How many components: 4096, 20x the features, or auto.")] = "auto",
    connections: Annotated[str, typer.Option(help="Features that each sums: 8, 10% of them, or auto.")] = "auto",
    winners: Annotated[str, typer.Option(help="How many win in each row: 64, 1% of the components, or auto.")] = "auto",
    decay: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="How fast a filter forgets that a component is new; 1 is binary.")
    ] = 0.4,
    class_weight: ClassWeight = None,
    contamination: Annotated[
        float | None, typer.Option(min=0.0, max=0.5, help="With --novelty: share of outliers among the rows.")
    ] = None,
    recovery: Annotated[
        int | None, typer.Option(min=1, help="With --novelty: after how many further rows a row is forgotten.")
    ] = None,
    unsigned: Annotated[bool, typer.Option("--unsigned", help="Connections without signs, as in the paper.")] = False,
    encoding: EncodingOption = "auto",
    scaling: ScalingOption = None,
    seed: Annotated[int, typer.Option(help="Seed of the connections.")] = 0,
    like: Annotated[
        Path | None,
        typer.Option(
            help="Hash as this model does, encoding included, so that the two can be merged; and its settings."
        ),
    ] = None,
    single_pass: Annotated[
        bool, typer.Option("--single-pass", help="Read the source once; the first block gives the encoding.")
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

    The source is read for each step of the encoding, and once to learn; with --single-pass or --encoding none only
    once.
    """
    checkpoint_rows, checkpoint_seconds = _interval(every)
    given = given_options(context)
    if cluster_address is not None:
        refuse_together(given, "--cluster", NOT_ON_A_CLUSTER)
    if like is not None:
        refuse_together(given, "--like", FIXED_BY_LIKE)
    if novelty:
        refuse_together(given, "--novelty", FOR_CLASSES)
    elif like is None:
        refuse_together(given, "a classifier", FOR_NOVELTY, remedy="They go with --novelty.")
    sizes = {"n_components": size(components), "n_connections": size(connections), "n_winners": size(winners)}
    model = (
        _like(like, given, decay=decay, class_weight=class_weight, contamination=contamination)
        if like is not None
        else _new(
            sizes, novelty=novelty, class_weight=class_weight, contamination=contamination, recovery=recovery,
            decay=decay, signed=not unsigned, encoding=encoding,
            scaling=None if scaling is None else scaling.value, random_state=seed,
        )
    )  # fmt: skip
    require_target(target, is_needed=model.needs_labels)
    columns = names(features)
    if columns is None and like is not None and hasattr(model, "feature_names_in_"):
        columns = model.feature_names_in_.tolist()
    require_output(output, like)
    watch = Stopwatch()
    if cluster_address is not None:
        cluster.train(model, source, target, columns, cluster_address, progress=sys.stderr.isatty())
        _save(model, output, watch, as_json=json)
        return

    from flybloom import read_blocks, train  # noqa: PLC0415 - heavy

    model.set_params(n_jobs=jobs)
    blocks = read_blocks(source, target)
    require_output(output, blocks=blocks)
    with progress(blocks.n_rows()) as on_progress:
        train(
            model,
            source,
            target,
            features=columns,
            single_pass=single_pass,
            block_rows=block_rows,
            checkpoint=checkpoint,
            checkpoint_rows=checkpoint_rows,
            checkpoint_seconds=checkpoint_seconds,
            resume=resume,
            on_progress=on_progress,
        )
    _save(model, output, watch, as_json=json)


def _new(
    sizes: dict[str, Any], *, novelty: bool, class_weight: str | None, contamination: float | None,
    recovery: int | None, **settings: Any,
) -> CountingEstimator:  # fmt: skip
    """Return a model that has learned nothing yet."""
    from flybloom import FlyBloomClassifier, FlyBloomNovelty  # noqa: PLC0415 - heavy

    if novelty:
        share = "auto" if contamination is None else contamination
        return FlyBloomNovelty(**sizes, **settings, contamination=share, recovery=recovery)
    return FlyBloomClassifier(**sizes, **settings, class_weight=class_weight)


def _like(path: Path, given: set[str], **settings: Any) -> CountingEstimator:
    """Return a model that hashes as another one and has learned nothing; what is given replaces its settings."""
    model = load_model(path)
    empty: CountingEstimator = model - model
    empty.set_params(**{name: value for name, value in settings.items() if name in given})
    return empty


def _save(model: CountingEstimator, path: Path, watch: Stopwatch, *, as_json: bool) -> None:
    """Save the model, for one thread wherever it will be used, and print what was done."""
    facts = learned_facts(model)
    facts |= watch.facts(facts["rows"])
    model.set_params(n_jobs=1).save(path)
    print_result({"model": str(path), **facts}, as_json=as_json)


def _interval(text: str) -> tuple[int | None, float | None]:
    """Return rows or seconds."""
    try:
        return (None, float(text[:-1])) if text.endswith("s") else (int(text), None)
    except ValueError:
        msg = f"expected seconds such as 60s, or rows such as 100000. Got {text!r}."
        raise typer.BadParameter(msg, param_hint="--every") from None
