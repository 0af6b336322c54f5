"""What every source of data ends in: one frozen record of rows and labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from flybloom._internal.typing import Array, Codes
from flybloom.exceptions import SourceError

ROWS_AND_COLUMNS = 2


class Sizes(NamedTuple):
    """How large a data set is: rows to learn from, features, and classes."""

    n: int
    d: int
    n_classes: int


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set: rows, labels, and where they came from.

    Parameters
    ----------
    name : str
        Name of the data set.
    X : ndarray of shape (n, d)
        The rows; those to learn from, where there is an official split. Finite numbers.
    y : ndarray of shape (n,) of int64
        Labels 0, 1, ..., n_classes - 1.
    X_test, y_test : ndarray or None, default=None
        The test rows of the official split and their labels; None without one.
    classes : tuple of str or None, default=None
        What the labels are called: label i is ``classes[i]``. None if they are only numbers.
    source : str, default=""
        Where the data came from.

    Examples
    --------
    >>> from flybloom.paper.datasets import load
    >>> digits = load("digits")
    >>> digits.n, digits.d, digits.n_classes
    (1797, 64, 10)
    >>> digits.X_test is None
    True
    """

    name: str
    X: Array
    y: Codes
    X_test: Array | None = None
    y_test: Codes | None = None
    classes: tuple[str, ...] | None = None
    source: str = ""

    def __post_init__(self) -> None:
        """Raise an error for rows and labels of different lengths or types."""
        if (self.X_test is None) != (self.y_test is None):
            msg = f"{self.name}: X_test and y_test belong together. Got only one of them."
            raise SourceError(msg)
        self._check("X", self.X, self.y)
        if self.X_test is not None and self.y_test is not None:
            self._check("X_test", self.X_test, self.y_test)
            if self.X_test.shape[1] != self.d:
                msg = f"{self.name}: X_test must have the {self.d} column(s) of X. Got {self.X_test.shape[1]} instead."
                raise SourceError(msg)

    def _check(self, what: str, X: Array, y: Codes) -> None:
        """Raise an error for rows that are not a finite table of numbers, and labels that are not one code for each."""
        if X.ndim != ROWS_AND_COLUMNS or X.dtype.kind not in "biuf":
            msg = f"{self.name}: {what} must be rows and columns of numbers. Got {X.dtype} of shape {X.shape} instead."
            raise SourceError(msg)
        if y.shape != (len(X),) or y.dtype != np.int64 or len(X) == 0:
            msg = (
                f"{self.name}: {what} must come with one int64 label for each of its {len(X)} row(s), at least one. "
                f"Got labels of type {y.dtype} and shape {y.shape} instead."
            )
            raise SourceError(msg)
        if y.min() < 0 or y.max() >= self.n_classes:
            msg = f"{self.name}: labels of {what} must be from 0 to {self.n_classes - 1}. Got {y.min()} to {y.max()}."
            raise SourceError(msg)
        if X.dtype.kind == "f" and not (finite := np.isfinite(X)).all():
            n_missing = int(finite.size - finite.sum())
            msg = f"{self.name}: {what} must hold finite numbers. Got {n_missing} missing or infinite value(s) instead."
            raise SourceError(msg)

    @property
    def n(self) -> int:
        """Number of rows to learn from."""
        return int(self.X.shape[0])

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        if self.classes is not None:
            return len(self.classes)
        largest = int(self.y.max(initial=-1))
        return 1 + (largest if self.y_test is None else max(largest, int(self.y_test.max(initial=-1))))

    @property
    def sizes(self) -> Sizes:
        """All three sizes."""
        return Sizes(self.n, self.d, self.n_classes)
