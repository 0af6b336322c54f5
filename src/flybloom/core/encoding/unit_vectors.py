"""Whether rows are unit vectors, as embeddings of texts and images usually are."""

from __future__ import annotations

import numpy as np

from flybloom._internal.sparse import issparse
from flybloom._internal.typing import Features

MIN_COLUMNS, MAX_COLUMNS = 64, 4096
ROUNDING = 0.01  # of a length: float16, and vectors that were shortened to few digits


def are_unit_vectors(rows: Features) -> bool:
    """Return whether dense rows of floats all have length 1; a row of zeros is the embedding of an empty text."""
    if issparse(rows) or rows.dtype.kind != "f" or not MIN_COLUMNS <= rows.shape[1] <= MAX_COLUMNS:
        return False
    squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    is_unit = np.abs(squares - 1) <= 2 * ROUNDING
    return bool(is_unit.any() and (is_unit | (squares == 0)).all())
