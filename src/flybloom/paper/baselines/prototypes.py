"""A few prototypes for each class, found by k-means: CC1 and CC of the paper."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils.validation import check_is_fitted, validate_data

from flybloom._internal.sklearn_compat import Interval, fit_context
from flybloom._internal.typing import Array
from flybloom._internal.validation import check_labels, resolve_seed, unchanged_on_error

N_INIT, MAX_ITER, TOLERANCE = 5, 30, 1e-3  # of k-means, as the authors ran it


class PrototypeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifier by the closest prototype, CC of the paper: the centres of k-means within each class.

    With one prototype it is CC1, scikit-learn's `NearestCentroid`. Not a method of one pass: it is a common way to
    compress the nearest neighbours.

    Parameters
    ----------
    n_prototypes : int, default=8
        How many prototypes each class has. A class with fewer rows is an error, as it was for the authors.

    random_state : int, RandomState instance or None, default=None
        Seed of k-means; the same for each class.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.

    prototypes_ : ndarray of shape (n_classes * n_prototypes, n_features_in_)
        The prototypes, those of the first class first.

    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has string column names.

    See Also
    --------
    SimHashBloomClassifier : The paper's other way to compress a class.

    Notes
    -----
    k-means starts 5 times and stops after 30 rounds or at a tolerance of 0.001, as in the paper. A row that is equally
    far from prototypes of several classes goes to the first of them.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom.paper.baselines import PrototypeClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> round(PrototypeClassifier(1).fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]), 2)
    0.89
    >>> round(PrototypeClassifier(8, random_state=0).fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]), 2)
    0.96
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_prototypes": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(self, n_prototypes: int = 8, *, random_state: Any = None) -> None:
        self.n_prototypes = n_prototypes
        self.random_state = random_state

    @fit_context
    def fit(self, X: Any, y: Any) -> PrototypeClassifier:
        """Find the prototypes of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        PrototypeClassifier
            The fitted classifier itself.
        """
        with unchanged_on_error(self):
            X = validate_data(self, X, dtype=[np.float64, np.float32])
            classes, codes = np.unique(check_labels(y, X.shape[0]), return_inverse=True)
            self._require_enough_rows(classes, codes)
            seed = resolve_seed(self.random_state)
            self.prototypes_ = np.concatenate([self._centres(X[codes == i], seed) for i in range(classes.size)])
            self.classes_ = classes
        return self

    def predict(self, X: Any) -> Array:
        """Return the label of the prototype that is closest to each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        n_prototypes = len(self.prototypes_) // self.classes_.size
        return np.asarray(self.classes_[pairwise_distances_argmin(X, self.prototypes_) // n_prototypes])

    def _centres(self, rows: Array, seed: int) -> Array:
        """Return the prototypes of the rows of one class."""
        if self.n_prototypes == 1:
            return np.asarray(rows.mean(axis=0, keepdims=True))
        means = KMeans(self.n_prototypes, n_init=N_INIT, max_iter=MAX_ITER, tol=TOLERANCE, random_state=seed)
        return np.asarray(means.fit(rows).cluster_centers_)

    def _require_enough_rows(self, classes: Array, codes: Array) -> None:
        """Raise an error for a class that has fewer rows than it should have prototypes."""
        n_rows = np.bincount(codes)
        fewest = int(n_rows.argmin())
        if n_rows[fewest] < self.n_prototypes:
            msg = (
                f"PrototypeClassifier needs at least n_prototypes={self.n_prototypes} samples of each class. "
                f"Got {n_rows[fewest]} sample(s) of class {classes.tolist()[fewest]!r} instead. Lower n_prototypes."
            )
            raise ValueError(msg)
