"""The application, which collects the commands."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from importlib import import_module
from pkgutil import iter_modules
from typing import Annotated, Any

import typer

import flybloom
from flybloom.cli import commands, errors

app = typer.Typer(
    no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None,
    help="Learn, predict, merge and forget with Fly Bloom Filters.",
)  # fmt: skip


def _print_version(is_wanted: bool) -> None:
    """Print the version and end."""
    if is_wanted:
        typer.echo(f"flybloom {flybloom.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[  # noqa: ARG001 - used by its callback
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
) -> None:
    """Learn, predict, merge and forget with Fly Bloom Filters."""
    errors.shows_tracebacks = debug


def with_reading_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace a command's parameter of options for reading by an option for each field."""
    signature = inspect.signature(command, eval_str=True)
    holder = next((name for name, one in signature.parameters.items() if is_dataclass(one.annotation)), None)
    if holder is None:
        return command
    kind = signature.parameters[holder].annotation
    added = list(inspect.signature(kind, eval_str=True).parameters.values())
    parameters = [
        parameter
        for one in signature.parameters.values()
        for parameter in (added if one.name == holder else [one])
    ]  # fmt: skip

    @wraps(command)
    def run(**options: Any) -> None:
        own = {field.name: options.pop(field.name) for field in fields(kind)}
        command(**options, **{holder: kind(**own)})

    run.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters]
    )
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    del run.__wrapped__
    return run


def _add_commands() -> None:
    """Register the function `command` of each file in `commands`."""
    for module in iter_modules(commands.__path__):
        command = import_module(f"{commands.__name__}.{module.name}").command
        app.command(module.name.replace("_", "-"))(errors.reporting_errors(with_reading_options(command)))


_add_commands()
