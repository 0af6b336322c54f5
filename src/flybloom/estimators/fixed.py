"""Estimators that are created from a fitted model and cannot be fitted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.base import ClassifierMixin

from flybloom._internal.typing import Features
from flybloom._internal.validation import check_rows
from flybloom.core.hashing.hasher import Hasher
from flybloom.estimators.base import FlyEstimator


class FixedEstimator(FlyEstimator):
    """Estimator that only predicts; its creator sets ``_fitted_hasher``."""

    def __sklearn_tags__(self) -> Any:
        """Accept sparse rows if nothing is centred."""
        tags = super(FlyEstimator, self).__sklearn_tags__()
        hasher = self._hasher
        tags.input_tags.sparse = hasher is None or hasher.encoder.takes_sparse
        return tags

    @property
    def _hasher(self) -> Hasher | None:
        """The hasher, or None."""
        return self.__dict__.get("_fitted_hasher")

    @contextmanager
    def _scoring(self, X: Any) -> Iterator[tuple[Features, None]]:
        """Yield rows that are to be scored, checked."""
        hasher = self._require_hasher()
        self._check_parameters()
        yield check_rows(X, type(self).__name__, hasher.encoder), None


class FixedClassifier(ClassifierMixin, FixedEstimator):  # type: ignore[misc]
    """A classifier that only predicts."""
