"""Where records of a CSV file end, so that it can be read in pieces; line breaks in quotes end none."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from flybloom.blocks.parts import PIECE_BYTES

MAX_RECORD_BYTES = 2**28
CAN_BE_CUT = ("utf-8", "ascii", "cp1252", "iso8859-1", "iso8859-15")  # a byte of a quote or a line break is one


def record_ranges(path: Path, begin: int, delimiter: bytes, size: int = PIECE_BYTES) -> list[tuple[int, int]]:
    """Return ranges of bytes, each of about a size and of whole records, from where the rows begin to the end.

    Parameters
    ----------
    path : path
        The file.
    begin : int
        Where the first record begins.
    delimiter : bytes
        What is between values.
    size : int
        In bytes; a longer record is a range of its own.
    """
    ranges, n_bytes = [], path.stat().st_size
    with path.open("rb") as file:
        while n_bytes - begin > size:
            file.seek(begin)
            piece = file.read(size)
            end = last_record_end(piece, delimiter)
            while end == 0 and len(piece) < min(MAX_RECORD_BYTES, n_bytes - begin):
                piece += file.read(len(piece))
                end = last_record_end(piece, delimiter)
            if end == 0:  # a quote that is never closed: reading will tell
                break
            ranges.append((begin, begin + end))
            begin += end
    return [*ranges, (begin, n_bytes)] if begin < n_bytes else ranges


def last_record_end(text: bytes, delimiter: bytes) -> int:
    """Return where the last whole record ends of a text that begins with one; 0 if none ends."""
    if b'"' in text:
        found = _records(delimiter).match(text)
        return found.end() if found else 0
    return max(text.rfind(b"\n"), text.rfind(b"\r") if b"\n" not in text else 0) + 1


@lru_cache
def _records(delimiter: bytes) -> re.Pattern[bytes]:
    """Return a pattern of whole records; a quote counts only at the beginning of a value, as pyarrow has it.

    Groups are repeated in atomic groups: Python before 3.11.5 loses its place after a possessive group (gh-106052).
    """
    plain = b"[^" + re.escape(delimiter) + rb"\r\n]*+"
    value = rb'(?:"[^"]*+(?>(?:""[^"]*+)*)"' + plain + rb'|(?!")' + plain + b")"
    record = value + b"(?>(?:" + re.escape(delimiter) + value + rb")*)(?:\r\n|\n|\r)"
    return re.compile(b"(?>(?:" + record + b")*)")
