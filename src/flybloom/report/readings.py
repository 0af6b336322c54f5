"""What reports say of models that count by class, and of ridge models, in the same words."""

from __future__ import annotations

from typing import Any

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core.counts.weight_unit import WeightUnit
from flybloom.core.readout.class_weight import class_weights
from flybloom.core.readout.explanation import cosine_similarity
from flybloom.core.readout.filters import Filters
from flybloom.estimators.classes import class_similarity
from flybloom.paper import theory

VALUES_AT_ONCE = 2**23  # weights that are in memory at the same time


class ClassFilters:
    """Filters of a fitted classifier, computed for a few classes at a time."""

    kinds = ("filters", "familiarity")  # of similarity; the last one tells which pairs are hard

    def __init__(self, model: Any) -> None:
        self._model, self.temperature = model, float(model.temperature)
        self.n_bytes = int(model.counts_.nbytes)
        unit = WeightUnit(model.weight_unit_, model.counts_per_row_)
        self._decay, self._class_count = unit.per_count(model.decay_), model.class_count_ * unit.per_row
        self._counts = model.counts_.T
        self._weights = class_weights(model.class_weight, model.classes_, self._class_count)

    def explain(self, X: Any, labels: Array) -> Array:
        """Return the contribution of each feature to a class."""
        kind = "score" if self._model.readout_ == "bayes" else "familiarity"
        shares: Array = self._model.explain(X, labels, kind=kind)
        return shares

    def penalty(self) -> None:
        """Return None: filters have no penalty."""

    def similarity(self, classes: Array, kind: str) -> Array:
        """Return ``model.class_similarity()`` of some classes, given by their positions."""
        filters = self._of(classes)
        return cosine_similarity(filters.familiarity() if kind == "familiarity" else filters.weights())

    def fill(self) -> tuple[Array, Array]:
        """Return the occupancy of each class, and the novelty of an unrelated row."""
        n_components, n_classes = self._counts.shape
        occupancy, background = np.empty(n_classes), np.empty(n_classes)
        step = max(1, VALUES_AT_ONCE // n_components)
        for begin in range(0, n_classes, step):
            block = slice(begin, begin + step)
            occupancy[block] = theory.occupancy(self._counts[:, block].T)
            background[block] = self._of(block).weights().mean(axis=0, dtype=np.float64)
        return occupancy, background

    def _of(self, classes: Array | slice) -> Filters:
        """Return the filters of some classes."""
        weights = None if self._weights is None else self._weights[classes]
        return Filters(self._counts[:, classes], self._class_count[classes], self._decay, weights)


class PairWeights:
    """The weights of a fitted classifier."""

    kinds = ("scores",)  # of similarity

    def __init__(self, model: Any) -> None:
        self._model, self.temperature = model, model.temperature_
        self.n_bytes = int(model.counts_.nbytes + model.pair_counts_.nbytes)

    def explain(self, X: Any, labels: Array) -> Array:
        """Return how much each feature speaks for a class."""
        shares: Array = self._model.explain(X, labels)
        return shares

    def penalty(self) -> dict[str, Any]:
        """Return the penalty and its candidates."""
        model = self._model
        return {
            "alpha": float(model.alpha_),
            "is_chosen": model.alpha == "gcv",
            "tried": [{"alpha": alpha, "gcv": value} for alpha, value in model.gcv_.tolist()],
            "rows_for_a_component": float(model.class_count_.sum() / model.n_components_),
            "bytes_to_predict": int(model.coef_.nbytes + model.intercept_.nbytes),
        }

    def similarity(self, classes: Array, kind: str) -> Array:  # noqa: ARG002
        """Return ``model.class_similarity()`` of some classes, given by their positions."""
        similarity: Array = class_similarity(self._model)[classes][:, classes]
        return similarity

    def fill(self) -> tuple[Array, None]:
        """Return the occupancy of each class, and no novelty of unrelated rows."""
        return (self._model.counts_ > 0).mean(axis=1), None
