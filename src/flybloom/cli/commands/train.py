"""flybloom train: train a model."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flybloom._internal.atomic_write import check_writable
from flybloom.cli import options
from flybloom.cli.console import Stopwatch, print_result, work_without_blocks
from flybloom.cli.errors import Terminated, blaming, stopping_between_blocks
from flybloom.cli.models import (
    FOR_KINDS,
    TRAINED,
    checked,
    known_kinds,
    learned_facts,
    load_model,
    new_model,
    save_model,
)
from flybloom.cli.sources import look_at, open_source
from flybloom.estimators.access import has_labels
from flybloom.estimators.learning.progress import progress

if TYPE_CHECKING:
    from flybloom.estimators.counting import CountingEstimator

FIXED_BY_LIKE = (
    "kind", "components", "connections", "winners", "unsigned", "encoding", "seed", "forget_after",
    "max_categories", "categories",
)  # fmt: skip
NOT_ON_A_CLUSTER = ("checkpoint", "every", "resume", "single_pass", "encoding_from", "block_rows", "jobs")


def command(
    context: typer.Context,
    source: options.Source,
    output: options.Output,
    target: options.TargetIfAny = None,
    kind: Annotated[
        options.Kind,
        typer.Option(
            help="classes: small and quick. pairs: more accurate. regression: pairs, for numbers instead of labels. "
            "novelty: outliers, learned without labels."
        ),
    ] = options.Kind.CLASSES,
    features: options.Features = None,
    components: Annotated[str, typer.Option(help="How many components: 4096, 20x the features, or auto.")] = "auto",
    connections: Annotated[str, typer.Option(help="Features that each sums: 8, 10% of them, or auto.")] = "auto",
    winners: Annotated[str, typer.Option(help="How many win in each row: 64, 1% of the components, or auto.")] = "auto",
    decay: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="How fast a filter forgets that a component is new; 1 is binary. Unless given, it follows the counts "
            "(classes), or is 0.4 (novelty).",
        ),
    ] = None,
    readout: Annotated[
        options.ReadOut,
        typer.Option(
            help="Of classes: read by filters, or by bayes, which suits texts and is auto for them. Of novelty: by "
            "leverage, the default, or by a filter, which is smaller."
        ),
    ] = options.ReadOut.AUTO,
    alpha: Annotated[
        str | None,
        typer.Option(
            help="Of pairs and regression: how strongly weights are shrunk, such as 0.01; gcv, the default, finds out. "
            "Of novelty: what is added to the diagonal of the pairs, 50 unless given."
        ),
    ] = None,
    class_weight: options.ClassWeight = None,
    contamination: Annotated[
        float | None, typer.Option(min=0.0, max=0.5, help="Of novelty: share of outliers among the rows.")
    ] = None,
    forget_after: Annotated[
        int | None,
        typer.Option(
            "--forget-after", "--recovery", min=1, help="Of novelty: after how many further rows a row is forgotten."
        ),
    ] = None,
    unsigned: Annotated[bool, typer.Option("--unsigned", help="Connections without signs, as in the paper.")] = False,
    encoding: options.EncodingOption = "auto",
    max_categories: options.MaxCategories = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the connections.")] = 0,
    encoding_from: Annotated[
        Path | None,
        typer.Option(
            "--encoding-from",
            "--like",
            help="Hash as this model does, encoding included, so that the two can be merged; and its settings.",
        ),
    ] = None,
    single_pass: Annotated[
        bool, typer.Option("--single-pass", help="Read the source once; the first rows give the encoding.")
    ] = False,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Folder in which to save model and position from time to time.")
    ] = None,
    every: Annotated[str, typer.Option(help="When to save a checkpoint: after 60s, or after 100000 rows.")] = "60s",
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint, if there is one.")] = False,
    cluster: options.Cluster = None,
    reading: options.LabelReading = options.AS_FOUND,
    jobs: options.Jobs = 1,
    json: options.Json = False,
) -> None:
    """Train a model on SOURCE and save it.

    The source is read twice: to fit the encoding and to count. With --single-pass, --encoding none or --encoding-from
    it is read once.
    """
    checkpoint_rows, checkpoint_seconds = _interval(every)
    given = options.given_options(context)
    if cluster is not None:
        options.check_cluster(given, NOT_ON_A_CLUSTER)
    if checkpoint is None:
        options.refuse_options(given, ("every", "resume"), "{} needs --checkpoint as well.")
    settings = {
        "n_components": options.size(components, "--components", takes_multiple=True),
        "n_connections": options.size(connections, "--connections"),
        "n_winners": options.size(winners, "--winners"),
        **({} if decay is None else {"decay": decay}),
        "readout": readout.value,
        **({} if alpha is None else {"alpha": _alpha(alpha)}),
        "class_weight": None if class_weight is None else class_weight.value,
        "contamination": "auto" if contamination is None else contamination,
        "forget_after": forget_after,
        "signed": not unsigned,
        "encoding": options.with_categories(encoding, max_categories),
        "random_state": seed,
    }
    check_writable(output, [] if encoding_from is None else [encoding_from])
    if encoding_from is None:
        model = new_model(kind, settings, given)
    else:
        options.refuse_options(given, FIXED_BY_LIKE, "--encoding-from does not go with {}. Leave them out.")
        model = _like(encoding_from, settings, given)
    options.require_target(target, is_needed=has_labels(model))
    columns = options.names(features)
    kinds = {} if encoding_from is None else known_kinds(model)
    if columns is None and kinds:
        columns = list(kinds)
    blocks = open_source(source, target, reading, features=columns, kinds=kinds)
    look_at(blocks, output)
    watch = Stopwatch()
    if cluster is not None:
        from flybloom.distributed import fit_source  # noqa: PLC0415 - heavy, and an extra
        from flybloom.distributed._dask import connect  # noqa: PLC0415

        with work_without_blocks(), blaming(source), connect(cluster):
            fit_source(model, blocks, progress=sys.stderr.isatty())
    else:
        from flybloom import train  # noqa: PLC0415 - heavy

        model.set_params(n_jobs=jobs)
        stopping = nullcontext() if checkpoint is None else stopping_between_blocks()
        with progress(blocks.n_rows()) as show, stopping as check, blaming(source), _checkpoint_left(checkpoint):

            def on_progress(stage: str, n_rows: int) -> None:
                show(stage, n_rows)
                if check is not None:
                    check()

            train(
                model,
                blocks,
                target,
                single_pass=single_pass,
                checkpoint=checkpoint,
                checkpoint_rows=checkpoint_rows,
                checkpoint_seconds=checkpoint_seconds,
                resume=resume,
                on_progress=on_progress,
            )
    facts = learned_facts(model)
    facts |= watch.facts(facts["rows"])
    save_model(model, output)
    print_result({"model": str(output), **facts}, as_json=json)


@contextmanager
def _checkpoint_left(folder: Path | None) -> Iterator[None]:
    """Print how to resume if there is a checkpoint after a signal."""
    try:
        yield
    except KeyboardInterrupt as stop:
        if folder is None or not any(folder.glob("*.fly")):
            raise
        word = "Terminated" if isinstance(stop, Terminated) else "Interrupted"
        msg = f"{word}. {folder} holds a checkpoint: the same command with --resume goes on from there."
        raise type(stop)(msg) from None


def _like(path: Path, settings: dict[str, Any], given: set[str]) -> CountingEstimator:
    """Return an empty model that hashes like another one, with the given settings."""
    model = load_model(path, 1, f"a model that learns, {TRAINED}", "_learning")
    empty: CountingEstimator = model.like()
    known = empty.get_params()
    wrong = tuple(name for name in FOR_KINDS if name not in known)
    options.refuse_options(given, wrong, f"a {type(model).__name__} does not go with {{}}. Leave them out.")
    empty.set_params(**{name: settings[name] for name in FOR_KINDS if name in given})
    return checked(empty)


def _alpha(text: str) -> float | str:
    """Parse a penalty or gcv."""
    try:
        if text == "gcv" or 0 < float(text) < float("inf"):
            return text if text == "gcv" else float(text)
    except ValueError:
        pass
    msg = f"expected a number above 0 such as 0.01, or gcv. Got {text!r}."
    raise typer.BadParameter(msg, param_hint="--alpha")


def _interval(text: str) -> tuple[int | None, float | None]:
    """Parse rows or seconds."""
    try:
        if text.endswith("s") and 0 < (seconds := float(text[:-1])) < float("inf"):
            return None, seconds
        if not text.endswith("s") and (rows := int(text)) > 0:
            return rows, None
    except ValueError:
        pass
    msg = f"expected seconds such as 60s, or rows such as 100000. Got {text!r}."
    raise typer.BadParameter(msg, param_hint="--every")
