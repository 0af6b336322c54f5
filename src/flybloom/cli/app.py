"""The application: finds the commands."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Annotated

import typer

import flybloom
from flybloom.cli import commands, errors
from flybloom.cli.reading import with_reading_options

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


def _add_commands() -> None:
    """Add the function `command` of each file in `commands`, under the name of the file."""
    for module in iter_modules(commands.__path__):
        command = import_module(f"{commands.__name__}.{module.name}").command
        app.command(module.name.replace("_", "-"))(errors.reporting_errors(with_reading_options(command)))


_add_commands()
