"""Rows as encoders and vector databases hand them over: tensors, columns of vectors, readers of Arrow."""

from __future__ import annotations

from typing import Any

import numpy as np

from flybloom._internal.frame_cells import table_columns
from flybloom._internal.typing import Array


def as_rows(X: Any) -> Any:
    """Return what the checks of rows know: an array for vectors, a table for a reader of it, all else as it is.

    Vectors are one column of lists that have the same length: a column of Arrow, pandas or polars, or a frame that has
    no other column. Nothing is imported for it, and values keep their type.
    """
    package = type(X).__module__.split(".")[0]
    if package == "torch":
        return _of_tensor(X)
    if package not in {"pyarrow", "pandas", "polars", "duckdb"}:
        return X
    if hasattr(X, "to_arrow_table"):  # a relation of DuckDB
        X = X.to_arrow_table()
    elif hasattr(X, "read_all"):
        X = X.read_all()
    columns = table_columns(X)
    if columns is None:
        return vectors(X) if is_vectors(X) else X
    found = [column for column in columns if column.declared is None and is_vectors(column.values)]
    if found and len(columns) > 1:
        msg = (
            f"The column {found[0].name!r} of X holds vectors, beside other columns. Expected vectors alone, or "
            f"columns of numbers. Pass X[{found[0].name!r}], or make columns of the vectors."
        )
        raise ValueError(msg)
    return vectors(found[0].values) if found else X


def is_vectors(column: Any) -> bool:
    """Return whether a column of Arrow, pandas or polars holds lists."""
    if hasattr(column, "iloc"):
        return bool(len(column)) and isinstance(column.iloc[0], np.ndarray | list | tuple)
    return is_list(getattr(column, "type", None) or getattr(column, "dtype", ""))


def is_list(type_: Any) -> bool:
    """Return whether a type of Arrow or polars is one of lists."""
    return str(type_).lower().startswith(("fixed_size_list", "list", "large_list", "array("))


def vectors(column: Any) -> Array:
    """Return a column of lists as rows; ValueError unless all have the same length."""
    if hasattr(column, "iloc"):
        return _stacked(list(column))
    if hasattr(column, "to_arrow"):
        column = column.to_arrow()
    if hasattr(column, "combine_chunks"):
        column = column.combine_chunks()
    chunks = getattr(column, "chunks", [column])  # a column that is too large for one array stays in several
    return np.concatenate([_of_arrow(chunk) for chunk in chunks]) if len(chunks) != 1 else _of_arrow(chunks[0])


def _of_arrow(lists: Any) -> Array:
    """Return an array of lists of Arrow as rows."""
    lengths = np.unique(lists.value_lengths().to_numpy(zero_copy_only=False))
    values = lists.flatten()
    if lists.null_count or lengths.size != 1 or values.null_count:
        found = "a missing value" if lists.null_count or values.null_count else f"lengths of {lengths[:3].tolist()}"
        raise ValueError(_unequal(found))
    return np.asarray(values.to_numpy(zero_copy_only=False)).reshape(len(lists), int(lengths[0]))


def _stacked(rows: list[Any]) -> Array:
    """Return a list of vectors as rows."""
    try:
        return np.stack([np.asarray(row) for row in rows])
    except ValueError as error:
        raise ValueError(_unequal(str(error))) from error


def _unequal(found: str) -> str:
    """Return why vectors are no rows."""
    return (
        f"X is a column of vectors. Expected vectors of one length, without gaps. Got {found} instead. Drop these rows."
    )


def _of_tensor(tensor: Any) -> Any:
    """Return a tensor of torch as an array; of types that NumPy does not have as float32, which holds them."""
    tensor = tensor.detach().cpu()
    return (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()
