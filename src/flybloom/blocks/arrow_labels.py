"""Labels in Arrow columns: their kind, and parsing of numbers that does not merge '007' and '7'."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from flybloom._internal.cells import FALSE, MISSING, TRUE
from flybloom._internal.typing import Array
from flybloom.blocks.labels import TEXT, UNKNOWN, exact_labels
from flybloom.blocks.parts import Place, ReadOptions, plain_column, shortened
from flybloom.exceptions import SourceError

# One spelling for each number, so that no two strings become one label; or, on request, all spellings. Of up to 15
# digits no two are the same float.
WHOLE = {True: r"0|-?[1-9][0-9]*", False: r"[+-]?[0-9]+"}
NUMBER = {
    True: r"0\.0|-?0\.[0-9]{0,13}[1-9]|-?[1-9][0-9]{0,7}\.(0|[0-9]{0,6}[1-9])",
    False: r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?",
}
EXACT_IN_FLOAT = 2**53


def kind_of_type(type_: Any, options: ReadOptions, where: str) -> str:
    """Return the kind of labels for an Arrow type."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
    if pa.types.is_null(type_):
        return UNKNOWN
    if _is_text(type_):
        return "int64" if options.label_type == "number" else TEXT
    if pa.types.is_integer(type_) or pa.types.is_boolean(type_) or pa.types.is_floating(type_):
        return TEXT if options.label_type == "text" else np.dtype(type_.to_pandas_dtype()).name
    msg = (
        f"{where}: the target {options.target!r} is of type {type_}. Expected whole numbers, strings or bools as "
        "labels. Convert it, or choose another target."
    )
    raise SourceError(msg)


def kind_of_text(column: Any, *, is_strict: bool) -> str:
    """Infer the kind of labels from the first values; if strict, each number must have a unique spelling."""
    import pyarrow.compute as pc  # noqa: PLC0415 - an extra

    distinct = set(pc.unique(pc.utf8_trim_whitespace(column)).to_pylist())
    words = distinct.difference(MISSING)  # among strings they are labels, but for the empty one
    if not words:
        return UNKNOWN if distinct <= {""} else TEXT
    if all(re.fullmatch(WHOLE[is_strict], word) for word in words):
        numbers = [int(word) for word in words]
        if min(numbers) >= -(2**63) and max(numbers) < 2**63:
            return "int64"
        return "uint64" if min(numbers) >= 0 and max(numbers) < 2**64 else TEXT
    if all(re.fullmatch(NUMBER[is_strict], word) for word in words):
        return "float64" if all(abs(float(word)) <= EXACT_IN_FLOAT for word in words) else TEXT
    return "bool" if words <= {*TRUE, *FALSE} else TEXT


def labels_of(column: Any, kind: str, options: ReadOptions, place: Place) -> Array:
    """Convert an Arrow column to labels of a kind; errors name the first invalid row."""
    column = plain_column(column)
    what = f"{place}: the target {options.target!r}"
    if column.null_count:
        _refuse_missing(column.null_count, what)
    if not _is_text(column.type):
        kind_of_type(column.type, options, str(place))  # refuses what is no label
        return exact_labels(np.asarray(column.to_numpy(zero_copy_only=False)), kind, f"{place}: the labels")
    return _strings(column, what) if kind == TEXT else _parsed(column, kind, options, place)


def _strings(column: Any, what: str) -> Array:
    """Return labels that are strings."""
    import pyarrow.compute as pc  # noqa: PLC0415 - an extra

    _refuse_missing(pc.sum(pc.equal(column, "")).as_py() or 0, what)
    if pc.any(pc.match_substring(column, "\0")).as_py():  # NumPy would drop it at the end
        msg = f"{what} has a NUL character in a label. Expected text. Repair the file."
        raise SourceError(msg)
    return np.asarray(column.to_numpy(zero_copy_only=False)).astype(np.str_)


def _parsed(column: Any, kind: str, options: ReadOptions, place: Place) -> Array:
    """Parse text as numbers or bools; invalid values raise an error."""
    import pyarrow as pa  # noqa: PLC0415 - an extra
    import pyarrow.compute as pc  # noqa: PLC0415

    column = pc.utf8_trim_whitespace(column)
    _refuse_missing(
        pc.sum(pc.is_in(column, pa.array(MISSING, column.type))).as_py() or 0,
        f"{place}: the target {options.target!r}",
    )
    if kind == "bool":
        is_fine = pc.is_in(column, pa.array([*TRUE, *FALSE], column.type))
    else:
        pattern = (NUMBER if kind.startswith("float") else WHOLE)[options.label_type != "number"]
        is_fine = pc.match_substring_regex(column, f"^({pattern})$")
    if not pc.all(is_fine).as_py():
        _refuse_other(column, pc.index(is_fine, value=False).as_py(), kind, options, place)
    if kind == "bool":
        return np.asarray(pc.is_in(column, pa.array(TRUE, column.type)).to_numpy(zero_copy_only=False))
    try:
        numbers = pc.utf8_ltrim(column, "+").cast(getattr(pa, kind)()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:  # beyond 64 bits
        at = next(i for i, word in enumerate(column.to_pylist()) if not _fits(word, kind))
        _refuse_other(column, at, kind, options, place)
    if kind.startswith("float") and (np.abs(numbers) > EXACT_IN_FLOAT).any():
        _refuse_other(column, int(np.argmax(np.abs(numbers))), kind, options, place)
    return np.asarray(numbers)


def _fits(word: str, kind: str) -> bool:
    """Return whether an integer fits into a type."""
    limits = np.iinfo(kind)
    return bool(limits.min <= int(word) <= limits.max)


def _refuse_other(column: Any, at: int, kind: str, options: ReadOptions, place: Place) -> None:
    """Raise an error for a label of another kind than the previous ones."""
    found = shortened(repr(column[at].as_py()))
    msg = (
        f"{place.row(at)}: the target {options.target!r} began as {kind}, but then came {found}. "
        "Write all labels alike, or say what they are: label_type='text' for every spelling a label of its own, "
        "'number' for numbers however they are spelled."
    )
    raise SourceError(msg)


def _refuse_missing(n_missing: int, what: str) -> None:
    """Raise an error for rows without a label."""
    if n_missing:
        msg = f"{what} has {n_missing} missing values. Expected one label per row. Drop these rows."
        raise SourceError(msg)


def _is_text(type_: Any) -> bool:
    """Return whether an Arrow type is text."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_))
