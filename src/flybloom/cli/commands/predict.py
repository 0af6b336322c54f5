"""flybloom predict: write predictions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flybloom import cli
from flybloom.cli import cluster
from flybloom.cli.console import Stopwatch, print_result
from flybloom.cli.errors import blaming
from flybloom.cli.models import blocks_for, load_predictor
from flybloom.cli.options import (
    AS_FOUND,
    Jobs,
    Json,
    Model,
    Reading,
    Source,
    Strict,
    given_options,
    refuse_together,
)
from flybloom.cli.sources import check_output, look_at
from flybloom.estimators.learning.progress import progress
from flybloom.exceptions import require_extra

if TYPE_CHECKING:
    from flybloom.blocks import Blocks

KINDS = (".csv", ".parquet", ".pq")
NOT_ON_A_CLUSTER = ("block_rows", "jobs")


def command(
    context: typer.Context,
    model: Model,
    source: Source,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A .csv or .parquet file; without it, CSV on standard output.")
    ] = None,
    probabilities: Annotated[bool, typer.Option("--probabilities", help="A column for each class as well.")] = False,
    scores: Annotated[
        bool, typer.Option("--scores", help="What the label follows from as well: how novel a row is.")
    ] = False,
    id_column: Annotated[
        str | None, typer.Option("--id", help="A column that tells rows apart; it is written beside the predictions.")
    ] = None,
    safe_csv: Annotated[
        bool, typer.Option("--safe-csv", help="Put ' before text that a spreadsheet would run as a formula, as =1+1.")
    ] = False,
    strict: Strict = False,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="A column to leave out, if MODEL knows no names of features.")
    ] = None,
    cluster_address: Annotated[str | None, typer.Option("--cluster", help=cluster.HELP)] = None,
    reading: Reading = AS_FOUND,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Write predictions of MODEL for each row of SOURCE.

    Values may be missing. Rows with infinite or non-numeric values get an empty prediction and are counted on standard
    error.
    """
    if json and output is None:
        msg = "reports about a file. Expected --output as well."
        raise typer.BadParameter(msg, param_hint="--json")
    if output is not None and output.suffix.lower() not in KINDS:
        msg = f"expected a name that ends in {', '.join(KINDS)}. Got {str(output)!r}."
        raise typer.BadParameter(msg, param_hint="--output")
    if safe_csv and output is not None and output.suffix.lower() != ".csv":
        msg = f"is about CSV, and {str(output)!r} is none. Leave it out."
        raise typer.BadParameter(msg, param_hint="--safe-csv")
    if output is None and "stdout" in cli.closed:
        msg = "standard output is closed, so predictions would be lost. Expected --output, a file."
        raise OSError(msg)
    if cluster_address is not None:
        refuse_together(given_options(context), "--cluster", NOT_ON_A_CLUSTER)
        cluster.require()
    require_extra("pyarrow", "files", "flybloom predict")
    predictor = load_predictor(model, jobs)
    _require_method(predictor, "predict_proba", "--probabilities", is_wanted=probabilities)
    if scores and hasattr(predictor, "leave_one_out_predict"):
        msg = f"a {type(predictor).__name__} predicts numbers, which follow from nothing else. Leave it out."
        raise typer.BadParameter(msg, param_hint="--scores")
    blocks = blocks_for(
        predictor, source, target, reading, id_column=id_column,
        incomplete="refuse" if strict else "mark",
    )  # fmt: skip
    check_output(output, blocks, model)
    look_at(blocks)

    from flybloom.cli.predictions import Predictions, without_formulas, write_tables  # noqa: PLC0415 - heavy

    watch = Stopwatch()
    made = Predictions(predictor, probabilities=probabilities, scores=scores, id_name=id_column)
    tables = _here(made, blocks) if cluster_address is None else cluster.tables(made, blocks, cluster_address)
    write_tables(output, map(without_formulas, tables) if safe_csv else tables)
    made.scored.tell("their predictions are empty")
    if output is not None:
        facts = {**made.scored.facts(), **watch.facts(made.scored.n_rows)}
        print_result({"predictions": str(output), **facts}, as_json=json)


def _here(made: Any, blocks: Blocks) -> Iterator[Any]:
    """Yield the table of each block, and show progress."""
    with progress(blocks.n_rows()) as on_progress:
        for block in blocks:
            with blaming(block.where):
                table = made.of(block)
            yield table
            on_progress("predicting", len(block))
    if made.scored.n_rows == 0:
        yield made.empty()


def _require_method(model: Any, method: str, option: str, *, is_wanted: bool) -> None:
    """Raise an error for an option that the model does not support."""
    if is_wanted and not hasattr(model, method):
        msg = f"a {type(model).__name__} has none. Use --scores, or train with --kind classes or pairs."
        raise typer.BadParameter(msg, param_hint=option)
