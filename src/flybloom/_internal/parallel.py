"""Threads over blocks of rows; kernels release the GIL, so this is all that is needed."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from joblib import effective_n_jobs

VALUES_PER_BLOCK = 2**20  # bounds the scaled copy of a block
MOST_ROWS = 1024
KERNEL_ROWS = 64  # rows that a kernel hashes together


def row_blocks(n_rows: int, n_columns: int, n_threads: int = 1) -> list[slice]:
    """Cut rows into slices of bounded size, at least four for each thread where there are enough rows."""
    most = min(MOST_ROWS, VALUES_PER_BLOCK // max(n_columns, 1))
    if n_threads > 1:
        most = min(most, n_rows // (4 * n_threads))
    n = max(KERNEL_ROWS, most // KERNEL_ROWS * KERNEL_ROWS)
    return [slice(begin, min(begin + n, n_rows)) for begin in range(0, n_rows, n)]


def for_each_block(work: Callable[[slice], None], n_rows: int, n_columns: int, n_jobs: int | None) -> None:
    """Call `work` with every block of rows, on `n_jobs` threads."""
    n_threads = 1
    if n_rows > KERNEL_ROWS or n_jobs is not None:  # joblib takes longer to ask than a row to score
        n_threads = min(effective_n_jobs(n_jobs), -(-n_rows // KERNEL_ROWS))
    blocks = iter(row_blocks(n_rows, n_columns, n_threads))
    if n_threads <= 1:
        _work_off(work, blocks)
    else:
        # joblib's own pool of threads takes some 50 ms to start and stop, as long as many a call
        with ThreadPoolExecutor(n_threads) as pool:
            for done in [pool.submit(_work_off, work, blocks) for _ in range(n_threads)]:
                done.result()


def _work_off(work: Callable[[slice], None], blocks: Iterator[slice]) -> None:
    """Take block after block until none is left; an iterator over a list may be shared by threads."""
    for block in blocks:
        work(block)
