"""The paper's query to OpenML; what it finds is kept as NPZ files, so that it is asked only once."""

from __future__ import annotations

import inspect
import os
import re
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError

import numpy as np

from flybloom._internal.atomic_write import atomic_write
from flybloom.exceptions import SourceError, UnreachableError, require_extra
from flybloom.paper.datasets.dataset import Dataset, Sizes
from flybloom.paper.datasets.folder import chosen_folder
from flybloom.paper.datasets.groups import fits, limits
from flybloom.paper.datasets.npz import encoded

OFFLINE = "Without a network, pass a folder of NPZ files with X and y, or set FLYBLOOM_DATA (docs/datasets.md)."


class Listed(NamedTuple):
    """A data set that OpenML lists."""

    data_id: int
    name: str
    version: int

    @property
    def file_name(self) -> str:
        """What it is called here: names occur several times at OpenML, numbers once."""
        plain = re.sub(r"[^a-z0-9]+", "_", self.name.lower()).strip("_")
        return f"{plain}_{self.data_id}"


def list_openml_group(group: str) -> list[Listed]:
    """Ask OpenML which data sets belong to a group of the paper. Needs a network and the extra ``openml``.

    The query is the authors': no missing values, 2 to 30 classes, the target the only symbolic column, at least 1000
    rows, and the limits of the group; see `group_names`.

    Parameters
    ----------
    group : {"A", "B"}
        Name of the group.

    Returns
    -------
    list of Listed
        Number, name and version of each data set, by number.

    Examples
    --------
    >>> from flybloom.paper.datasets import list_openml_group
    >>> list_openml_group("A")  # doctest: +SKIP
    [Listed(data_id=6, name='letter', version=1), ...]
    """
    limits(group)
    require_extra("openml", "openml")
    import openml  # noqa: PLC0415 - an extra

    list_datasets: Any = openml.datasets.list_datasets
    can_choose = "output_format" in inspect.signature(list_datasets).parameters  # later versions only have frames
    try:
        listing = list_datasets(output_format="dataframe") if can_choose else list_datasets()
    except (OSError, openml.exceptions.PyOpenMLError) as error:
        msg = f"OpenML could not be asked for its list of data sets ({error}). {OFFLINE}"
        raise UnreachableError(msg) from error
    found = [
        Listed(int(record["did"]), str(record["name"]), int(record["version"]))
        for record in listing.to_dict("records")
        if _is_wanted(record, group)
    ]
    return sorted(found)


def fetch_openml_group(group: str, folder: str | os.PathLike[str] | None = None, *, verbose: bool = True) -> list[str]:
    """Download a group of the paper from OpenML into a folder of NPZ files. Needs a network and the extra ``openml``.

    What is in the folder is not downloaded again, so an interrupted call can be repeated. Later runs need no network:
    `group_names` and `load` read the folder.

    Parameters
    ----------
    group : {"A", "B"}
        Name of the group; see `group_names`.
    folder : path-like or None, default=None
        Where to put the files; made if there is none. None means the one that FLYBLOOM_DATA names.
    verbose : bool, default=True
        Whether to show progress, if the standard error stream is a terminal.

    Returns
    -------
    list of str
        Names of the data sets, for `load`: the name at OpenML in small letters, and its number. A data set that turns
        out to be unusable is left out, with a warning.

    Raises
    ------
    UnreachableError
        If OpenML cannot be reached.

    Examples
    --------
    >>> from flybloom.paper.datasets import fetch_openml_group
    >>> fetch_openml_group("B", "data")  # doctest: +SKIP
    ['mfeat_factors_12', ...]
    """
    here = chosen_folder(folder)
    listed = list_openml_group(group)
    here.mkdir(parents=True, exist_ok=True)
    fetched = []
    for i, item in enumerate(listed):
        if verbose and sys.stderr.isatty():
            print(f"\r\033[K{i + 1} of {len(listed)}: {item.name}", end="", file=sys.stderr, flush=True)  # noqa: T201
        path = here / f"{item.file_name}.npz"
        if not path.is_file():
            try:
                _save(path, _download(item))
            except UnreachableError:
                raise
            except SourceError as error:
                warnings.warn(f"Left out: {error}", stacklevel=2)
                continue
        fetched.append(item.file_name)
    if verbose and sys.stderr.isatty():
        print(file=sys.stderr)  # noqa: T201
    return fetched


def _is_wanted(record: dict[str, Any], group: str) -> bool:
    """Return whether the qualities that OpenML states are those of the query; unstated ones are not."""
    wanted = {"NumberOfMissingValues": 0, "NumberOfInstancesWithMissingValues": 0, "NumberOfSymbolicFeatures": 1}
    if any(record.get(quality) != value for quality, value in wanted.items()):
        return False
    stated = [record.get(quality) for quality in ("NumberOfInstances", "NumberOfFeatures", "NumberOfClasses")]
    if not all(isinstance(size, int | float) and size == size for size in stated):  # noqa: PLR0124 - not NaN
        return False
    n, n_columns, n_classes = (int(size) for size in stated if size is not None)
    return fits(group, Sizes(n, n_columns - 1, n_classes))  # OpenML counts the target as a feature


def _download(item: Listed) -> Dataset:
    """Return a data set from OpenML, features as numbers."""
    from scipy import sparse  # noqa: PLC0415 - slow to import, and only needed here
    from sklearn.datasets import fetch_openml  # noqa: PLC0415

    what = f"{item.name} (OpenML {item.data_id})"
    try:
        bunch = fetch_openml(data_id=item.data_id, as_frame=False, parser="liac-arff", cache=False)
    except (HTTPError, ValueError) as error:  # this one is not to be had; others may be
        msg = f"{what} cannot be read ({error})."
        raise SourceError(msg) from error
    except OSError as error:
        msg = f"OpenML could not be reached for {what} ({error}). Repeat the call to go on from here. {OFFLINE}"
        raise UnreachableError(msg) from error
    X = bunch.data.toarray() if sparse.issparse(bunch.data) else np.asarray(bunch.data)
    if bunch.target is None or X.dtype.kind not in "biuf":
        msg = f"{what} must have a target, and features that are numbers. Got features of type {X.dtype}."
        raise SourceError(msg)
    (codes,), classes = encoded([np.asarray(bunch.target).astype(str)], None, what)
    source = f"OpenML {item.data_id}: {item.name}, version {item.version}, https://www.openml.org/d/{item.data_id}"
    return Dataset(what, np.ascontiguousarray(X), codes, classes=classes, source=source)


def _save(path: Path, data: Dataset) -> None:
    """Write a data set atomically."""
    classes, source = np.array(data.classes, str), np.array(data.source)
    atomic_write(path, lambda file: np.savez_compressed(file, X=data.X, y=data.y, classes=classes, source=source))
