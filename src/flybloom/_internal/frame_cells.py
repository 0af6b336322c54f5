"""Frames of pandas, polars and Arrow: kinds of columns, conversion to numbers, and columns of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from flybloom._internal.cells import CATEGORY, DATE, NUMBER, Mixed, cells, distinct, kind_of, seconds_of
from flybloom._internal.typing import Array

SPAN = "span"  # of time, which is a number of seconds


class FrameColumn(NamedTuple):
    """A column of a frame."""

    name: str
    declared: str | None  # a kind, a span of time, or None where the values tell
    values: Any

    def kind(self) -> str:
        """Return the kind of the column, from its type or inferred from all values."""
        if self.declared is not None:
            return NUMBER if self.declared == SPAN else self.declared
        found = kind_of(self._distinct()[0])
        if isinstance(found, Mixed):
            msg = (
                f"The column {self.name!r} of X holds numbers, but also text such as {found.text!r}. Repair it, or "
                f"make it categories: X[{self.name!r}].astype(str).astype('category')."
            )
            raise ValueError(msg)  # noqa: TRY004 - of its type it is what it is
        return found or CATEGORY

    def numbers(self, kind: str, dtype: Any = np.float64) -> Array:
        """Convert the cells to numbers according to a kind, NaN for missing ones."""
        if self.declared == kind == NUMBER:
            return _plain(self.values, dtype)
        if self.declared == SPAN and kind == NUMBER:
            return seconds_of(_times(self.values))
        if self.declared == kind == DATE:
            return seconds_of(_times(self.values))
        values, codes = self._distinct()
        numbers, wrong = cells(values, kind)
        if wrong is not None:
            msg = (
                f"The column {self.name!r} of X holds {values[wrong]!r}. Expected "
                f"{'numbers' if kind == NUMBER else 'dates such as 2026-01-31'}, as in the first rows. Repair it, or "
                f"make it categories before the first fit: X[{self.name!r}].astype('category')."
            )
            raise ValueError(msg)
        return np.append(numbers, np.nan)[codes]

    def array(self) -> Array:
        """Return the cells unchanged."""
        return np.asarray(self.values.to_numpy())

    def _distinct(self) -> tuple[list[Any], Array]:
        """Return distinct values, and the index of each cell."""
        if hasattr(self.values, "cat") and hasattr(self.values.cat, "codes"):  # pandas' categories; -1 is missing
            return self.values.cat.categories.tolist(), self.values.cat.codes.to_numpy().astype(np.intp)
        values = self.values.to_pylist() if hasattr(self.values, "to_pylist") else self.values.to_list()
        try:
            return distinct(values)
        except TypeError:
            msg = f"The column {self.name!r} of X holds values that are no text, number or date. Leave it out."
            raise ValueError(msg) from None


def table_columns(X: Any) -> list[FrameColumn] | None:
    """Return the columns of a frame, or None for other objects."""
    for kind in type(X).__mro__:
        reader = _READERS.get((kind.__module__.split(".")[0], kind.__name__))
        if reader is not None:
            return reader(X)
    return None


def table_kinds(X: Any) -> tuple[str, ...] | None:
    """Return the kinds of the columns of a frame; None if all are numeric or it is not a frame."""
    columns = table_columns(X)
    if columns is None or all(column.declared == NUMBER for column in columns):
        return None
    kinds = tuple(column.kind() for column in columns)
    return None if set(kinds) == {NUMBER} and SPAN not in {column.declared for column in columns} else kinds


def table_numbers(columns: Sequence[FrameColumn], kinds: Sequence[str]) -> Array:
    """Return the cells of columns as rows of float64."""
    numbers = [column.numbers(kind) for column, kind in zip(columns, kinds, strict=True)]
    return np.column_stack(numbers)


def _plain(values: Any, dtype: Any) -> Array:
    """Return a column of a numeric or boolean type."""
    if hasattr(values, "iloc") and np.dtype(dtype).kind == "f":
        return np.asarray(values.to_numpy(dtype, na_value=np.nan))
    return np.asarray(values.to_numpy(), dtype)


def _times(values: Any) -> Array:
    """Return a column of local times or durations."""
    if hasattr(values, "iloc"):
        zone = getattr(values.dtype, "tz", None) or getattr(getattr(values.dtype, "pyarrow_dtype", None), "tz", None)
        values = values if zone is None else values.dt.tz_localize(None)
        letter = values.dtype.kind
        return np.asarray(values.to_numpy(f"{letter}8[us]", na_value=np.array("NaT", f"{letter}8[us]")))
    if hasattr(values, "dt") and getattr(values.dtype, "time_zone", None) is not None:
        values = values.dt.replace_time_zone(None)
    return np.asarray(values.to_numpy())


def _of_pandas(frame: Any) -> list[FrameColumn]:
    """Return the columns of a pandas frame."""
    found = []
    for at, (name, dtype) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
        letter = getattr(dtype, "kind", "O")
        declared = {"M": DATE, "m": SPAN}.get(letter, NUMBER if letter in "biufc" else None)
        if type(dtype).__name__ == "CategoricalDtype":
            declared = CATEGORY
        found.append(FrameColumn(str(name), declared, frame.iloc[:, at]))
    return found


def _of_polars(frame: Any) -> list[FrameColumn]:
    """Return the columns of a polars frame."""
    by_type = {"Categorical": CATEGORY, "Enum": CATEGORY, "Date": DATE, "Datetime": DATE, "Duration": SPAN}
    found = []
    for column in frame.get_columns():
        name = str(column.dtype).split("(", 1)[0]
        is_number = column.dtype.is_numeric() or name == "Boolean"
        found.append(FrameColumn(column.name, NUMBER if is_number else by_type.get(name), column))
    return found


def _of_arrow(table: Any) -> list[FrameColumn]:
    """Return the columns of an Arrow table."""
    found = []
    for name, type_, column in zip(table.schema.names, table.schema.types, table.columns, strict=True):
        text = str(type_)
        declared = None
        if text.startswith(("int", "uint", "float", "halffloat", "double", "bool", "decimal")):
            declared = NUMBER
        elif text.startswith("dictionary"):
            declared = CATEGORY
        found.append(FrameColumn(name, declared, column))
    return found


_READERS = {
    ("pandas", "DataFrame"): _of_pandas,
    ("polars", "DataFrame"): _of_polars,
    ("pyarrow", "Table"): _of_arrow,
    ("pyarrow", "RecordBatch"): _of_arrow,
}


def as_rows(X: Any) -> Any:
    """Return rows for validation: an array for vectors, a table for a reader of it, anything else unchanged.

    Vectors are one column of lists that have the same length: an array of objects, a column of Arrow, pandas or polars,
    or a frame that has no other column. Nothing is imported for it, and values keep their type.
    """
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1 and is_vectors(X):
        return _stacked(list(X))
    package = type(X).__module__.split(".")[0]
    if package == "torch":
        return _of_tensor(X)
    if package not in {"pyarrow", "pandas", "polars", "duckdb"}:
        return X
    for read in ("to_arrow_table", "read_all", "to_table", "collect"):  # DuckDB, readers and data sets of Arrow, polars
        if hasattr(X, read):
            X = getattr(X, read)()
            break
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
    if hasattr(column, "iloc") or isinstance(column, np.ndarray):
        first = column.iloc if hasattr(column, "iloc") else column
        return bool(len(column)) and isinstance(first[0], np.ndarray | list | tuple)
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
    return (
        np.concatenate([_of_arrow_lists(chunk) for chunk in chunks]) if len(chunks) != 1 else _of_arrow_lists(chunks[0])
    )


def _of_arrow_lists(lists: Any) -> Array:
    """Return an Arrow array of lists as rows."""
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
    """Return the error for vectors that do not form rows."""
    return (
        f"X is a column of vectors. Expected vectors of one length, without gaps. Got {found} instead. Drop these rows."
    )


def _of_tensor(tensor: Any) -> Any:
    """Return a torch tensor as an array; types that NumPy lacks become float32."""
    tensor = tensor.detach().cpu()
    return (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()
