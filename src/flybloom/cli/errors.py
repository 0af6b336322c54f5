"""Error handling: one sentence on stderr and an exit code."""

from __future__ import annotations

import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from threading import current_thread, main_thread
from types import FrameType
from typing import Any, NoReturn

import typer

from flybloom.exceptions import (
    CheckpointError,
    IncompatibleHashError,
    ModelFileError,
    NeverLearnedError,
    PrivacyError,
    ReceiptError,
    SourceError,
)


class Terminated(KeyboardInterrupt):
    """SIGTERM was received; a KeyboardInterrupt, so that it is handled like Ctrl-C."""


EXIT_CODES: dict[type[BaseException], int] = {  # the first that fits; documented in docs/command-line.md
    Terminated: 143,
    KeyboardInterrupt: 130,
    BrokenPipeError: 141,
    SourceError: 3,
    ModelFileError: 4,
    IncompatibleHashError: 5,
    NeverLearnedError: 5,
    PrivacyError: 5,
    ReceiptError: 5,
    CheckpointError: 6,
    Exception: 1,
}
EXPECTED = (ValueError, OSError, ImportError, MemoryError)  # whose words are meant for whoever reads them
OURS = tuple(kind for kind in EXIT_CODES if issubclass(kind, ValueError))  # which say themselves where they come from
USAGE_ERROR: Any = typer.BadParameter.mro()[2]  # ClickException, from wherever typer has it
PARAMETER = re.compile(r"\b(file_encoding|label_type|single_pass|id_column)\b(=(?:True|'([^']*)'))?")
IN_BRACKETS = re.compile(r"\((delimiter|decimal|delimiter, decimal|exclude|kinds)\)")
WRONG = re.compile(r"The '(\w+)' parameter of \w+ must be (.*)", re.DOTALL)
KIND = re.compile(r"kinds=\{'([^']*)': 'category'\}")
NUMPY_TEXT = re.compile(r"np\.str_\(('[^']*')\)")
LONG = re.compile(r"'([^']{100})[^']{60,}'")  # a value that a file should not have
WAITING = b"Stopping after this block, to leave a checkpoint. Once more to stop at once.\n"
shows_tracebacks = False


def reporting_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Report errors of a command as one sentence on stderr with an exit code."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
            sys.stdout.flush()
        except (USAGE_ERROR, typer.Exit, typer.Abort):
            raise
        except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001 - nobody shall see a traceback
            _give_up_output(error)
            if shows_tracebacks:
                typer.echo(traceback.format_exc().rstrip(), err=True)
            elif not isinstance(error, BrokenPipeError):  # whoever read our output has enough
                typer.echo(sentence(error), err=True)
            raise typer.Exit(next(code for kind, code in EXIT_CODES.items() if isinstance(error, kind))) from None

    return run


def sentence(error: BaseException) -> str:
    """Return the message for an error."""
    text = " ".join(str(error).split())
    if isinstance(error, KeyboardInterrupt):
        return text or ("Terminated." if isinstance(error, Terminated) else "Interrupted.")
    if isinstance(error, OSError) and error.strerror:
        named = "" if error.filename is None else f"{error.filename}: "
        return f"Error: {named}{error.strerror}."
    if isinstance(error, MemoryError) and not text:
        return "Error: not enough memory. Read fewer rows at once (--block-rows), or use fewer components."
    if isinstance(error, EXPECTED):
        return f"Error: {in_options(text) or type(error).__name__}"
    return (
        f"Error: {type(error).__name__}: {text or 'no more is known'}. This should not happen. "
        "Please report it with what `flybloom --debug COMMAND` prints."
    )


def in_options(text: str) -> str:
    """Replace parameters by options in a message of the library."""

    def option(found: re.Match[str]) -> str:
        return f"--{found[1].removesuffix('_column').replace('_', '-')} {found[3] or ''}".rstrip()

    text = IN_BRACKETS.sub(lambda found: f"(--{found[1]})".replace(", ", ", --").replace("kinds", "categories"), text)
    text = KIND.sub(r"--categories \1", text)
    text = LONG.sub(r"'\1...'", NUMPY_TEXT.sub(r"\1", text))
    return PARAMETER.sub(option, text.replace("single_pass=True, --single-pass", "--single-pass"))


@contextmanager
def usage_errors(options: dict[str, str], option: str | None = None) -> Iterator[None]:
    """Report invalid parameters as usage errors of their options, or of a given one."""
    try:
        yield
    except SourceError:
        raise
    except ValueError as error:
        found = WRONG.fullmatch(str(error))
        if found is None:
            raise typer.BadParameter(str(error), param_hint=option) from None
        named = f"{found[1]}: " if option else ""
        hint = option or options.get(found[1], f"--{found[1].replace('_', '-')}")
        msg = f"{named}expected {found[2]}"
        raise typer.BadParameter(msg, param_hint=hint) from None


@contextmanager
def blaming(where: str) -> Iterator[None]:
    """Add the position of rows to errors of the library, as SourceError."""
    try:
        yield
    except ValueError as error:
        if isinstance(error, OURS):
            raise
        msg = f"{where}: {error}"
        raise SourceError(msg) from error


def _give_up_output(error: BaseException) -> None:
    """Redirect stdout to the null device if it cannot be written."""
    if isinstance(error, OSError):
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            return
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)


def raise_at_sigterm() -> None:
    """Raise an exception on SIGTERM, so that cleanup runs as for Ctrl-C."""
    signal.signal(signal.SIGTERM, lambda number, _frame: _raise(number))


@contextmanager
def stopping_between_blocks() -> Iterator[Callable[[], None]]:
    """Defer signals; yield a function that raises pending ones between blocks."""
    if current_thread() is not main_thread():
        yield lambda: None
        return
    came: list[int] = []

    def remember(number: int, _frame: FrameType | None) -> None:
        came.append(number)
        if len(came) > 1:
            _raise(number)
        os.write(2, WAITING)

    def check() -> None:
        if came:
            _raise(came[0])

    before = {number: signal.signal(number, remember) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield check
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _raise(number: int) -> NoReturn:
    """Raise the exception for a signal."""
    if number == signal.SIGTERM:
        raise Terminated
    raise KeyboardInterrupt
