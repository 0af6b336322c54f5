"""Targets of a regression as users pass them, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array

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
