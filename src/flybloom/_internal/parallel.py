"""Threads over blocks of rows (kernels release the GIL), and uninterruptible work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from threading import Event, Lock, Thread, current_thread, main_thread
from typing import Any, TypeVar

VALUES_PER_BLOCK = 2**20  # bounds the scaled copy of a block
MAX_ROWS = 1024
KERNEL_ROWS = 64  # rows that a kernel hashes together

Item = TypeVar("Item")
T = TypeVar("T")


def for_each_block(work: Callable[[slice], None], n_rows: int, n_columns: int, n_jobs: int | None) -> None:
    """Call `work` with every block of rows, on `n_jobs` threads.

    Blocks have a bounded number of rows, small enough for four blocks per thread if possible.
    """
    n_threads = 1
    if n_jobs != 1 and (n_rows > KERNEL_ROWS or n_jobs is not None):  # joblib takes longer to ask than a row to score
        from joblib import effective_n_jobs  # noqa: PLC0415 - those who only predict need none

        n_threads = min(effective_n_jobs(n_jobs), -(-n_rows // KERNEL_ROWS))
    most = min(MAX_ROWS, VALUES_PER_BLOCK // max(n_columns, 1))
    if n_threads > 1:
        most = min(most, n_rows // (4 * n_threads))
    step = max(KERNEL_ROWS, most // KERNEL_ROWS * KERNEL_ROWS)
    if n_threads == 1:
        for begin in range(0, n_rows, step):
            work(slice(begin, min(begin + step, n_rows)))
        return
    with threads(n_threads) as run:
        run(work, [(slice(begin, min(begin + step, n_rows)),) for begin in range(0, n_rows, step)])


@contextmanager
def threads(n_threads: int) -> Iterator[Callable[..., list[Any]]]:
    """Yield a function that maps another over tuples of arguments, on `n_jobs` threads.

    The calling thread is one of them. The pool of joblib takes about 50 ms to start and stop.
    """
    if n_threads <= 1:
        yield lambda function, arguments: [function(*given) for given in arguments]
        return

    def run(function: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> list[Any]:
        results: list[Any] = [None] * len(arguments)
        left = iter(range(len(arguments)))  # an iterator of a range may be shared by threads

        def work_off() -> None:
            for at in left:
                results[at] = function(*arguments[at])

        others = [pool.submit(work_off) for _ in range(min(n_threads, len(arguments)) - 1)]
        try:
            work_off()
        finally:
            wait(others)
        for other in others:
            other.result()
        return results

    with ThreadPoolExecutor(n_threads - 1) as pool:
        yield run


def _first(error: BaseException) -> BaseException:
    """Return the interrupt if waiting for a thread raised another error because of it."""
    while isinstance(error, RuntimeError) and error.__context__ is not None:
        error = error.__context__
    return error


def uninterrupted(work: Callable[[], T]) -> T:
    """Return the result of `work`; an interrupt is raised after it has finished.

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


def ahead(items: Iterator[Item], n_jobs: int | None) -> Iterator[Item]:
    """Yield items, prefetching the next one on a thread unless there is one job."""
    from joblib import effective_n_jobs  # noqa: PLC0415 - those who only predict need none

    if effective_n_jobs(n_jobs) == 1:
        yield from items
        return
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = pool.submit(next, items, None)
            yield item
