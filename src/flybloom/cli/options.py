"""Options that several commands share, and how their values are spelled."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


def size(text: str) -> int | float | str:
    """Return a size: ``20x`` is a multiple, ``10%`` a share, ``64`` a number, ``auto`` the default."""
    try:
        if text == "auto":
            return text
        if text.endswith("x"):
            return float(text[:-1])
        if text.endswith("%"):
            return float(text[:-1]) / 100
        return int(text)
    except ValueError:
        msg = f"expected a number such as 64, a multiple such as 20x, a share such as 10%, or auto. Got {text!r}."
        raise typer.BadParameter(msg) from None


def names(text: str | None) -> list[str] | None:
    """Return names that are separated by commas."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


class Scaling(StrEnum):
    """An older word for a part of the encoding."""

    NONE = "none"
    CENTER = "center"
    STANDARD = "standard"


def given_options(context: typer.Context) -> set[str]:
    """Return the names of the parameters that were given on the command line, even if as their defaults."""
    return {
        name
        for name in context.params
        if (source := context.get_parameter_source(name)) is not None and source.name == "COMMANDLINE"
    }


def refuse_together(given: set[str], option: str, others: tuple[str, ...], remedy: str = "Leave them out.") -> None:
    """Refuse options that would be ignored beside another one."""
    ignored = [f"--{name.replace('_', '-')}" for name in others if name in given]
    if ignored:
        msg = f"{option} does not go with {', '.join(ignored)}. {remedy}"
        raise typer.BadParameter(msg)


def require_target(target: str | None, *, is_needed: bool) -> None:
    """Refuse to go on without labels where they are needed, and with labels that would be ignored."""
    if is_needed and target is None:
        msg = "this model learns from labels. Expected --target, the column that holds them."
        raise typer.BadParameter(msg)
    if target is not None and not is_needed:
        msg = (
            "this model learns without labels. Leave out --target, and name the columns to learn from with --features."
        )
        raise typer.BadParameter(msg)


SOURCE_HELP = (
    "A file, folder or pattern of Parquet, CSV, TSV, Arrow, NPY, NPZ or svmlight; - for CSV on standard input."
)

Source = Annotated[str, typer.Argument(help=SOURCE_HELP, metavar="SOURCE", show_default=False)]
Model = Annotated[Path, typer.Argument(help="A model file.", metavar="MODEL", show_default=False)]
Target = Annotated[
    str, typer.Option("--target", "-t", help="Column of the labels; its number in NPY, its array in NPZ files.")
]
TargetIfAny = Annotated[
    str | None,
    typer.Option("--target", "-t", help="Column of the labels; not for novelty, which learns without."),
]
Output = Annotated[Path, typer.Option("--output", "-o", help="Where to save the model.", show_default=False)]
OutputOrSame = Annotated[
    Path | None, typer.Option("--output", "-o", help="Where to save the model; without it, MODEL is replaced.")
]
EncodingOption = Annotated[
    str,
    typer.Option(
        "--encoding",
        help="What the hash sees: auto, none (the paper), or standard, bins, relevance, rotation=50, clip=2.5, "
        "grid=28x28, with + between them.",
    ),
]
ScalingOption = Annotated[
    Scaling | None, typer.Option("--scaling", help="In place of --encoding: columns centred, or standardised as well.")
]
ClassWeight = Annotated[
    str | None, typer.Option("--class-weight", help="balanced: small classes count as much as large ones.")
]
BlockRows = Annotated[int, typer.Option("--block-rows", min=1, help="How many rows to read at once, at most.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Number of threads; -1 for all processors.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

DEFAULT_BLOCK_ROWS = 32768
