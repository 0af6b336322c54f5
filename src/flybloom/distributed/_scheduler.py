"""Tree reduction over the blocks of Dask collections.

A group is one task that loads its blocks in sequence, so a worker holds one block and one sum per thread.
Blocks whose graphs depend on each other (persisted ones, or ones that share a computation) are groups of their own.
"""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import partial
from typing import Any, TypeVar
from uuid import uuid4

import dask
import numpy as np
from dask.delayed import Delayed, delayed
from dask.diagnostics import ProgressBar
from dask.optimization import cull
from dask.system import CPU_COUNT

T = TypeVar("T")

GROUPS_PER_THREAD = 4  # more even out fast and slow workers, fewer have less to send
MAX_BLOCKS = 16  # what is learned again, at most, when a worker is lost in the middle of a group
FAN_IN = 4  # sums that are added at once; each is in memory then


def tree_reduce(
    collections: Sequence[Any], work: Callable[..., T], context: Any, add: Callable[[list[T]], T], *, progress: bool
) -> T:
    """Return the sum of `work` over all blocks."""
    shared = delayed(context, traverse=False)
    # keys of one family: a scheduler then keeps waiting groups to itself, and workers do not hold their lazy
    family = f"{work.__name__}-{uuid4().hex}"
    sums = [
        delayed(_run)(work, shared, group, dask_key_name=(family, number))
        for number, group in enumerate(_groups(collections))
    ]
    while len(sums) > 1:
        sums = [delayed(add)(sums[at : at + FAN_IN]) for at in range(0, len(sums), FAN_IN)]
    result: T = compute(sums[0], progress=progress)
    return result


def _run(work: Callable[..., T], context: Any, group: list[tuple[int, Any]]) -> T:
    """Apply `work` to the lazy blocks of a group."""
    return work(context, ((number, block if callable(block) else lambda b=block: b) for number, block in group))


def _groups(collections: Sequence[Any]) -> list[list[tuple[int, Any]]]:
    """Return groups of numbered blocks: lazy ones if blocks are independent, else single blocks."""
    rows = list(zip(*(np.ravel(collection.to_delayed()) for collection in collections), strict=True))
    lazy = _lazy_blocks(rows)
    if lazy is None:
        return [[(number, list(parts))] for number, parts in enumerate(rows)]
    size = max(1, min(MAX_BLOCKS, len(rows) // (GROUPS_PER_THREAD * n_threads())))
    numbered = list(enumerate(lazy))
    return [numbered[at : at + size] for at in range(0, len(numbered), size)]


def _lazy_blocks(rows: list[tuple[Delayed, ...]]) -> list[Any] | None:
    """Return a loader for each block, or None if blocks depend on each other or are persisted.

    Each loader holds a small graph that Dask treats as a plain value.
    """
    if "distributed" in sys.modules:
        from distributed import futures_of  # noqa: PLC0415

        if futures_of(rows[0]):
            return None
    together: dict[Any, Any] = {}
    for part in rows[0]:  # all blocks of a collection share one graph
        together |= part.__dask_graph__()
    graphs = [cull(together, [part.key for part in parts])[0] for parts in rows]
    uses = Counter(key for graph in graphs for key in graph)
    if max(uses.values()) > 1:
        return None
    return [partial(dask.get, graph, [part.key for part in parts]) for graph, parts in zip(graphs, rows, strict=True)]


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


def n_threads() -> int:
    """Return the number of threads."""
    client = active_client()
    if client is not None:
        return max(1, int(sum(client.nthreads().values())))
    return int(dask.config.get("num_workers", None) or CPU_COUNT)


def compute(lazy: Any, *, progress: bool) -> Any:
    """Compute a lazy value, optionally with a progress bar on stderr."""
    if not progress:
        return dask.compute(lazy)[0]
    if active_client() is None:
        with ProgressBar(out=sys.stderr):
            return dask.compute(lazy)[0]
    from distributed import progress as show  # noqa: PLC0415

    (running,) = dask.persist(lazy)
    with redirect_stdout(sys.stderr):  # results may go to stdout
        show(running, notebook=False)
    sys.stderr.write("\n")
    return dask.compute(running)[0]
