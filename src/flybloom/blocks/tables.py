"""Conversion of Arrow batches to blocks of rows, labels and identifiers; errors name the column."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from flybloom._internal.cells import CATEGORY, DATE, NUMBER, cells, is_missing, seconds_of
from flybloom._internal.frame_cells import is_list, vectors
from flybloom._internal.typing import Array
from flybloom.blocks.arrow_labels import kind_of_type, labels_of
from flybloom.blocks.parts import Part, Place, RawBlock, ReadOptions, plain_column, shortened
from flybloom.blocks.schema import PLURALS, PartFacts, Schema
from flybloom.exceptions import SourceError

# as pandas writes the index of a frame: to CSV, to CSV that was read before, to Parquet
INDEX_COLUMNS = ("", "Unnamed: 0", "__index_level_0__")
MAX_LISTED = 10  # columns that an error lists


class TablePart(Part):
    """Base of readers that yield Arrow batches."""

    @abstractmethod
    def arrow_schema(self) -> Any:
        """Return the Arrow schema."""

    @abstractmethod
    def batches(self, columns: list[str], options: ReadOptions) -> Iterator[Any]:
        """Yield tables or record batches with at least these columns."""

    def lacks_values(self, names: list[str]) -> bool:  # noqa: ARG002
        """Return whether these columns may have missing values, if it is cheap to determine."""
        return False

    def inspect(self, options: ReadOptions) -> PartFacts:
        """Return the common type of the columns from the Arrow schema."""
        with arrow_errors(self.name):
            fields = self.arrow_schema()
            columns = list(fields.names)
        names, remarks = feature_columns(columns, options, self.name)
        labels = None
        if options.target is not None:
            labels = kind_of_type(fields.field(options.target).type, options, self.name)
        first = fields.field(names[0]).type
        if len(names) == 1 and is_list(first):
            dtype, n_features = np.dtype(first.value_type.to_pandas_dtype()), getattr(first, "list_size", None)
            return PartFacts(dtype, n_features, None, labels, remarks=tuple(remarks))
        found = [declared(fields.field(name).type, name, self.name) for name in names]
        dtype = np.result_type(*(column.dtype for column in found))
        if dtype.kind != "f" and self.lacks_values(names):
            dtype = np.dtype(np.float64)
        kinds = kinds_of(names, [column.kind for column in found], options)
        return PartFacts(dtype, len(names), tuple(names), labels, remarks=tuple(remarks), kinds=kinds)

    def read(self, options: ReadOptions, schema: Schema) -> Iterator[RawBlock]:
        """Yield blocks in the order of the rows."""
        at, others = self.first_row, (options.target, options.id_column)
        columns = [*schema.columns, *(name for name in others if name is not None)]
        vector = None
        if schema.names is None:
            with arrow_errors(self.name):
                (vector,), _ = feature_columns(list(self.arrow_schema().names), options, self.name)
            columns.append(vector)
        options = replace(options, kinds=tuple(schema.columns.items()))
        with arrow_errors(self.name):
            for batch in self.batches(columns, options):
                for begin in range(0, batch.num_rows, options.block_rows):
                    table = batch.slice(begin, options.block_rows)
                    place = Place(self.name, at, table.num_rows)
                    marks = np.zeros(table.num_rows, bool) if options.marks else None
                    X = _vectors(table, vector, place) if vector else feature_cells(table, schema, place, marks)
                    y = ids = None
                    if options.target is not None and schema.labels is not None:
                        y = labels_of(table.column(options.target), schema.labels, options, place)
                    if options.id_column is not None:
                        ids = identifiers(table.column(options.id_column))
                    yield RawBlock(X, y, ids, marks)
                    at += table.num_rows


@contextmanager
def arrow_errors(name: str) -> Iterator[None]:
    """Convert errors of Arrow to SourceError with the name of the source."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    try:
        yield
    except (SourceError, pa.ArrowMemoryError, pa.ArrowCancelled):
        raise
    except (pa.ArrowException, OSError, OverflowError, UnicodeDecodeError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(". ")
        msg = f"{name} cannot be read ({reason}). Check that it is whole and of the kind that its name says."
        raise SourceError(msg) from error


def feature_columns(columns: list[str], options: ReadOptions, where: str) -> tuple[list[str], list[str]]:
    """Return the columns of the features, and remarks on ignored columns.

    Each requested column must occur exactly once.
    """
    for name, role in ((options.target, "the target"), (options.id_column, "the identifier")):
        if name is not None:
            _require_columns([name], columns, where, role)
    _require_columns([name for name in options.exclude if name not in columns], columns, where, "to be left out")
    _require_columns([name for name, _ in options.kinds], columns, where, "whose kind is given")
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


class Declared(NamedTuple):
    """Kind and numeric type of a column."""

    kind: str | None  # None if it only has missing values
    dtype: np.dtype[Any]  # of its numbers


def declared(type_: Any, name: str, where: str) -> Declared:
    """Return the kind of a column from its Arrow type: bools and durations are numbers, text is categorical."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    is_ = pa.types
    if is_.is_integer(type_) or is_.is_floating(type_) or is_.is_boolean(type_):
        return Declared(NUMBER, np.dtype(type_.to_pandas_dtype()))
    floats = np.dtype(np.float64)
    if is_.is_decimal(type_) or is_.is_time(type_) or is_.is_duration(type_):
        return Declared(NUMBER, floats)
    if is_.is_timestamp(type_) or is_.is_date(type_):
        return Declared(DATE, floats)
    if is_.is_null(type_):
        return Declared(None, floats)
    is_text = is_.is_string(type_) or is_.is_large_string(type_) or is_.is_string_view(type_)
    if is_text or (is_.is_dictionary(type_) and not is_.is_nested(type_.value_type)):
        return Declared(CATEGORY, floats)
    msg = (
        f"{where}: the column {name!r} is of type {type_}. Expected numbers, text, bools or dates. "
        "Make columns of what is in it, or leave it out (exclude); a column of vectors can be the only feature "
        "(features)."
    )
    raise SourceError(msg)


def kinds_of(names: list[str], found: list[str | None], options: ReadOptions) -> tuple[str | None, ...]:
    """Return the kinds of columns: given by the options, or as found."""
    given = dict(options.kinds)
    return tuple(given.get(name, kind) for name, kind in zip(names, found, strict=True))


def feature_cells(table: Any, schema: Schema, place: Place, marks: Array | None = None) -> Array:
    """Return columns of an Arrow table or batch as rows of numbers of one type.

    Missing values become NaN. Rows with invalid values are marked, or raise an error.
    """
    held = set(table.schema.names)
    _require_columns([name for name in schema.columns if name not in held], table.schema.names, str(place), "a feature")
    columns = np.empty((len(schema.columns), table.num_rows), schema.dtype)
    for column, (name, kind) in zip(columns, schema.columns.items(), strict=True):
        column[:] = _cells(table.column(name), name, kind, schema.dtype, place, marks)
    return np.ascontiguousarray(columns.T)  # a third of the time that writing each column across the rows takes


def _vectors(table: Any, name: str, place: Place) -> Array:
    """Return a column of vectors as rows."""
    try:
        return vectors(table.column(name))
    except ValueError as error:
        msg = f"{place}: the column {name!r}: {error}"
        raise SourceError(msg) from error


def identifiers(column: Any) -> Array:
    """Return a column of identifiers as an array; missing ones are None."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    column = plain_column(column)
    if column.null_count == 0 and not pa.types.is_nested(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    values = np.empty(len(column), object)
    values[:] = column.to_pylist()
    return values


def _cells(column: Any, name: str, kind: str, dtype: np.dtype[Any], place: Place, marks: Array | None) -> Array:
    """Convert a column to numbers according to its kind."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    found = declared(column.type, name, str(place))
    if found.kind == kind == NUMBER:
        return _numbers(column, name, found.dtype, dtype, place)
    if found.kind == kind == DATE:
        zone = getattr(column.type, "tz", None)
        local = column if zone is None else pa.compute.local_timestamp(column)
        return seconds_of(_plain(local.cast(pa.timestamp("us"), safe=False)))
    coded = plain_column(column).dictionary_encode()
    values = coded.dictionary.to_pylist()
    numbers, wrong = cells(values, kind)
    codes = _plain(coded.indices.fill_null(len(values)))
    if wrong is not None:
        is_wrong = np.isnan(numbers) & ~np.array([is_missing(value) for value in values])
        rows = np.append(is_wrong, False)[codes]
        if marks is None:
            msg = (
                f"{place.row(int(rows.argmax()))}: the column {name!r} holds {shortened(repr(values[wrong]))}. "
                f"Expected {PLURALS[kind]}. Repair it, take the column as categories (kinds), or leave it out "
                "(exclude)."
            )
            raise SourceError(msg)
        marks |= rows
    return np.append(numbers, np.nan)[codes]


def _numbers(column: Any, name: str, found: np.dtype[Any], dtype: np.dtype[Any], place: Place) -> Array:
    """Convert a numeric column, with NaN for missing values."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    if column.null_count and dtype.kind != "f":
        msg = (
            f"{place}: the column {name!r} has {column.null_count} missing values among whole numbers, and its "
            "source did not say so beforehand. Cast the column to floats, or fill them in."
        )
        raise SourceError(msg)
    if not np.can_cast(found, dtype, "safe"):
        msg = (
            f"{place}: the column {name!r} is of type {found}. Expected {dtype} or what goes into it, as the source "
            "had when its types were decided. Read it anew without a schema."
        )
        raise SourceError(msg)
    if pa.types.is_time(column.type):
        micro = column.cast(pa.time64("us"), safe=False).cast(pa.int64())
        return _plain(micro.cast(pa.float64(), safe=False)) / 1e6
    if pa.types.is_duration(column.type):
        return seconds_of(_plain(column.cast(pa.duration("us"), safe=False)))
    if column.null_count or pa.types.is_decimal(column.type):
        column = column.cast(pa.float64(), safe=False)
    return _plain(column)


def _plain(column: Any) -> Array:
    """Return a column of Arrow as an array."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    return np.asarray(column.to_numpy(zero_copy_only=False) if isinstance(column, pa.Array) else column.to_numpy())


def _require_columns(wanted: list[str], columns: list[str], where: str, role: str) -> None:
    """Raise an error for a table that lacks a column or has it twice."""
    counts = Counter(columns)
    for name in wanted:
        if counts[name] != 1:
            found = "there twice" if counts[name] else "not there"
            listed = ", ".join(map(repr, columns[:MAX_LISTED])) + (", ..." if len(columns) > MAX_LISTED else "")
            msg = f"{where}: the column {name!r}, {role}, is {found}. The columns are {listed}. Check the name."
            raise SourceError(msg)


def _refuse_twice(names: list[str], where: str) -> None:
    """Raise an error for features that share a name."""
    if len(set(names)) < len(names):
        name = next(name for name, n in Counter(names).items() if n > 1)
        msg = f"{where}: the column {name!r} is there twice. Expected a name for each. Rename one, or exclude the name."
        raise SourceError(msg)
