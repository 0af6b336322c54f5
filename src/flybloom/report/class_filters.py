"""What a report reads off the counts of a model: for all classes what costs little, for a few what costs a lot."""

from __future__ import annotations

from typing import Any

import numpy as np

from flybloom import theory
from flybloom._internal.typing import Array
from flybloom.core.readout.class_weight import class_tables, class_weights
from flybloom.core.readout.similarity import cosine_similarity

KINDS = ("filters", "familiarity")  # of similarity
VALUES_AT_ONCE = 2**23  # weights that are in memory at the same time


class ClassFilters:
    """The filters of a fitted classifier, never all of them at once.

    Parameters
    ----------
    model : FlyBloomClassifier
        The fitted classifier.
    """

    def __init__(self, model: Any) -> None:
        self._counts = model.counts_.T
        weights = class_weights(model.class_weight, model.classes_, model.class_count_)
        self._tables = class_tables(model.decay, model.class_count_, weights)

    def similarity(self, classes: Array, kind: str) -> Array:
        """Return ``model.class_similarity()`` of some classes, given by their positions."""
        tables = self._tables._replace(starts=self._tables.starts[classes], lasts=self._tables.lasts[classes])
        return cosine_similarity(self._counts[:, classes], tables, of_familiarity=kind == "familiarity")

    def fill(self) -> tuple[Array, Array]:
        """Return for each class the share of components that have won, and the novelty of an unrelated row."""
        n_components, n_classes = self._counts.shape
        occupancy, background = np.empty(n_classes), np.empty(n_classes)
        step = max(1, VALUES_AT_ONCE // n_components)
        for begin in range(0, n_classes, step):
            block = slice(begin, begin + step)
            counts = self._counts[:, block]
            tables = self._tables._replace(starts=self._tables.starts[block], lasts=self._tables.lasts[block])
            occupancy[block] = theory.occupancy(counts.T)
            background[block] = tables.of(counts).mean(axis=0)
        return occupancy, background
