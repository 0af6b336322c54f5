"""Work on workers: sketch, count and score blocks. Independent of Dask.

A worker receives seed and sizes, and draws the connections once per process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from operator import add
from threading import Lock
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_consistent_length

from flybloom._internal.parallel import KERNEL_ROWS
from flybloom._internal.typing import Array, Features
from flybloom._internal.validation import NamedRows, check_rows
from flybloom.blocks import Blocks as Source
from flybloom.blocks.source import joined
from flybloom.core.counts.base import Counts
from flybloom.core.counts.weight_unit import unit_for
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.hashing.projection import Projection
from flybloom.core.model import Model, Recipe
from flybloom.core.sketch import Block, Sketch
from flybloom.estimators.access import reading_learned, with_learned
from flybloom.estimators.counting import CountingEstimator
from flybloom.exceptions import SourceError

Blocks: TypeAlias = Iterator[tuple[int, Callable[[], Sequence[Any]]]]

MAX_PROJECTIONS = 4  # kept in a process
_lock = Lock()  # held while a process draws connections or meets a kernel for the first time
_warm: set[tuple[Any, ...]] = set()


@dataclass(frozen=True)
class Job:
    """Settings of a worker."""

    recipe: Recipe
    encoder: Encoder
    dtype: Any
    has_labels: bool
    has_weights: bool
    has_number_labels: bool
    n_blocks: int
    starts: dict[int, int] | None = None
    sketches: bool = False
    learned: Model | None = None


class Found(NamedTuple):
    """Result of a pass over some blocks; sums do not depend on the grouping."""

    lengths: dict[int, int]  # rows of each block
    sketch: Sketch | None = None
    counts: Counts | None = None


def look_through(job: Job, blocks: Blocks) -> Found:
    """Process a group of blocks: measure them, or sketch and count their rows."""
    lengths: dict[int, int] = {}
    sketch, learned = None, job.learned
    if learned is not None:  # counts of its own, so that they may be changed in place
        learned = learned._replace(hasher=with_kept_projection(learned.hasher), counts=learned.counts.emptied())
    for number, load_block in blocks:
        with _naming(f"Block {number} (of 0 to {job.n_blocks - 1})"):
            block = _checked(job, number, load_block())
            if block is None:
                continue
            lengths[number] = block.rows.shape[0]
            if job.sketches:
                own = job.recipe.sketch_of(block)
                sketch = own if sketch is None else sketch + own
                del own
            if learned is not None:
                _warm_up(learned.hasher, block.rows)
                delta = learned.count_block(block, None)
                if not learned.counts.change_in_place(delta, 1):
                    learned = learned._replace(counts=learned.counts.plus(delta, owned=True))
            del block  # nothing of it is kept when the next one is loaded
    return Found(lengths, sketch, None if learned is None else learned.counts)


def united(parts: list[Found]) -> Found:
    """Add results."""
    lengths = {number: n for part in parts for number, n in part.lengths.items()}
    sketches = [part.sketch for part in parts if part.sketch is not None]
    counts = [part.counts for part in parts if part.counts is not None]
    return Found(
        lengths,
        reduce(add, sketches) if sketches else None,
        reduce(lambda a, b: a.plus(b), counts) if counts else None,
    )


@contextmanager
def _naming(where: str) -> Iterator[None]:
    """Let errors name a block."""
    try:
        yield
    except (ValueError, TypeError) as error:
        kind = next(kind for kind in (SourceError, ValueError, TypeError) if isinstance(error, kind))
        msg = f"{where}: {error}"
        raise kind(msg) from error
    except Exception as error:
        error.add_note(f"{where} of the rows failed.")
        raise


def load(piece: Source) -> tuple[Features, Array | None]:
    """Read a piece of a source into memory; it may have no rows."""
    blocks = list(piece)
    return joined(blocks) if blocks else (np.empty((0, 1)), None)


def score(rows: Features, model: CountingEstimator, method: str) -> Array:
    """Apply a method of the model to a block, which may be empty."""
    with reading_learned(model) as learned:
        hasher = with_kept_projection(learned.hasher)
    if rows.shape[0] == 0:  # one row of zeros tells the shape and the type
        encoder, n_rows = hasher.encoder, 0
        rows = np.zeros((1, encoder.n_features))
        if encoder.kinds is None:
            hasher = without_names(hasher)
        else:
            rows = NamedRows(rows, list(encoder.names or ()), encoder.kinds)
    else:
        n_rows = rows.shape[0]
        _warm_up(hasher, check_rows(rows, type(model).__name__, hasher.encoder))
    own = with_learned(copy(model), learned._replace(hasher=hasher))  # the one that was sent is everybody's
    return np.asarray(getattr(own, method)(rows)[:n_rows])


def without_names(hasher: Hasher) -> Hasher:
    """Return the hasher without feature names."""
    return replace(hasher, encoder=replace(hasher.encoder, names=None))


def with_kept_projection(hasher: Hasher) -> Hasher:
    """Return the hasher with the cached connections of this process."""
    with _lock:
        return replace(hasher, projection=_kept(hasher.projection))


@lru_cache(maxsize=MAX_PROJECTIONS)
def _kept(projection: Projection) -> Projection:
    """Return the cached projection with its connections."""
    return projection


def _warm_up(hasher: Hasher, rows: Features) -> None:
    """Draw connections and load kernels in one thread while the others wait."""
    kind = (sparse.issparse(rows), hasher.encoder.encode(rows[:0]).dtype.char)
    with _lock:
        hasher.projection.prepare(is_sparse=kind[0])
        if kind not in _warm:
            for n in (1, KERNEL_ROWS):  # few rows and many are hashed by kernels of their own
                hasher.winners(rows[:n])
            _warm.add(kind)


def _checked(job: Job, number: int, parts: Sequence[Any]) -> Block | None:
    """Return a validated block; None if it is empty or has weight 0."""
    parts = list(parts[0] if len(parts) == 1 and isinstance(parts[0], tuple) else parts)
    X = parts.pop(0)
    y = parts.pop(0) if job.has_labels else None
    weights = parts.pop(0) if job.has_weights else None
    check_consistent_length(*(part for part in (X, y, weights) if part is not None))
    if X.shape[0] == 0:
        return None
    takes_sparse = (job.recipe.encoding if job.learned is None else job.encoder).takes_sparse
    rows = _as_declared(check_rows(X, job.recipe.owner, job.encoder, takes_sparse=takes_sparse), job.dtype)
    if job.has_number_labels and np.asarray(y).dtype.kind in "OUST":
        msg = "The labels are strings, y is declared to hold numbers. Convert y with astype."
        raise ValueError(msg)
    if job.starts is not None:
        y = np.arange(job.starts[number], job.starts[number] + rows.shape[0])
    labels = None if job.recipe.check_labels is None else job.recipe.check_labels(y, rows.shape[0])
    if weights is not None and not np.any(weights):
        return None
    unit = unit_for(job.recipe.weight_unit) if job.learned is None else job.learned.counts.unit
    return Block(rows, labels, unit.counted(weights, rows.shape[0]))


def _as_declared(rows: Features, dtype: Any) -> Features:
    """Return rows in the declared type, because integers and floats are summed differently."""
    if rows.dtype == dtype:
        return rows
    cast = rows.astype(dtype)
    if (cast != rows).sum() != (rows != rows).sum():  # noqa: PLR0124 - NaN alone differs from itself
        msg = f"The rows are {rows.dtype}, X is declared to hold {dtype}, which would change values. Use X.astype."
        raise ValueError(msg)
    return cast
