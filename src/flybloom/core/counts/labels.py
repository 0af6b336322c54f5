"""Labels of classes: united exactly, found among those known, and as JSON and back with their type."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from flybloom._internal.typing import Array, Codes

MAX_PADDING = 2**26  # bytes up to which strings are kept at the width of the longest
NUMBERS = {np.dtype(name).name: np.dtype(name) for name in ("bool", *"bhilBHILefd")}


def unite(old: Array, new: Array) -> Array:
    """Return the sorted labels of both, exactly; `old` itself, which is sorted, where nothing is new.

    Labels of different kinds are refused, and numbers that no common type holds. The type that comes out depends on the
    labels, not on the order in which they come.
    """
    if new.size == 0:
        return old
    new = np.unique(new)
    if old.size == 0:
        return new
    if old.dtype == new.dtype:
        at = np.searchsorted(old, new)
        if at[-1] < old.size and (old[at] == new).all():
            return old
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


def unknown_among(labels: Array, classes: Array) -> list[Any]:
    """Return the labels that are not among the classes; those of another kind are refused."""
    together = unite(classes, labels)
    return [] if together.size == classes.size else sorted({*together.tolist()} - {*classes.tolist()})


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


def labels_to_json(labels: Array) -> dict[str, Any]:
    """Return sorted labels as JSON can hold them."""
    values = labels.tolist()
    if labels.dtype.name in NUMBERS:
        return {"dtype": labels.dtype.name, "values": values}
    if labels.dtype.kind in "UOT" and all(isinstance(value, str) for value in values):
        return {"dtype": "str" if labels.dtype.kind == "U" else "object", "values": values}
    msg = (
        f"Only labels that are whole numbers, floats, bools or strings can be saved. Got {labels.dtype} instead, "
        f"such as {values[0]!r}. Convert the labels before learning."
    )
    raise TypeError(msg)


def labels_from_json(stored: Any) -> Array:
    """Return the labels that were stored; whatever is not sorted, or not of the type it says, is refused."""
    if not (isinstance(stored, dict) and set(stored) == {"dtype", "values"} and isinstance(stored["values"], list)):
        msg = "expected a type and a list of values"
        raise ValueError(msg)
    values, name = stored["values"], stored["dtype"]
    labels = _strings(values, name) if name in ("str", "object") else _numbers(values, name)
    if any(not a < b for a, b in pairwise(values)):
        msg = "the labels are not in order"
        raise ValueError(msg)
    if labels.tolist() != values:
        msg = f"the labels do not fit the type {name}"
        raise ValueError(msg)
    return labels


def _numbers(values: list[Any], name: Any) -> Array:
    """Return labels that are numbers or bools."""
    dtype = NUMBERS.get(name) if isinstance(name, str) else None
    if dtype is None:
        msg = f"unknown type of labels {name!r}"
        raise ValueError(msg)
    plain = {"b": bool, "f": float}.get(dtype.kind, int)
    if any(type(value) is not plain for value in values):
        msg = f"not all labels are of the type {name}"
        raise ValueError(msg)
    return np.array(values, dtype)


def _strings(values: list[Any], name: str) -> Array:
    """Return labels that are strings."""
    if any(not isinstance(value, str) for value in values):
        msg = "not all labels are strings"
        raise ValueError(msg)
    padded = 4 * len(values) * max(map(len, values), default=0)
    if name == "object" or padded > MAX_PADDING:
        return np.array(values, object)
    return np.array(values, np.str_) if values else np.empty(0, "U1")
