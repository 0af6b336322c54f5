"""The encoding of a text file, told by its first bytes."""

from __future__ import annotations

import codecs

from flybloom.exceptions import SourceError

UTF8 = "utf-8"
GUESS = "cp1252"  # what files of Western Europe are in that are not UTF-8; has all letters of Latin-1
MARKS = {codecs.BOM_UTF8: UTF8, codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32",
         codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}  # fmt: skip
KINDS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "Zstandard", b"PAR1": "Parquet", b"PK\x03\x04": "zip or Excel",
         b"ARROW1": "Arrow", b"\x93NUMPY": "NPY"}  # fmt: skip


def guess_encoding(begin: bytes, name: str, *, is_whole: bool) -> str:
    """Return the encoding of a text that begins with these bytes."""
    for mark, encoding in MARKS.items():
        if begin.startswith(mark):
            return encoding
    for magic, kind in KINDS.items():
        if begin.startswith(magic):
            msg = f"{name} is not text, but a file of the kind {kind}. Give it the name that such files have."
            raise SourceError(msg)
    if b"\0" in begin:
        msg = f"{name} has NUL characters. Expected text. Name its encoding (file_encoding='utf-16'), or repair it."
        raise SourceError(msg)
    try:
        codecs.getincrementaldecoder(UTF8)().decode(begin, final=is_whole)
    except UnicodeDecodeError as error:
        text = begin.decode(UTF8, "replace")
        n_wrong = text.count("\ufffd")
        n_right = sum(map(len, text.split("\ufffd"))) - sum(byte < 0x80 for byte in begin)  # noqa: PLR2004
        try:
            begin.decode(GUESS)
        except UnicodeDecodeError:
            n_right = n_wrong  # that is not it either
        if n_right >= n_wrong:
            msg = (
                f"{name} is not in UTF-8: {error.reason} (byte {begin[error.start]:#x} at {error.start}). "
                "Name its encoding (file_encoding), or repair it."
            )
            raise SourceError(msg) from error
        return GUESS
    return UTF8


def mark_length(begin: bytes, encoding: str) -> int:
    """Return how many bytes a mark of UTF-8 takes that is no part of the text; other decoders drop it themselves."""
    return len(codecs.BOM_UTF8) if codecs.lookup(encoding).name == UTF8 and begin.startswith(codecs.BOM_UTF8) else 0
