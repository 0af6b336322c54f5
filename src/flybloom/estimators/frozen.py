"""A model that only predicts: how to hash, and weights; small, and never changing."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from flybloom._internal.typing import Array, Winners
from flybloom._internal.validation import check_rows
from flybloom.core.files.model_file import Parts
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.readout.linear_weights import LinearWeights, linear_scores, padded
from flybloom.estimators.base import HASH_PARAMETERS
from flybloom.estimators.fixed import FixedClassifier
from flybloom.estimators.linear_scores import LinearScores


class FrozenClassifier(LinearScores, FixedClassifier):
    """What `FlyRidgeClassifier.freeze` returns: the same predictions, from the weights alone.

    It has no counts, so it cannot learn, merge or forget. Its file is that much smaller.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Number of threads. None means 1, -1 all processors. Nothing but the time depends on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.

    coef_ : ndarray of shape (n_classes, n_components_)
        Weights of the components.

    intercept_ : ndarray of shape (n_classes,)
        What is added to the sums of weights, class weights included.

    temperature_ : float
        What scores are divided by before the softmax of `predict_proba`.

    n_components_, n_connections_, n_winners_, signed_, seed_, center_, scale_, connections_, signs_
        As for `FlyHash`.

    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where the rows of fit had names that are strings.

    See Also
    --------
    FlyRidgeClassifier : The classifier that it comes from.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyRidgeClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = FlyRidgeClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> frozen = model.freeze()
    >>> bool((frozen.predict(X) == model.predict(X)).all())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"n_jobs": HASH_PARAMETERS["n_jobs"]}

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    def decision_scores(self, X: Any) -> Array:
        """Return how much each row belongs to each class; larger is better.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns as in ``classes_``.
        """
        hasher = self._require_hasher()
        X = check_rows(X, type(self).__name__, hasher.encoder)
        result = np.empty((X.shape[0], self.classes_.size))

        def score(block: slice, winners: Winners) -> None:
            result[block] = linear_scores(winners, self._padded, self.intercept_)

        hasher.for_each_block(X, score, self.n_jobs, ordered=False)
        return result

    def with_weights(
        self, hasher: Hasher, classes: Array, weights: Array, intercept: Array, temperature: float
    ) -> Self:
        """Predict with these, and return the classifier itself.

        Parameters
        ----------
        hasher : Hasher
            How rows are hashed.
        classes : ndarray of shape (n_classes,)
            The labels, sorted.
        weights : ndarray of shape (n_components, n_classes), float32
            Weights of the components, whole numbers of one unit.
        intercept : ndarray of shape (n_classes,)
            What is added to the sums.
        temperature : float
            What scores are divided by.

        Returns
        -------
        FrozenClassifier
            The classifier itself.
        """
        self._fitted_hasher, self._padded = hasher, padded(weights)
        self.classes_, self.coef_, self.intercept_, self.temperature_ = classes, weights.T, intercept, temperature
        return self

    def to_parts(self) -> Parts:
        """Return what files hold of the classifier.

        Returns
        -------
        Parts
            The hasher, facts for JSON, and arrays.
        """
        hasher = self._require_hasher()
        return Parts(hasher, *LinearWeights(self.classes_, self.coef_.T, self.intercept_, self.temperature_).to_parts())

    def from_parts(self, hasher: Hasher | None, facts: dict[str, Any], arrays: dict[str, Array]) -> Self:
        """Predict as a file says, and return the classifier itself; ValueError where that cannot be.

        Parameters
        ----------
        hasher : Hasher or None
            How rows are hashed.
        facts : dict
            What JSON held.
        arrays : dict of ndarray
            The arrays that are not the hasher's.

        Returns
        -------
        FrozenClassifier
            The classifier itself.
        """
        if hasher is None:
            msg = "it does not say how it hashes"
            raise ValueError(msg)
        return self.with_weights(hasher, *LinearWeights.from_parts(hasher.n_components, facts, arrays))
