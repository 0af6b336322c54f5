"""The binary version of CIFAR-10 and CIFAR-100: records of label bytes and three planes of 32 x 32 pixels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from flybloom._internal.typing import Array, Codes
from flybloom.exceptions import SourceError
from flybloom.paper.datasets.dataset import Dataset

CHANNELS, PIXELS = 3, 32 * 32


@dataclass(frozen=True)
class Layout:
    """How one of the two is laid out in files.

    Parameters
    ----------
    folder : str
        The folder that the authors' archive unpacks to.
    train, test : tuple of str
        Files of the training and of the test part.
    n_train, n_test : int
        Records in each of these files.
    n_label_bytes : int
        Bytes before the pixels of a record; the last of them is the label.
    n_classes : int
        Number of classes.
    names : str
        File with one name of a class in each line.
    """

    folder: str
    train: tuple[str, ...]
    test: tuple[str, ...]
    n_train: int
    n_test: int
    n_label_bytes: int
    n_classes: int
    names: str


BATCHES = tuple(f"data_batch_{i}.bin" for i in range(1, 6))
CIFAR10 = Layout("cifar-10-batches-bin", BATCHES, ("test_batch.bin",), 10_000, 10_000, 1, 10, "batches.meta.txt")
# the first of its two labels is one of 20 coarse classes
CIFAR100 = Layout("cifar-100-binary", ("train.bin",), ("test.bin",), 50_000, 10_000, 2, 100, "fine_label_names.txt")


def read_cifar(path: str | Path, layout: Layout, n_records: int) -> tuple[Array, Codes]:
    """Read one file, colours added up as the paper's authors do.

    Parameters
    ----------
    path : path-like
        The file.
    layout : Layout
        `CIFAR10` or `CIFAR100`.
    n_records : int
        How many images it must hold.

    Returns
    -------
    X : ndarray of shape (n_records, 1024) of uint16
        Sum of the three channels of each pixel, 0 to 765.
    y : ndarray of shape (n_records,) of int64
        Labels; the fine ones of CIFAR-100.

    Raises
    ------
    SourceError
        If the file has another size, or a label that does not exist.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "data_batch_1.bin"
    ...     _ = path.write_bytes(bytes([6]) + bytes(1024 * [255] + 1024 * [1] + 1024 * [2]))
    ...     X, y = read_cifar(path, CIFAR10, 1)
    >>> X[0, :3], y
    (array([258, 258, 258], dtype=uint16), array([6]))
    """
    path = Path(path)
    width = layout.n_label_bytes + CHANNELS * PIXELS
    size = path.stat().st_size
    if size != n_records * width:
        msg = f"{path.name} must have {n_records * width} bytes, {n_records} records of {width}. Got {size} instead."
        raise SourceError(msg)
    records = np.fromfile(path, np.uint8).reshape(n_records, width)
    y = records[:, layout.n_label_bytes - 1].astype(np.int64)
    if y.max(initial=0) >= layout.n_classes:
        msg = f"{path.name} must hold labels from 0 to {layout.n_classes - 1}. Got {y.max()} instead."
        raise SourceError(msg)
    pixels = records[:, layout.n_label_bytes :].reshape(n_records, CHANNELS, PIXELS)
    return pixels.sum(axis=1, dtype=np.uint16), y


def has_cifar(folder: Path, layout: Layout) -> bool:
    """Return whether a folder of data sets holds the first file of this one."""
    return (folder / layout.folder / layout.train[0]).is_file()


def load_cifar(name: str, folder: Path, layout: Layout) -> Dataset:
    """Return the data set in the authors' split and order."""
    here = folder / layout.folder
    for file in layout.train + layout.test:
        if not (here / file).is_file():
            msg = f"There is no file {file} in {here}. Unpack the whole archive of the binary version there."
            raise SourceError(msg)
    train = [read_cifar(here / file, layout, layout.n_train) for file in layout.train]
    test = [read_cifar(here / file, layout, layout.n_test) for file in layout.test]
    X, y = (np.concatenate(arrays) for arrays in zip(*train, strict=True))
    X_test, y_test = (np.concatenate(arrays) for arrays in zip(*test, strict=True))
    return Dataset(
        name, X, y, X_test, y_test, classes=_class_names(here, layout), source=f"binary files in {layout.folder}"
    )


def _class_names(here: Path, layout: Layout) -> tuple[str, ...] | None:
    """Return what the classes are called, if the file that says so is there."""
    path = here / layout.names
    if not path.is_file():
        return None
    lines = path.read_text("utf-8", errors="replace").split("\n")
    names = tuple(line.strip() for line in lines if line.strip())
    if len(names) != layout.n_classes:
        msg = f"{path.name} must name {layout.n_classes} classes, one in each line. Got {len(names)} instead."
        raise SourceError(msg)
    return names
