"""Arrow batches as blocks of rows, labels and identifiers; errors name the column."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from flybloom._internal.cells import CATEGORY, DATE, FALSE, MISSING, NUMBER, TRUE, cells, is_missing, seconds_of
from flybloom._internal.frame_cells import is_list, vectors
from flybloom._internal.typing import Array
from flybloom.blocks.labels import TEXT, UNKNOWN, exact_labels
from flybloom.blocks.parts import (
    Part,
    Place,
    RawBlock,
    ReadOptions,
    feature_columns,
    kinds_of,
    require_columns,
    shortened,
)
from flybloom.blocks.schema import PLURALS, PartFacts, Schema
from flybloom.exceptions import SourceError

# One spelling for each number, so that no two strings become one label; or, on request, all spellings. Of up to 15
# digits no two are the same float.
WHOLE = {True: r"0|-?[1-9][0-9]*", False: r"[+-]?[0-9]+"}
NUMBERS = {
    True: r"0\.0|-?0\.[0-9]{0,13}[1-9]|-?[1-9][0-9]{0,7}\.(0|[0-9]{0,6}[1-9])",
    False: r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?",
}
EXACT_IN_FLOAT = 2**53


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
    try:
        yield
    except (SourceError, pa.ArrowMemoryError, pa.ArrowCancelled):
        raise
    except (pa.ArrowException, OSError, OverflowError, UnicodeDecodeError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(". ")
        msg = f"{name} cannot be read ({reason}). Check that it is whole and of the kind that its name says."
        raise SourceError(msg) from error


class Declared(NamedTuple):
    """Kind and numeric type of a column."""

    kind: str | None  # None if it only has missing values
    dtype: np.dtype[Any]  # of its numbers


def declared(type_: Any, name: str, where: str) -> Declared:
    """Return the kind of a column from its Arrow type: bools and durations are numbers, text is categorical."""
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


def feature_cells(table: Any, schema: Schema, place: Place, marks: Array | None = None) -> Array:
    """Return columns of an Arrow table or batch as rows of numbers of one type.

    Missing values become NaN. Rows with invalid values are marked, or raise an error.
    """
    held = set(table.schema.names)
    require_columns([name for name in schema.columns if name not in held], table.schema.names, str(place), "a feature")
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
    column = plain_column(column)
    if column.null_count == 0 and not pa.types.is_nested(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    values = np.empty(len(column), object)
    values[:] = column.to_pylist()
    return values


def _cells(column: Any, name: str, kind: str, dtype: np.dtype[Any], place: Place, marks: Array | None) -> Array:
    """Convert a column to numbers according to its kind."""
    found = declared(column.type, name, str(place))
    if found.kind == kind == NUMBER:
        return _numbers(column, name, found.dtype, dtype, place)
    if found.kind == kind == DATE:
        zone = getattr(column.type, "tz", None)
        local = column if zone is None else pc.local_timestamp(column)
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
    return np.asarray(column.to_numpy(zero_copy_only=False) if isinstance(column, pa.Array) else column.to_numpy())


def plain_column(column: Any) -> Any:
    """Return a column as one Arrow array, without dictionaries and string views."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(column.type):
        return plain_column(column.dictionary).take(column.indices)
    return column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column


def kind_of_type(type_: Any, options: ReadOptions, where: str) -> str:
    """Return the kind of labels for an Arrow type."""
    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
    if pa.types.is_null(type_):
        return UNKNOWN
    if _is_text(type_):
        return "int64" if options.label_type == "number" else TEXT
    if pa.types.is_integer(type_) or pa.types.is_boolean(type_) or pa.types.is_floating(type_):
        return TEXT if options.label_type == "text" else np.dtype(type_.to_pandas_dtype()).name
    msg = (
        f"{where}: the target {options.target!r} is of type {type_}. Expected whole numbers, strings or bools as "
        "labels. Convert it, or choose another target."
    )
    raise SourceError(msg)


def kind_of_text(column: Any, *, is_strict: bool) -> str:
    """Infer the kind of labels from the first values; if strict, each number must have a unique spelling."""
    distinct = set(pc.unique(pc.utf8_trim_whitespace(column)).to_pylist())
    words = distinct.difference(MISSING)  # among strings they are labels, but for the empty one
    if not words:
        return UNKNOWN if distinct <= {""} else TEXT
    if all(re.fullmatch(WHOLE[is_strict], word) for word in words):
        numbers = [int(word) for word in words]
        if min(numbers) >= -(2**63) and max(numbers) < 2**63:
            return "int64"
        return "uint64" if min(numbers) >= 0 and max(numbers) < 2**64 else TEXT
    if all(re.fullmatch(NUMBERS[is_strict], word) for word in words):
        return "float64" if all(abs(float(word)) <= EXACT_IN_FLOAT for word in words) else TEXT
    return "bool" if words <= {*TRUE, *FALSE} else TEXT


def labels_of(column: Any, kind: str, options: ReadOptions, place: Place) -> Array:
    """Convert an Arrow column to labels of a kind; errors name the first invalid row."""
    column = plain_column(column)
    what = f"{place}: the target {options.target!r}"
    if column.null_count:
        _refuse_unlabelled(column.null_count, what)
    if not _is_text(column.type):
        kind_of_type(column.type, options, str(place))  # refuses what is no label
        return exact_labels(np.asarray(column.to_numpy(zero_copy_only=False)), kind, f"{place}: the labels")
    return _strings(column, what) if kind == TEXT else _parsed(column, kind, options, place)


def _strings(column: Any, what: str) -> Array:
    """Return labels that are strings."""
    _refuse_unlabelled(pc.sum(pc.equal(column, "")).as_py() or 0, what)
    if pc.any(pc.match_substring(column, "\0")).as_py():  # NumPy would drop it at the end
        msg = f"{what} has a NUL character in a label. Expected text. Repair the file."
        raise SourceError(msg)
    return np.asarray(column.to_numpy(zero_copy_only=False)).astype(np.str_)


def _parsed(column: Any, kind: str, options: ReadOptions, place: Place) -> Array:
    """Parse text as numbers or bools; invalid values raise an error."""
    column = pc.utf8_trim_whitespace(column)
    _refuse_unlabelled(
        pc.sum(pc.is_in(column, pa.array(MISSING, column.type))).as_py() or 0,
        f"{place}: the target {options.target!r}",
    )
    if kind == "bool":
        is_fine = pc.is_in(column, pa.array([*TRUE, *FALSE], column.type))
    else:
        pattern = (NUMBERS if kind.startswith("float") else WHOLE)[options.label_type != "number"]
        is_fine = pc.match_substring_regex(column, f"^({pattern})$")
    if not pc.all(is_fine).as_py():
        _refuse_other(column, pc.index(is_fine, value=False).as_py(), kind, options, place)
    if kind == "bool":
        return np.asarray(pc.is_in(column, pa.array(TRUE, column.type)).to_numpy(zero_copy_only=False))
    try:
        numbers = pc.utf8_ltrim(column, "+").cast(getattr(pa, kind)()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:  # beyond 64 bits
        at = next(i for i, word in enumerate(column.to_pylist()) if not _fits(word, kind))
        _refuse_other(column, at, kind, options, place)
    if kind.startswith("float") and (np.abs(numbers) > EXACT_IN_FLOAT).any():
        _refuse_other(column, int(np.argmax(np.abs(numbers))), kind, options, place)
    return np.asarray(numbers)


def _fits(word: str, kind: str) -> bool:
    """Return whether an integer fits into a type."""
    limits = np.iinfo(kind)
    return bool(limits.min <= int(word) <= limits.max)


def _refuse_other(column: Any, at: int, kind: str, options: ReadOptions, place: Place) -> None:
    """Raise an error for a label of another kind than the previous ones."""
    found = shortened(repr(column[at].as_py()))
    msg = (
        f"{place.row(at)}: the target {options.target!r} began as {kind}, but then came {found}. "
        "Write all labels alike, or say what they are: label_type='text' for every spelling a label of its own, "
        "'number' for numbers however they are spelled."
    )
    raise SourceError(msg)


def _refuse_unlabelled(n_missing: int, what: str) -> None:
    """Raise an error for rows without a label."""
    if n_missing:
        msg = f"{what} has {n_missing} missing values. Expected one label per row. Drop these rows."
        raise SourceError(msg)


def _is_text(type_: Any) -> bool:
    """Return whether an Arrow type is text."""
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_))
