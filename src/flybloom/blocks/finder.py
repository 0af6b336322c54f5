"""Finds the reader for a source, and the files that match a path."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from flybloom.blocks.array_files import NpyFile, NpzFile
from flybloom.blocks.arrays import ArraySource, IteratorSource
from flybloom.blocks.byte_stream import PACKED
from flybloom.blocks.frames import frame_part
from flybloom.blocks.parts import FilePart, Part
from flybloom.blocks.svmlight import SvmlightFile
from flybloom.exceptions import SourceError, require_extra


def _with_pyarrow(module: str, reader: str) -> Callable[..., Any]:
    """Return a reader that needs pyarrow, and whose module is imported when it is first used."""

    def read(*source: Any) -> Any:
        require_extra("pyarrow", "files")
        return getattr(import_module(f"flybloom.blocks.{module}"), reader)(*source)

    return read


_PARQUET, _ARROW = (_with_pyarrow("arrow_sources", name) for name in ("ParquetFile", "ArrowFile"))
_CSV = _with_pyarrow("csv_files", "CsvFile")
FILES: dict[str, Callable[[Path], FilePart]] = {
    ".parquet": _PARQUET,
    ".pq": _PARQUET,
    ".csv": _CSV,
    ".tsv": _CSV,
    ".arrow": _ARROW,
    ".feather": _ARROW,
    ".ipc": _ARROW,
    ".npy": NpyFile,
    ".npz": NpzFile,
    ".svm": SvmlightFile,
    ".svmlight": SvmlightFile,
    ".libsvm": SvmlightFile,
}
STREAMS = ("__arrow_c_stream__", "to_batches", "collect_batches")  # methods of what hands out Arrow batches


def parts_of(source: Any) -> list[Part]:
    """Return readers for all parts of a source."""
    if isinstance(source, str) and source == "-":
        return [_with_pyarrow("csv_files", "StandardInput")()]
    if isinstance(source, str | os.PathLike):
        return [_file_part(path) for path in _paths(os.fspath(source))]
    if (part := frame_part(source)) is not None:
        return [part]
    if any(hasattr(source, method) for method in STREAMS) or type(source).__name__ == "DuckDBPyRelation":
        return [_with_pyarrow("arrow_sources", "stream_part")(source)]
    if isinstance(source, np.ndarray) or sparse.issparse(source):
        source = source, None
    if isinstance(source, tuple) and len(source) == 2:  # noqa: PLR2004
        return [ArraySource(*source)]
    if isinstance(source, Iterable):
        return [IteratorSource(source)]
    msg = f"Expected a path, a frame, arrays or an iterable of (X, y) as source. Got {type(source).__name__} instead."
    raise TypeError(msg)


def _paths(source: str) -> list[Path]:
    """Return the sorted files that match a path, folder or pattern."""
    path = Path(source)
    if path.is_dir():
        found = [file for file in path.rglob("*") if file.is_file() and _suffix_of(file) in FILES]
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
    kind = FILES.get(_suffix_of(path))
    if kind is None:
        packed = " or ".join(PACKED)
        msg = f"{path}: unknown kind of file. Expected a name that ends in {', '.join(FILES)} (text also in {packed})."
        raise SourceError(msg)
    return kind(path)


def _suffix_of(path: Path) -> str:
    """Return the suffix of a file without that of its compression."""
    return path.with_suffix("").suffix.lower() if path.suffix.lower() in PACKED else path.suffix.lower()
