"""Readers of Parquet, Arrow and Feather files, and of sources of Arrow batches such as lazy frames and DuckDB."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flybloom.blocks.parts import BLOCK_ROWS, PIECE_BYTES, FilePart, Part, ReadOptions
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
        from pyarrow import parquet  # noqa: PLC0415 - an extra

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
        import pyarrow as pa  # noqa: PLC0415 - an extra

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
        import pyarrow as pa  # noqa: PLC0415 - an extra

        try:
            yield
        except pa.ArrowMemoryError as error:
            msg = f"{self.name} cannot be read ({error}). Check that it is whole, or write it in smaller batches."
            raise SourceError(msg) from error


class ArrowStream(TablePart):
    """Reader of any object with ``__arrow_c_stream__``; objects with a length can be read repeatedly."""

    def __init__(self, source: Any) -> None:
        self.source = source
        self.name = f"{type(source).__module__.split('.')[0]} {type(source).__name__}"
        self.can_repeat = hasattr(source, "__len__")
        self._begun: Any = None
        self._is_read = False

    def arrow_schema(self) -> Any:
        """Start reading to get the schema; the reader is used by the next pass."""
        if self._begun is None:
            self._begun = self._reader()
        return self._begun.schema

    def batches(self, columns: list[str], options: ReadOptions) -> Iterator[Any]:  # noqa: ARG002
        """Yield batches unchanged."""
        reader, self._begun = self._begun if self._begun is not None else self._reader(), None
        self._is_read = True
        yield from reader

    def _reader(self) -> Any:
        """Return a reader of all rows."""
        import pyarrow as pa  # noqa: PLC0415 - an extra

        if self._is_read and not self.can_repeat:
            msg = f"{self.name} can be read only once. Save it to a file first."
            raise SourceError(msg)
        return pa.RecordBatchReader.from_stream(self.source)


class DuckdbQuery(ArrowStream):
    """Reader of a DuckDB relation, which is computed again for each pass.

    The ``__arrow_c_stream__`` of DuckDB materialises all rows in some versions and works only once in others.
    """

    def __init__(self, relation: Any) -> None:
        super().__init__(relation)
        self.can_repeat = True

    def _reader(self) -> Any:
        """Return a reader of a fresh copy of the relation."""
        copy = self.source.project("*")
        read = getattr(copy, "to_arrow_reader", None) or copy.fetch_record_batch
        return read(BLOCK_ROWS)


class ArrowDataset(TablePart):
    """Reader of a pyarrow dataset; only the required columns are read."""

    name = "pyarrow dataset"

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset

    def arrow_schema(self) -> Any:
        """Return its schema."""
        return self.dataset.schema

    def batches(self, columns: list[str], options: ReadOptions) -> Iterator[Any]:
        """Yield batches, file by file."""
        yield from self.dataset.to_batches(
            columns=columns,
            batch_size=options.block_rows,
            batch_readahead=READ_AHEAD,
            fragment_readahead=READ_AHEAD,
        )


class PolarsQuery(TablePart):
    """Reader of a polars LazyFrame, computed in batches."""

    name = "polars LazyFrame"

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def arrow_schema(self) -> Any:
        """Return the schema, without computing anything."""
        return self.frame.collect_schema().to_frame().to_arrow().schema

    def batches(self, columns: list[str], options: ReadOptions) -> Iterator[Any]:
        """Yield batches in the order of the rows."""
        for frame in self.frame.select(columns).collect_batches(chunk_size=options.block_rows, maintain_order=True):
            yield frame.to_arrow()


def stream_part(source: Any) -> Part | None:
    """Return the reader of a source of Arrow batches, or None for other objects."""
    if "pyarrow.dataset" in sys.modules:
        from pyarrow.dataset import Dataset  # noqa: PLC0415 - an extra

        if isinstance(source, Dataset):
            return ArrowDataset(source)
    if "polars" in sys.modules and hasattr(source, "collect_batches"):
        return PolarsQuery(source)
    if type(source).__name__ == "DuckDBPyRelation":
        return DuckdbQuery(source)
    if hasattr(source, "__arrow_c_stream__"):
        return ArrowStream(source)
    return None
