"""A model that follows a stream, seen from outside: it answers as the model inside does, whichever that is now."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from flybloom._internal.typing import Array
from flybloom.core.files import model_file
from flybloom.estimators.base import missing_attribute, not_fitted
from flybloom.estimators.counting import AUTO_WARM_UP
from flybloom.estimators.learned_page import ShowsInside

Method = TypeVar("Method", bound=Callable[..., Any])


def _model_has(name: str) -> Callable[[Method], Method]:
    """Return a decorator for methods that are there if the model inside has them."""
    checked: Callable[[Method], Method] = available_if(lambda self: hasattr(self.model, name))
    return checked


class StreamFollower(ShowsInside, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Answers as the model inside does. A subclass learns, and says which model that is."""

    shown_inside = "model_"
    model: Any

    def _new_clone(self) -> Any:
        """Return a model that has learned nothing; it waits for few rows, because until then nothing is forgotten."""
        model = clone(self.model)
        return model.set_params(warm_up=AUTO_WARM_UP) if model.warm_up == "auto" else model

    @_model_has("predict")
    def predict(self, X: Any) -> Array:
        """Return what the model of the window predicts.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        return np.asarray(self._fitted().predict(X))

    @_model_has("predict_proba")
    def predict_proba(self, X: Any) -> Array:
        """Return what the model of the window says of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows sum to 1; columns as in ``classes_``.
        """
        return np.asarray(self._fitted().predict_proba(X))

    @_model_has("decision_function")
    def decision_function(self, X: Any) -> Array:
        """Return the scores of the model of the window.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray
            As the model says.
        """
        return np.asarray(self._fitted().decision_function(X))

    @_model_has("novelty")
    def novelty(self, X: Any) -> Array:
        """Return how novel rows are to the model of the window.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray
            As the model says.
        """
        return np.asarray(self._fitted().novelty(X))

    def novel_winners(self, X: Any) -> Array:
        """Return for each row the share of its winners that never won in the window; it needs no labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            From 0 to 1.
        """
        return np.asarray(self._fitted().novel_winners(X))

    @_model_has("score")
    def score(self, X: Any, y: Any) -> float:
        """Return the score of the model of the window: for classifiers, the accuracy.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        float
            The score.
        """
        return float(self._fitted().score(X, y))

    @property
    def model_(self) -> Any:
        """The fitted model."""
        return self._answering("model_")

    @property
    def classes_(self) -> Array:
        """The labels of the window, sorted."""
        return np.asarray(self._answering("classes_").classes_)

    @property
    def n_features_in_(self) -> int:
        """Number of features seen during fit."""
        return int(self._answering("n_features_in_").n_features_in_)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save model and window to a file, which `flybloom.load` reads.

        Parameters
        ----------
        path : str or path-like
            Where to. A file that is there is replaced.
        """
        model_file.save(self, path)

    def __sklearn_tags__(self) -> Any:
        """Rows may be what the model takes."""
        return get_tags(self.model)

    def __sklearn_is_fitted__(self) -> bool:
        """A follower is fitted when its model is."""
        return self._answers_now() is not None

    def _fitted(self) -> Any:
        """Return the model that answers."""
        model = self._answers_now()
        if model is None:
            raise not_fitted(self.model)
        return model

    def _answering(self, name: str) -> Any:
        """Return the model that answers, for an attribute; before the first rows there is none."""
        model = self._answers_now()
        if model is None:
            raise missing_attribute(self, name)
        return model

    def _answers_now(self) -> Any:
        """Return the model that answers, or None before the first rows."""
        raise NotImplementedError
