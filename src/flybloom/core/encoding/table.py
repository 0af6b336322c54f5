"""Tables: indicator columns for categories, and parts of dates.

Cells are encoded by `_internal.cells`: categories as fingerprints, dates as seconds. Categories are those of the
sample.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any, NamedTuple, NoReturn, Self

import numpy as np

from flybloom._internal.cells import CATEGORY, DATE, KINDS, NUMBER
from flybloom._internal.typing import Array, Features
from flybloom.core.encoding.step import Step
from flybloom.core.sketch import Sample

MAX_CATEGORIES = 30  # columns that a column of categories becomes, at most, unless somebody says otherwise
DAY = 86400
FAR = 1e8  # days, beyond all calendars
PARTS = ("time", "year", "week", "day")
CYCLES = PARTS[1:]  # parts that begin again


class Categories(NamedTuple):
    """The values that a column of categories has, by their fingerprints, in ascending order."""

    common: Array  # each has a column of its own
    rare: Array  # these share one

    @property
    def n_outputs(self) -> int:
        """Number of columns; one is enough to tell two values apart."""
        n = self.common.size + (self.rare.size > 0)
        return n if n != 2 else 1  # noqa: PLR2004

    def apply(self, cells: Array) -> Array:
        """Return a column for each value: 1 where it is, 0 where another one is, NaN where it is missing or new."""
        columns = np.zeros((cells.size, self.common.size + (self.rare.size > 0)))
        at, is_common = _found(cells, self.common)
        columns[np.flatnonzero(is_common), at[is_common]] = 1
        is_rare = _found(cells, self.rare)[1]
        columns[is_rare, self.common.size :] = 1
        columns[~(is_common | is_rare)] = np.nan
        return columns[:, : self.n_outputs]


class Dates(NamedTuple):
    """The parts of dates that differ among the rows."""

    parts: tuple[str, ...]

    @property
    def n_outputs(self) -> int:
        """Number of columns: one for the time itself, two for a place in a cycle."""
        return sum(1 if part == "time" else 2 for part in self.parts)

    def apply(self, cells: Array) -> Array:
        """Return the parts as columns."""
        places, columns = date_parts(cells), []
        for part in self.parts:
            if part == "time":
                columns.append(cells)
            else:
                place = places[part] / CYCLE_LENGTHS[part]
                columns += [_wave(place), _wave(place + 0.75)]
        return np.column_stack(columns)


class Plain(NamedTuple):
    """A column of numbers, which stays as it is."""

    n_outputs: int = 1

    def apply(self, cells: Array) -> Array:
        """Return the column."""
        return cells[:, None]


Column = Plain | Categories | Dates
CYCLE_LENGTHS = {"year": 366.0, "week": 7.0, "day": 1.0}


class Table(Step):
    """Converts all columns to float64. Unknown categories are missing values."""

    kind = "table"

    def __init__(self, columns: tuple[Column, ...]) -> None:
        self.columns = columns
        self._starts = np.concatenate([[0], np.cumsum([column.n_outputs for column in columns])]).astype(np.intp)

    @classmethod
    def fit(cls, sample: Sample, kinds: tuple[str, ...], max_categories: int) -> Self:
        """Return the step for columns of these kinds; a column of categories becomes at most so many."""
        rows = np.asarray(sample.rows, np.float64)
        fitted = [_FITS[kind](rows[:, j], sample.weights, max_categories) for j, kind in enumerate(kinds)]
        return cls(tuple(fitted))

    @property
    def kinds(self) -> tuple[str, ...]:
        """What the columns are."""
        return tuple(_KIND_OF[type(column)] for column in self.columns)

    def apply(self, rows: Features) -> Array:
        """Return the rows with their columns side by side."""
        out = np.empty((rows.shape[0], int(self._starts[-1])))
        for j, column in enumerate(self.columns):
            out[:, self._starts[j] : self._starts[j + 1]] = column.apply(np.asarray(rows[:, j], np.float64))
        return out

    def n_outputs(self, n_inputs: int) -> int:  # noqa: ARG002
        """Return the number of columns of all columns."""
        return int(self._starts[-1])

    def traced_back(self, shares: Array, *, signed: bool) -> Array:  # noqa: ARG002
        """Return the share of each column: the sum over what it became."""
        return np.asarray(np.add.reduceat(shares, self._starts[:-1], axis=1))

    def between(self, low: Array, high: Array) -> tuple[Array, Array]:  # noqa: ARG002
        """Raise an error for bounds: there is no radius around a category."""
        self._refuse_bounds()

    def slopes(self, before: Array) -> Array:  # noqa: ARG002
        """Raise an error for slopes, as bounds."""
        self._refuse_bounds()

    def _refuse_bounds(self) -> NoReturn:
        """Say why nothing can be certified."""
        msg = "Labels are certified for rows of numbers. This model has learned a table of categories or dates."
        raise ValueError(msg)

    def to_dict(self) -> dict[str, Any]:
        """Return what each column is, and the fingerprints of all categories."""
        entries = [_ENTRIES[type(column)](column) for column in self.columns]
        codes = [code for column in self.columns if isinstance(column, Categories) for code in column]
        return {"columns": entries, **({"category_codes": np.concatenate(codes)} if codes else {})}

    @classmethod
    def from_dict(cls, stored: dict[str, Any], n_inputs: int) -> Self:
        """Return the step, if there is one entry for each column and one fingerprint for each category."""
        entries, codes = stored.get("columns"), stored.get("category_codes", np.empty(0))
        is_right = isinstance(codes, np.ndarray) and codes.dtype == np.float64 and codes.ndim == 1
        if not (is_right and isinstance(entries, list) and len(entries) == n_inputs):
            msg = "its table does not say what each column is"
            raise ValueError(msg)
        columns: list[Column] = []
        at = 0
        for entry in entries:
            column, at = _column_of(entry, codes, at)
            columns.append(column)
        if at != codes.size:
            msg = "its table has more categories than its columns"
            raise ValueError(msg)
        return cls(tuple(columns))

    def fields(self, names: tuple[str, ...] | None = None) -> dict[str, Any]:
        """Return what each column became that is not a plain number, by its name."""
        named = enumerate(names if names is not None else range(len(self.columns)))
        texts = {f"column {name!r}": _summary(self.columns[j]) for j, name in named}
        return {name: text for name, text in texts.items() if text is not None}


def _categories(cells: Array, weights: Array, most: int) -> Categories:
    """Return the categories of a column, of which the most frequent have a column each; ties by fingerprint."""
    is_known = ~np.isnan(cells)
    codes, which = np.unique(cells[is_known], return_inverse=True)
    if codes.size <= most:
        return Categories(codes, codes[:0])
    counts = np.bincount(which, weights[is_known], minlength=codes.size)
    order = np.lexsort([codes, -counts])
    common, rare = order[: most - 1], order[most - 1 :]
    return Categories(np.sort(codes[common]), np.sort(codes[rare]))


def _dates(cells: Array, weights: Array, most: int) -> Dates:  # noqa: ARG001
    """Return the parts of dates that differ, whole days of a cycle; the time itself if none does."""
    cells = cells[np.isfinite(cells)]
    places = date_parts(cells)
    values = [cells, np.floor(places["year"]), np.floor(places["week"]), places["day"]]
    found = tuple(part for part, some in zip(PARTS, values, strict=True) if some.size and some.min() < some.max())
    return Dates(found or PARTS[:1])


def _number(cells: Array, weights: Array, most: int) -> Plain:  # noqa: ARG001
    """Return a column that stays as it is."""
    return Plain()


def date_parts(seconds: Array) -> dict[str, Array]:
    """Return the place of dates in cycles, in days; NaN where there is none."""
    is_known = np.isfinite(seconds)
    days = np.clip(np.floor(np.where(is_known, seconds, 0.0) / DAY), -FAR, FAR)
    of_day = np.where(is_known, (seconds - days * DAY) / DAY, np.nan)
    dates = days.astype(np.int64).astype("datetime64[D]")
    since_new_year = (dates - dates.astype("datetime64[Y]").astype("datetime64[D]")).astype(np.int64)
    return {"year": since_new_year + of_day, "week": (days + 3) % 7 + of_day, "day": of_day}


_FITS: dict[str, Callable[[Array, Array, int], Column]] = {NUMBER: _number, CATEGORY: _categories, DATE: _dates}
_KIND_OF: dict[type, str] = {Plain: NUMBER, Categories: CATEGORY, Dates: DATE}
_ENTRIES: dict[type, Callable[[Any], dict[str, Any]]] = {
    Plain: lambda _: {"kind": NUMBER},
    Categories: lambda column: {"kind": CATEGORY, "common": int(column.common.size), "rare": int(column.rare.size)},
    Dates: lambda column: {"kind": DATE, "parts": list(column.parts)},
}


def _found(cells: Array, codes: Array) -> tuple[Array, Array]:
    """Return where cells are among fingerprints in ascending order, and whether they are."""
    if codes.size == 0:
        return np.zeros(cells.size, np.intp), np.zeros(cells.size, bool)
    at = np.minimum(np.searchsorted(codes, cells), codes.size - 1)
    return at, codes[at] == cells


def _wave(place: Array) -> Array:
    """Return 1 at integers, -1 in the middle between them, and straight lines from one to the other."""
    return np.asarray(np.abs((place - np.floor(place)) * 4 - 2) - 1)


def _column_of(entry: Any, codes: Array, at: int) -> tuple[Column, int]:
    """Return a column of a file, and where the fingerprints of the next one begin."""
    kind = entry.get("kind") if isinstance(entry, dict) else None
    if kind == NUMBER:
        return Plain(), at
    if kind == DATE:
        parts = entry.get("parts")
        if isinstance(parts, list) and parts and parts == [part for part in PARTS if part in parts]:
            return Dates(tuple(parts)), at
    if kind == CATEGORY:
        n_common, n_rare = entry.get("common"), entry.get("rare")
        if type(n_common) is int and type(n_rare) is int and n_common >= 0 <= n_rare:
            middle, end = at + n_common, at + n_common + n_rare
            common, rare = codes[at:middle], codes[middle:end]
            if end <= codes.size and all((np.diff(part) > 0).all() for part in (common, rare)):
                return Categories(common, rare), end
    msg = f"its table has a column that is none of {', '.join(KINDS)}, or whose parts are wrong"
    raise ValueError(msg)


def _summary(column: Column) -> str | None:
    """Return what tells a column from others, short enough for a message; None for numbers."""
    if isinstance(column, Plain):
        return None
    if isinstance(column, Dates):
        return f"dates: {', '.join(column.parts)}"
    digest = sha256(b"|".join(codes.tobytes() for codes in column)).hexdigest()[:16]
    return f"{column.common.size + column.rare.size} categories, {digest}"
