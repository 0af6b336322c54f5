"""What every reader provides: a part of a source, such as one file, that yields raw blocks in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from flybloom._internal.typing import Array, Features


@dataclass(frozen=True)
class ReadOptions:
    """What is wanted of a source."""

    target: str | None  # the column of the labels, if they are wanted
    features: tuple[str, ...] | None  # the columns of the features; None for all but the target
    n_features: int | None  # how many there must be, where the source does not tell (svmlight)
    block_rows: int


class RawBlock(NamedTuple):
    """A few rows as they were read."""

    X: Features
    y: Array | None
    names: list[str] | None  # of the features


class Part(ABC):
    """One file, or one object in memory."""

    name: str  # as errors call it
    can_repeat = True

    @abstractmethod
    def read(self, options: ReadOptions) -> Iterator[RawBlock]:
        """Yield blocks in the order of the rows."""

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
