"""What is wanted of a source, checked before anything is opened."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from flybloom._internal.cells import KINDS

BLOCK_ROWS = 32768
LABEL_TYPES = ("auto", "text", "number")
DECIMAL_POINTS = (".", ",")
INCOMPLETE = ("refuse", "mark")


@dataclass(frozen=True)
class ReadOptions:
    """What is wanted of a source; `read_blocks` says what each means."""

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
        """Whether rows with a value that is no number, or infinite, are marked, and not refused."""
        return self.incomplete == "mark"

    @property
    def named(self) -> tuple[str, ...]:
        """All columns that are asked for by name."""
        others = (self.target, self.id_column)
        kinds = (name for name, _ in self.kinds)
        return (*(self.features or ()), *kinds, *self.exclude, *(name for name in others if name is not None))

    def check(self) -> ReadOptions:
        """Return the options, or refuse those that no source could meet."""
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
    """Return names of columns; a single string is refused, because its letters would be taken for names."""
    if isinstance(columns, str):
        msg = f"The {parameter!r} parameter of read_blocks must be a list of names. Got the string {columns!r} instead."
        raise TypeError(msg)
    return None if columns is None else tuple(columns)


def _require(is_fine: bool, parameter: str, expected: str, got: object) -> None:
    """Raise an error for the value of a parameter."""
    if not is_fine:
        msg = f"The {parameter!r} parameter of read_blocks must be {expected}. Got {got!r} instead."
        raise ValueError(msg)


def _is_encoding(name: str) -> bool:
    """Return whether Python has such an encoding, for text."""
    try:
        "".encode(name)
    except (LookupError, ValueError):
        return False
    return True
