"""Shared options and the syntax of their values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer

from flybloom.exceptions import require_extra


def size(text: str, option: str, *, takes_multiple: bool = False) -> int | float | str:
    """Parse a size: ``64``, ``auto``, a multiple ``20x`` if allowed, or a share ``10%``."""
    spelled = "a multiple such as 20x" if takes_multiple else "a share such as 10%"
    unit = "x" if takes_multiple else "%"
    try:
        if text == "auto":
            return text
        value: float = float(text[:-1]) / (1 if takes_multiple else 100) if text.endswith(unit) else int(text)
        if value > 0 and (takes_multiple or isinstance(value, int) or value < 1) and isfinite(value):
            return value
    except ValueError:
        pass
    msg = f"expected a number such as 64, {spelled}, or auto. Got {text!r}."
    raise typer.BadParameter(msg, param_hint=option) from None


def names(text: str | None) -> list[str] | None:
    """Parse names separated by commas."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


class Kind(StrEnum):
    """Kind of model."""

    CLASSES = "classes"
    PAIRS = "pairs"
    REGRESSION = "regression"
    NOVELTY = "novelty"


class LabelKind(StrEnum):
    """Type of labels in text files."""

    AUTO = "auto"
    TEXT = "text"
    NUMBER = "number"


class ReadOut(StrEnum):
    """Read-out of labels or novelty."""

    AUTO = "auto"
    FILTER = "filter"
    BAYES = "bayes"
    LEVERAGE = "leverage"


class Weight(StrEnum):
    """Class weights."""

    BALANCED = "balanced"


def given_options(context: typer.Context) -> set[str]:
    """Return the parameters given on the command line."""
    return {
        name
        for name in context.params
        if (source := context.get_parameter_source(name)) is not None and source.name == "COMMANDLINE"
    }


def refuse_options(given: set[str], others: tuple[str, ...], message: str) -> None:
    """Raise an error with a message about options that were given and must not be."""
    wrong = [f"--{name.replace('_', '-')}" for name in others if name in given]
    if wrong:
        raise typer.BadParameter(message.format(", ".join(wrong)))


def check_cluster(given: set[str], others: tuple[str, ...]) -> None:
    """Check that Dask is installed, and that no option was given that is meaningless on a cluster."""
    refuse_options(given, others, "--cluster does not go with {}. Leave them out.")
    for module in ("dask", "distributed"):
        require_extra(module, "dask", "--cluster")


def require_target(target: str | None, *, is_needed: bool) -> None:
    """Check that labels are given if and only if they are needed."""
    if is_needed and target is None:
        msg = "this model learns from labels. Expected --target, the column that holds them."
        raise typer.BadParameter(msg)
    if target is not None and not is_needed:
        msg = "this model learns without labels. Leave out --target; --exclude leaves out a column."
        raise typer.BadParameter(msg)


def with_categories(encoding: str, most: int | None) -> str:
    """Add a number of categories to an encoding."""
    return encoding if most is None else f"{encoding}+categories={most}"


def _not_zero(number: int) -> int:
    """Raise an error for zero threads."""
    if number == 0:
        msg = "expected a number of threads, or -1 for all processors. Got 0."
        raise typer.BadParameter(msg)
    return number


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
    typer.Option("--target", "-t", help="Column of the labels; not for --kind novelty, which learns without."),
]
Output = Annotated[Path, typer.Option("--output", "-o", help="Where to save the model.", show_default=False)]
OutputOrSame = Annotated[
    Path | None, typer.Option("--output", "-o", help="Where to save the model; without it, MODEL is replaced.")
]
EncodingOption = Annotated[
    str,
    typer.Option(
        "--encoding",
        help="What the hash sees: auto, none (the paper), or standard, fill, bins, relevance, rotation=50, clip=2.5, "
        "grid=28x28, with + between them.",
    ),
]
MaxCategories = Annotated[
    int | None,
    typer.Option(
        "--max-categories", min=2, help="How many columns a column of categories becomes, at most; rare ones share one."
    ),
]
ClassWeight = Annotated[
    Weight | None, typer.Option("--class-weight", help="balanced: small classes count as much as large ones.")
]
Features = Annotated[
    str | None, typer.Option(help="Columns of the features, separated by commas; without it, all but the target.")
]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", callback=_not_zero, help="Number of threads; -1 for all processors.")
]
Strict = Annotated[
    bool, typer.Option("--strict", help="End at a row that cannot be scored, instead of going on without it.")
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        help="Work on a Dask cluster: the address of its scheduler, or local for one on this machine. "
        "All workers must be able to read the files.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

TAB = ("tab", "\\t")


@dataclass(frozen=True)
class Reading:
    """Options for reading files, None to detect; shared by all commands that read files."""

    exclude: Annotated[
        str | None, typer.Option("--exclude", help="Columns that are no features, separated by commas.")
    ] = None
    categories: Annotated[
        str | None,
        typer.Option("--categories", help="Columns that are categories though they hold numbers or dates, by commas."),
    ] = None
    file_encoding: Annotated[
        str | None, typer.Option("--file-encoding", help="Encoding of text files, such as cp1252; guessed without it.")
    ] = None
    delimiter: Annotated[
        str | None, typer.Option("--delimiter", help="What separates values: a character, or tab; guessed without it.")
    ] = None
    decimal: Annotated[
        str | None, typer.Option("--decimal", help="Decimal point of text files, . or ,; guessed without it.")
    ] = None

    block_rows: Annotated[int, typer.Option("--block-rows", min=1, help="Maximum number of rows to read at once.")] = (
        32768
    )

    def text_options(self) -> dict[str, Any]:
        """Return the given options for text files."""
        delimiter = "\t" if self.delimiter in TAB else self.delimiter
        given = {"file_encoding": self.file_encoding, "delimiter": delimiter, "decimal": self.decimal}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class LabelReading(Reading):
    """Options for reading files with labels."""

    label_type: Annotated[
        LabelKind,
        typer.Option("--label-type", help="text: each spelling of a label in text files is a label of its own."),
    ] = LabelKind.AUTO


AS_FOUND = LabelReading()
