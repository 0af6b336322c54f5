"""What counts have together, for those who score with them."""

from __future__ import annotations

import numpy as np

from flybloom._internal.typing import Array


def count_digits(counts: Array, met: Array) -> None:
    """Write to ``met`` how many counts are not zero, and how many binary digits they have together."""
    met[0], met[1] = np.count_nonzero(counts), 0
    for bit in range(int(counts.max(initial=0)).bit_length()):
        met[1] += np.count_nonzero(counts >> bit)
