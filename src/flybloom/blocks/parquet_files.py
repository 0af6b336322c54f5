"""Parquet files, of which only the columns and row groups that are needed are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from flybloom.blocks.options import ReadOptions
from flybloom.blocks.parts import PIECE_BYTES, FilePart, Part
from flybloom.blocks.table_part import Batch, TablePart, arrow_errors
from flybloom.exceptions import require_extra


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

    def batches(self, columns: list[str], options: ReadOptions) -> Iterator[Batch]:
        """Yield batches of the row groups."""
        groups = None if self.groups is None else list(range(*self.groups))
        with self._open() as file:
            for batch in file.iter_batches(options.block_rows, row_groups=groups, columns=columns):
                yield Batch(batch)

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
