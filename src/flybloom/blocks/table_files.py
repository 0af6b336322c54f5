"""Parquet, CSV and Arrow files and frames in memory, read by pyarrow a few rows at a time."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flybloom.blocks.parts import FilePart, Part, RawBlock, ReadOptions
from flybloom.blocks.tables import feature_columns, raw_block
from flybloom.exceptions import SourceError, require_extra

CSV_BYTES = 2**22  # read at once


class _TablePart(Part):
    """A part that is a table."""

    def read(self, options: ReadOptions) -> Iterator[RawBlock]:
        """Yield blocks in the order of the rows."""
        require_extra("pyarrow", "files")
        at = 0
        for batch, names in self.batches(options):
            for begin in range(0, batch.num_rows, options.block_rows):
                piece = batch.slice(begin, options.block_rows)
                yield raw_block(piece, options, names, f"{self.name}, rows {at}-{at + piece.num_rows - 1}")
                at += piece.num_rows

    def batches(self, options: ReadOptions) -> Iterator[tuple[Any, list[str]]]:
        """Yield Arrow batches or tables, and the names of the features in them."""
        raise NotImplementedError


class ParquetFile(_TablePart, FilePart):
    """A Parquet file, of which only the columns that are needed are read."""

    def batches(self, options: ReadOptions) -> Iterator[tuple[Any, list[str]]]:
        """Yield batches of a row group."""
        with _open(self.name, self._file) as file:
            names = feature_columns(file.schema_arrow.names, options, self.name)
            columns = names if options.target is None else [*names, options.target]
            for batch in file.iter_batches(options.block_rows, columns=columns):
                yield batch, names

    def n_rows(self) -> int | None:
        """Return what the footer says."""
        require_extra("pyarrow", "files")
        with _open(self.name, self._file) as file:
            return int(file.metadata.num_rows)

    def _file(self) -> Any:
        from pyarrow import parquet  # noqa: PLC0415

        return parquet.ParquetFile(self.path, memory_map=False, pre_buffer=False)


class CsvFile(_TablePart, FilePart):
    """A file of comma- or tab-separated values with a header, compressed or not; features are read as float64."""

    def batches(self, options: ReadOptions) -> Iterator[tuple[Any, list[str]]]:
        """Yield batches of a few megabytes."""
        import pyarrow as pa  # noqa: PLC0415

        with _open(self.name, lambda: pa.input_stream(str(self.path))) as stream:
            yield from csv_batches(stream, self.name, "\t" if ".tsv" in self.path.suffixes else ",", options)


class StandardInput(_TablePart):
    """CSV from standard input, which can be read only once."""

    name = "standard input"
    can_repeat = False

    def batches(self, options: ReadOptions) -> Iterator[tuple[Any, list[str]]]:
        """Yield batches of a few megabytes."""
        yield from csv_batches(sys.stdin.buffer, self.name, ",", options)


class ArrowFile(_TablePart, FilePart):
    """An Arrow or Feather file, or an Arrow stream, mapped into memory."""

    def batches(self, options: ReadOptions) -> Iterator[tuple[Any, list[str]]]:
        """Yield the batches of the file."""
        import pyarrow as pa  # noqa: PLC0415

        with _open(self.name, lambda: pa.memory_map(str(self.path))) as mapped:
            try:
                reader = pa.ipc.open_file(mapped)
            except pa.ArrowInvalid:
                mapped.seek(0)
                reader = _open(self.name, lambda: pa.ipc.open_stream(mapped))
                batches = iter(reader)
            else:
                batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
            names = feature_columns(reader.schema.names, options, self.name)
            for batch in batches:
                yield batch, names


class Frame(_TablePart):
    """A frame of pandas or polars, or an Arrow table."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self.name = f"{type(frame).__module__.split('.')[0]} {type(frame).__name__}"

    def batches(self, options: ReadOptions) -> Iterator[tuple[Any, list[str]]]:
        """Yield slices, so that no more than a block is converted at a time."""
        import pyarrow as pa  # noqa: PLC0415

        names = feature_columns(list(map(str, _column_names(self.frame))), options, self.name)
        for begin in range(0, len(self.frame), options.block_rows):
            if isinstance(self.frame, pa.Table):
                yield self.frame.slice(begin, options.block_rows), names
            elif hasattr(self.frame, "to_arrow"):
                yield self.frame.slice(begin, options.block_rows).to_arrow(), names
            else:
                piece = self.frame.iloc[begin : begin + options.block_rows]
                yield pa.Table.from_pandas(piece, preserve_index=False), names

    def n_rows(self) -> int | None:
        """Return its length."""
        return len(self.frame)


def is_frame(source: Any) -> bool:
    """Return whether something is a frame that Arrow can read."""
    module = type(source).__module__.split(".")[0]
    return module in ("pandas", "polars", "pyarrow") and hasattr(source, "columns")


def csv_batches(stream: Any, name: str, delimiter: str, options: ReadOptions) -> Iterator[tuple[Any, list[str]]]:
    """Yield batches of CSV; errors name line and column."""
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import csv  # noqa: PLC0415

    buffered = _Peekable(stream)
    header = buffered.first_line()
    if not header.strip():
        msg = f"{name} is empty. Expected a line with the names of the columns, then rows."
        raise SourceError(msg)
    parse = csv.ParseOptions(delimiter=delimiter)
    columns = csv.read_csv(pa.BufferReader(header), parse_options=parse).column_names
    names = feature_columns(columns, options, name)
    convert = csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.float64()),
        include_columns=names if options.target is None else [*names, options.target],
    )
    # one thread: only then do errors come with the number of the line
    read = csv.ReadOptions(use_threads=False, block_size=max(CSV_BYTES, 2 * len(header)))
    try:
        for batch in csv.open_csv(buffered, read_options=read, parse_options=parse, convert_options=convert):
            yield batch, names
    except pa.ArrowInvalid as error:
        raise SourceError(_explained(str(error), name, columns)) from error


class _Peekable:
    """A binary stream of which the first line is looked at before it is read."""

    closed = False

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.begin = b""

    def first_line(self) -> bytes:
        """Return the first line, which will be read again."""
        while b"\n" not in self.begin:
            more = self.stream.read(2**16)
            if not more:
                break
            self.begin += more
        return self.begin.split(b"\n", 1)[0] + b"\n"

    def read(self, n: int) -> bytes:
        """Return n bytes, or what is left."""
        piece, self.begin = self.begin[:n], self.begin[n:]
        return piece + bytes(self.stream.read(n - len(piece))) if len(piece) < n else piece

    def close(self) -> None:
        """Leave closing to whoever opened the stream."""


def _explained(message: str, name: str, columns: list[str]) -> str:
    """Return pyarrow's error in our words."""
    found = re.match(r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to (\S+): (.*)", message)
    if found is None:
        return f"{name}: {message}. Repair the file, or read it in another way and pass blocks."
    column, line, kind, what = found.groups()
    place = f"{name}, line {line}" if line else name
    if kind == "double":
        return (
            f"{place}: the column {columns[int(column)]!r} does not hold numbers only ({what}). "
            "Encode it as numbers first, or choose the feature columns without it."
        )
    return (
        f"{place}: the column {columns[int(column)]!r} began as {kind}, but then came another type ({what}). "
        "Write all labels as one type."
    )


def _column_names(frame: Any) -> Any:
    """Return the names of a frame's columns."""
    return frame.column_names if hasattr(frame, "column_names") else frame.columns


def _open(name: str, opened: Any) -> Any:
    """Open a file, with an error that names it."""
    import pyarrow as pa  # noqa: PLC0415

    try:
        return opened()
    except pa.ArrowInvalid as error:
        msg = f"{name} cannot be read ({error}). Check that it is whole and of the kind that its name says."
        raise SourceError(msg) from error


TABLE_FILES: dict[str, type[FilePart]] = {
    ".parquet": ParquetFile,
    ".pq": ParquetFile,
    ".csv": CsvFile,
    ".tsv": CsvFile,
    ".arrow": ArrowFile,
    ".feather": ArrowFile,
    ".ipc": ArrowFile,
}


def suffix_of(path: Path) -> str:
    """Return the suffix that tells the kind of a file, without that of its compression."""
    return path.with_suffix("").suffix.lower() if path.suffix.lower() == ".gz" else path.suffix.lower()
