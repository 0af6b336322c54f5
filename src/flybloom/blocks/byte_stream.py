"""Streams of files, compressed or not, that can be peeked at; errors name the file."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from flybloom.exceptions import SourceError, require_extra

PACKED = (".gz", ".zst")
CHUNK_BYTES = 2**16
END_BYTES = 64


class ByteStream:
    """Binary stream with `peek`; implements what pyarrow needs of a file object."""

    closed = False  # asked by pyarrow

    def __init__(self, file: Any, name: str) -> None:
        self.name = name
        self._file = file
        self._begin = bytearray()
        self._at = 0  # in what was looked at
        self.end = b""  # the last bytes that were read

    def peek(self, n: int) -> bytes:
        """Return the next n bytes without consuming them; fewer at the end of the file."""
        while len(self._begin) - self._at < n:
            more = self._read(n - len(self._begin) + self._at)
            if not more:
                break
            self._begin += more
        return bytes(self._begin[self._at : self._at + n])

    def read(self, n: int) -> bytes:
        """Return n bytes, fewer at the end of the file."""
        piece = bytes(self._begin[self._at : self._at + n])
        self._at += len(piece)
        if self._at and self._at == len(self._begin):
            self._begin, self._at = bytearray(), 0
        while len(piece) < n:
            more = self._read(n - len(piece))
            if not more:
                break
            piece = piece + more if piece else more
        self.end = (self.end + piece[-END_BYTES:])[-END_BYTES:]
        return piece

    def close(self) -> None:
        """Do nothing: the file is closed where it was opened."""

    def _read(self, n: int) -> bytes:
        """Return at most n bytes of the file."""
        with file_errors(self.name):
            return bytes(self._file.read(n))


class Recoded:
    """A stream of text in some encoding, read as UTF-8."""

    def __init__(self, stream: ByteStream, encoding: str) -> None:
        self._stream = stream
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()

    def read(self, n: int) -> bytes:
        """Return about n bytes of UTF-8."""
        while True:
            more = self._stream.read(max(n, CHUNK_BYTES))
            try:
                text = self._decoder.decode(more, final=not more)
            except UnicodeDecodeError as error:
                msg = (
                    f"{self._stream.name} is not text in {self._encoding}: {error.reason} "
                    f"(byte {error.object[error.start]:#x}). Name its encoding (file_encoding)."
                )
                raise SourceError(msg) from error
            if text or not more:
                return text.encode()


def open_file(path: Path) -> BinaryIO:
    """Open a file for reading, decompressing it if needed."""
    if path.suffix.lower() == ".gz":
        return cast("BinaryIO", gzip.open(path, "rb"))
    if path.suffix.lower() == ".zst":
        require_extra("pyarrow", "files")
        import pyarrow as pa  # noqa: PLC0415 - an extra; the standard library knows it from Python 3.14 on

        return io.BufferedReader(pa.CompressedInputStream(pa.OSFile(str(path)), "zstd"))
    return path.open("rb")


@contextmanager
def file_errors(name: str) -> Iterator[None]:
    """Convert file errors to SourceError with the file name and a hint."""
    try:
        yield
    except (EOFError, zlib.error, OSError) as error:
        reason = str(getattr(error, "strerror", None) or error).rstrip(".") or type(error).__name__
        is_packed = name.lower().endswith(PACKED)
        expected = " Expected a packed file that is whole. Fetch or pack it again." if is_packed else ""
        msg = f"{name} cannot be read ({reason}).{expected or ' Check the file and its permissions.'}"
        raise SourceError(msg) from error
