"""Cells of tables as numbers: categories as fingerprints of their text, times as seconds.

So rows of any table are floats wherever they are read, and no mapping has to be shared between
blocks, threads or machines. What the numbers mean is known by the kind of the column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from hashlib import blake2b
from math import isfinite
from numbers import Number
from typing import Any, NamedTuple

import numpy as np

from flybloom._internal.typing import Array

NUMBER, CATEGORY, DATE = "number", "category", "date"
KINDS = (NUMBER, CATEGORY, DATE)
"""What a column can be."""

MISSING = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "N/A", "NA", "NULL",
    "NaN", "n/a", "nan", "null",
)  # fmt: skip
"""How text says that there is no value; the list is that of pyarrow."""

TRUE, FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")

_ABSENT = frozenset(MISSING)
_TRUTH = {**dict.fromkeys(TRUE, 1.0), **dict.fromkeys(FALSE, 0.0)}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", re.ASCII | re.IGNORECASE)
_DATE = re.compile(
    r"(?:(?P<year>\d{4})(?P<mark>[-/])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})"
    r"|(?P<day_first>\d{1,2})\.(?P<month_next>\d{1,2})\.(?P<year_last>\d{4}))"
    r"(?:[T ](?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.(?P<part>\d{1,9}))?)?"
    r"(?:Z|[+-]\d{2}:?\d{2})?)?",
    re.ASCII,
)
FINGERPRINT_BITS = 52  # every such number is a float64


class Mixed(NamedTuple):
    """A column that holds numbers and text."""

    text: str


def distinct(values: Iterable[Any]) -> tuple[list[Any], Array]:
    """Return distinct values in order of appearance, and the index of each value."""
    found: dict[Any, int] = {}
    codes = [found.setdefault((type(value), value), len(found)) for value in values]
    return [value for _, value in found], np.array(codes, np.intp)


def kind_of(values: Sequence[Any]) -> str | Mixed | None:
    """Infer the kind of a column from its distinct values; None if all are missing.

    If all text can be parsed as numbers or dates, the column is numeric or of dates. If most values are
    numbers, the others are reported as errors.
    """
    known = [value for value in values if not is_missing(value)]
    if not known:
        return None
    texts = [value for value in known if not is_number(value)]
    if not texts:
        return NUMBER
    if all(_seconds(value) is not None for value in known):
        return DATE
    if 2 * len(texts) <= len(known):
        return Mixed(str(texts[0]))
    return CATEGORY


def cells(values: Sequence[Any], kind: str) -> tuple[Array, int | None]:
    """Return values as numbers, NaN for missing ones, and the position of the first invalid one."""
    numbers = np.full(len(values), np.nan)
    wrong = None
    for at, value in enumerate(values):
        if is_missing(value):
            continue
        number = _fingerprint(text_of(value)) if kind == CATEGORY else _converted(value, kind)
        if number is None:
            wrong = at if wrong is None else wrong
        else:
            numbers[at] = number
    return numbers, wrong


def seconds_of(times: Array) -> Array:
    """Convert NumPy times or durations to seconds; NaN for missing ones."""
    micro = times.astype(f"{times.dtype.kind}8[us]")
    seconds: Array = micro.astype(np.int64) / 1e6
    seconds[np.isnat(micro)] = np.nan
    return seconds


def is_missing(value: Any) -> bool:
    """Return whether a cell is missing: None, NaN, NaT, or text such as "NA"."""
    if isinstance(value, str):
        return value.strip() in _ABSENT
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124 - only NaN and NaT differ from themselves
    except TypeError:  # as pandas' NA says
        return True


def is_number(value: Any) -> bool:
    """Return whether a cell is a number or a bool, or text that can be parsed as one."""
    if isinstance(value, str):
        text = value.strip()
        return text in _TRUTH or _NUMBER.fullmatch(text) is not None
    return isinstance(value, Number | np.bool_)


def text_of(value: Any) -> str:
    """Return a category as text; equal integers of different types give the same text."""
    if isinstance(value, str):
        return value.strip()
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and isfinite(value) and value == int(value):
        return str(int(value))
    return str(value)


def _converted(value: Any, kind: str) -> float | None:
    """Parse a number or a date as a float; None if it is invalid."""
    if kind == DATE:
        return _seconds(value)
    if not is_number(value):
        return None
    text = value.strip() if isinstance(value, str) else value
    return _TRUTH[text] if isinstance(text, str) and text in _TRUTH else float(text)


def _fingerprint(text: str) -> float:
    """Return a 52-bit fingerprint of a text, equal on every machine."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return float(int.from_bytes(digest, "little") >> (64 - FINGERPRINT_BITS))


def _seconds(value: Any) -> float | None:
    """Parse a date as seconds since 1970 in local time; None if it is invalid."""
    if isinstance(value, str):
        found = _DATE.fullmatch(value.strip())
        if found is None:
            return None
        part = {name: int(text) for name, text in found.groupdict().items() if text and name not in ("mark", "part")}
        micro = int((found["part"] or "0").ljust(6, "0")[:6])
        try:
            value = datetime(  # noqa: DTZ001 - what the clock showed
                part.get("year") or part["year_last"],
                part.get("month") or part["month_next"],
                part.get("day") or part["day_first"],
                part.get("hour", 0),
                part.get("minute", 0),
                part.get("second", 0),
                micro,
            )
        except (ValueError, KeyError):  # a 13th month, a 31st of April, a month 0
            return None
    if isinstance(value, np.datetime64):
        return float(seconds_of(np.array([value]))[0])
    if isinstance(value, datetime):
        value = value.replace(tzinfo=None)
    elif not isinstance(value, date):
        return None
    return float(seconds_of(np.array([value], "datetime64[us]"))[0])
