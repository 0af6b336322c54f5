"""Columns of tables of counts: the labels they stand for, united exactly, and the rows counted in them.

A table has shape (n_components, n_columns): what one winner means for all columns lies side by side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flybloom._internal.typing import Array, Codes, CountTable
from flybloom.core.counts.base import MAX_ROWS

MAX_INT32 = 2**31 - 1


def unite(old: Array, new: Array) -> Array:
    """Return the sorted labels of both, exactly; `old` itself, which is sorted, where nothing is new.

    Labels of different kinds are refused, and numbers that no common type holds. The type that comes out depends on the
    labels, not on the order in which they come.
    """
    if new.size == 0 or codes_if_known(new, old) is not None:
        return old
    new = np.unique(new)
    if old.size == 0:
        return new
    if old.dtype == new.dtype:
        return np.union1d(old, new)
    if _kind(old) != _kind(new):
        msg = (
            f"The labels in y are {_kind(new)}, those learned before are {_kind(old)}. "
            "Convert y to the type of classes_."
        )
        raise ValueError(msg)
    return np.union1d(old, new) if _kind(old) == "strings" else _united_numbers(old, new)


def codes_of(labels: Array, classes: Array) -> Codes:
    """Return the positions of labels among the sorted classes, which contain them."""
    if labels.dtype != classes.dtype and labels.dtype.kind in "biuf":
        labels = labels.astype(classes.dtype)  # exact, because the classes were united with them
    return np.searchsorted(classes, labels)


def codes_if_known(labels: Array, classes: Array) -> Codes | None:
    """Return the positions of labels among the sorted classes; None where one is new, or of a type that may differ."""
    of_labels, of_classes = labels.dtype, classes.dtype
    is_alike = of_labels == of_classes or (
        of_labels.kind == of_classes.kind == "U" and of_labels.itemsize <= of_classes.itemsize
    )
    if not is_alike or classes.size == 0:
        return None
    codes = classes.searchsorted(labels)
    np.minimum(codes, classes.size - 1, out=codes)
    return codes if (classes[codes] == labels).all() else None


def unknown_among(labels: Array, classes: Array) -> list[Any]:
    """Return the labels that are not among the classes; those of another kind are refused."""
    together = unite(classes, labels)
    return [] if together.size == classes.size else sorted({*together.tolist()} - {*classes.tolist()})


def known_codes(labels: Array, classes: Array) -> Codes:
    """Return the positions of labels among the sorted classes; unknown ones are refused."""
    unknown = unknown_among(labels, classes)
    if unknown:
        msg = (
            f"Labels must be among those learned, {classes.tolist()}. "
            f"Got {unknown[0]!r} instead. Learn rows of that class first."
        )
        raise ValueError(msg)
    return codes_of(labels, classes)


def _kind(labels: Array) -> str:
    """Return what labels are, in a word."""
    return "strings" if labels.dtype.kind in "OUST" else "numbers"


def _united_numbers(old: Array, new: Array) -> Array:
    """Return the sorted numbers of both in a type that holds all of them exactly."""
    values = sorted({*old.tolist(), *new.tolist()})
    dtype = np.result_type(old, new)
    if dtype.kind == "f" and "f" not in (old.dtype.kind, new.dtype.kind):  # int64 and uint64
        dtype = np.dtype(np.int64 if values[-1] < 2**63 else np.uint64)
    try:
        united = np.array(values, dtype)
        is_exact = united.tolist() == values
    except OverflowError:
        is_exact = False
    if not is_exact:
        msg = (
            f"The labels in y are {new.dtype}, those learned before are {old.dtype}, and no type holds all of them "
            f"exactly, such as {values[0]!r} and {values[-1]!r}. Convert y to strings, or to the type of classes_."
        )
        raise ValueError(msg)
    return united


def count_dtype(rows: Array) -> type[np.signedinteger]:
    """Return the type for the counts of columns that have so many rows: no count can be larger than that."""
    return np.int32 if rows.size == 0 or rows.max() <= MAX_INT32 else np.int64


def require_countable(rows: Array) -> None:
    """Raise an error for numbers of rows that went beyond what is counted, before anything changes."""
    if rows.size and not 0 <= rows.min() <= rows.max() <= MAX_ROWS:
        msg = "More than 2**62 rows of a class cannot be counted. Use smaller weights, or fewer rows."
        raise ValueError(msg)


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
    if values.size == 0:
        return {"dtype": table.dtype, "shape": small.shape}
    if present.size // 8 + values.nbytes < small.nbytes:
        return {"dtype": table.dtype, "shape": small.shape, "present": np.packbits(present), "values": values}
    return {"dtype": table.dtype, "table": small}


def unpacked(state: dict[str, Any]) -> CountTable:
    """Return the table that travelled; one with few nonzeros comes as these and one bit for each cell."""
    if "table" in state:
        return np.asarray(state["table"].astype(state["dtype"]))
    n_cells = state["shape"][0] * state["shape"][1]
    table = np.zeros(state["shape"], state["dtype"])
    if "values" not in state:
        return table
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
