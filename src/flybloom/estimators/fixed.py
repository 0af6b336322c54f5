"""Estimators that are made, not fitted: how they hash comes from the model that they were made of."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClassifierMixin

from flybloom.core.hashing.hasher import Hasher
from flybloom.estimators.base import FlyEstimator


class FixedEstimator(FlyEstimator):
    """An estimator that only predicts; what makes it sets ``_fitted_hasher``."""

    def __sklearn_tags__(self) -> Any:
        """Sparse rows are fine where nothing is centred."""
        tags = super(FlyEstimator, self).__sklearn_tags__()
        hasher = self._hasher
        tags.input_tags.sparse = hasher is None or hasher.encoder.takes_sparse
        return tags

    @property
    def _hasher(self) -> Hasher | None:
        """How rows are hashed; None before there is anything to predict with."""
        return self.__dict__.get("_fitted_hasher")


class FixedClassifier(ClassifierMixin, FixedEstimator):  # type: ignore[misc]
    """A classifier that only predicts."""
