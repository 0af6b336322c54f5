"""IDX files, as MNIST and Fashion-MNIST are distributed: a header of sizes, then bytes."""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from pathlib import Path
from typing import BinaryIO

import numpy as np

from flybloom._internal.typing import Array, Codes
from flybloom.exceptions import SourceError
from flybloom.paper.datasets.dataset import Dataset

UNSIGNED_BYTES = 8  # the only type of value that these data sets use
MAX_INFLATION = 1032  # deflate cannot pack a byte better than this
CHUNK = 1 << 20
IMAGES = {"train": "train-images-idx3-ubyte", "test": "t10k-images-idx3-ubyte"}
LABELS = {"train": "train-labels-idx1-ubyte", "test": "t10k-labels-idx1-ubyte"}


def read_idx(path: str | Path, n_dims: int) -> Array:
    """Read an IDX file of unsigned bytes, gzipped if its name ends in .gz.

    Parameters
    ----------
    path : path-like
        The file.
    n_dims : int
        How many dimensions it must have: 3 for images, 1 for labels.

    Returns
    -------
    ndarray of uint8
        What the file holds.

    Raises
    ------
    SourceError
        If the file is not exactly what its header says. Never takes more memory than the file can fill.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "labels-idx1-ubyte"
    ...     _ = path.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 3]) + bytes([7, 2, 1]))
    ...     read_idx(path, 1)
    array([7, 2, 1], dtype=uint8)
    """
    path = Path(path)
    is_packed = path.suffix == ".gz"
    room = path.stat().st_size * (MAX_INFLATION if is_packed else 1)
    try:
        with gzip.open(path) if is_packed else path.open("rb") as file:
            return _read(file, n_dims, room, path.name)  # type: ignore[arg-type]
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        msg = f"{path.name} cannot be unpacked ({error}). Expected a whole gzip file; get it again."
        raise SourceError(msg) from error


def _read(file: BinaryIO, n_dims: int, room: int, name: str) -> Array:
    """Read header and values; `room` is what the file may hold at most."""
    header = file.read(4 + 4 * n_dims)
    magic = bytes([0, 0, UNSIGNED_BYTES, n_dims])
    if header[:4] != magic:
        msg = (
            f"{name} must begin with the bytes {magic.hex(' ')} (IDX, unsigned bytes, {n_dims} dimension(s)). "
            f"Got {header[:4].hex(' ') or 'an empty file'} instead."
        )
        raise SourceError(msg)
    if len(header) < 4 + 4 * n_dims:
        msg = f"{name} must have a header of {4 + 4 * n_dims} bytes. Got {len(header)} instead. The file is cut off."
        raise SourceError(msg)
    shape = struct.unpack(f">{n_dims}I", header[4:])
    expected = math.prod(shape)
    values = bytearray()
    if len(header) + expected <= room:
        while len(values) < expected and (chunk := file.read(min(CHUNK, expected - len(values)))):
            values += chunk
    if len(values) < expected:
        msg = f"{name} must hold {expected} bytes after its header, for shape {shape}. It is cut off; get it again."
        raise SourceError(msg)
    if file.read(1):
        msg = f"{name} must end after {expected} bytes of shape {shape}. Got more instead."
        raise SourceError(msg)
    return np.frombuffer(values, np.uint8).reshape(shape)


def has_idx(folder: Path) -> bool:
    """Return whether a folder holds the training images of such a data set."""
    return folder.is_dir() and _find(folder, IMAGES["train"]) is not None


def load_idx(name: str, folder: Path) -> Dataset:
    """Return the data set of the four files in a folder, each image as one row."""
    X, y = _load_part(folder, "train")
    X_test, y_test = _load_part(folder, "test")
    return Dataset(name, X, y, X_test, y_test, source=f"IDX files in {folder.name}")


def _load_part(folder: Path, part: str) -> tuple[Array, Codes]:
    """Return rows and labels of the training or the test part."""
    images = read_idx(_existing(folder, IMAGES[part]), 3)
    labels = read_idx(_existing(folder, LABELS[part]), 1)
    if len(images) != len(labels):
        msg = f"{folder.name}, {part}: there must be one label for each of {len(images)} images. Got {len(labels)}."
        raise SourceError(msg)
    return images.reshape(len(images), math.prod(images.shape[1:])), labels.astype(np.int64)


def _find(folder: Path, name: str) -> Path | None:
    """Return a file, or the gzipped one, if there is one."""
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


def _existing(folder: Path, name: str) -> Path:
    """Return a file that must be there."""
    path = _find(folder, name)
    if path is None:
        msg = f"There is no file {name} or {name}.gz in {folder}. Put all four files of the data set there."
        raise SourceError(msg)
    return path
