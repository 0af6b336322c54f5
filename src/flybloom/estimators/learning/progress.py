"""Progress bars for terminals and notebooks. Needs ``flybloom[notebook]``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from flybloom._internal.watched import COMPILING, is_notebook, is_watched, telling_of_compilation
from flybloom.exceptions import require_extra

__all__ = ["progress"]


@contextmanager
def progress(total: int | None = None) -> Iterator[Callable[[str, int], None]]:
    """Show a progress bar for each stage of training; pass the result to `flybloom.train` as `on_progress`.

    Nothing is shown if standard error is neither a terminal nor a notebook.

    Parameters
    ----------
    total : int or None, default=None
        Number of rows; None if unknown. Later stages know it from the first.

    Yields
    ------
    callable
        Takes the name of a stage and the number of further rows.

    Examples
    --------
    >>> import numpy as np, flybloom
    >>> rows = np.random.default_rng(0).normal(size=(500, 4))
    >>> model = flybloom.FlyBloomClassifier(1024, random_state=0)
    >>> with flybloom.progress(len(rows)) as on_progress:
    ...     _ = flybloom.train(model, (rows, rows[:, 0] > 0), "label", on_progress=on_progress)
    >>> int(model.class_count_.sum())
    500
    """
    if not is_watched():
        yield lambda _stage, _rows: None
        return
    for module in ("rich", "ipywidgets") if is_notebook() else ("rich",):
        require_extra(module, "notebook", "A bar of progress")
    from rich.console import Console  # noqa: PLC0415 - only who looks waits for it
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    class Rate(ProgressColumn):
        """Rows, and rows per second."""

        def render(self, task: Task) -> Text:
            """Return what is shown."""
            speed = task.finished_speed or task.speed  # unknown after a single block
            speed = speed or (task.completed / task.elapsed if task.elapsed else None)
            rate = f", {speed:,.0f} rows/s" if speed else ""
            return Text(f"{int(task.completed):,} rows{rate}")

    bars: dict[str, Any] = {}
    columns = TextColumn("{task.description}"), BarColumn(), Rate(), TimeRemainingColumn()
    console = Console(stderr=not is_notebook())  # a notebook shows what is displayed, not what is written
    with Progress(*columns, console=console) as display, _showing_compilation(display):

        def on_progress(stage: str, rows: int) -> None:
            nonlocal total
            if stage not in bars:
                for before in bars.values():  # the first pass has counted the rows for the second
                    total = total or int(display.tasks[before].completed)
                bars[stage] = display.add_task(stage, total=total)
            display.advance(bars[stage], rows)

        yield on_progress


@contextmanager
def _showing_compilation(display: Any) -> Iterator[None]:
    """Show a message while kernels are compiled."""
    line = display.add_task(COMPILING, total=None, visible=False)

    def tell(is_compiling: bool) -> None:
        display.update(line, visible=is_compiling)
        display.refresh()

    with telling_of_compilation(tell):
        yield
