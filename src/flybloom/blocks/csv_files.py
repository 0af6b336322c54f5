"""CSV from files, byte ranges of files and standard input, parsed in chunks by pyarrow; errors name the line."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from flybloom._internal.cells import MISSING, NUMBER, Mixed, kind_of
from flybloom.blocks.byte_stream import PACKED, ByteStream, Recoded, file_errors, open_file
from flybloom.blocks.csv_format import LOOK_BYTES, UTF8, CsvFormat, last_record_end, numbers_of_text, open_csv
from flybloom.blocks.labels import TEXT
from flybloom.blocks.parts import PIECE_BYTES, FilePart, Part, ReadOptions, feature_columns, kinds_of, shortened
from flybloom.blocks.schema import PartFacts
from flybloom.blocks.tables import TablePart, kind_of_text
from flybloom.exceptions import SourceError

CAN_BE_CUT = ("utf-8", "ascii", "cp1252", "iso8859-1", "iso8859-15")  # a byte of a quote or a line break is one
MAX_RECORD_BYTES = 2**28
MAX_LOOK_BYTES = 2**24  # for the end of the first row: those that pyarrow reads are much shorter
MAX_SHOWN = 20  # characters of a value that is not one
VALUE_BYTES = 64  # of which a row may have one for each column, however many columns there are


class CsvPart(TablePart):
    """Base of CSV readers. Types of columns are inferred from the first megabytes."""

    is_text = True
    usual_delimiter = ","

    @contextmanager
    def open(self, options: ReadOptions) -> Iterator[tuple[ByteStream, CsvFormat]]:
        """Yield the text, positioned at the header, and its format."""
        raise NotImplementedError

    def arrow_schema(self) -> Any:
        """Not available: text declares no types."""
        raise NotImplementedError

    def inspect(self, options: ReadOptions) -> PartFacts:
        """Return the columns, and the kind of the first labels."""
        with self.open(options) as (stream, format_):
            names, remarks = feature_columns(list(format_.columns), options, self.name)
            given = {name for name, _ in options.kinds}
            unknown = [name for name in names if name not in given]
            labels = None
            if options.target is not None:
                labels = TEXT if options.label_type == "text" else None
            wanted = [*unknown, *([options.target] if options.target is not None and labels is None else [])]
            first = _first_rows(stream, format_, wanted, self.name) if wanted else {}
        if options.target in first:
            labels = kind_of_text(first.pop(options.target), is_strict=options.label_type != "number")
        found = {name: _kind_of_feature(column, format_) for name, column in first.items()}
        kinds = kinds_of(names, [found.get(name) for name in names], options)
        remarks = [*format_.remarks, *remarks]
        return PartFacts(
            np.dtype(np.float64), len(names), tuple(names), labels, True, remarks=tuple(remarks), kinds=kinds
        )

    def batches(self, columns: list[str], options: ReadOptions) -> Iterator[Any]:
        """Yield batches of a few megabytes with numbers and unparsed text."""
        with self.open(options) as (stream, format_):
            stream.read(format_.header_bytes)
            types = dict.fromkeys(columns, pa.string())
            numbers = [name for name, kind in options.kinds if kind == NUMBER]
            if not options.marks:
                types |= dict.fromkeys(numbers, pa.float64())
                types |= dict.fromkeys(set(numbers) & {*format_.booleans}, pa.bool_())
            convert = csv.ConvertOptions(column_types=types, include_columns=columns, decimal_point=format_.decimal)
            block_bytes = max(LOOK_BYTES, VALUE_BYTES * len(format_.columns))
            # one thread: only then do errors come with the number of the line
            read = csv.ReadOptions(use_threads=False, block_size=block_bytes, column_names=list(format_.columns))
            last: Any = None
            try:
                with csv.open_csv(stream, read, format_.parse_options(), convert) as reader:
                    for batch in reader:
                        last = batch.slice(batch.num_rows - 1) if batch.num_rows else last
                        yield numbers_of_text(batch, numbers, format_) if options.marks else batch
                _refuse_open_quote(last, stream.end, format_, self.name)
            except pa.ArrowInvalid as error:
                if "Empty CSV file" not in str(error):
                    raise SourceError(_explained(str(error), self.name, format_, block_bytes)) from error


class CsvFile(CsvPart, FilePart):
    """A CSV or TSV file, compressed or not."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.usual_delimiter = "\t" if ".tsv" in (suffix.lower() for suffix in path.suffixes) else ","

    @contextmanager
    def open(self, options: ReadOptions) -> Iterator[tuple[ByteStream, CsvFormat]]:
        """Open the file."""
        with file_errors(self.name):
            file = open_file(self.path)
        with file:
            yield open_csv(file, self.name, options, self.usual_delimiter)

    def pieces(self, options: ReadOptions) -> Sequence[Part]:
        """Return ranges of whole records; small and compressed files are not split."""
        if self.path.suffix.lower() in PACKED:
            return [self]
        with self.open(options) as (_, format_):
            pass
        if format_.encoding not in CAN_BE_CUT:
            return [self]
        with file_errors(self.name):
            ranges = record_ranges(self.path, format_.begin, format_.delimiter.encode())
        return [CsvRange(self.path, self.name, format_, *range_) for range_ in ranges] if len(ranges) > 1 else [self]


class CsvRange(CsvPart, FilePart):
    """A byte range of a CSV file that consists of whole records."""

    def __init__(self, path: Path, name: str, format_: CsvFormat, begin: int, end: int) -> None:
        super().__init__(path)
        self.name = f"{name}, bytes {begin}-{end - 1}"
        self.format_, self.begin, self.end = replace(format_, header_lines=0, header_bytes=0), begin, end

    @contextmanager
    def open(self, options: ReadOptions) -> Iterator[tuple[ByteStream, CsvFormat]]:  # noqa: ARG002
        """Open the file at the first record."""
        with file_errors(self.name):
            file = self.path.open("rb")
        with file:
            file.seek(self.begin)
            stream = ByteStream(_Limited(file, self.end - self.begin), self.name)
            if self.format_.encoding != UTF8:
                stream = ByteStream(Recoded(stream, self.format_.encoding), self.name)
            yield stream, self.format_


class StandardInput(CsvPart):
    """CSV from standard input, which can be read only once."""

    name = "standard input"
    can_repeat = False

    def __init__(self) -> None:
        self._opened: tuple[ByteStream, CsvFormat] | None = None
        self._is_read = False

    @contextmanager
    def open(self, options: ReadOptions) -> Iterator[tuple[ByteStream, CsvFormat]]:
        """Open standard input; what was inspected is kept for reading."""
        if self._opened is None:
            if sys.stdin is None or getattr(sys.stdin, "closed", False):
                msg = "standard input is closed. Expected CSV there. Pipe a file to it, or name the file."
                raise SourceError(msg)
            self._opened = open_csv(sys.stdin.buffer, self.name, options, self.usual_delimiter)
        yield self._opened

    def batches(self, columns: list[str], options: ReadOptions) -> Iterator[Any]:
        """Yield batches of a few megabytes, once."""
        if self._is_read:
            msg = "standard input can be read only once. Save it to a file first."
            raise SourceError(msg)
        self._is_read = True
        yield from super().batches(columns, options)


class _Limited(io.RawIOBase):
    """The next n bytes of a file."""

    def __init__(self, file: Any, n: int) -> None:
        super().__init__()
        self._file, self._left = file, n

    def read(self, n: int = -1) -> bytes:
        """Return at most n bytes."""
        piece: bytes = self._file.read(self._left if n < 0 else min(n, self._left))
        self._left -= len(piece)
        return piece


def record_ranges(path: Path, begin: int, delimiter: bytes, size: int = PIECE_BYTES) -> list[tuple[int, int]]:
    """Split the rows of a file into byte ranges of whole records, each of about a given size."""
    ranges, n_bytes = [], path.stat().st_size
    with path.open("rb") as file:
        while n_bytes - begin > size:
            file.seek(begin)
            piece = file.read(size)
            end = last_record_end(piece, delimiter)
            while end == 0 and len(piece) < min(MAX_RECORD_BYTES, n_bytes - begin):
                piece += file.read(len(piece))
                end = last_record_end(piece, delimiter)
            if end == 0:  # a quote that is never closed: reading will tell
                break
            ranges.append((begin, begin + end))
            begin += end
    return [*ranges, (begin, n_bytes)] if begin < n_bytes else ranges


def _refuse_open_quote(last: Any, end: bytes, format_: CsvFormat, name: str) -> None:
    """Raise an error for a quote that is never closed: the last value spans lines up to the end of the file."""
    column = format_.columns[-1]
    if last is None or column not in last.schema.names or end.rstrip().endswith(b'"'):
        return
    value = last.column(last.schema.get_field_index(column))[0].as_py()
    if isinstance(value, str) and ("\n" in value or "\r" in value):
        msg = (
            f"{name}: a quote at the beginning of a value of the column {column!r} is never closed: it begins with "
            f"{shortened(value[:MAX_SHOWN])!r} and goes on to the end of the file. Close it."
        )
        raise SourceError(msg)


def _first_rows(stream: ByteStream, format_: CsvFormat, columns: list[str], name: str) -> dict[str, Any]:
    """Return columns of the first rows as strings, from which types are inferred."""
    size = LOOK_BYTES + format_.header_bytes
    while True:
        piece = stream.peek(size)
        rows = piece[format_.header_bytes :]
        if len(piece) == size:
            rows = rows[: last_record_end(rows, format_.delimiter.encode())]
        if rows.strip() or len(piece) < size or size > MAX_LOOK_BYTES:
            break
        size *= 4
    if not rows.strip():
        return dict.fromkeys(columns, pa.array([], pa.string()))
    convert = csv.ConvertOptions(column_types=dict.fromkeys(columns, pa.string()), include_columns=columns)
    read = csv.ReadOptions(use_threads=False, block_size=len(rows) + 1, column_names=list(format_.columns))
    try:
        table = csv.read_csv(pa.BufferReader(rows), read, format_.parse_options(), convert)
    except pa.ArrowInvalid as error:
        raise SourceError(_explained(str(error), name, format_, len(rows))) from error
    return dict(zip(table.column_names, table.columns, strict=True))


def _kind_of_feature(column: Any, format_: CsvFormat) -> str | None:
    """Infer the kind of a feature. Mostly numeric columns are numeric; invalid values raise an error when read."""
    column = pc.unique(column)
    if format_.decimal == ",":
        column = pc.replace_substring(column, ",", ".")
    known = column.filter(pc.invert(pc.is_in(column, pa.array(MISSING))))
    with suppress(pa.ArrowInvalid):  # most columns are numbers throughout, which Arrow finds soonest
        if len(known) and not pc.any(pc.is_nan(known.cast(pa.float64()))).as_py():
            return NUMBER
    found = kind_of(column.to_pylist())
    return NUMBER if isinstance(found, Mixed) else found


def _explained(message: str, name: str, format_: CsvFormat, block_bytes: int) -> str:
    """Translate an error message of pyarrow."""
    if "straddling" in message:
        return (
            f"{name}: a row is longer than {block_bytes >> 20} MB, or a quote at the beginning of a value is never "
            "closed. Close it, or write the table as Parquet."
        )
    ragged = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", message)
    if ragged is not None:
        row, expected, got = map(int, ragged.groups())
        place = f"{name}, line {row + format_.header_lines}"
        return f"{place}: {got} values. Expected {expected}, as in the first line. Repair it."
    found = re.match(r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to (\S+): (.*)", message, re.DOTALL)
    if found is None:
        return f"{name}: {shortened(message).rstrip('.')}. Repair the file, or read it in another way and pass blocks."
    number, row_, kind, what = found.groups()
    what = shortened(what)
    place = f"{name}, line {int(row_) + format_.header_lines}" if row_ else name
    column = repr(format_.columns[int(number)])
    if "UTF8" in what:
        return f"{place}: the column {column} is not in UTF-8. Name the encoding of the file (file_encoding)."
    if kind == "bool":
        return (
            f"{place}: the column {column} began with True and False, but then came another value ({what}). "
            "Write numbers throughout, or leave out the column."
        )
    return (
        f"{place}: the column {column} does not hold numbers only ({what}). Repair it, take the column as "
        "categories (kinds), leave it out (exclude), or say how numbers are written (delimiter, decimal)."
    )
