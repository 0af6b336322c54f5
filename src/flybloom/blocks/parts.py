"""Base classes of readers, and the options of reading."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from flybloom._internal.cells import KINDS
from flybloom._internal.typing import Array, Features
from flybloom.blocks.schema import PartFacts, Schema
from flybloom.exceptions import SourceError

BLOCK_ROWS = 32768
LABEL_TYPES = ("auto", "text", "number")
DECIMAL_POINTS = (".", ",")
INCOMPLETE = ("refuse", "mark")
MAX_QUOTED = 120  # characters
# as pandas writes the index of a frame: to CSV, to CSV that was read before, to Parquet
INDEX_COLUMNS = ("", "Unnamed: 0", "__index_level_0__")
MAX_LISTED = 10  # columns that an error lists
PIECE_BYTES = 2**25  # of a file that is read in pieces; each is a block of a Dask collection


def shortened(text: str) -> str:
    """Shorten text that is quoted in a message to one line."""
    line = text.replace("\r", "\\r").replace("\n", "\\n")
    return line if len(line) <= MAX_QUOTED else f"{line[:MAX_QUOTED]}..."


@dataclass(frozen=True)
class ReadOptions:
    """Options of `read_blocks`."""

    target: str | None = None
    features: tuple[str, ...] | None = None
    n_features: int | None = None
    block_rows: int = BLOCK_ROWS
    exclude: tuple[str, ...] = ()
    id_column: str | None = None
    label_type: str = "auto"
    file_encoding: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    incomplete: str = "refuse"
    kinds: tuple[tuple[str, str], ...] = ()  # names, and what these columns are
    first_index: int | None = None  # of svmlight files

    @property
    def marks(self) -> bool:
        """Whether rows with invalid or infinite values are marked instead of refused."""
        return self.incomplete == "mark"

    @property
    def named(self) -> tuple[str, ...]:
        """All columns that are requested by name."""
        others = (self.target, self.id_column)
        kinds = (name for name, _ in self.kinds)
        return (*(self.features or ()), *kinds, *self.exclude, *(name for name in others if name is not None))

    def check(self) -> ReadOptions:
        """Validate and return the options."""
        _require(self.block_rows >= 1, "block_rows", "at least 1", self.block_rows)
        _require(self.n_features is None or self.n_features >= 1, "n_features", "at least 1", self.n_features)
        _require(self.label_type in LABEL_TYPES, "label_type", f"one of {', '.join(LABEL_TYPES)}", self.label_type)
        _require(
            self.delimiter is None or (len(self.delimiter) == 1 and self.delimiter not in '"\r\n'),
            "delimiter", "a single character, no quote and no line break", self.delimiter,
        )  # fmt: skip
        _require(
            self.decimal is None or (self.decimal in DECIMAL_POINTS and self.decimal != self.delimiter),
            "decimal", "'.' or ',', and not the delimiter", self.decimal,
        )  # fmt: skip
        _require(
            self.file_encoding is None or _is_encoding(self.file_encoding),
            "file_encoding", "an encoding that Python knows, such as 'utf-8' or 'cp1252'", self.file_encoding,
        )  # fmt: skip
        _require(self.incomplete in INCOMPLETE, "incomplete", f"one of {', '.join(INCOMPLETE)}", self.incomplete)
        _require(self.first_index in (None, 0, 1), "first_index", "0 or 1", self.first_index)
        wrong = sorted({kind for _, kind in self.kinds} - set(KINDS))
        _require(
            not wrong, "kinds", f"a dict of names, each with one of {', '.join(KINDS)}", ", ".join(map(str, wrong))
        )
        twice = {*(self.features or ()), self.target, self.id_column} & {*self.exclude}
        _require(not twice, "exclude", "columns that are not asked for elsewhere", sorted(map(str, twice)))
        _require(
            self.id_column is None or self.id_column not in {self.target, *(self.features or ())},
            "id_column", "neither the target nor a feature", self.id_column,
        )  # fmt: skip
        others = sorted({name for name, _ in self.kinds} & {self.target, self.id_column, *self.exclude})
        _require(not others, "kinds", "about features, and no other columns", ", ".join(others))
        return self


def names_of(columns: Iterable[str] | None, parameter: str) -> tuple[str, ...] | None:
    """Return column names as a tuple; a single string is refused."""
    if isinstance(columns, str):
        msg = f"The {parameter!r} parameter of read_blocks must be a list of names. Got the string {columns!r} instead."
        raise TypeError(msg)
    return None if columns is None else tuple(columns)


def _require(is_fine: bool, parameter: str, expected: str, got: object) -> None:
    """Raise an error for an invalid parameter."""
    if not is_fine:
        msg = f"The {parameter!r} parameter of read_blocks must be {expected}. Got {got!r} instead."
        raise ValueError(msg)


def _is_encoding(name: str) -> bool:
    """Return whether Python has a text encoding of this name."""
    try:
        "".encode(name)
    except (LookupError, ValueError):
        return False
    return True


class RawBlock(NamedTuple):
    """A block of rows before validation."""

    X: Features
    y: Array | None
    ids: Array | None = None
    incomplete: Array | None = None  # which rows lack a value, where that is allowed


class Place(NamedTuple):
    """Position of rows, for messages."""

    part: str
    begin: int
    n_rows: int

    def __str__(self) -> str:
        """Return the part and its rows."""
        return f"{self.part}, rows {self.begin}-{self.begin + self.n_rows - 1}"

    def row(self, number: int) -> str:
        """Return the position of one row."""
        return f"{self.part}, row {self.begin + number}"


def feature_columns(columns: list[str], options: ReadOptions, where: str) -> tuple[list[str], list[str]]:
    """Return the columns of the features, and remarks on ignored columns.

    Each requested column must occur exactly once.
    """
    for name, role in ((options.target, "the target"), (options.id_column, "the identifier")):
        if name is not None:
            require_columns([name], columns, where, role)
    require_columns([name for name in options.exclude if name not in columns], columns, where, "to be left out")
    require_columns([name for name, _ in options.kinds], columns, where, "whose kind is given")
    if options.features is not None:
        require_columns(list(options.features), columns, where, "a feature")
        _refuse_twice(list(options.features), where)
        if options.target in options.features:
            msg = f"{where}: the target {options.target!r} is also named as a feature. Name it once."
            raise SourceError(msg)
        return list(options.features), []
    others = {options.target, options.id_column, *options.exclude}
    names = [column for column in columns if column not in others and column not in INDEX_COLUMNS]
    if not names:
        msg = f"{where}: there is no column besides the target {options.target!r}. Expected at least one feature."
        raise SourceError(msg)
    _refuse_twice(names, where)
    left_out = dict.fromkeys(column for column in columns if column not in others and column in INDEX_COLUMNS)
    return names, [
        f"the column {column!r} looks like the index of a frame and is left out; name it as a feature to read it"
        for column in left_out
    ]


def kinds_of(names: list[str], found: list[str | None], options: ReadOptions) -> tuple[str | None, ...]:
    """Return the kinds of columns: given by the options, or as found."""
    given = dict(options.kinds)
    return tuple(given.get(name, kind) for name, kind in zip(names, found, strict=True))


def require_columns(wanted: list[str], columns: list[str], where: str, role: str) -> None:
    """Raise an error for a table that lacks a column or has it twice."""
    counts = Counter(columns)
    for name in wanted:
        if counts[name] != 1:
            found = "there twice" if counts[name] else "not there"
            listed = ", ".join(map(repr, columns[:MAX_LISTED])) + (", ..." if len(columns) > MAX_LISTED else "")
            msg = f"{where}: the column {name!r}, {role}, is {found}. The columns are {listed}. Check the name."
            raise SourceError(msg)


def _refuse_twice(names: list[str], where: str) -> None:
    """Raise an error for features that share a name."""
    if len(set(names)) < len(names):
        name = next(name for name, n in Counter(names).items() if n > 1)
        msg = f"{where}: the column {name!r} is there twice. Expected a name for each. Rename one, or exclude the name."
        raise SourceError(msg)


class Part(ABC):
    """One file, or one object in memory."""

    name: str  # as errors call it
    can_repeat = True
    is_text = False
    first_row = 0  # for messages, where a part is a piece of another one

    @abstractmethod
    def inspect(self, options: ReadOptions) -> PartFacts:
        """Return the types of the rows, reading as little as possible."""

    @abstractmethod
    def read(self, options: ReadOptions, schema: Schema) -> Iterator[RawBlock]:
        """Yield blocks in order, with labels of the type in the schema."""

    def pieces(self, options: ReadOptions) -> Sequence[Part]:  # noqa: ARG002
        """Split the part into pieces that can be read independently, also in other processes."""
        return [self]

    def n_rows(self) -> int | None:
        """Return the number of rows if it is cheap to determine."""
        return None

    def identity(self) -> dict[str, Any] | None:
        """Return an identity that changes with the content, or None if there is none."""
        return None


class FilePart(Part):
    """One file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)

    def identity(self) -> dict[str, Any] | None:
        """Return name, size and modification time."""
        status = self.path.stat()
        return {"name": self.name, "bytes": status.st_size, "changed": status.st_mtime_ns}

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling, with an absolute path."""
        return {**vars(self), "path": self.path.absolute()}
