"""A classifier that may say "none of these": rejection by novelty."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from flybloom._internal.sklearn_compat import HasMethods, Interval, fit_context
from flybloom._internal.typing import Array


class OpenSetClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Classifier that gives rows which are novel to every class a label of their own.

    A row is rejected where its least novelty, ``novelty(X).min(axis=1)``, exceeds a threshold: the quantile of the
    same for the training rows, each scored as if it alone had not been learned. So about a share ``1 - quantile`` of
    the rows of known classes is rejected, and more of those of others.

    Parameters
    ----------
    estimator : FlyBloomClassifier
        The classifier; a clone of it is fitted.

    quantile : float, default=0.95
        Share of rows of known classes to be accepted, above 0 and below 1.

    unknown : int, str or "auto", default="auto"
        Label of the rejected. "auto" is "unknown" for strings and -1 for numbers, or one less than the least where that
        is taken. It must not be among the labels.

    per_class : bool, default=False
        Whether each class has a threshold of its own, from its own rows.

    Attributes
    ----------
    estimator_ : FlyBloomClassifier
        The fitted classifier.

    classes_ : ndarray of shape (n_classes,)
        The known labels, sorted.

    unknown_ : int or str
        Label of the rejected.

    threshold_ : ndarray of shape (n_classes,)
        Novelty above which a row that is least novel to that class is rejected.

    n_features_in_ : int
        Number of features seen during fit.

    See Also
    --------
    FlyBloomNovelty : Rejection without classes.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomClassifier, OpenSetClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = OpenSetClassifier(FlyBloomClassifier(random_state=0)).fit(X[(y < 8)][:1000], y[y < 8][:1000])
    >>> round(float((model.predict(X[y >= 8]) == -1).mean()), 2)             # eights and nines were never met
    0.85
    >>> round(float((model.predict(X[y < 8][1000:]) == -1).mean()), 2)
    0.13
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "novelty", "leave_one_out_novelty", "predict"])],
        "quantile": [Interval(Real, 0, 1, closed="neither")],
        "unknown": [Integral, str],
        "per_class": ["boolean"],
    }

    def __init__(
        self, estimator: Any, *, quantile: float = 0.95, unknown: int | str = "auto", per_class: bool = False
    ) -> None:
        self.estimator = estimator
        self.quantile = quantile
        self.unknown = unknown
        self.per_class = per_class

    @fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any) -> OpenSetClassifier:
        """Fit a clone of the classifier, and set the threshold.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        OpenSetClassifier
            The fitted classifier itself.
        """
        estimator = clone(self.estimator).fit(X, y)
        classes = estimator.classes_
        is_text = classes.dtype.kind in "OUST"
        unknown = self.unknown
        if unknown == "auto":
            unknown = "unknown" if is_text else min(-1, int(classes.min()) - 1)
        if isinstance(unknown, str) != is_text or unknown in classes.tolist():
            msg = (
                "The 'unknown' parameter of OpenSetClassifier must be a label of the kind of those in y, and not among "
                f"them, {classes.tolist()}. Got {unknown!r} instead."
            )
            raise ValueError(msg)
        novelty = estimator.leave_one_out_novelty(X, y)
        least, nearest = novelty.min(axis=1), novelty.argmin(axis=1)
        threshold = np.full(classes.size, float(np.quantile(least, self.quantile)))
        if self.per_class:
            for i in np.unique(nearest):
                threshold[i] = np.quantile(least[nearest == i], self.quantile)
        self.estimator_, self.classes_, self.unknown_, self.threshold_ = estimator, classes, unknown, threshold
        self.n_features_in_ = estimator.n_features_in_
        return self

    def predict(self, X: Any) -> Array:
        """Return the class to which each row is least novel, or `unknown_` where it is novel to all.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        is_accepted = self.acceptance(X) >= 0
        labels = np.append(self.classes_, np.array(self.unknown_, dtype=None))
        codes = np.searchsorted(self.classes_, self.estimator_.predict(X))
        return np.asarray(labels[np.where(is_accepted, codes, self.classes_.size)])

    def acceptance(self, X: Any) -> Array:
        """Return how much each row belongs to the known classes: the threshold less the least novelty.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Negative for the rejected.
        """
        check_is_fitted(self)
        novelty = self.estimator_.novelty(X)
        return np.asarray(self.threshold_[novelty.argmin(axis=1)] - novelty.min(axis=1))
