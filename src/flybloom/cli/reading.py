"""Options that say how files are read, shared by all commands that read any: a parameter of type `Reading` has them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Annotated, Any

import typer

TAB = ("tab", "\\t")


@dataclass(frozen=True)
class Reading:
    """How files are read; None where that is to be found out."""

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

    def text_options(self) -> dict[str, Any]:
        """Return what was given that concerns text files."""
        delimiter = "\t" if self.delimiter in TAB else self.delimiter
        given = {"file_encoding": self.file_encoding, "delimiter": delimiter, "decimal": self.decimal}
        return {name: value for name, value in given.items() if value is not None}


AS_FOUND = Reading()


def with_reading_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for each field of `Reading`, instead of the parameter that has this type."""
    signature = inspect.signature(command, eval_str=True)
    holder = next((name for name, one in signature.parameters.items() if one.annotation is Reading), None)
    if holder is None:
        return command
    added = list(inspect.signature(Reading, eval_str=True).parameters.values())
    parameters = [
        parameter
        for one in signature.parameters.values()
        for parameter in (added if one.name == holder else [one])
    ]  # fmt: skip

    @wraps(command)
    def run(**options: Any) -> None:
        own = {field.name: options.pop(field.name) for field in fields(Reading)}
        command(**options, **{holder: Reading(**own)})

    run.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters]
    )
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    del run.__wrapped__
    return run
