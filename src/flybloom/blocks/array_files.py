"""NumPy's NPY and NPZ files, and arrays in memory, a few rows at a time."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import zip_longest
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy_format
from scipy import sparse

from flybloom._internal.typing import Array
from flybloom.blocks.parts import FilePart, Part, RawBlock, ReadOptions
from flybloom.exceptions import SourceError


class NpyFile(FilePart):
    """A two-dimensional array, mapped into memory; the target is the number of a column, -1 for the last."""

    def read(self, options: ReadOptions) -> Iterator[RawBlock]:
        """Yield slices of the array."""
        _refuse_names(options, self.name)
        array = self._array()
        features, target = np.arange(array.shape[1]), None
        if options.target is not None:
            target = _column_number(options.target, array.shape[1], self.name)
            features = np.delete(features, target)
        for begin in range(0, len(array), options.block_rows):
            rows = np.asarray(array[begin : begin + options.block_rows])
            y = None if target is None else _whole_labels(rows[:, target])
            yield RawBlock(rows if target is None else rows[:, features], y, None)

    def n_rows(self) -> int | None:
        """Return what the header says."""
        return len(self._array())

    def _array(self) -> Array:
        """Map the file into memory."""
        try:
            array = np.load(self.path, mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            msg = f"{self.name} cannot be read ({error}). Expected an array saved by numpy.save, of numbers."
            raise SourceError(msg) from error
        if array.ndim != 2:  # noqa: PLR2004
            msg = f"{self.name} holds an array of shape {array.shape}. Expected rows and columns."
            raise SourceError(msg)
        return np.asarray(array) if not isinstance(array, np.memmap) else array


class NpzFile(FilePart):
    """Arrays X and y, read from the archive as a stream, whether compressed or not; the target names another y."""

    def read(self, options: ReadOptions) -> Iterator[RawBlock]:
        """Yield a few rows of both arrays."""
        _refuse_names(options, self.name)
        with self._archive() as archive:
            rows = self._stream(archive, "X", options.block_rows)
            if options.target is None:
                yield from (RawBlock(X, None, None) for X in rows)
                return
            labels = self._stream(archive, options.target, options.block_rows)
            for X, y in zip_longest(rows, labels):
                if X is None or y is None:
                    msg = f"{self.name}: X and {options.target} differ in length. Expected one label per row."
                    raise SourceError(msg)
                yield RawBlock(X, y, None)

    def n_rows(self) -> int | None:
        """Return what the header of X says."""
        with self._archive() as archive, self._member(archive, "X") as file:
            return int(npy_header(file)[0][0])

    @contextmanager
    def _archive(self) -> Iterator[zipfile.ZipFile]:
        """Open the archive."""
        try:
            with zipfile.ZipFile(self.path) as archive:
                yield archive
        except zipfile.BadZipFile as error:
            msg = f"{self.name} cannot be read ({error}). Expected a file saved by numpy.savez."
            raise SourceError(msg) from error

    def _member(self, archive: zipfile.ZipFile, name: str) -> Any:
        """Open one array."""
        if f"{name}.npy" not in archive.namelist():
            held = ", ".join(member.removesuffix(".npy") for member in archive.namelist())
            msg = f"{self.name}: there is no array {name!r}. It holds {held}. Save rows as X and labels as y."
            raise SourceError(msg)
        return archive.open(f"{name}.npy")

    def _stream(self, archive: zipfile.ZipFile, name: str, block_rows: int) -> Iterator[Array]:
        """Yield an array a few rows at a time; one that is stored by columns has to be read whole."""
        with self._member(archive, name) as file:
            shape, is_by_columns, dtype = npy_header(file)
            if dtype.hasobject:
                msg = (
                    f"{self.name}: the array {name!r} holds Python objects, which are never loaded. Save it as numbers."
                )
                raise SourceError(msg)
            width = int(np.prod(shape[1:], dtype=np.int64)) * dtype.itemsize
            if is_by_columns and len(shape) > 1:
                array = np.frombuffer(file.read(shape[0] * width), dtype).reshape(shape, order="F")
                yield from (array[begin : begin + block_rows] for begin in range(0, shape[0], block_rows))
                return
            for begin in range(0, shape[0], block_rows):
                n = min(block_rows, shape[0] - begin)
                yield np.frombuffer(file.read(n * width), dtype).reshape(n, *shape[1:])


class ArraySource(Part):
    """Rows and labels in memory."""

    name = "arrays"

    def __init__(self, X: Any, y: Any) -> None:
        self.X = X if sparse.issparse(X) else np.asarray(X)
        self.y = None if y is None else np.asarray(y)

    def read(self, options: ReadOptions) -> Iterator[RawBlock]:
        """Yield slices."""
        _refuse_names(options, self.name)
        for begin in range(0, self.X.shape[0], options.block_rows):
            rows = slice(begin, begin + options.block_rows)
            yield RawBlock(self.X[rows], None if self.y is None else self.y[rows], None)

    def n_rows(self) -> int | None:
        """Return the number of rows."""
        return int(self.X.shape[0])


class IteratorSource(Part):
    """Blocks that somebody else makes: an iterable of (X, y), or of X."""

    name = "blocks"

    def __init__(self, blocks: Iterable[Any]) -> None:
        self.blocks = blocks
        self.can_repeat = iter(blocks) is not blocks if not isinstance(blocks, Iterator) else False

    def read(self, options: ReadOptions) -> Iterator[RawBlock]:
        """Yield the blocks as they come."""
        _refuse_names(options, self.name)
        for block in self.blocks:
            X, y = block if isinstance(block, tuple) else (block, None)
            yield RawBlock(X if sparse.issparse(X) else np.asarray(X), None if y is None else np.asarray(y), None)


def npy_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, whether stored by columns, and type, of an array in NPY format."""
    version = npy_format.read_magic(file)
    read = npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
    shape, is_by_columns, dtype = read(file)
    return shape, is_by_columns, dtype


def _column_number(target: str, n_columns: int, name: str) -> int:
    """Return the column of the target."""
    try:
        number = int(target)
    except ValueError:
        number = n_columns
    if not -n_columns <= number < n_columns:
        msg = (
            f"{name}: the columns of an NPY file have no names. "
            f"Expected the number of the target column, from 0 to {n_columns - 1} or -1 for the last. Got {target!r}."
        )
        raise SourceError(msg)
    return number % n_columns


def _whole_labels(labels: Array) -> Array:
    """Return labels that share an array with float features as the whole numbers they are."""
    if labels.dtype.kind == "f" and np.isfinite(labels).all() and (labels == np.trunc(labels)).all():
        return labels.astype(np.int64)
    return labels


def _refuse_names(options: ReadOptions, name: str) -> None:
    """Refuse to choose features by name where columns have none."""
    if options.features is not None:
        msg = f"{name}: its columns have no names, so features cannot be chosen by name. Leave out the names."
        raise SourceError(msg)
