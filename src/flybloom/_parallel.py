"""Threads over blocks of rows; kernels release the GIL, so this is all that is needed."""

from collections.abc import Callable, Iterator

from joblib import Parallel, delayed, effective_n_jobs

VALUES_PER_BLOCK = 2**21  # bounds the scaled copy of a block
MOST_ROWS = 4096
KERNEL_ROWS = 64  # rows that a kernel hashes together


def row_blocks(n_rows: int, n_columns: int, n_jobs: int = 1) -> Iterator[slice]:
    """Cut rows into slices of bounded size, at least four for each job where there are enough rows."""
    n = min(MOST_ROWS, VALUES_PER_BLOCK // max(n_columns, 1), -(-n_rows // (4 * n_jobs)) if n_jobs > 1 else n_rows)
    n = max(KERNEL_ROWS, -(-n // KERNEL_ROWS) * KERNEL_ROWS)
    for begin in range(0, n_rows, n):
        yield slice(begin, min(begin + n, n_rows))


def for_each_block(work: Callable[[slice], None], n_rows: int, n_columns: int, n_jobs: int | None) -> None:
    """Call `work` with every block of rows, on `n_jobs` threads."""
    n_threads = min(effective_n_jobs(n_jobs), -(-n_rows // KERNEL_ROWS))
    if n_threads <= 1:
        for block in row_blocks(n_rows, n_columns):
            work(block)
    else:
        blocks = row_blocks(n_rows, n_columns, n_threads)
        Parallel(n_jobs=n_threads, backend="threading")(delayed(work)(block) for block in blocks)
