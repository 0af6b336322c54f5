"""Finds the reader for a source, and the files that match a path."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from flybloom.blocks.array_files import NpyFile, NpzFile
from flybloom.blocks.arrays import ArraySource, IteratorSource
from flybloom.blocks.arrow_sources import ArrowFile, ParquetFile, stream_part
from flybloom.blocks.byte_stream import PACKED
from flybloom.blocks.csv_files import CsvFile, StandardInput
from flybloom.blocks.frames import frame_part
from flybloom.blocks.parts import FilePart, Part
from flybloom.blocks.svmlight import SvmlightFile
from flybloom.blocks.tables import TablePart
from flybloom.exceptions import SourceError, require_extra

FILES: dict[str, type[FilePart]] = {
    ".parquet": ParquetFile,
    ".pq": ParquetFile,
    ".csv": CsvFile,
    ".tsv": CsvFile,
    ".arrow": ArrowFile,
    ".feather": ArrowFile,
    ".ipc": ArrowFile,
    ".npy": NpyFile,
    ".npz": NpzFile,
    ".svm": SvmlightFile,
    ".svmlight": SvmlightFile,
    ".libsvm": SvmlightFile,
}


def parts_of(source: Any) -> list[Part]:
    """Return readers for all parts of a source."""
    if isinstance(source, str) and source == "-":
        parts: list[Part] = [StandardInput()]
    elif isinstance(source, str | os.PathLike):
        parts = [_file_part(path) for path in _paths(os.fspath(source))]
    elif (part := frame_part(source) or stream_part(source)) is not None:
        parts = [part]
    elif isinstance(source, tuple) and len(source) == 2:  # noqa: PLR2004
        parts = [ArraySource(*source)]
    elif isinstance(source, np.ndarray) or sparse.issparse(source):
        parts = [ArraySource(source, None)]
    elif isinstance(source, Iterable):
        parts = [IteratorSource(source)]
    else:
        kind = type(source).__name__
        msg = f"Expected a path, a frame, arrays or an iterable of (X, y) as source. Got {kind} instead."
        raise TypeError(msg)
    if any(isinstance(part, TablePart) for part in parts):
        require_extra("pyarrow", "files")
    return parts


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
