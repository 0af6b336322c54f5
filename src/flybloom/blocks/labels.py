"""Kinds of labels: the common kind of a source, and lossless conversion to it.

A kind is the name of a NumPy type ("bool", "int64", "float64", ...), or one of those below. Integers of 64 bits
never pass through floats, which hold them exactly up to 2**53 only.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan
from typing import Any

import numpy as np

from flybloom._internal.typing import Array
from flybloom.exceptions import SourceError

TEXT = "text"
UNKNOWN = "unknown"  # there are no labels that could tell
AS_GIVEN = "as given"  # blocks that somebody else makes may mix types of numbers
FLOATS = ("float16", "float32", "float64")
GROUPS = {TEXT: "strings", "bool": "bools", AS_GIVEN: "of a type that each block has for itself"}


def united_kind(found: Iterable[tuple[str, str, bool]]) -> str:
    """Return the common kind of all parts, given as name, kind, and whether every label is also a string."""
    known = [part for part in found if part[1] != UNKNOWN]
    kinds = {kind for _, kind, _ in known}
    if not known:
        return TEXT
    if len({_group(kind) for kind in kinds}) == 1:
        return kinds.pop() if len(kinds) == 1 else _united_numbers(kinds)
    if all(is_written or kind == TEXT for _, kind, is_written in known):
        return TEXT
    first, of_first, _ = known[0]
    name, kind, _ = next(part for part in known if _group(part[1]) != _group(of_first))
    msg = (
        f"{name}: the labels are {_group(kind)}, those of {first} are {_group(of_first)}. "
        "Write all labels as one type, or read them as text (label_type='text')."
    )
    raise SourceError(msg)


def kind_of(labels: Array, what: str) -> str:
    """Return the kind of labels in an array."""
    if labels.dtype.kind in "UT":
        return TEXT
    if labels.dtype.kind in "biu" or labels.dtype.name in FLOATS:
        return labels.dtype.name
    if labels.dtype.kind == "O":
        return _kind_of_objects(labels, what)
    hint = " Decode them first, such as with labels.astype(str)." if labels.dtype.kind == "S" else " Convert them."
    msg = f"{what} are of type {labels.dtype}. Expected whole numbers, strings or bools.{hint}"
    raise SourceError(msg)


def exact_labels(labels: Array, kind: str, what: str) -> Array:
    """Convert labels to a kind without loss, or raise an error."""
    _refuse_missing(labels, what)
    found = kind_of(labels, what)
    if kind == AS_GIVEN or found == UNKNOWN:
        return labels
    if labels.dtype.kind == "O" and found != TEXT:
        labels = _from_objects(labels, found, what)
    if found == kind:
        return labels
    if kind == TEXT:
        return labels.astype(np.str_)
    if _group(found) != _group(kind):
        msg = f"{what} are {_group(found)}. Expected {_group(kind)}, as elsewhere in the source. Write one type."
        raise SourceError(msg)
    dtype = np.dtype(kind)
    is_exact = _fit(labels, dtype)
    if not is_exact.all():
        first = labels[np.flatnonzero(~is_exact)[0]]
        msg = (
            f"{what} have {first!s}, which {dtype} does not hold. Expected labels that go into the one type of the "
            "whole source. Write all labels as one type, or read them as text (label_type='text')."
        )
        raise SourceError(msg)
    return labels.astype(dtype)


def as_array(labels: Any, what: str) -> Array:
    """Convert labels to an array with one column per output; large integers stay exact."""
    array = np.asarray(labels)
    if array.dtype.kind == "f" and isinstance(labels, list | tuple):
        objects = np.array(labels, object)
        if objects.ndim == 1 and _types(objects) <= {int}:  # NumPy makes floats of numbers from 2**63 on
            array = _from_objects(objects, _kind_of_objects(objects, what), what)
    if array.ndim == 2 and array.shape[1] == 1:  # noqa: PLR2004
        array = array[:, 0]
    if array.ndim not in (1, 2):
        msg = f"{what} have the shape {array.shape}. Expected one label for each row, or one for each row and output."
        raise SourceError(msg)
    return array


def _group(kind: str) -> str:
    """Return the group of a kind, for messages."""
    return GROUPS.get(kind, "numbers")


def _united_numbers(kinds: set[str]) -> str:
    """Return the common numeric type: integers if any part has integers."""
    whole = [np.dtype(kind) for kind in kinds if kind not in FLOATS]
    common = np.result_type(*(whole or kinds))
    if whole and (common.kind == "f" or len(whole) < len(kinds)):  # signed and unsigned, or whole ones and floats
        return "int64"
    return common.name


def _fit(labels: Array, dtype: np.dtype[Any]) -> Array:
    """Return a mask of numbers that another type represents exactly."""
    if labels.dtype.kind == dtype.kind == "f":
        return np.asarray(labels.astype(dtype) == labels)
    if dtype.kind == "f":
        limit = 2 ** (np.finfo(dtype).nmant + 1)
        return np.asarray((labels >= -limit) & (labels <= limit))
    limits = np.iinfo(dtype)
    if labels.dtype.kind == "f":  # 2**63 is a float, 2**63 - 1 is none
        is_within = (labels >= limits.min) & (labels < float(limits.max + 1))
        return np.asarray(is_within & (labels == np.trunc(labels)))
    return np.asarray((labels >= limits.min) & (labels <= limits.max))


def _kind_of_objects(labels: Array, what: str) -> str:
    """Return the kind of labels that are Python objects, ignoring missing ones."""
    types = _types(labels)
    if not types:
        return UNKNOWN
    if types == {str}:
        return TEXT
    if types == {bool}:
        return "bool"
    if types == {float}:
        return "float64"
    if types <= {int, float}:
        whole = [label for label in labels.tolist() if isinstance(label, int)]
        kind = "int64" if min(whole) >= -(2**63) and max(whole) < 2**63 else "uint64"
        if kind == "uint64" and (min(whole) < 0 or max(whole) >= 2**64):
            msg = f"{what} do not all go into 64 bits. Expected whole numbers below 2**64. Turn them into strings."
            raise SourceError(msg)
        return kind
    listed = " and ".join(sorted(kind.__name__ for kind in types))
    msg = f"{what} are of the type {listed}. Expected whole numbers, strings or bools, one type for all. Convert them."
    raise SourceError(msg)


def _from_objects(labels: Array, kind: str, what: str) -> Array:
    """Return Python numbers as an array of numbers."""
    values = labels.tolist()
    if kind in ("int64", "uint64") and any(label != int(label) for label in values):
        first = next(label for label in values if label != int(label))
        msg = f"{what} have {first!r} among whole numbers. Write all labels as one type."
        raise SourceError(msg)
    return np.array([int(label) for label in values] if kind in ("int64", "uint64") else values, kind)


def _types(labels: Array) -> set[type]:
    """Return the types of labels that are Python objects, ignoring missing ones."""
    plain = {np.bool_: bool, np.str_: str}
    found = {type(label) for label in labels.tolist() if not _is_missing(label)}
    return {
        plain.get(kind, int if issubclass(kind, np.integer) else float if issubclass(kind, np.floating) else kind)
        for kind in found
    }


def _is_missing(label: Any) -> bool:
    """Return whether a label is missing: None, NaN, or pandas' NA."""
    return label is None or type(label).__name__ in ("NAType", "NaTType") or (isinstance(label, float) and isnan(label))


def _refuse_missing(labels: Array, what: str) -> None:
    """Raise an error for rows without a label."""
    n_missing = 0
    if labels.dtype.kind == "f":
        n_missing = int((~np.isfinite(labels)).sum())
    elif labels.dtype.kind == "O":
        n_missing = sum(map(_is_missing, labels.tolist()))
    if n_missing:
        msg = f"{what} have {n_missing} missing values. Expected one label per row. Drop these rows."
        raise SourceError(msg)
