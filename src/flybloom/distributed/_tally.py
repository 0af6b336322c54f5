"""Counts of some of the rows: they add up to those of all rows, and travel in few bytes."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from flybloom._internal.typing import Array, Counts
from flybloom._internal.validation import united_classes
from flybloom.core.readout import filters


@dataclass
class Tally:
    """What a set of rows adds to a model.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The labels met, sorted.
    class_count : ndarray of shape (n_classes,)
        Number of rows of each class.
    counts : ndarray of shape (n_components, n_classes)
        How often each component won among the rows of each class.
    """

    classes: Array
    class_count: Array
    counts: Counts

    def __add__(self, other: Tally) -> Tally:
        """Return the tally of both sets of rows together."""
        if other.classes.size == 0:
            return self
        classes = united_classes(self.classes, other.classes)
        class_count = sum(filters.arranged(part.class_count, part.classes, classes, axis=0) for part in (self, other))
        dtype = filters.count_dtype(np.asarray(class_count))
        counts = filters.arranged(self.counts, self.classes, classes, axis=1).astype(dtype)
        counts += filters.arranged(other.counts, other.classes, classes, axis=1)
        return Tally(classes, np.asarray(class_count), counts)

    def __sizeof__(self) -> int:
        """Bytes in memory, by which a scheduler decides what to move."""
        return object.__sizeof__(self) + sum(sys.getsizeof(part) for part in (self.classes, self.counts))

    def __getstate__(self) -> dict[str, Any]:
        """Return the counts as they travel: in the narrowest type, and without the zeros where that is smaller."""
        counts = self.counts.astype(np.min_scalar_type(int(self.counts.max(initial=0))))
        present = counts != 0
        values = counts[present]
        state = {"classes": self.classes, "class_count": self.class_count, "dtype": self.counts.dtype}
        if present.size // 8 + values.nbytes < counts.nbytes:
            return {**state, "shape": counts.shape, "present": np.packbits(present), "values": values}
        return {**state, "counts": counts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpack what travelled; a table without zeros comes as its nonzeros and one bit for each cell."""
        self.classes, self.class_count = state["classes"], state["class_count"]
        if "counts" in state:
            self.counts = state["counts"].astype(state["dtype"])
            return
        n_cells = state["shape"][0] * state["shape"][1]
        self.counts = np.zeros(state["shape"], state["dtype"])
        self.counts[np.unpackbits(state["present"], count=n_cells).view(bool).reshape(state["shape"])] = state["values"]
