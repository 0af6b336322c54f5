"""Tables of counts, of shape (n_components, n_columns): what one winner means for all columns lies side by side."""

from __future__ import annotations

from typing import Any

import numpy as np

from flybloom import _kernels
from flybloom._internal.typing import Array, Codes, CountTable, Weights, Winners
from flybloom.core.counts.base import MAX_ROWS


def count_dtype(rows: Array) -> type[np.signedinteger]:
    """Return the type for the counts of columns that have so many rows: no count can be larger than that."""
    return np.int32 if int(rows.max(initial=0)) <= np.iinfo(np.int32).max else np.int64


def require_countable(rows: Array) -> None:
    """Refuse numbers of rows that went beyond what is counted, before anything changes."""
    if (rows < 0).any() or (rows > MAX_ROWS).any():
        msg = "More than 2**62 rows of a class cannot be counted. Use smaller weights, or fewer rows."
        raise ValueError(msg)


def add_rows(winners: Winners, codes: Codes, weights: Weights, table: CountTable, rows: Array) -> None:
    """Count the winners of each row for its column, and the row itself, in place; negative weights take away."""
    _kernels.count.add_counts(winners, codes, weights, table, rows)


def align_columns(values: Array, old: Array, new: Array, axis: int) -> Array:
    """Return values for the sorted labels `new`, which contain the sorted labels `old`; zeros for the others."""
    if old.size == new.size:
        return values
    shape = list(values.shape)
    shape[axis] = new.size
    result = np.zeros(shape, values.dtype)
    at: list[slice | Array] = [slice(None)] * values.ndim
    at[axis] = np.searchsorted(new, old.astype(new.dtype, copy=False))
    result[tuple(at)] = values
    return result


def narrowest(table: CountTable) -> CountTable:
    """Return a table in the smallest unsigned type that holds it, in the order of C."""
    return table.astype(np.min_scalar_type(int(table.max(initial=0))), order="C")


def packed(table: CountTable) -> dict[str, Any]:
    """Return a table as it travels: in the narrowest type, and without the zeros where that is smaller."""
    small = narrowest(table)
    present = small != 0
    values = small[present]
    if present.size // 8 + values.nbytes < small.nbytes:
        return {"dtype": table.dtype, "shape": small.shape, "present": np.packbits(present), "values": values}
    return {"dtype": table.dtype, "table": small}


def unpacked(state: dict[str, Any]) -> CountTable:
    """Return the table that travelled; one with few nonzeros comes as these and one bit for each cell."""
    if "table" in state:
        return np.asarray(state["table"].astype(state["dtype"]))
    n_cells = state["shape"][0] * state["shape"][1]
    table = np.zeros(state["shape"], state["dtype"])
    table[np.unpackbits(state["present"], count=n_cells).view(bool).reshape(state["shape"])] = state["values"]
    return table


def column_sums(table: CountTable) -> list[int]:
    """Return the sum of each column, which may be beyond 64 bits."""
    if table.dtype.itemsize <= 4:  # noqa: PLR2004 - fewer than 2**32 components
        return [int(total) for total in table.sum(axis=0, dtype=np.uint64)]
    unsigned = table.astype(np.uint64)
    high, low = unsigned >> np.uint64(32), unsigned & np.uint64(2**32 - 1)
    halves = zip(high.sum(axis=0, dtype=np.uint64), low.sum(axis=0, dtype=np.uint64), strict=True)
    return [int(upper) * 2**32 + int(lower) for upper, lower in halves]


def check_table(table: Any, n_components: int, n_columns: int) -> CountTable:
    """Return the table of a file if it has the shape and the type; ValueError otherwise."""
    if table is None:
        msg = "it has no counts"
        raise ValueError(msg)
    if table.dtype.kind != "u":
        msg = "counts are not whole numbers"
        raise ValueError(msg)
    if table.shape != (n_components, n_columns):
        msg = "counts are not one for each component and class"
        raise ValueError(msg)
    return np.asarray(table)
