"""Readers of Parquet, Arrow and Feather files, and of sources of Arrow batches such as lazy frames and DuckDB."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from flybloom.blocks.frames import FramePart, name_of
from flybloom.blocks.parts import BLOCK_ROWS, PIECE_BYTES, FilePart, Part, ReadOptions
from flybloom.blocks.schema import PartFacts
from flybloom.blocks.tables import TablePart, arrow_errors
from flybloom.exceptions import SourceError

READ_AHEAD = 1  # batches and files; more would only take memory


class ParquetFile(TablePart, FilePart):
    """Reader of a Parquet file or some of its row groups."""

    def __init__(self, path: Path, groups: tuple[int, int] | None = None, first_row: int = 0) -> None:
        super().__init__(path)
        self.groups = groups  # from, to; None for all
        self.first_row = first_row

    def arrow_schema(self) -> Any:
        """Return the schema from the footer."""
        with self._open() as file:
            return file.schema_arrow

    def lacks_values(self, names: list[str]) -> bool:
        """Return whether the footer reports missing values, or reports nothing."""
        with self._open() as file:
            wanted = set(names)
            groups = (file.metadata.row_group(i) for i in range(file.metadata.num_row_groups))
            columns = (group.column(j) for group in groups for j in range(group.num_columns))
            found = (column.statistics for column in columns if column.path_in_schema in wanted)
            return any(known is None or known.null_count is None or known.null_count > 0 for known in found)

    def batches(self, columns: list[str], options: ReadOptions) -> Iterator[Any]:
        """Yield batches of the row groups."""
        groups = None if self.groups is None else list(range(*self.groups))
        with self._open() as file:
            yield from file.iter_batches(options.block_rows, row_groups=groups, columns=columns)

    def pieces(self, options: ReadOptions) -> Sequence[Part]:  # noqa: ARG002
        """Return one piece per row group; small groups are combined."""
        with arrow_errors(self.name), self._open() as file:
            groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
            sizes = [(group.num_rows, group.total_byte_size) for group in groups]
        found: list[Part] = []
        begin = row = n_rows = n_bytes = 0
        for end, (rows, size) in enumerate(sizes, 1):
            n_rows, n_bytes = n_rows + rows, n_bytes + size
            if n_bytes >= PIECE_BYTES or end == len(sizes):
                piece = ParquetFile(self.path, (begin, end), row)
                piece.name = self.name
                found.append(piece)
                begin, row, n_rows, n_bytes = end, row + n_rows, 0, 0
        return found

    def n_rows(self) -> int | None:
        """Return the number of rows from the footer."""
        with arrow_errors(self.name), self._open() as file:
            numbers = [file.metadata.row_group(i).num_rows for i in range(*(self.groups or (0, 0)))]
            return int(file.metadata.num_rows if self.groups is None else sum(numbers))

    def _open(self) -> Any:
        """Open the file and read its footer."""
        return parquet.ParquetFile(self.path, memory_map=False, pre_buffer=False)


class ArrowFile(TablePart, FilePart):
    """Reader of an Arrow or Feather file or an Arrow stream, one batch at a time."""

    def arrow_schema(self) -> Any:
        """Return the schema of the file."""
        with self._open() as (_, schema):
            return schema

    def lacks_values(self, names: list[str]) -> bool:
        """Return whether any batch has missing values."""
        with self._open() as (batches, _):
            return any(batch.column(name).null_count for batch in batches for name in names)

    def batches(self, columns: list[str], options: ReadOptions) -> Iterator[Any]:  # noqa: ARG002
        """Yield validated batches: invalid string offsets would be read out of bounds."""
        with self._open() as (batches, schema):
            for batch in batches:
                wanted = batch.select([name for name in columns if name in schema.names])
                wanted.validate(full=True)
                yield wanted

    @contextmanager
    def _open(self) -> Iterator[tuple[Iterator[Any], Any]]:
        """Yield batches and schema. The file is not memory-mapped: a truncated map would crash the process."""
        with pa.OSFile(str(self.path)) as file, self._impossible_sizes():
            try:
                reader = pa.ipc.open_file(file)
            except pa.ArrowInvalid:
                file.seek(0)
                stream = pa.ipc.open_stream(file)
                yield iter(stream), stream.schema
            else:
                yield (reader.get_batch(i) for i in range(reader.num_record_batches)), reader.schema

    @contextmanager
    def _impossible_sizes(self) -> Iterator[None]:
        """Convert memory errors from damaged sizes to SourceError."""
        try:
            yield
        except pa.ArrowMemoryError as error:
            msg = f"{self.name} cannot be read ({error}). Check that it is whole, or write it in smaller batches."
            raise SourceError(msg) from error


class ArrowTable(FramePart, TablePart):
    """Reader of an Arrow table or record batch."""

    def arrow_schema(self) -> Any:
        """Return its schema."""
        return self.frame.schema

    def inspect(self, options: ReadOptions) -> PartFacts:
        """Return the types that `fit` infers, which parses text that contains numbers or dates."""
        facts = TablePart.inspect(self, options)
        return facts if facts.names is None else facts._replace(kinds=self.kinds(facts.names, options))

    def lacks_values(self, names: list[str]) -> bool:
        """Return whether any column has missing values."""
        return any(self.frame.column(name).null_count for name in names)

    def batches(self, columns: list[str], options: ReadOptions) -> Iterator[Any]:  # noqa: ARG002
        """Yield the whole table."""
        yield self.frame


class ArrowQuery(TablePart):
    """Reader of what computes its batches again for each pass: a data set, a lazy frame, a query."""

    def __init__(
        self, source: Any, schema: Callable[[], Any], batches: Callable[[list[str], int], Iterable[Any]]
    ) -> None:
        self.name = name_of(source)
        self._schema, self._batches = schema, batches

    def arrow_schema(self) -> Any:
        """Return the schema, without computing any rows."""
        return self._schema()

    def batches(self, columns: list[str], options: ReadOptions) -> Iterator[Any]:
        """Yield batches in the order of the rows."""
        yield from self._batches(columns, options.block_rows)


class ArrowStream(TablePart):
    """Reader of any object with ``__arrow_c_stream__``; objects with a length can be read repeatedly."""

    def __init__(self, source: Any) -> None:
        self.source = source
        self.name = name_of(source)
        self.can_repeat = hasattr(source, "__len__")
        self._begun: Any = None
        self._is_read = False

    def arrow_schema(self) -> Any:
        """Start reading to get the schema; the reader is used by the next pass."""
        if self._begun is None:
            if self._is_read and not self.can_repeat:
                msg = f"{self.name} can be read only once. Save it to a file first."
                raise SourceError(msg)
            self._begun = pa.RecordBatchReader.from_stream(self.source)
        return self._begun.schema

    def batches(self, columns: list[str], options: ReadOptions) -> Iterator[Any]:  # noqa: ARG002
        """Yield batches unchanged."""
        self.arrow_schema()
        reader, self._begun, self._is_read = self._begun, None, True
        yield from reader


def stream_part(source: Any) -> Part:
    """Return the reader of an object that hands out Arrow batches."""
    if isinstance(source, pa.RecordBatch | pa.Table):
        return ArrowTable(source)
    if hasattr(source, "to_batches"):  # a data set of pyarrow
        ahead = {"batch_readahead": READ_AHEAD, "fragment_readahead": READ_AHEAD}
        return ArrowQuery(
            source,
            lambda: source.schema,
            lambda columns, n: source.to_batches(columns=columns, batch_size=n, **ahead),
        )
    if hasattr(source, "collect_batches"):  # a lazy frame of polars
        return ArrowQuery(
            source,
            lambda: source.collect_schema().to_frame().to_arrow().schema,
            lambda columns, n: (
                frame.to_arrow() for frame in source.select(columns).collect_batches(chunk_size=n, maintain_order=True)
            ),
        )
    if type(source).__name__ == "DuckDBPyRelation":  # its stream has all rows in memory, or works only once
        return ArrowQuery(source, lambda: _of_duckdb(source.limit(0)).schema, lambda _, n: _of_duckdb(source, n))
    return ArrowStream(source)


def _of_duckdb(relation: Any, block_rows: int = BLOCK_ROWS) -> Any:
    """Return a reader of the rows of a relation, which are computed once more."""
    copy = relation.project("*")
    read = getattr(copy, "to_arrow_reader", None) or copy.fetch_record_batch
    return read(block_rows)
