"""From a table of Arrow to rows and labels, with an error that names the column."""

from __future__ import annotations

from typing import Any

import numpy as np

from flybloom._internal.typing import Array
from flybloom.blocks.parts import RawBlock, ReadOptions
from flybloom.exceptions import SourceError


def feature_columns(columns: list[str], options: ReadOptions, where: str) -> list[str]:
    """Return the columns of the features, after checking that all that is wanted is there, once."""
    if options.target is not None:
        _require_columns([options.target], columns, where, "the target")
    if options.features is None:
        names = [column for column in columns if column != options.target]
        if not names:
            msg = f"{where}: there is no column besides the target {options.target!r}. Expected at least one feature."
            raise SourceError(msg)
    else:
        names = list(options.features)
        _require_columns(names, columns, where, "a feature")
        if options.target in names:
            msg = f"{where}: the target {options.target!r} is also named as a feature. Name it once."
            raise SourceError(msg)
    return names


def raw_block(table: Any, options: ReadOptions, names: list[str], where: str) -> RawBlock:
    """Return features and labels of an Arrow table or batch."""
    columns = [_numbers(table.column(name), name, where) for name in names]
    X = np.empty((table.num_rows, len(names)), np.result_type(*columns))
    for j, column in enumerate(columns):
        X[:, j] = column
    y = None if options.target is None else _labels(table.column(options.target), options.target, where)
    return RawBlock(X, y, names)


def require_finite(X: Array, names: list[str] | None, where: str) -> None:
    """Refuse NaN and infinities, and name the first column that has any."""
    if X.dtype.kind != "f" or np.isfinite(X).all():
        return
    bad = ~np.isfinite(X)
    column = int(np.flatnonzero(bad.any(axis=0))[0])
    name = repr(names[column]) if names else str(column)
    msg = (
        f"{where}: column {name} has {int(bad[:, column].sum())} values that are missing (NaN) or infinite. "
        "Fill them in, drop these rows, or leave out the column."
    )
    raise SourceError(msg)


def _require_columns(wanted: list[str], columns: list[str], where: str, role: str) -> None:
    """Refuse a table that lacks a column or has it twice."""
    for name in wanted:
        if columns.count(name) != 1:
            found = "twice" if name in columns else "not there"
            listed = ", ".join(map(repr, columns[:10])) + (", ..." if len(columns) > 10 else "")  # noqa: PLR2004
            msg = f"{where}: the column {name!r}, {role}, is {found}. The columns are {listed}."
            raise SourceError(msg)


def _numbers(column: Any, name: str, where: str) -> Array:
    """Return a feature as numbers."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    kind = column.type
    if pa.types.is_dictionary(kind) or not (
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    ):
        msg = (
            f"{where}: the column {name!r} is of type {kind}. Expected numbers. "
            "Encode it as numbers first, or choose the feature columns without it."
        )
        raise SourceError(msg)
    if column.null_count:
        msg = (
            f"{where}: the column {name!r} has {column.null_count} missing values. "
            "Fill them in, drop these rows, or leave out the column."
        )
        raise SourceError(msg)
    return np.asarray(column.to_numpy(zero_copy_only=False) if isinstance(column, pa.Array) else column.to_numpy())


def _labels(column: Any, name: str, where: str) -> Array:
    """Return the target as labels."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    if pa.types.is_dictionary(column.type):
        column = (
            column.dictionary_decode()
            if isinstance(column, pa.Array)
            else pa.chunked_array([c.dictionary_decode() for c in column.chunks])
        )
    kind = column.type
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    if not (is_text or pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_floating(kind)):
        msg = f"{where}: the target {name!r} is of type {kind}. Expected whole numbers, strings or bools as labels."
        raise SourceError(msg)
    n_missing = column.null_count
    if n_missing == 0:
        array = column.to_numpy(zero_copy_only=False) if isinstance(column, pa.Array) else column.to_numpy()
        labels = array.astype(np.str_) if is_text else np.asarray(array)
        n_missing = int((labels == "").sum() if is_text else np.isnan(labels).sum() if labels.dtype.kind == "f" else 0)
        if n_missing == 0:
            return labels
    msg = f"{where}: the target {name!r} has {n_missing} missing values. Expected one label per row. Drop these rows."
    raise SourceError(msg)
