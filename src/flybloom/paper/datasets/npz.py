"""NPZ files of rows and labels: read without pickle, and measured without unpacking them."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from flybloom._internal.typing import Array, Codes
from flybloom.exceptions import SourceError
from flybloom.paper.datasets.dataset import Dataset, Sizes

WHOLE, SPLIT = ("X", "y"), ("X_train", "y_train", "X_test", "y_test")


def read_npz(path: Path) -> Dataset:
    """Return the data set of a file with X and y, or both with _train and _test; `classes` names the labels."""
    with _opened(path) as archive:
        keys = _keys(archive, path)
        arrays = {key: _array(archive, key, path) for key in keys}
        named = _array(archive, "classes", path) if "classes.npy" in archive.namelist() else None
        source = str(_array(archive, "source", path)) if "source.npy" in archive.namelist() else f"file {path.name}"
        labels = [arrays[key] for key in keys if key.startswith("y")]
        codes, classes = encoded(labels, None if named is None else [str(name) for name in named.ravel()], path.name)
        rows = [np.ascontiguousarray(arrays[key]) for key in keys if key.startswith("X")]
        X_test, y_test = (rows[1], codes[1]) if keys == SPLIT else (None, None)
        return Dataset(path.stem, rows[0], codes[0], X_test, y_test, classes=classes, source=source)


def npz_sizes(path: Path) -> Sizes:
    """Return the sizes; of the rows, only the header is read."""
    with _opened(path) as archive:
        keys = _keys(archive, path)
        shape = _header(archive, keys[0], path)[0]
        if len(shape) != 2:  # noqa: PLR2004
            msg = f"{path.name}: {keys[0]} must be rows and columns. Got shape {shape} instead."
            raise SourceError(msg)
        if "classes.npy" in archive.namelist():
            n_classes = math.prod(_header(archive, "classes", path)[0])
        else:
            labels = [_array(archive, key, path) for key in keys if key.startswith("y")]
            n_classes = len(np.unique(np.concatenate(labels)))
    return Sizes(shape[0], shape[1], n_classes)


def encoded(labels: list[Array], named: list[str] | None, name: str) -> tuple[list[Codes], tuple[str, ...] | None]:
    """Return labels as codes 0, 1, ... and what these are called, if they are more than numbers."""
    for y in labels:
        is_whole = y.dtype.kind == "f" and bool(np.isfinite(y).all() and (y == np.trunc(y)).all())
        if y.ndim != 1 or not (y.dtype.kind in "biuUS" or is_whole):
            msg = f"{name}: labels must be a list of whole numbers or strings. Got {y.dtype} of shape {y.shape}."
            raise SourceError(msg)
    if named is not None:
        if any(y.dtype.kind in "US" for y in labels):
            msg = f"{name}: with 'classes', labels must be positions in it. Got strings. Leave 'classes' out."
            raise SourceError(msg)
        return [y.astype(np.int64) for y in labels], tuple(named)
    found, codes = np.unique(np.concatenate(labels), return_inverse=True)
    cuts = np.cumsum([len(y) for y in labels])[:-1]
    is_numbered = found.dtype.kind in "biuf" and np.array_equal(found, np.arange(len(found)))
    texts = found.astype(np.int64) if found.dtype.kind == "f" else found.astype(str)
    classes = None if is_numbered else tuple(str(text) for text in texts)
    return [np.ascontiguousarray(part, np.int64) for part in np.split(codes, cuts)], classes


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open an archive; whatever is wrong with it is said with its name."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except SourceError:
        raise
    except (
        Exception
    ) as error:  # what NumPy and zipfile make of damage: fuzzing met twelve types, SyntaxError among them
        msg = f"{path.name} cannot be read ({error}). Expected an NPZ file of plain arrays, as numpy.savez writes."
        raise SourceError(msg) from error


def _keys(archive: zipfile.ZipFile, path: Path) -> tuple[str, ...]:
    """Return which arrays hold rows and labels."""
    held = {member.removesuffix(".npy") for member in archive.namelist()}
    for keys in (WHOLE, SPLIT):
        if held.issuperset(keys):
            return keys
    msg = f"{path.name} must hold X and y, or X_train, y_train, X_test and y_test. Got {sorted(held)} instead."
    raise SourceError(msg)


def _header(archive: zipfile.ZipFile, key: str, path: Path) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return shape and type of an array, which must be what the archive has room for."""
    from flybloom.blocks.array_files import npy_header  # noqa: PLC0415 - it waits for SciPy

    with archive.open(f"{key}.npy") as file:
        shape, _, dtype, _ = npy_header(file)
    info = archive.getinfo(f"{key}.npy")
    if dtype.hasobject or min(shape, default=1) < 0 or math.prod(shape) * dtype.itemsize > info.file_size:
        msg = (
            f"{path.name}: the array {key!r} must be plain and fit into its {info.file_size} bytes. "
            f"Got {dtype} of shape {shape} instead."
        )
        raise SourceError(msg)
    return shape, dtype


def _array(archive: zipfile.ZipFile, key: str, path: Path) -> Array:
    """Return one array."""
    _header(archive, key, path)
    with archive.open(f"{key}.npy") as file:
        return np.asarray(np.lib.format.read_array(file, allow_pickle=False))
