"""The two groups of tabular data sets that the paper takes from OpenML, told by their sizes."""

from __future__ import annotations

import os
from typing import NamedTuple

from flybloom.exceptions import SourceError
from flybloom.paper.datasets.dataset import Sizes
from flybloom.paper.datasets.folder import names, sizes

VISION = ("mnist", "fashion_mnist", "cifar10_grey", "cifar100_grey")
# Shown on their own in the paper; gina_prior2_proxy stands in for OpenML's gina_prior2, whose rows it does not have.
NAMED = ("gina_prior2_proxy", "letter", "madeline", "segment", "usps")
MIN_ROWS, MIN_CLASSES, MAX_CLASSES = 1000, 2, 30


class Group(NamedTuple):
    """The limits of a group."""

    least_features: int
    most_features: int
    most_rows: int


GROUPS = {"A": Group(10, 100, 50_000), "B": Group(101, 1024, 10_000)}


def limits(group: str) -> Group:
    """Return the limits of a group by its name."""
    if group not in GROUPS:
        msg = f"The 'group' parameter must be one of {sorted(GROUPS)}. Got {group!r} instead."
        raise SourceError(msg)
    return GROUPS[group]


def fits(group: str, size: Sizes) -> bool:
    """Return whether a data set of that size belongs to a group."""
    limit = limits(group)
    return (
        limit.least_features <= size.d <= limit.most_features
        and MIN_ROWS <= size.n <= limit.most_rows
        and MIN_CLASSES <= size.n_classes <= MAX_CLASSES
    )


def group_names(group: str, folder: str | os.PathLike[str] | None = None, *, include_named: bool = False) -> list[str]:
    """Return which data sets of a folder make up a group of the paper.

    Parameters
    ----------
    group : {"A", "B"}
        "A" has 10 to 100 features and at most 50000 rows, "B" 101 to 1024 features and at most 10000 rows; both at
        least 1000 rows and 2 to 30 classes.
    folder : path-like or None, default=None
        A folder of data sets; see `data_folder`.
    include_named : bool, default=False
        Whether the data sets that the paper shows on their own (`NAMED`) count as well, if their sizes fit.

    Returns
    -------
    list of str
        Names, sorted. Digits belongs to A. Vision sets (`VISION`) belong to none.

    Examples
    --------
    >>> import tempfile
    >>> from flybloom.paper.datasets import group_names
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     group_names("A", folder), group_names("B", folder)
    (['digits'], [])
    """
    limits(group)
    left_out = VISION if include_named else VISION + NAMED
    return [name for name in names(folder) if name not in left_out and fits(group, sizes(name, folder))]
