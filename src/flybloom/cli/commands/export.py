"""flybloom export: write a model for prediction only."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from flybloom._internal.atomic_write import atomic_write, check_writable
from flybloom.cli import options
from flybloom.cli.console import print_result
from flybloom.cli.models import load_any, save_model
from flybloom.exceptions import ModelFileError, require_extra


class Format(StrEnum):
    """Format of the file."""

    FROZEN = "frozen"
    ONNX = "onnx"


class InputType(StrEnum):
    """Input type of an ONNX graph."""

    FLOAT64 = "float64"
    FLOAT32 = "float32"
    INT64 = "int64"


def command(
    model: options.Model,
    output: options.Output,
    format: Annotated[  # noqa: A002 - the name of the option
        Format,
        typer.Option("--format", help="frozen: for flybloom and its predictor; onnx: for any runtime."),
    ] = Format.FROZEN,
    input_type: Annotated[
        InputType, typer.Option(help="Type of the rows that an ONNX graph takes.")
    ] = InputType.FLOAT64,
    json: options.Json = False,
) -> None:
    """Write a small file with the same predictions as MODEL.

    It contains weights without counts, so it can neither learn nor forget. MODEL is not changed.
    """
    check_writable(output, [model])
    if format is Format.ONNX:
        require_extra("onnx", "onnx", "flybloom export --format onnx")
    loaded, _ = load_any(model)
    if format is Format.ONNX:
        _write_onnx(loaded, model, output, input_type)
    elif hasattr(loaded, "freeze"):
        save_model(loaded.freeze(), output)
    else:
        msg = (
            f"{model} is a {type(loaded).__name__}, which needs its counts to predict. "
            "Expected a model of `flybloom train`. "
            "With --format onnx, other classifiers can be written."
        )
        raise ModelFileError(msg)
    facts: dict[str, Any] = {"model": str(output)}
    if hasattr(loaded, "classes_"):
        facts["classes"] = loaded.classes_.size
    print_result({**facts, "bytes_before": model.stat().st_size, "bytes": output.stat().st_size}, as_json=json)


def _write_onnx(loaded: Any, model: Path, output: Path, input_type: InputType) -> None:
    """Write a graph."""
    from flybloom.export import to_onnx  # noqa: PLC0415 - heavy

    try:
        graph = to_onnx(loaded, dtype=input_type.value)
    except (TypeError, ValueError) as error:
        msg = f"{model} cannot be written as ONNX. {error}"
        raise ModelFileError(msg) from error
    atomic_write(output, graph.SerializeToString())
