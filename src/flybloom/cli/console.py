"""Output: progress on stderr if it is a terminal; results on stdout, as text or JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from flybloom._internal.watched import COMPILING, telling_of_compilation


@contextmanager
def work_without_blocks() -> Iterator[None]:
    """Show on terminals that kernels are being compiled, for work without a progress bar."""
    if not sys.stderr.isatty():
        yield
        return
    said: list[bool] = []

    def tell(is_compiling: bool) -> None:
        if is_compiling and not said:
            said.append(True)
            typer.echo(f"{COMPILING} ...", err=True)

    with telling_of_compilation(tell):
        yield


@contextmanager
def count_progress(title: str) -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function that updates a progress bar of pieces of work."""
    if not sys.stderr.isatty():
        yield lambda _done, _n_done, _total: None
        return
    from rich.console import Console  # noqa: PLC0415 - only terminals wait for it
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True)) as display:
        bar = display.add_task(title, total=None)

        def on_progress(done: str, n_done: int, total: int) -> None:
            display.update(bar, description=f"{title}: {done}", completed=n_done, total=total)

        yield on_progress


def note(text: str) -> None:
    """Print a note on stderr."""
    typer.echo(f"Note: {text}", err=True)


def print_result(result: dict[str, Any], *, as_json: bool) -> None:
    """Print facts, one per line or as JSON."""
    if as_json:
        typer.echo(json.dumps(result, indent=1))
        return
    facts = {name.replace("_", " "): value for name, value in result.items() if not isinstance(value, dict | list)}
    width = max(map(len, facts)) + 2
    for name, value in facts.items():
        typer.echo(f"{name:{width}}{_readable(value)}")


def print_table(header: list[str], rows: list[list[Any]]) -> None:
    """Print a table with right-aligned numbers."""
    cells = [header, *([_readable(value) for value in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    for row in cells:
        first, *others = (
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        typer.echo("  ".join([first, *others]).rstrip())


class Stopwatch:
    """Rows, seconds, and rows per second."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    def facts(self, n_rows: int | None = None) -> dict[str, Any]:
        """Return facts about the work done so far."""
        seconds = time.perf_counter() - self._start
        if n_rows is None:
            return {"seconds": round(seconds, 3)}
        return {"rows": n_rows, "seconds": round(seconds, 3), "rows_per_second": round(n_rows / max(seconds, 1e-9))}


def _readable(value: Any) -> str:
    """Format a value for people."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "-"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4f}"
    return str(value)
