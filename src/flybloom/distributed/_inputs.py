"""Input validation: align Dask collections to the same blocks."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np


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


def aligned(X: Any, y: Any, sample_weight: Any) -> list[Any]:
    """Return X, y and weights in equal blocks, or one collection with all of them."""
    named = {"y": y, "sample_weight": sample_weight}
    columns = {name: _column(other, X) for name, other in named.items() if other is not None}
    for name, other in columns.items():
        if n_blocks_of(other) != n_blocks_of(X):
            msg = (
                f"X and {name} must be cut into the same blocks. Got {n_blocks_of(X)} and {n_blocks_of(other)} blocks "
                "instead. Take both from one dataframe, or call compute_chunk_sizes() on both."
            )
            raise ValueError(msg)
    others = list(columns.values())
    if is_frame(X) and all(is_frame(other) for other in others):
        # one collection, because Dask may read several columns of a file in other blocks than a single one
        options = {"align_dataframes": False, "enforce_metadata": False}
        return [X.map_partitions(_together, *others, meta=("block", object), **options)]
    return [X, *others]


def _together(*parts: Any) -> tuple[Any, ...]:
    """Return a block of a dataframe as rows, labels and optional weights."""
    return parts


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


def n_blocks_of(collection: Any) -> int:
    """Return the number of row blocks of a collection."""
    return int(collection.npartitions if is_frame(collection) else collection.numblocks[0])


def has_numbers(column: Any) -> bool:
    """Return whether labels are declared to be numeric."""
    return getattr(getattr(column, "dtype", None), "kind", "O") in "biuf"
