"""Files of Arrow: Parquet, of which only the columns and row groups that are needed are read, Arrow and Feather."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flybloom.blocks.options import ReadOptions
from flybloom.blocks.parts import PIECE_BYTES, FilePart, Part
from flybloom.blocks.tables import TablePart, arrow_errors
from flybloom.exceptions import SourceError, require_extra


class ParquetFile(TablePart, FilePart):
    """A Parquet file, or some of its row groups."""

    def __init__(self, path: Path, groups: tuple[int, int] | None = None, first_row: int = 0) -> None:
        super().__init__(path)
        self.groups = groups  # from, to; None for all
        self.first_row = first_row

    def arrow_schema(self) -> Any:
        """Return what the footer says."""
        with self._open() as file:
            return file.schema_arrow

    def lacks_values(self, names: list[str]) -> bool:
        """Return what the footer says of missing values; True where it does not."""
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
        """Return row groups, small ones together."""
        require_extra("pyarrow", "files")
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
        """Return what the footer says."""
        require_extra("pyarrow", "files")
        with arrow_errors(self.name), self._open() as file:
            numbers = [file.metadata.row_group(i).num_rows for i in range(*(self.groups or (0, 0)))]
            return int(file.metadata.num_rows if self.groups is None else sum(numbers))

    def _open(self) -> Any:
        """Open the file and read its footer."""
        from pyarrow import parquet  # noqa: PLC0415 - an extra

        return parquet.ParquetFile(self.path, memory_map=False, pre_buffer=False)


class ArrowFile(TablePart, FilePart):
    """An Arrow or Feather file, or an Arrow stream; a batch is read at a time."""

    def arrow_schema(self) -> Any:
        """Return what the file begins with."""
        with self._open() as (_, schema):
            return schema

    def lacks_values(self, names: list[str]) -> bool:
        """Return whether any batch lacks one."""
        with self._open() as (batches, _):
            return any(batch.column(name).null_count for batch in batches for name in names)

    def batches(self, columns: list[str], options: ReadOptions) -> Iterator[Any]:  # noqa: ARG002
        """Yield the batches of the file, checked: a wrong offset of a string would be read out of bounds."""
        with self._open() as (batches, schema):
            for batch in batches:
                wanted = batch.select([name for name in columns if name in schema.names])
                wanted.validate(full=True)
                yield wanted

    @contextmanager
    def _open(self) -> Iterator[tuple[Iterator[Any], Any]]:
        """Yield the batches and the schema; the file is not mapped, because one that shrinks would end the process."""
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
        """Let a damaged size be an error of the file: no memory is enough for it."""
        import pyarrow as pa  # noqa: PLC0415 - an extra

        try:
            yield
        except pa.ArrowMemoryError as error:
            msg = f"{self.name} cannot be read ({error}). Check that it is whole, or write it in smaller batches."
            raise SourceError(msg) from error
