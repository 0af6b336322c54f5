"""Tree reduction over the blocks of Dask collections.

A group is one task that loads its blocks one after the other, so a worker holds one block and one sum per thread.
Blocks whose graphs depend on each other (persisted ones, or ones that share a computation) are groups of their own.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar
from uuid import uuid4

import dask
import numpy as np
from dask.delayed import Delayed, delayed
from dask.optimization import cull

from flybloom.distributed._session import compute, n_threads

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
