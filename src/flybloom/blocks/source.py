"""One reader for all sources: what they are is found out here, once."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from flybloom._internal.typing import Array, Features
from flybloom._internal.validation import NamedRows
from flybloom.blocks.array_files import ArraySource, IteratorSource, NpyFile, NpzFile
from flybloom.blocks.parts import FilePart, Part, RawBlock, ReadOptions
from flybloom.blocks.svmlight import SvmlightFile
from flybloom.blocks.table_files import TABLE_FILES, Frame, StandardInput, is_frame, suffix_of
from flybloom.blocks.tables import require_finite
from flybloom.exceptions import SourceError

FILES: dict[str, type[FilePart]] = {
    **TABLE_FILES,
    ".npy": NpyFile,
    ".npz": NpzFile,
    ".svm": SvmlightFile,
    ".svmlight": SvmlightFile,
    ".libsvm": SvmlightFile,
}
BLOCK_ROWS = 32768


class Block(NamedTuple):
    """A few rows of a source."""

    X: Features
    """The features: an array, a CSR matrix, or rows with names; every estimator of flybloom takes it as it is."""

    y: Array | None
    """The labels, if they were wanted."""

    begin: int
    """Number of the first row, counted over the whole source."""

    where: str
    """What errors call these rows."""

    def __len__(self) -> int:
        """Return the number of rows."""
        return n_rows_of(self.X)


class Blocks:
    """A source, ready to be read block by block; what `read_blocks` returns."""

    def __init__(self, parts: list[Part], options: ReadOptions) -> None:
        self.parts = parts
        self.options = options

    @property
    def wish(self) -> ReadOptions:
        """The name that `learning` knows the options by."""
        return self.options

    @property
    def can_repeat(self) -> bool:
        """Whether the source can be read more than once."""
        return all(part.can_repeat for part in self.parts)

    def n_rows(self) -> int | None:
        """Return the number of rows where it is cheap to know, else None."""
        numbers = [part.n_rows() for part in self.parts]
        return None if None in numbers else sum(n for n in numbers if n is not None)

    def identity(self) -> list[dict[str, Any]] | None:
        """Return what tells this source from a changed one, or None where nothing does."""
        identities = [part.identity() for part in self.parts]
        known = [identity for identity in identities if identity is not None]
        return known if len(known) == len(identities) else None

    def __iter__(self) -> Iterator[Block]:
        """Yield all blocks, in the order of the rows."""
        return self.starting_at(0)

    def starting_at(self, row: int) -> Iterator[Block]:
        """Yield the blocks from a row on; whole files before it are not read where their length is known."""
        at, expected = 0, None
        for part in self.parts:
            length = part.n_rows() if at < row else None
            if length is not None and at + length <= row:
                at += length
                continue
            begin = at
            for raw in part.read(self.options):
                n = raw.X.shape[0]
                where = f"{part.name}, rows {at - begin}-{at - begin + n - 1}"
                expected = _check(raw, self.options, expected, where)
                skip = min(max(row - at, 0), n)
                if n > skip:
                    X, y = raw.X[skip:], None if raw.y is None else raw.y[skip:]
                    if expected.dtype is not None and X.dtype != expected.dtype:
                        X = X.astype(expected.dtype)
                    yield Block(X if raw.names is None else NamedRows(X, raw.names), y, at + skip, where)
                at += n


class _Expected(NamedTuple):
    """What the first block has, and the others must have."""

    names: list[str] | None
    n_features: int
    dtype: np.dtype[Any] | None  # None for sparse rows
    where: str


def read_blocks(
    source: Any,
    target: str | int | None = None,
    *,
    features: Iterable[str] | None = None,
    n_features: int | None = None,
    block_rows: int = BLOCK_ROWS,
) -> Blocks:
    """Read data of any source, block by block, in bounded memory.

    Parameters
    ----------
    source : str, path-like, frame, (X, y) or iterable of (X, y)
        A Parquet, CSV, TSV, Arrow, Feather, NPY, NPZ or svmlight file (text may be compressed as ``.gz``), a folder of
        such files, a pattern such as ``"data/*.parquet"``, ``"-"`` for CSV from standard input, a frame of pandas or
        polars, an Arrow table, a pair of arrays, or blocks that you make yourself.
    target : str, int or None, default=None
        The column of the labels: by name in tables, by number in NPY files; the array of the labels in NPZ files. Any
        name will do for svmlight files, whose labels come first. None to read features only.
    features : iterable of str or None, default=None
        The columns of the features, in this order. None for all but the target.
    n_features : int or None, default=None
        How many features svmlight rows have. None for as many as the largest index says.
    block_rows : int, default=32768
        How many rows to read at once, at most.

    Returns
    -------
    Blocks
        An iterable of blocks with `X`, `y`, `begin` and `where`. Files and frames can be read again and again.

    Raises
    ------
    flybloom.exceptions.SourceError
        If a column is missing, not numeric or has missing values; the message names file, rows and column.

    Examples
    --------
    >>> import pandas as pd, flybloom
    >>> frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.0, 1.0, 0.0], "label": ["x", "y", "x"]})
    >>> for block in flybloom.read_blocks(frame, "label", block_rows=2):
    ...     print(block.begin, block.y)
    0 ['x' 'y']
    2 ['x']
    """
    if block_rows < 1:
        msg = f"The 'block_rows' parameter of read_blocks must be at least 1. Got {block_rows!r} instead."
        raise ValueError(msg)
    if isinstance(features, str):
        msg = f"The 'features' parameter of read_blocks must be a list of names. Got the string {features!r} instead."
        raise TypeError(msg)
    options = ReadOptions(
        None if target is None else str(target), None if features is None else tuple(features), n_features, block_rows
    )
    return Blocks(_parts(source), options)


def n_rows_of(X: Features) -> int:
    """Return the number of rows, named or not."""
    return int((X.array if isinstance(X, NamedRows) else X).shape[0])


def _parts(source: Any) -> list[Part]:
    """Find out what a source is."""
    if isinstance(source, str) and source == "-":
        return [StandardInput()]
    if isinstance(source, str | os.PathLike):
        return [_file_part(path) for path in _paths(os.fspath(source))]
    if is_frame(source):
        return [Frame(source)]
    if isinstance(source, tuple) and len(source) == 2:  # noqa: PLR2004
        return [ArraySource(*source)]
    if isinstance(source, np.ndarray) or sparse.issparse(source):
        return [ArraySource(source, None)]
    if isinstance(source, Iterable):
        return [IteratorSource(source)]
    msg = f"Expected a path, a frame, arrays or an iterable of (X, y) as source. Got {type(source).__name__} instead."
    raise TypeError(msg)


def _paths(source: str) -> list[Path]:
    """Return the files that a path, a folder or a pattern means, in order."""
    path = Path(source)
    if path.is_dir():
        found = [file for file in path.rglob("*") if file.is_file() and suffix_of(file) in FILES]
        found = [file for file in found if not any(name[0] in "._" for name in file.relative_to(path).parts)]
    elif path.exists():
        found = [path]
    elif glob.has_magic(source):
        found = [Path(name) for name in glob.glob(source, recursive=True) if Path(name).is_file()]  # noqa: PTH207
    else:
        msg = f"There is no file, folder or pattern {source!r}. Check the path."
        raise SourceError(msg)
    if not found:
        msg = f"{source}: no files to read. Expected files that end in {', '.join(FILES)}."
        raise SourceError(msg)
    return sorted(found)


def _file_part(path: Path) -> Part:
    """Return the reader of a file."""
    kind = FILES.get(suffix_of(path))
    if kind is None:
        msg = f"{path}: unknown kind of file. Expected a name that ends in {', '.join(FILES)} (text also in .gz)."
        raise SourceError(msg)
    return kind(path)


def _check(raw: RawBlock, options: ReadOptions, expected: _Expected | None, where: str) -> _Expected:
    """Compare a block with the first one, and refuse what nobody could learn from."""
    n, n_features = raw.X.shape
    dtype = None if sparse.issparse(raw.X) else raw.X.dtype
    if dtype is not None:
        if dtype.kind not in "buif":
            msg = f"{where}: values of type {dtype}. Expected numbers."
            raise SourceError(msg)
        require_finite(raw.X, raw.names, where)
    if options.target is not None and (raw.y is None or len(raw.y) != n):
        msg = f"{where}: {0 if raw.y is None else len(raw.y)} labels for {n} rows. Expected one label per row."
        raise SourceError(msg)
    if expected is None:
        return _Expected(raw.names, n_features, dtype, where)
    if raw.names != expected.names:
        msg = (
            f"{where}: the columns {raw.names} are not those of {expected.where}, {expected.names}. "
            "Name the features to be read, or leave out the file."
        )
        raise SourceError(msg)
    if n_features != expected.n_features:
        msg = f"{where}: {n_features} features. Expected {expected.n_features}, as in {expected.where}."
        raise SourceError(msg)
    if dtype is not None and expected.dtype is not None and not np.can_cast(dtype, expected.dtype, "safe"):
        msg = f"{where}: values of type {dtype}. Expected {expected.dtype}, as in {expected.where}. Store one type."
        raise SourceError(msg)
    return expected
