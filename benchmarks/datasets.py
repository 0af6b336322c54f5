"""The data sets that benchmarks read: Digits, and a folder of NPZ files named by FLYBLOOM_DATA."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

VISION = ("mnist", "fashion_mnist", "cifar10_grey", "cifar100_grey")
NAMED = ("gina_prior2_proxy", "letter", "madeline", "segment", "usps")


def folder() -> Path:
    """Return the folder of NPZ files: FLYBLOOM_DATA, or the one beside the project."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    path = Path(os.environ.get("FLYBLOOM_DATA", default))
    if not path.is_dir():
        msg = f"No folder of data sets at {path}. Set FLYBLOOM_DATA to one that holds NPZ files with X and y."
        raise SystemExit(msg)
    return path


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and labels of one data set."""
    if name == "digits":
        return load_digits(return_X_y=True)
    with np.load(folder() / f"{name}.npz", allow_pickle=False) as file:
        return np.ascontiguousarray(file["X"]), file["y"]


def load_split(name: str) -> tuple[np.ndarray, ...]:
    """Return X_train, y_train, X_test, y_test of a data set that comes with a split."""
    with np.load(folder() / f"{name}.npz", allow_pickle=False) as file:
        return tuple(np.ascontiguousarray(file[key]) for key in ("X_train", "y_train", "X_test", "y_test"))


def tabular() -> Iterator[str]:
    """Names of all sets without an official split: Digits, then groups A and B, then those named in the paper."""
    names = sorted(path.stem for path in folder().glob("*.npz"))
    yield "digits"
    yield from (name for name in names if name not in VISION + NAMED)
    yield from NAMED
