"""What runs on the workers: groups of blocks to moments, to tallies, and blocks to scores. Knows nothing of Dask.

A worker is told the seed and the parameters, and draws the connections itself: once in each process.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import add
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_consistent_length

from flybloom._internal.parallel import KERNEL_ROWS
from flybloom._internal.typing import Array, Features, Weights
from flybloom._internal.validation import check_labels, check_rows, check_weights
from flybloom.core.encoding.standardise import ColumnMoments, column_moments
from flybloom.core.hashing.projection import Projection
from flybloom.distributed._tally import Tally
from flybloom.estimators.classifier import FlyBloomClassifier

Blocks: TypeAlias = Iterator[tuple[int, Callable[[], Sequence[Any]]]]

KEPT_PROJECTIONS = 4
_lock = Lock()  # held while a process draws connections or meets a kernel for the first time
_warm: set[tuple[Any, ...]] = set()


@dataclass
class Job:
    """What a worker needs to know.

    Parameters
    ----------
    learner : FlyBloomClassifier
        A model without rows and without a table of counts; started, if it is to count.
    dtype : dtype
        Type that the collection declares for its rows.
    has_number_labels : bool
        Whether the collection declares its labels to be numbers.
    n_blocks : int
        Number of blocks, for messages.
    """

    learner: FlyBloomClassifier
    dtype: Any
    has_number_labels: bool
    n_blocks: int


def moments_of_blocks(job: Job, blocks: Blocks) -> ColumnMoments:
    """Add up the columns of a group of blocks."""
    total = ColumnMoments()

    def look(rows: Features, _: Any, weights: Weights) -> None:
        nonlocal total
        total = total + column_moments(rows, weights)

    _for_each(job, blocks, look)
    return total


def sum_of_moments(parts: list[ColumnMoments]) -> ColumnMoments:
    """Add up moments, some of which may be of no rows."""
    return reduce(add, (part for part in parts if part.sums), ColumnMoments())


def tally_of_blocks(job: Job, blocks: Blocks) -> Tally:
    """Count the winners of a group of blocks: an ordinary model learns them one after the other."""
    learner = with_shared_projection(job.learner)
    learner._counts = np.zeros((learner.n_components_, learner.classes_.size), np.int32)  # noqa: SLF001
    drop_names(learner)  # compared when the block was checked

    def learn(rows: Features, labels: Any, weights: Weights) -> None:
        if not weights.any():  # the labels become known, nothing is counted
            classes = np.unique(check_labels(labels, rows))
            nothing = np.zeros((learner.n_components_, classes.size), np.int32)
            put_tally(learner, tally_of(learner) + Tally(classes, np.zeros(classes.size, np.int64), nothing))
            return
        _warm_up(learner, rows)
        learner._learn(rows, labels, None, weights)  # noqa: SLF001

    _for_each(job, blocks, learn)
    return tally_of(learner)


def sum_of_tallies(parts: list[Tally]) -> Tally:
    """Add up tallies."""
    return reduce(add, parts)


def tally_of(model: FlyBloomClassifier) -> Tally:
    """Return what a model has counted."""
    return Tally(model.classes_, model.class_count_, model._counts)  # noqa: SLF001


def put_tally(model: FlyBloomClassifier, tally: Tally) -> None:
    """Make a model hold these counts, and no others."""
    model.classes_, model.class_count_, model._counts = tally.classes, tally.class_count, tally.counts  # noqa: SLF001


def drop_names(model: FlyBloomClassifier) -> None:
    """Let a model take rows without names."""
    if hasattr(model, "feature_names_in_"):
        del model.feature_names_in_


def score(rows: Features, model: FlyBloomClassifier, method: str) -> Array:
    """Return what a method of the model says of a block of rows, which may be empty."""
    if rows.shape[0] == 0:
        return np.empty(0, model.classes_.dtype) if method == "predict" else np.empty((0, model.classes_.size))
    model = with_shared_projection(model)
    _warm_up(model, check_rows(model, rows, reset=False))
    result: Array = getattr(model, method)(rows)
    return result


def with_shared_projection(model: FlyBloomClassifier) -> FlyBloomClassifier:
    """Return a shallow copy that uses this process's connections, and one thread, because the scheduler has more."""
    model = copy.copy(model).set_params(n_jobs=None)
    with _lock:
        model._projection = _projection(  # noqa: SLF001
            model.seed_, model.n_features_in_, model.n_components_, model.n_connections_, signed=model.signed_
        )
    return model


@lru_cache(maxsize=KEPT_PROJECTIONS)
def _projection(*arguments: int, signed: bool) -> Projection:
    """Return the projection of these arguments, the same object for the whole process."""
    return Projection(*arguments, signed=signed)


def _warm_up(model: FlyBloomClassifier, rows: Features) -> None:
    """Draw the connections and load the kernels for rows of this kind, in one thread while the others wait."""
    kind = (sparse.issparse(rows), model._scaled(rows[:0]).dtype.char)  # noqa: SLF001
    with _lock:
        model._projection.draw(sparse=kind[0])  # noqa: SLF001
        if kind not in _warm:
            for n in (1, KERNEL_ROWS):  # few rows and many are hashed by kernels of their own
                model._projection.winners(model._scaled(rows[:n]), model.n_winners_)  # noqa: SLF001
            _warm.add(kind)


def _for_each(job: Job, blocks: Blocks, use: Callable[[Features, Any, Weights], None]) -> None:
    """Load one block after the other and hand it to `use`; an error names the block."""
    for number, load in blocks:
        where = f"Block {number} (of 0 to {job.n_blocks - 1})"
        try:
            _use_block(job, load(), use)
        except ValueError as error:
            msg = f"{where}: {error}"
            raise ValueError(msg) from error
        except TypeError as error:
            msg = f"{where}: {error}"
            raise TypeError(msg) from error
        except Exception as error:
            error.add_note(f"{where} of the rows failed.")
            raise


def _use_block(job: Job, parts: Sequence[Any], use: Callable[[Features, Any, Weights], None]) -> None:
    """Check rows and weights of a block and hand it to `use`, unless it is empty; labels are checked when learned."""
    X, y, *weights = parts[0] if len(parts) == 1 else parts
    check_consistent_length(X, y, *weights)
    if X.shape[0] == 0:
        return
    rows = _as_declared(check_rows(job.learner, X, reset=False), job.dtype)
    if job.has_number_labels and np.asarray(y).dtype.kind in "OUST":
        msg = "The labels are strings, y is declared to hold numbers. Convert y with astype."
        raise ValueError(msg)
    use(rows, y, _block_weights(weights, rows.shape[0]))


def _as_declared(rows: Features, dtype: Any) -> Features:
    """Return rows in the type that the collection declares, because integers and floats are summed differently."""
    if rows.dtype == dtype:
        return rows
    cast = rows.astype(dtype)
    if (cast != rows).sum():
        msg = f"The rows are {rows.dtype}, X is declared to hold {dtype}, which would change values. Use X.astype."
        raise ValueError(msg)
    return cast


def _block_weights(weights: list[Any], n_rows: int) -> Weights:
    """Return the weights of a block; unlike those of all rows, they may all be zero."""
    if weights and not np.any(weights[0]):
        return np.zeros(n_rows, np.int64)
    return check_weights(weights[0] if weights else None, n_rows)
