"""What benchmarks read: sets of `flybloom.paper.datasets`, by default from the folder beside the project."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from flybloom._internal.typing import Array
from flybloom.exceptions import SourceError
from flybloom.paper import datasets
from flybloom.paper.datasets import NAMED, VISION

__all__ = ["NAMED", "VISION", "folder", "load", "load_split", "tabular"]


def folder() -> Path:
    """Return the folder of data sets: FLYBLOOM_DATA, or the one beside the project."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    try:
        return datasets.data_folder(os.environ.get("FLYBLOOM_DATA", default))
    except SourceError as error:
        raise SystemExit(str(error)) from error


def load(name: str) -> tuple[Array, Array]:
    """Return rows and labels of one data set."""
    data = datasets.load(name, None if name == "digits" else folder())
    return data.X, data.y


def load_split(name: str) -> tuple[Array | None, ...]:
    """Return X_train, y_train, X_test, y_test of a data set that comes with a split."""
    data = datasets.load(name, folder())
    return data.X, data.y, data.X_test, data.y_test


def tabular() -> Iterator[str]:
    """Names of all sets without an official split: Digits, then groups A and B, then those named in the paper."""
    names = datasets.names(folder())
    yield "digits"
    yield from (name for name in names if name not in (*VISION, *NAMED, "digits"))
    yield from NAMED
