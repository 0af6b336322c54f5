"""flybloom predict: write predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flybloom import cli
from flybloom._internal.atomic_write import check_writable
from flybloom.cli import options
from flybloom.cli.console import Stopwatch, print_result
from flybloom.cli.models import blocks_for, load_predictor
from flybloom.cli.sources import look_at
from flybloom.exceptions import require_extra

KINDS = (".csv", ".parquet", ".pq")
NOT_ON_A_CLUSTER = ("block_rows", "jobs")


def command(
    context: typer.Context,
    model: options.Model,
    source: options.Source,
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
    strict: options.Strict = False,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="A column to leave out, if MODEL knows no names of features.")
    ] = None,
    cluster: options.Cluster = None,
    reading: options.Reading = options.AS_FOUND,
    jobs: options.Jobs = 1,
    json: options.Json = False,
) -> None:
    """Write predictions of MODEL for each row of SOURCE.

    Values may be missing. Rows with infinite or non-numeric values get an empty prediction and are counted on standard
    error.
    """
    _check_output(output, json=json, safe_csv=safe_csv)
    if cluster is not None:
        options.check_cluster(options.given_options(context), NOT_ON_A_CLUSTER)
    require_extra("pyarrow", "files", "flybloom predict")
    predictor = load_predictor(model, jobs)
    if probabilities and not hasattr(predictor, "predict_proba"):
        msg = f"a {type(predictor).__name__} has none. Use --scores, or train with --kind classes or pairs."
        raise typer.BadParameter(msg, param_hint="--probabilities")
    if scores and hasattr(predictor, "leave_one_out_predict"):
        msg = f"a {type(predictor).__name__} predicts numbers, which follow from nothing else. Leave it out."
        raise typer.BadParameter(msg, param_hint="--scores")
    blocks = blocks_for(
        predictor, source, target, reading, id_column=id_column,
        incomplete="refuse" if strict else "mark",
    )  # fmt: skip
    if output is not None:
        check_writable(output, [model])
    look_at(blocks, output)

    from flybloom.cli import predictions  # noqa: PLC0415 - heavy

    watch = Stopwatch()
    made = predictions.Predictions(predictor, probabilities=probabilities, scores=scores, id_name=id_column)
    if cluster is None:
        tables = predictions.tables_here(made, blocks)
    else:
        tables = predictions.tables_of_cluster(made, blocks, cluster)
    predictions.write_tables(output, map(predictions.without_formulas, tables) if safe_csv else tables)
    made.scored.tell("their predictions are empty")
    if output is not None:
        facts = {**made.scored.facts(), **watch.facts(made.scored.n_rows)}
        print_result({"predictions": str(output), **facts}, as_json=json)


def _check_output(output: Path | None, *, json: bool, safe_csv: bool) -> None:
    """Raise an error if the predictions cannot be written as wanted."""
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
