"""Targets of several outputs as users pass them, checked: numbers, or labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array

from flybloom._internal.sparse import issparse
from flybloom._internal.typing import Array

VECTOR = 1  # dimensions of targets that have one output


def check_targets(y: Any, n_rows: int | None = None) -> Array:
    """Return targets as float64 of shape (n_rows, n_outputs), finite."""
    if y is None:
        msg = (
            "A regression requires y to be passed, but the target y is None. Pass one number, or one for each output, "
            "for each row."
        )
        raise ValueError(msg)
    targets: Array = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", ensure_min_samples=0)
    if targets.ndim == VECTOR:
        targets = targets[:, None]
    if n_rows is not None and len(targets) != n_rows:
        msg = f"Found input variables with inconsistent numbers of samples: {[n_rows, len(targets)]}"
        raise ValueError(msg)
    return targets + 0.0  # no negative zero


def check_label_outputs(y: Any, n_rows: int | None = None) -> Array:
    """Return labels of shape (n_rows, n_outputs): zeros and ones as uint8, other integers as int64, or strings."""
    if y is None:
        msg = "A classifier requires y to be passed, but the target y is None. Pass a label for each row and output."
        raise ValueError(msg)
    given = y.toarray() if issparse(y) else y
    labels: Array = check_array(given, ensure_2d=False, dtype=None, input_name="y", ensure_min_samples=0)
    if labels.ndim == VECTOR:
        labels = labels[:, None]
    if n_rows is not None and len(labels) != n_rows:
        msg = f"Found input variables with inconsistent numbers of samples: {[n_rows, len(labels)]}"
        raise ValueError(msg)
    if labels.dtype.kind in "OUT":
        values = labels.ravel().tolist()
        if all(isinstance(label, str) for label in values):
            return labels.astype(str)
    if labels.dtype.kind in "biuf" and (labels == np.rint(labels)).all():
        is_indicator = not labels.size or (labels.min() >= 0 and labels.max() <= 1)
        return labels.astype(np.uint8 if is_indicator else np.int64)
    msg = (
        f"Unknown label type: continuous or mixed {labels.dtype}. Labels of several outputs are whole numbers or "
        "strings, all of one kind. For numbers that are measured, use FlyRidgeRegressor."
    )
    raise ValueError(msg)
