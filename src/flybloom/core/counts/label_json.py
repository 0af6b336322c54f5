"""Labels as JSON and back, with their type: integers, floats, bools and strings."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from flybloom._internal.typing import Array

MAX_PADDING = 2**26  # bytes up to which strings are kept at the width of the longest
NUMBERS = {np.dtype(name).name: np.dtype(name) for name in ("bool", *"bhilBHILefd")}


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


def classes_from_facts(facts: dict[str, Any]) -> Array:
    """Return the classes of a file, whose facts hold them; ValueError that says so where there can be none."""
    try:
        return labels_from_json(facts.get("classes"))
    except (ValueError, TypeError, OverflowError) as error:
        msg = f"its classes are wrong ({error})"
        raise ValueError(msg) from error


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
