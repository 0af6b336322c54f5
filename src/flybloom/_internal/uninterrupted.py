"""Work that must not stop halfway: done in a thread of its own, which no signal reaches."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Lock, Thread, current_thread, main_thread
from typing import TypeVar

T = TypeVar("T")


def _first(error: BaseException) -> BaseException:
    """Return the interrupt itself, where Python's own waiting was confused by it and raised something else."""
    while isinstance(error, RuntimeError) and error.__context__ is not None:
        error = error.__context__
    return error


def uninterrupted(work: Callable[[], T]) -> T:
    """Return what `work` returns; an interrupt that comes meanwhile is raised when it has ended.

    Python runs the handlers of signals in the main thread only. So the main thread waits while another one works, and
    continues waiting whatever comes.
    """
    if current_thread() is not main_thread():
        return work()
    results: list[T] = []
    failures: list[BaseException] = []
    done, once = Event(), Lock()

    def run() -> None:
        if not once.acquire(blocking=False):  # an interrupt while a thread starts leaves open whether it did
            return
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - handed on
            failures.append(error)
        finally:
            done.set()

    interruption: BaseException | None = None
    while not done.is_set():
        try:
            Thread(target=run, daemon=True).start()
            done.wait()
        except BaseException as error:  # noqa: BLE001 - raised below
            interruption = _first(error) if interruption is None else interruption
    if failures:
        raise failures[0]
    if interruption is not None:
        raise interruption
    return results[0]
