"""Which columns of a table are read, and what becomes of them; errors name the column."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from flybloom._internal.typing import Array
from flybloom.blocks.options import ReadOptions
from flybloom.blocks.parts import Place
from flybloom.blocks.schema import Schema
from flybloom.exceptions import SourceError

# as pandas writes the index of a frame: to CSV, to CSV that was read before, to Parquet
INDEX_COLUMNS = ("", "Unnamed: 0", "__index_level_0__")
MAX_LISTED = 10  # columns that an error lists


def feature_columns(columns: list[str], options: ReadOptions, where: str) -> tuple[list[str], list[str]]:
    """Return the columns of the features, and remarks on what was left out.

    All that is asked for must be there, once.
    """
    for name, role in ((options.target, "the target"), (options.id_column, "the identifier")):
        if name is not None:
            _require_columns([name], columns, where, role)
    _require_columns([name for name in options.exclude if name not in columns], columns, where, "to be left out")
    if options.features is not None:
        _require_columns(list(options.features), columns, where, "a feature")
        _refuse_twice(list(options.features), where)
        if options.target in options.features:
            msg = f"{where}: the target {options.target!r} is also named as a feature. Name it once."
            raise SourceError(msg)
        return list(options.features), []
    others = {options.target, options.id_column, *options.exclude}
    names = [column for column in columns if column not in others and column not in INDEX_COLUMNS]
    if not names:
        msg = f"{where}: there is no column besides the target {options.target!r}. Expected at least one feature."
        raise SourceError(msg)
    _refuse_twice(names, where)
    left_out = dict.fromkeys(column for column in columns if column not in others and column in INDEX_COLUMNS)
    return names, [
        f"the column {column!r} looks like the index of a frame and is left out; name it as a feature to read it"
        for column in left_out
    ]


def columns_to_read(options: ReadOptions, schema: Schema) -> list[str]:
    """Return all columns that blocks are made of: features, target and identifier."""
    others = (options.target, options.id_column)
    return [*(schema.names or ()), *(name for name in others if name is not None)]


def number_type(type_: Any, name: str, where: str) -> np.dtype[Any]:
    """Return the NumPy type of a feature; only numbers and bools have one so far."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    if pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_boolean(type_):
        dtype: np.dtype[Any] = np.dtype(type_.to_pandas_dtype())
        return dtype
    msg = (
        f"{where}: the column {name!r} is of type {type_}. Expected numbers. "
        "Encode it as numbers first, or choose the feature columns without it."
    )
    raise SourceError(msg)


def number_columns(
    table: Any, names: tuple[str, ...], dtype: np.dtype[Any], place: Place, marks: Array | None = None
) -> Array:
    """Return columns of an Arrow table or batch as rows of numbers of one type; rows that lack one get a mark."""
    X = np.empty((table.num_rows, len(names)), dtype)
    held = set(table.schema.names)
    _require_columns([name for name in names if name not in held], table.schema.names, str(place), "a feature")
    for j, name in enumerate(names):
        X[:, j] = _numbers(table.column(name), name, dtype, place, marks)
    return X


def plain_column(column: Any) -> Any:
    """Return a column as one array of Arrow without dictionary, text in a type that all functions of Arrow know."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(column.type):
        return plain_column(column.dictionary).take(column.indices)
    return column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column


def identifiers(column: Any) -> Array:
    """Return a column as it is, for whoever matches rows by it; missing ones are None."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    column = plain_column(column)
    if column.null_count == 0 and not pa.types.is_nested(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    values = np.empty(len(column), object)
    values[:] = column.to_pylist()
    return values


def _numbers(column: Any, name: str, dtype: np.dtype[Any], place: Place, marks: Array | None) -> Array:
    """Return a feature as numbers; where one is missing, refuse, or mark the row."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    found = number_type(column.type, name, str(place))
    if column.null_count and marks is not None:
        marks |= np.asarray(column.is_null())
        column = column.fill_null(False if pa.types.is_boolean(column.type) else 0)
    if column.null_count:
        msg = (
            f"{place}: the column {name!r} has {column.null_count} missing values. "
            "Fill them in, drop these rows, or leave out the column."
        )
        raise SourceError(msg)
    if not np.can_cast(found, dtype, "safe"):
        msg = (
            f"{place}: the column {name!r} is of type {found}. Expected {dtype} or what goes into it, as the source "
            "had when its types were decided. Read it anew without a schema."
        )
        raise SourceError(msg)
    return np.asarray(column.to_numpy(zero_copy_only=False) if isinstance(column, pa.Array) else column.to_numpy())


def _require_columns(wanted: list[str], columns: list[str], where: str, role: str) -> None:
    """Refuse a table that lacks a column or has it twice."""
    counts = Counter(columns)
    for name in wanted:
        if counts[name] != 1:
            found = "there twice" if counts[name] else "not there"
            listed = ", ".join(map(repr, columns[:MAX_LISTED])) + (", ..." if len(columns) > MAX_LISTED else "")
            msg = f"{where}: the column {name!r}, {role}, is {found}. The columns are {listed}. Check the name."
            raise SourceError(msg)


def _refuse_twice(names: list[str], where: str) -> None:
    """Refuse features that share a name."""
    if len(set(names)) < len(names):
        name = next(name for name, n in Counter(names).items() if n > 1)
        msg = f"{where}: the column {name!r} is there twice. Expected a name for each. Rename one, or exclude the name."
        raise SourceError(msg)
