"""The application: finds the commands, and turns the library's errors into a sentence and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pkgutil import iter_modules
from typing import Annotated, Any

import typer

import flybloom
from flybloom.cli import commands
from flybloom.exceptions import (
    CheckpointError,
    IncompatibleHashError,
    ModelFileError,
    NeverLearnedError,
    SourceError,
)

EXIT_CODES: dict[type[BaseException], int] = {  # the first that fits; documented in docs/command-line.md
    KeyboardInterrupt: 130,
    SourceError: 3,
    ModelFileError: 4,
    IncompatibleHashError: 5,
    NeverLearnedError: 5,
    CheckpointError: 6,
    ValueError: 1,
    OSError: 1,
    ModuleNotFoundError: 1,
    MemoryError: 1,
}

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None,
    help="Learn, predict, merge and forget with Fly Bloom Filters.",
)  # fmt: skip
_shows_tracebacks = False


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
    global _shows_tracebacks  # noqa: PLW0603 - one process, one command line
    _shows_tracebacks = debug


def reporting_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Make a command end with the library's sentence on stderr, and with an exit code, instead of a traceback."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except BrokenPipeError:  # whoever read our output has enough
            sys.stderr.close()
            raise typer.Exit(1) from None
        except tuple(EXIT_CODES) as error:
            if _shows_tracebacks:
                raise
            typer.echo(_sentence(error), err=True)
            raise typer.Exit(next(code for kind, code in EXIT_CODES.items() if isinstance(error, kind))) from None

    return run


def _sentence(error: BaseException) -> str:
    """Return what is said of an error."""
    if isinstance(error, KeyboardInterrupt):
        return "Interrupted."
    return f"Error: {str(error) or type(error).__name__}"


def _add_commands() -> None:
    """Add the function `command` of each file in `commands`, under the name of the file."""
    for module in iter_modules(commands.__path__):
        command = import_module(f"{commands.__name__}.{module.name}").command
        app.command(module.name.replace("_", "-"))(reporting_errors(command))


_add_commands()
