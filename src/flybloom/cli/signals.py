"""Ctrl-C and SIGTERM: at once, or, where a checkpoint is to be left, between two blocks."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import NoReturn

WAITING = b"Stopping after this block, to leave a checkpoint. Once more to stop at once.\n"


class Terminated(KeyboardInterrupt):
    """SIGTERM has come; whoever is careful about Ctrl-C is careful about it as well."""


def raise_at_sigterm() -> None:
    """Let SIGTERM unwind the program as Ctrl-C does, so that nothing half is left behind."""
    signal.signal(signal.SIGTERM, lambda number, _frame: _raise(number))


@contextmanager
def stopping_between_blocks() -> Iterator[Callable[[], None]]:
    """Let signals wait; give a function that raises them, to be called where stopping is fine."""
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
    """Raise what a signal means."""
    if number == signal.SIGTERM:
        raise Terminated
    raise KeyboardInterrupt
