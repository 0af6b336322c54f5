"""Whatever hands out batches of Arrow: polars' lazy frames, DuckDB, ADBC, readers and datasets of pyarrow."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from flybloom.blocks.options import BLOCK_ROWS, ReadOptions
from flybloom.blocks.parts import Part
from flybloom.blocks.tables import TablePart
from flybloom.exceptions import SourceError, require_extra

READ_AHEAD = 1  # batches and files; more would only take memory


class ArrowStream(TablePart):
    """Anything with ``__arrow_c_stream__``. What has a length can be read again, because it is there."""

    def __init__(self, source: Any) -> None:
        self.source = source
        self.name = f"{type(source).__module__.split('.')[0]} {type(source).__name__}"
        self.can_repeat = hasattr(source, "__len__")
        self._begun: Any = None
        self._is_read = False

    def arrow_schema(self) -> Any:
        """Begin to read, which tells the schema; nothing is lost."""
        if self._begun is None:
            self._begun = self._reader()
        return self._begun.schema

    def batches(self, columns: list[str], options: ReadOptions) -> Iterator[Any]:  # noqa: ARG002
        """Yield batches as they are."""
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
    """A relation of DuckDB, which is computed again for each reading.

    Its own ``__arrow_c_stream__`` computes all rows at once in some versions, and works only once in others.
    """

    def __init__(self, relation: Any) -> None:
        super().__init__(relation)
        self.can_repeat = True

    def _reader(self) -> Any:
        """Return a reader of a copy, which nobody has read from."""
        copy = self.source.project("*")
        read = getattr(copy, "to_arrow_reader", None) or copy.fetch_record_batch
        return read(BLOCK_ROWS)


class ArrowDataset(TablePart):
    """A dataset of pyarrow: many files, of which only the columns that are needed are read."""

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
    """A lazy frame of polars, which polars computes a batch at a time."""

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
    """Return the reader of something that hands out batches of Arrow, or None if it does not."""
    if "pyarrow.dataset" in sys.modules:
        from pyarrow.dataset import Dataset  # noqa: PLC0415 - an extra

        if isinstance(source, Dataset):
            return ArrowDataset(source)
    if "polars" in sys.modules and hasattr(source, "collect_batches"):
        return PolarsQuery(source)
    if type(source).__name__ == "DuckDBPyRelation":
        require_extra("pyarrow", "files")
        return DuckdbQuery(source)
    if hasattr(source, "__arrow_c_stream__"):
        require_extra("pyarrow", "files")
        return ArrowStream(source)
    return None
