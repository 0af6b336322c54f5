"""What hashing makes of a row: the components that win, or the values of all of them where none wins."""

import numpy as np

from flybloom._internal.typing import Array

LARGEST = 127  # of a value, and of minus a value: so sums of 1024 products of two are exact even in float32


def room_for(n_rows: int, n_components: int, n_winners: int) -> Array:
    """Return an array for the winners of rows, or for the values of their components where none wins."""
    return np.empty((n_rows, n_winners), np.uint32) if n_winners else np.empty((n_rows, n_components), np.int8)
