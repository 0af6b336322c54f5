"""NumPy's NPY and NPZ files, a few rows at a time."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy_format

from flybloom._internal.memory import available_memory
from flybloom._internal.typing import Array
from flybloom.blocks.arrays import refuse_columns
from flybloom.blocks.labels import TEXT, as_array, exact_labels, kind_of
from flybloom.blocks.parts import PIECE_BYTES, FilePart, Part, Place, RawBlock, ReadOptions
from flybloom.blocks.schema import PartFacts, Schema
from flybloom.exceptions import SourceError


class NpyHeader(NamedTuple):
    """Header of an array in NPY format."""

    shape: tuple[int, ...]
    is_by_columns: bool
    dtype: np.dtype[Any]
    end: int = 0  # where the values begin

    @property
    def n_bytes(self) -> int:
        """Number of bytes of the values."""
        return math.prod(self.shape) * self.dtype.itemsize


def npy_header(file: IO[bytes]) -> NpyHeader:
    """Read the header of an array in NPY format."""
    version = npy_format.read_magic(file)
    read = npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
    shape, is_by_columns, dtype = read(file)
    return NpyHeader(shape, is_by_columns, dtype, file.tell())


class NpyFile(FilePart):
    """Reader of a two-dimensional NPY array or a range of its rows; the target is a column number, -1 for the last."""

    def __init__(self, path: Path, rows: tuple[int, int] | None = None) -> None:
        super().__init__(path)
        self.rows = rows  # from, to; None for all
        self.first_row = 0 if rows is None else rows[0]

    def inspect(self, options: ReadOptions) -> PartFacts:
        """Return the types from the header."""
        refuse_columns(options, self.name, ids=False)
        with self._open() as (_, header):
            others = self._others(options, header)
        labels = None
        if options.target is not None:  # labels that share an array with floats are whole numbers all the same
            kind = "int64" if header.dtype.kind == "f" else header.dtype.name
            labels = TEXT if options.label_type == "text" else kind
        n_features = header.shape[1] - len(others)
        if n_features < 1:
            msg = f"{self.name}: there is no column besides the target. Expected at least one feature."
            raise SourceError(msg)
        return PartFacts(header.dtype, n_features, labels=labels)

    def read(self, options: ReadOptions, schema: Schema) -> Iterator[RawBlock]:
        """Yield rows."""
        with self._open() as (file, header):
            others = self._others(options, header)
            features = np.delete(np.arange(header.shape[1]), others)
            first, last = self.rows or (0, header.shape[0])
            for begin in range(first, last, options.block_rows):
                end = min(last, begin + options.block_rows)
                rows = _npy_rows(file, header, begin, end)
                y, place = None, Place(self.name, begin, end - begin)
                if options.target is not None and schema.labels is not None:
                    y = _whole_labels(rows[:, others[0]], schema.labels, f"{place}: the labels")
                ids = None if options.id_column is None else rows[:, others[-1]]
                yield RawBlock(rows[:, features] if others else rows, y, ids)

    def pieces(self, options: ReadOptions) -> Sequence[Part]:  # noqa: ARG002
        """Return ranges of rows."""
        with self._open() as (_, header):
            step = max(1, PIECE_BYTES // max(1, header.shape[1] * header.dtype.itemsize))
        found = []
        for begin in range(0, header.shape[0], step):
            piece = NpyFile(self.path, (begin, min(header.shape[0], begin + step)))
            piece.name = self.name
            found.append(piece)
        return found

    def n_rows(self) -> int | None:
        """Return the number of rows from the header."""
        with self._open() as (_, header):
            return header.shape[0] if self.rows is None else self.rows[1] - self.rows[0]

    @contextmanager
    def _open(self) -> Iterator[tuple[IO[bytes], NpyHeader]]:
        """Open the file after its header. It is not memory-mapped: a truncated map would crash the process."""
        with array_errors(self.name, "an array of numbers, as numpy.save writes it"), self.path.open("rb") as file:
            header = npy_header(file)
            _require_plain(header, 2, self.name)
            n_bytes = self.path.stat().st_size - header.end
            if header.n_bytes > n_bytes:
                msg = (
                    f"{self.name} has {n_bytes} bytes of values. "
                    f"Expected {header.n_bytes} for the shape {header.shape}, as its header says. Save it again."
                )
                raise SourceError(msg)
            yield file, header

    def _others(self, options: ReadOptions, header: NpyHeader) -> list[int]:
        """Return the columns of target and identifier, if any."""
        wanted = [name for name in (options.target, options.id_column) if name is not None]
        return [_column_number(name, header.shape[1], self.name) for name in wanted]


class NpzFile(FilePart):
    """Reader of the arrays X and y of an NPZ archive, streamed block by block; the target is the name of y."""

    def inspect(self, options: ReadOptions) -> PartFacts:
        """Return types and shapes from the headers."""
        refuse_columns(options, self.name, ids=False)
        with self._archive() as archive:
            X = self._header(archive, "X", 2)
            labels = None
            if options.target is not None:
                y = self._header(archive, options.target, 1)
                labels = kind_of(np.empty(0, y.dtype), f"{self.name}: the labels {options.target!r}")
                labels = TEXT if options.label_type == "text" else labels
        return PartFacts(X.dtype, X.shape[1], labels=labels)

    def read(self, options: ReadOptions, schema: Schema) -> Iterator[RawBlock]:
        """Yield blocks of rows from all arrays."""
        at = 0
        with self._archive() as archive:
            wanted = {"y": options.target, "ids": options.id_column}
            streams = {"X": self._stream(archive, "X", 2, options.block_rows)}
            for role, name in wanted.items():
                if name is not None:
                    streams[role] = self._stream(archive, name, 1, options.block_rows)
            for arrays in zip_longest(*streams.values()):
                block = dict(zip(streams, arrays, strict=True))
                if len({-1 if array is None else len(array) for array in arrays}) > 1:
                    names = ", ".join(["X", *(name for name in wanted.values() if name is not None)])
                    msg = f"{self.name}: {names} differ in length. Expected one label per row. Save them again."
                    raise SourceError(msg)
                place = Place(self.name, at, len(block["X"]))
                y = block.get("y")
                if y is not None and schema.labels is not None:
                    y = exact_labels(as_array(y, str(place)), schema.labels, f"{place}: the labels")
                yield RawBlock(block["X"], y, block.get("ids"))
                at += len(block["X"])

    def n_rows(self) -> int | None:
        """Return the number of rows from the header of X."""
        with self._archive() as archive:
            return self._header(archive, "X", 2).shape[0]

    @contextmanager
    def _archive(self) -> Iterator[zipfile.ZipFile]:
        """Open the archive."""
        with array_errors(self.name, "arrays, as numpy.savez writes them"), zipfile.ZipFile(self.path) as archive:
            yield archive

    def _header(self, archive: zipfile.ZipFile, name: str, n_dimensions: int) -> NpyHeader:
        """Return the header of an array in the archive."""
        with self._member(archive, name) as file:
            header = npy_header(file)
        _require_plain(header, n_dimensions, f"{self.name}: the array {name!r}")
        return header

    def _member(self, archive: zipfile.ZipFile, name: str) -> Any:
        """Open one array."""
        if f"{name}.npy" not in archive.namelist():
            held = ", ".join(member.removesuffix(".npy") for member in archive.namelist())
            msg = f"{self.name}: there is no array {name!r}. It holds {held}. Save rows as X and labels as y."
            raise SourceError(msg)
        return archive.open(f"{name}.npy")

    def _stream(self, archive: zipfile.ZipFile, name: str, n_dimensions: int, block_rows: int) -> Iterator[Array]:
        """Yield an array in blocks of rows; an array in Fortran order is read at once."""
        self._header(archive, name, n_dimensions)
        with self._member(archive, name) as file:
            header = npy_header(file)
            n, width = header.shape[0], math.prod(header.shape[1:]) * header.dtype.itemsize
            step = n if header.is_by_columns and len(header.shape) > 1 else min(n, block_rows)
            self._require_room(step * width, "by rows (numpy.ascontiguousarray)" if step > block_rows else "narrower")
            for begin in range(0, n, max(1, step)):
                shape = (min(step, n - begin), *header.shape[1:])
                array = _from_stream(file, header.dtype, math.prod(shape))
                array = array.reshape(shape, order="F" if header.is_by_columns else "C")
                yield from (array[first : first + block_rows] for first in range(0, len(array), block_rows))

    def _require_room(self, n_bytes: int, remedy: str) -> None:
        """Raise an error if there is not enough memory: a small compressed file may contain a huge array."""
        available = available_memory()
        if available is not None and n_bytes > available:
            msg = (
                f"{self.name} needs {n_bytes / 2**30:.2f} GiB at once, more than the {available / 2**30:.2f} GiB "
                f"available. Expected smaller blocks. Read fewer rows at once (block_rows), or save it {remedy}."
            )
            raise SourceError(msg)


@contextmanager
def array_errors(name: str, expected: str) -> Iterator[None]:
    """Convert errors of NumPy and zipfile for damaged files to SourceError with the file name."""
    try:
        yield
    except (SourceError, MemoryError):
        raise
    except Exception as error:
        reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
        msg = f"{name} cannot be read ({reason}). Expected {expected}. Check that it is whole and of the kind it says."
        raise SourceError(msg) from error


def _from_stream(file: IO[bytes], dtype: np.dtype[Any], n: int) -> Array:
    """Read the next values of a stream in pieces; reading all at once would need twice the memory."""
    array = np.empty(n, dtype)
    view, at = array.view(np.uint8), 0
    while at < view.size:
        piece = file.read(min(PIECE_BYTES, view.size - at))
        if not piece:
            msg = f"{view.size - at} bytes of its values are missing"
            raise EOFError(msg)
        view[at : at + len(piece)] = np.frombuffer(piece, np.uint8)
        at += len(piece)
    return array


def _npy_rows(file: IO[bytes], header: NpyHeader, begin: int, end: int) -> Array:
    """Read a range of rows of an array from a file of checked length."""
    n, d = header.shape
    if not header.is_by_columns:
        file.seek(header.end + begin * d * header.dtype.itemsize)
        return np.fromfile(file, header.dtype, (end - begin) * d).reshape(end - begin, d)
    rows = np.empty((end - begin, d), header.dtype)
    for j in range(d):
        file.seek(header.end + (j * n + begin) * header.dtype.itemsize)
        rows[:, j] = np.fromfile(file, header.dtype, end - begin)
    return rows


def _require_plain(header: NpyHeader, n_dimensions: int, what: str) -> None:
    """Raise an error for arrays of objects or of the wrong shape."""
    if header.dtype.hasobject:
        msg = f"{what} holds Python objects, which are never loaded. Save it as numbers or strings."
        raise SourceError(msg)
    is_column = n_dimensions == 1 and len(header.shape) == 2 and header.shape[1] == 1  # noqa: PLR2004
    if (len(header.shape) != n_dimensions and not is_column) or min(header.shape, default=0) < 0:
        expected = "rows and columns" if n_dimensions == 2 else "one value for each row"  # noqa: PLR2004
        msg = f"{what} holds an array of shape {header.shape}. Expected {expected}. Reshape it and save it again."
        raise SourceError(msg)
    if n_dimensions == 2 and header.dtype.kind not in "buif":  # noqa: PLR2004
        msg = f"{what} holds values of type {header.dtype}. Expected numbers. Convert it and save it again."
        raise SourceError(msg)


def _column_number(column: str, n_columns: int, name: str) -> int:
    """Return the number of a column."""
    try:
        number = int(column)
    except ValueError:
        number = n_columns
    if not -n_columns <= number < n_columns:
        msg = (
            f"{name}: the columns of an NPY file have no names. "
            f"Expected the number of the target column, from 0 to {n_columns - 1} or -1 for the last. Got {column!r}."
        )
        raise SourceError(msg)
    return number % n_columns


def _whole_labels(labels: Array, kind: str, what: str) -> Array:
    """Convert labels to integers if they are stored with float features in one array."""
    return exact_labels(exact_labels(labels, "int64", what) if labels.dtype.kind == "f" else labels, kind, what)
