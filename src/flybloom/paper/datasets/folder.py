"""A folder of data sets: NPZ files, and the original files of the vision sets."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from flybloom.exceptions import SourceError
from flybloom.paper.datasets.cifar import CIFAR10, CIFAR100, has_cifar, load_cifar
from flybloom.paper.datasets.dataset import Dataset, Sizes
from flybloom.paper.datasets.idx import has_idx, load_idx
from flybloom.paper.datasets.npz import npz_sizes, read_npz

VARIABLE = "FLYBLOOM_DATA"
IDX = ("mnist", "fashion_mnist")
CIFAR = {"cifar10_grey": CIFAR10, "cifar100_grey": CIFAR100}


def data_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder that data sets are read from.

    Parameters
    ----------
    folder : path-like or None, default=None
        The folder. None means the one that the environment variable FLYBLOOM_DATA names.

    Returns
    -------
    Path
        A folder that exists.

    Raises
    ------
    SourceError
        If neither is given, or there is no such folder.

    Examples
    --------
    >>> from flybloom.paper.datasets import data_folder
    >>> str(data_folder("."))
    '.'
    """
    path = chosen_folder(folder)
    if not path.is_dir():
        said_by = f"the environment variable {VARIABLE}" if folder is None else "the 'folder' parameter"
        msg = f"There is no folder {path}, which {said_by} names. Expected one with data sets; see docs/datasets.md."
        raise SourceError(msg)
    return path


def chosen_folder(folder: str | os.PathLike[str] | None) -> Path:
    """Return the folder that was asked for, whether it exists or not."""
    named = os.environ.get(VARIABLE) if folder is None else folder
    if not named:
        msg = f"No folder of data sets was given. Pass 'folder', or set the environment variable {VARIABLE} to it."
        raise SourceError(msg)
    return Path(named)


def names(folder: str | os.PathLike[str] | None = None) -> list[str]:
    """Return the names of all data sets there are.

    Parameters
    ----------
    folder : path-like or None, default=None
        A folder of data sets; see `data_folder`.

    Returns
    -------
    list of str
        "digits", which comes with scikit-learn, and what the folder holds; sorted.

    Examples
    --------
    >>> import tempfile
    >>> from flybloom.paper.datasets import names
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     names(folder)
    ['digits']
    """
    here = data_folder(folder)
    packed = {path.stem for path in here.glob("*.npz") if path.is_file()}
    images = {name for name in IDX if has_idx(here / name)}
    colours = {name for name, layout in CIFAR.items() if has_cifar(here, layout)}
    return sorted({"digits"} | packed | images | colours)


def load(name: str, folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Load a data set by its name.

    Parameters
    ----------
    name : str
        "digits" comes with scikit-learn and needs no folder. Any other is NAME.npz in the folder; without such a file,
        "mnist" and "fashion_mnist" are read from IDX files in the folder of that name, "cifar10_grey" and
        "cifar100_grey" from the binary version in ``cifar-10-batches-bin`` and ``cifar-100-binary``.
    folder : path-like or None, default=None
        A folder of data sets; see `data_folder`.

    Returns
    -------
    Dataset
        Rows and labels, in the order of the source. Several sources are sorted by class: shuffle before splitting.

    Raises
    ------
    SourceError
        If there is no such data set, or its files are damaged. Nothing is ever unpickled.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from flybloom.paper.datasets import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(Path(folder) / "pets.npz", X=np.eye(3), y=["dog", "cat", "dog"])
    ...     pets = load("pets", folder)
    >>> pets.y, pets.classes
    (array([1, 0, 1]), ('cat', 'dog'))
    """
    if name == "digits":
        return _digits()
    here = _folder_with(name, folder)
    if (path := here / f"{name}.npz").is_file():
        return read_npz(path)
    if name in CIFAR:
        return load_cifar(name, here, CIFAR[name])
    return load_idx(name, here / name)


def sizes(name: str, folder: str | os.PathLike[str] | None = None) -> Sizes:
    """Return how large a data set is, without unpacking the rows of an NPZ file.

    Parameters
    ----------
    name : str
        Name of a data set; see `load`.
    folder : path-like or None, default=None
        A folder of data sets; see `data_folder`.

    Returns
    -------
    Sizes
        Rows (those to learn from), features and classes: ``n``, ``d``, ``n_classes``.

    Examples
    --------
    >>> from flybloom.paper.datasets import sizes
    >>> sizes("digits")
    Sizes(n=1797, d=64, n_classes=10)
    """
    if name != "digits" and (path := _folder_with(name, folder) / f"{name}.npz").is_file():
        return npz_sizes(path)
    return load(name, folder).sizes


def _folder_with(name: str, folder: str | os.PathLike[str] | None) -> Path:
    """Return the folder, which must hold a data set of that name."""
    here = data_folder(folder)
    if name not in (known := names(here)):
        msg = f"There is no data set {name!r} in {here}. It holds {', '.join(known)}. See docs/datasets.md."
        raise SourceError(msg)
    return here


def _digits() -> Dataset:
    """Return Digits, which comes with scikit-learn."""
    from sklearn.datasets import load_digits  # noqa: PLC0415 - slow to import, and only needed here

    X, y = load_digits(return_X_y=True)
    return Dataset("digits", np.ascontiguousarray(X), y.astype(np.int64), source="sklearn.datasets.load_digits")
