"""Detection of the CSV format: encoding, delimiter, decimal point and columns; records and numbers."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from flybloom._internal.cells import FALSE, MISSING, TRUE
from flybloom.blocks.byte_stream import ByteStream, Recoded
from flybloom.blocks.parts import ReadOptions
from flybloom.blocks.tables import NUMBERS
from flybloom.exceptions import SourceError

UTF8 = "utf-8"
GUESS = "cp1252"  # what files of Western Europe are in that are not UTF-8; has all letters of Latin-1
MARKS = {codecs.BOM_UTF8: UTF8, codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32",
         codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}  # fmt: skip
KINDS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "Zstandard", b"PAR1": "Parquet", b"PK\x03\x04": "zip or Excel",
         b"ARROW1": "Arrow", b"\x93NUMPY": "NPY"}  # fmt: skip
LOOK_BYTES = 2**22  # looked at before anything is read
MAX_HEADER_BYTES = 2**24  # of which parsing takes some ten times as much memory
SAMPLE_RECORDS = 50
DELIMITERS = (",", "\t", ";", "|")
NAMES = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
DECIMAL_COMMA, DECIMAL_POINT = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*"), re.compile(r"\s*[+-]?\d*\.\d.*")


@dataclass(frozen=True)
class CsvFormat:
    """Format of a CSV file."""

    encoding: str
    delimiter: str
    decimal: str
    columns: tuple[str, ...]
    header_lines: int
    header_bytes: int  # in UTF-8
    begin: int  # where the rows begin in the file itself, if it is not packed
    booleans: tuple[str, ...]  # columns of True and False
    remarks: tuple[str, ...]

    def parse_options(self) -> Any:
        """Return the parse options for pyarrow."""
        return arrow_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True)


def open_csv(file: Any, name: str, options: ReadOptions, usual_delimiter: str) -> tuple[ByteStream, CsvFormat]:
    """Return the text of a CSV file as UTF-8, including the header, and its format."""
    stream = ByteStream(file, name)
    begin = stream.peek(LOOK_BYTES)
    encoding = options.file_encoding or guess_encoding(begin, name, is_whole=len(begin) < LOOK_BYTES)
    encoding = codecs.lookup(encoding).name
    mark = mark_length(begin, encoding)
    stream.read(mark)
    if encoding != UTF8:
        stream = ByteStream(Recoded(stream, encoding), name)
    text, is_whole = _beginning(stream, name)
    delimiter = options.delimiter or _guess_delimiter(text, is_whole, options, usual_delimiter)
    columns, header, lines = _header(text, delimiter, name)
    rows = _sample(text[len(header) :], is_whole, delimiter)
    decimal = options.decimal or _guess_decimal(rows, columns, delimiter, options)
    remarks = []
    if encoding != UTF8 and options.file_encoding is None:
        remarks.append(f"read as {encoding}, because it is not UTF-8 (file_encoding)")
    if delimiter not in (usual_delimiter, options.delimiter):
        remarks.append(f"values are separated by {NAMES[delimiter]} (delimiter)")
    if decimal not in (".", options.decimal):
        remarks.append("numbers have decimal commas (decimal)")
    return stream, CsvFormat(
        encoding, delimiter, decimal, _shared(tuple(columns)), lines, len(header.encode()),
        mark + len(header.encode(encoding)), _shared(_booleans(rows, columns)), tuple(remarks),
    )  # fmt: skip


def guess_encoding(begin: bytes, name: str, *, is_whole: bool) -> str:
    """Detect the encoding of a text from its first bytes."""
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
            raise _not_utf8(name, begin, error) from error
        return GUESS
    return UTF8


def _not_utf8(name: str, text: bytes, error: UnicodeDecodeError) -> SourceError:
    """Return the error for text in another encoding."""
    return SourceError(
        f"{name} is not in UTF-8: {error.reason} (byte {text[error.start]:#x} at {error.start}). "
        "Name its encoding (file_encoding), or repair it."
    )


def mark_length(begin: bytes, encoding: str) -> int:
    """Return the length of a UTF-8 byte order mark; other decoders drop theirs."""
    return len(codecs.BOM_UTF8) if codecs.lookup(encoding).name == UTF8 and begin.startswith(codecs.BOM_UTF8) else 0


def _beginning(stream: ByteStream, name: str) -> tuple[str, bool]:
    """Return the beginning of the text, at least the header, and whether it is the whole file."""
    size = LOOK_BYTES
    while True:
        piece = stream.peek(size)
        is_whole = len(piece) < size
        try:
            text = codecs.getincrementaldecoder(UTF8)().decode(piece, final=is_whole)
        except UnicodeDecodeError as error:
            raise _not_utf8(name, piece, error) from error
        if is_whole or len(list(islice(_records(text, ","), 2))) > 1:
            break
        if size >= MAX_HEADER_BYTES:
            msg = (
                f"{name}: the first line does not end within {size >> 20} MB. "
                "Expected a line with the names of the columns, then rows. Check that it is CSV."
            )
            raise SourceError(msg)
        size *= 4
    if not text.strip():
        msg = f"{name} is empty. Expected a line with the names of the columns, then rows."
        raise SourceError(msg)
    return text, is_whole


def _header(text: str, delimiter: str, name: str) -> tuple[list[str], str, int]:
    """Return the column names, the header text, and its number of lines."""
    lines: list[str] = []

    def taken() -> Iterator[str]:
        for line in io.StringIO(text, newline=""):
            lines.append(line)
            yield line

    try:
        columns = next(record for record in csv.reader(taken(), delimiter=delimiter) if record)
    except csv.Error as error:
        msg = (
            f"{name}: the first line cannot be read ({error}). Expected the names of the columns. Check that it is CSV."
        )
        raise SourceError(msg) from error
    return columns, "".join(lines), len(lines)


def _records(text: str, delimiter: str) -> Iterator[list[str]]:
    """Yield records up to the first invalid one; empty lines are skipped."""
    try:
        yield from filter(None, csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error:
        return


def _sample(text: str, is_whole: bool, delimiter: str) -> list[list[str]]:
    """Return the first records without one that may be truncated."""
    records = list(islice(_records(text, delimiter), SAMPLE_RECORDS))
    return records if is_whole or len(records) == SAMPLE_RECORDS else records[:-1]


def _guess_delimiter(text: str, is_whole: bool, options: ReadOptions, usual: str) -> str:
    """Return the delimiter that yields the requested columns and records of equal length."""

    def merits(delimiter: str) -> tuple[bool, bool, bool, int]:
        header, *rows = _sample(text, is_whole, delimiter) or [[]]
        is_even = len(header) > 1 and all(len(row) == len(header) for row in rows)
        return set(options.named) <= set(header), is_even, delimiter == usual, len(header)

    return max(DELIMITERS, key=merits)


def _guess_decimal(rows: list[list[str]], columns: list[str], delimiter: str, options: ReadOptions) -> str:
    """Return the decimal point: a comma if some numbers have one and none has a point."""
    if delimiter == ",":
        return "."
    others = {options.target, options.id_column}
    numbers = [value for row in rows for name, value in zip(columns, row, strict=False) if name not in others]
    has_comma = any(DECIMAL_COMMA.fullmatch(value) for value in numbers)
    return "," if has_comma and not any(DECIMAL_POINT.fullmatch(value) for value in numbers) else "."


def _booleans(rows: list[list[str]], columns: list[str]) -> tuple[str, ...]:
    """Return the columns that contain True or False; ones, zeros and empty values are allowed."""
    found = []
    for j, name in enumerate(columns):
        values = {row[j].strip() for row in rows if j < len(row)} - {"", "0", "1"}
        if values and values <= {*TRUE, *FALSE}:
            found.append(name)
    return tuple(found)


@lru_cache(maxsize=16)
def _shared(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return a shared tuple, because thousands of files may have the same columns."""
    return names


def last_record_end(text: bytes, delimiter: bytes) -> int:
    """Return the end of the last complete record; 0 if there is none."""
    if b'"' in text:
        found = _whole_records(delimiter).match(text)
        return found.end() if found else 0
    return max(text.rfind(b"\n"), text.rfind(b"\r") if b"\n" not in text else 0) + 1


@lru_cache
def _whole_records(delimiter: bytes) -> re.Pattern[bytes]:
    """Return a pattern of complete records; as in pyarrow, quotes count only at the beginning of a value.

    Groups are repeated in atomic groups: Python before 3.11.5 loses its place after a possessive group (gh-106052).
    """
    plain = b"[^" + re.escape(delimiter) + rb"\r\n]*+"
    value = rb'(?:"[^"]*+(?>(?:""[^"]*+)*)"' + plain + rb'|(?!")' + plain + b")"
    record = value + b"(?>(?:" + re.escape(delimiter) + value + rb")*)(?:\r\n|\n|\r)"
    return re.compile(b"(?>(?:" + record + b")*)")


def numbers_of_text(batch: Any, names: list[str], format_: CsvFormat) -> Any:
    """Parse columns of text as numbers; invalid values become infinite."""
    for name in names:
        at = batch.schema.get_field_index(name)
        column = pc.utf8_trim_whitespace(batch.column(at))
        if name in format_.booleans:
            column = pc.if_else(pc.is_in(column, pa.array(TRUE)), "1", column)
            column = pc.if_else(pc.is_in(column, pa.array(FALSE)), "0", column)
        if format_.decimal == ",":
            column = pc.if_else(pc.match_substring(column, "."), "?", column)
            column = pc.replace_substring(column, ",", ".")
        column = pc.if_else(pc.is_in(column, pa.array(MISSING)), pa.scalar(None, pa.string()), column)
        try:
            numbers = column.cast(pa.float64())
        except pa.ArrowInvalid:
            is_number = pc.match_substring_regex(column, f"^({NUMBERS[False]})$")
            numbers = pc.if_else(is_number, column, "inf").cast(pa.float64())
        batch = batch.set_column(at, name, numbers)
    return batch
