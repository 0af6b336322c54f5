"""Facts of ridge models."""

from __future__ import annotations

from typing import Any

from flybloom._internal.typing import Array


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
        similarity: Array = self._model.class_similarity()[classes][:, classes]
        return similarity

    def fill(self) -> tuple[Array, None]:
        """Return the occupancy of each class, and no novelty of unrelated rows."""
        return (self._model.counts_ > 0).mean(axis=1), None
