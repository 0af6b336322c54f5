"""Arrow and Feather files, and Arrow streams in files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flybloom.blocks.options import ReadOptions
from flybloom.blocks.parts import FilePart
from flybloom.blocks.table_part import Batch, TablePart
from flybloom.exceptions import SourceError


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

    def batches(self, columns: list[str], options: ReadOptions) -> Iterator[Batch]:  # noqa: ARG002
        """Yield the batches of the file, checked: a wrong offset of a string would be read out of bounds."""
        with self._open() as (batches, schema):
            for batch in batches:
                wanted = batch.select([name for name in columns if name in schema.names])
                wanted.validate(full=True)
                yield Batch(wanted)

    @contextmanager
    def _open(self) -> Iterator[tuple[Iterator[Any], Any]]:
        """Give the batches and the schema; the file is not mapped, because one that shrinks would end the process."""
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
