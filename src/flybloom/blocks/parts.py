"""What every reader provides: a part of a source, such as one file, that yields raw blocks in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from flybloom._internal.typing import Array, Features
from flybloom.blocks.options import ReadOptions
from flybloom.blocks.schema import PartFacts, Schema

MAX_QUOTED = 120  # characters
PIECE_BYTES = 2**25  # of a file that is read in pieces; each is a block of a Dask collection


def shortened(text: str) -> str:
    """Return what a message quotes of a file: one line, and not all of it if it is long."""
    line = text.replace("\r", "\\r").replace("\n", "\\n")
    return line if len(line) <= MAX_QUOTED else f"{line[:MAX_QUOTED]}..."


def plain_column(column: Any) -> Any:
    """Return a column as one array of Arrow without dictionary, text in a type that all functions of Arrow know."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(column.type):
        return plain_column(column.dictionary).take(column.indices)
    return column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column


class RawBlock(NamedTuple):
    """A few rows as they were read."""

    X: Features
    y: Array | None
    ids: Array | None = None
    incomplete: Array | None = None  # which rows lack a value, where that is allowed


class Place(NamedTuple):
    """Where rows are, as errors say it."""

    part: str
    begin: int
    n_rows: int

    def __str__(self) -> str:
        """Return the part and its rows."""
        return f"{self.part}, rows {self.begin}-{self.begin + self.n_rows - 1}"

    def row(self, number: int) -> str:
        """Return where one of the rows is."""
        return f"{self.part}, row {self.begin + number}"


class Part(ABC):
    """One file, or one object in memory."""

    name: str  # as errors call it
    can_repeat = True
    first_row = 0  # for messages, where a part is a piece of another one

    @abstractmethod
    def inspect(self, options: ReadOptions) -> PartFacts:
        """Return what its rows are, from as little as that can be known from."""

    @abstractmethod
    def read(self, options: ReadOptions, schema: Schema) -> Iterator[RawBlock]:
        """Yield blocks in the order of the rows, their labels as the schema says."""

    def pieces(self, options: ReadOptions) -> Sequence[Part]:  # noqa: ARG002
        """Return parts that can be read apart, in other processes too, and have the same rows in this order."""
        return [self]

    def n_rows(self) -> int | None:
        """Return the number of rows where that is cheap to know."""
        return None

    def identity(self) -> dict[str, Any] | None:
        """Return what tells this part from a changed one, or None if nothing does."""
        return None


class FilePart(Part):
    """One file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)

    def identity(self) -> dict[str, Any] | None:
        """Return name, size and time of the last change: a digest of a large file would take too long."""
        status = self.path.stat()
        return {"name": self.name, "bytes": status.st_size, "changed": status.st_mtime_ns}

    def __getstate__(self) -> dict[str, Any]:
        """Return what travels to another process, which may have another working directory."""
        return {**vars(self), "path": self.path.absolute()}
