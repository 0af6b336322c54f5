"""Dask: collections as blocks of rows, and the sum of some work over all blocks.

A group of blocks is one task that loads its blocks in sequence, so a worker holds one block and one sum per thread.
Blocks whose graphs depend on each other (persisted ones, or ones that share a computation) are groups of their own.
"""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from functools import partial
from typing import Any, TypeVar
from uuid import uuid4

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed, delayed
from dask.diagnostics import ProgressBar
from dask.optimization import cull
from dask.system import CPU_COUNT

T = TypeVar("T")

GROUPS_PER_THREAD = 4  # more even out fast and slow workers, fewer have less to send
MAX_BLOCKS = 16  # what is learned again, at most, when a worker is lost in the middle of a group
FAN_IN = 4  # sums that are added at once; each is in memory then


def is_frame(collection: Any) -> bool:
    """Return whether this is a Dask dataframe or series, without importing pandas."""
    return hasattr(collection, "map_partitions") and hasattr(collection, "npartitions")


def check_collection(X: Any, local: str) -> Any:
    """Return the rows in blocks with all columns."""
    if is_frame(X) and X.ndim == 2:  # noqa: PLR2004
        return X
    if not isinstance(X, da.Array):
        msg = (
            f"X must be a Dask array or a Dask dataframe. Got {type(X).__name__} instead. "
            f"For data in memory, use {local}."
        )
        raise TypeError(msg)
    if X.ndim != 2:  # noqa: PLR2004
        msg = f"X must have two dimensions, rows and features. Got {X.ndim} instead. Reshape X, or add a dimension."
        raise ValueError(msg)
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


def sample_of(X: Any) -> Any:
    """Return zero rows with the declared column names and types."""
    if not is_frame(X):
        return np.empty((0, X.shape[1]), X.dtype)
    import pandas as pd  # noqa: PLC0415

    empty = [pd.Series([], name=name, dtype=dtype) for name, dtype in X.dtypes.items()]
    return pd.concat(empty, axis=1)


def split_off(X: Any, column: Any, name: str) -> tuple[Any, Any]:
    """Split a column given by name off X; return features and column."""
    if not isinstance(column, str):
        return X, column
    if not is_frame(X) or column not in X.columns:
        columns = f"the columns {list(X.columns)}" if is_frame(X) else "an array, which has no names,"
        msg = f"{name}={column!r} must name a column of X. Got {columns} instead. Pass a column of X, or the values."
        raise ValueError(msg)
    return X.drop(columns=column), X[column]


def blocks_of(X: Any, y: Any, sample_weight: Any) -> list[Any]:
    """Return the blocks of X with their labels and weights: functions that load them, or lists of delayed parts.

    Each function holds a small graph that Dask treats as a plain value. Blocks that depend on each other, or are
    persisted, have no such graph.
    """
    collections = [X]
    for name, values in (("y", y), ("sample_weight", sample_weight)):
        if values is not None:
            other = _column(values, X)
            n, n_others = (one.npartitions if is_frame(one) else one.numblocks[0] for one in (X, other))
            if n != n_others:
                msg = (
                    f"X and {name} must be cut into the same blocks. Got {n} and {n_others} blocks instead. "
                    "Take both from one dataframe, or call compute_chunk_sizes() on both."
                )
                raise ValueError(msg)
            collections.append(other)
    if all(map(is_frame, collections)):
        # one collection, because Dask may read several columns of a file in other blocks than a single one
        options = {"align_dataframes": False, "enforce_metadata": False}
        collections = [X.map_partitions(_together, *collections[1:], meta=("block", object), **options)]
    rows = [list(parts) for parts in zip(*(np.ravel(one.to_delayed()) for one in collections), strict=True)]
    return rows if _are_persisted(rows[0]) else _loaders(rows) or rows


def _column(values: Any, X: Any) -> Any:
    """Return labels or weights as a collection with the blocks of X."""
    if is_frame(values):
        return values if values.ndim == 1 or len(values.columns) != 1 else values[values.columns[0]]
    if not isinstance(values, da.Array):
        values = np.asarray(values)
    if values.ndim == 2 and values.shape[1] == 1:  # noqa: PLR2004
        values = values[:, 0]
    if not is_frame(X) and values.ndim == 1 and values.shape[0] == X.shape[0]:  # never so where sizes are unknown
        cut = (X.chunks[0],)
        return values.rechunk(cut) if isinstance(values, da.Array) else da.from_array(values, chunks=cut)
    return values if isinstance(values, da.Array) else da.from_array(values, chunks=-1)


def _together(*parts: Any) -> tuple[Any, ...]:
    """Return a block of a dataframe as rows, labels and optional weights."""
    return parts


def _are_persisted(parts: list[Delayed]) -> bool:
    """Return whether blocks are in the memory of a cluster."""
    if "distributed" not in sys.modules:
        return False
    from distributed import futures_of  # noqa: PLC0415

    return bool(futures_of(parts))


def _loaders(rows: list[list[Delayed]]) -> list[Any] | None:
    """Return a function that loads each block, or None if blocks depend on each other."""
    together: dict[Any, Any] = {}
    for part in rows[0]:  # all blocks of a collection share one graph
        together |= part.__dask_graph__()
    graphs = [cull(together, [part.key for part in parts])[0] for parts in rows]
    if max(Counter(key for graph in graphs for key in graph).values()) > 1:
        return None
    return [partial(dask.get, graph, [part.key for part in parts]) for graph, parts in zip(graphs, rows, strict=True)]


def tree_reduce(
    blocks: list[Any], work: Callable[..., T], context: Any, add: Callable[[list[T]], T], *, progress: bool
) -> T:
    """Return the sum of `work` over all blocks."""
    client = active_client()
    n_threads = dask.config.get("num_workers", None) or CPU_COUNT if client is None else sum(client.nthreads().values())
    size = len(blocks) // (GROUPS_PER_THREAD * max(1, int(n_threads))) if callable(blocks[0]) else 1
    size = max(1, min(MAX_BLOCKS, size))
    numbered = list(enumerate(blocks))
    shared = delayed(context, traverse=False)
    # keys of one family: a scheduler then keeps waiting groups to itself, and workers do not hold their lazy
    family = f"{work.__name__}-{uuid4().hex}"
    sums = [
        delayed(_run)(work, shared, numbered[at : at + size], dask_key_name=(family, at))
        for at in range(0, len(numbered), size)
    ]
    while len(sums) > 1:
        sums = [delayed(add)(sums[at : at + FAN_IN]) for at in range(0, len(sums), FAN_IN)]
    if progress and client is not None:
        sums = list(dask.persist(*sums))
        _show_progress(sums)
    with ProgressBar(out=sys.stderr) if progress and client is None else nullcontext():
        result: T = dask.compute(sums[0])[0]
    return result


def _run(work: Callable[..., T], context: Any, group: list[tuple[int, Any]]) -> T:
    """Apply `work` to the blocks of a group, each of which it loads."""
    return work(context, ((number, block if callable(block) else lambda b=block: b) for number, block in group))


def _show_progress(running: Any) -> None:
    """Show a progress bar for work on a cluster on stderr, because results may go to stdout."""
    from distributed import progress  # noqa: PLC0415

    with redirect_stdout(sys.stderr):
        progress(running, notebook=False)
    sys.stderr.write("\n")


@contextmanager
def connect(address: str) -> Iterator[Any]:
    """Connect to the cluster at `address`, or start local workers with "local", for a with block."""
    from distributed import Client, LocalCluster  # noqa: PLC0415

    if address == "local":
        # what goes wrong in a task is raised here as well; the rest is workers that are slow to say good-bye
        quiet = LocalCluster(dashboard_address=None, silence_logs=logging.CRITICAL)
        with quiet as cluster, Client(cluster) as client:
            yield client
    else:
        with Client(address) as client:
            yield client


def active_client() -> Any:
    """Return the active client, or None with Dask's local schedulers."""
    if "distributed" not in sys.modules or dask.config.get("scheduler", None) not in (None, "dask.distributed"):
        return None
    from distributed import Client  # noqa: PLC0415

    try:
        return Client.current()
    except ValueError:  # there is none
        return None
