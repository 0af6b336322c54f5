"""A classifier that may say "none of these": rejection by novelty."""

from __future__ import annotations

import os
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from flybloom._internal.sklearn_compat import HasMethods, Interval, fit_context
from flybloom._internal.typing import Array
from flybloom.core.hashing.hasher import Hasher
from flybloom.files import model_file
from flybloom.files.model_file import Parts, describe_inside, restore_inside


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

    common_threshold_ : float
        The threshold of all classes together, and so of classes that `partial_fit` adds.

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

    @fit_context
    def fit(self, X: Any, y: Any) -> Self:
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
        return self._with(clone(self.estimator).fit(X, y), X, y)

    @fit_context
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn a block of rows in addition to those before.

        The first block sets the threshold; a class that is new later has ``common_threshold_``. `calibrate` moves both.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            Labels to expect; never needed.

        Returns
        -------
        OpenSetClassifier
            The classifier itself.
        """
        if not hasattr(self, "estimator_"):
            return self._with(clone(self.estimator).partial_fit(X, y, classes), X, y)
        if self.unknown_ in np.unique(np.asarray(y)).tolist():
            msg = (
                f"The label {self.unknown_!r} is that of rejected rows, so no row may have it. "
                "Rename it in y, or fit with another 'unknown'."
            )
            raise ValueError(msg)
        self.estimator_.partial_fit(X, y, classes)
        self._keep_thresholds()
        return self

    def forget(self, X: Any, y: Any) -> Self:
        """Unlearn rows: the classifier inside equals one that never learned them; the threshold stays.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that were learned before.
        y : array-like of shape (n_samples,)
            The labels with which they were learned.

        Returns
        -------
        OpenSetClassifier
            The classifier itself.
        """
        check_is_fitted(self)
        self.estimator_.forget(X, y)
        self._keep_thresholds()
        return self

    def calibrate(self, X: Any, y: Any) -> Self:
        """Set the thresholds anew from rows that were learned, each scored as if it alone had not been.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that were learned.
        y : array-like of shape (n_samples,)
            The labels with which they were learned.

        Returns
        -------
        OpenSetClassifier
            The classifier itself.
        """
        check_is_fitted(self)
        return self._with(self.estimator_, X, y)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model to a file, which `flybloom.load` reads.

        Parameters
        ----------
        path : str or path-like
            Where to. A file that is there is replaced.
        """
        model_file.save(self, path)

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

    def to_parts(self) -> Parts:
        """Return what files hold: the classifier inside, and the thresholds.

        Returns
        -------
        Parts
            Facts for JSON, and arrays.
        """
        check_is_fitted(self)
        inside, arrays = describe_inside(self.estimator_)
        facts = {"unknown": self.unknown_, "common_threshold": self.common_threshold_, "inside": inside}
        return Parts(None, facts, {**arrays, "threshold": self.threshold_})

    def from_parts(self, hasher: Hasher | None, facts: dict[str, Any], arrays: dict[str, Array]) -> Self:  # noqa: ARG002
        """Hold what a file says, and return the classifier itself; ValueError where none can have that.

        Parameters
        ----------
        hasher : Hasher or None
            Not used: the classifier inside has its own.
        facts : dict
            What JSON held.
        arrays : dict of ndarray
            The arrays.

        Returns
        -------
        OpenSetClassifier
            The classifier itself.
        """
        others = {name: values for name, values in arrays.items() if name != "threshold"}
        estimator = restore_inside(facts.get("inside"), others, type(self.estimator))
        threshold, common, unknown = arrays.get("threshold"), facts.get("common_threshold"), facts.get("unknown")
        if (
            threshold is None
            or threshold.shape != estimator.classes_.shape
            or not np.isfinite(threshold).all()
            or type(common) is not float
            or not isinstance(unknown, int | str)
        ):
            msg = "its thresholds are not one for each class"
            raise ValueError(msg)
        self.unknown_, self.threshold_, self.common_threshold_ = unknown, threshold, common
        self.estimator_, self.classes_ = estimator, estimator.classes_
        self.n_features_in_ = estimator.n_features_in_
        return self

    def _with(self, estimator: Any, X: Any, y: Any) -> Self:
        """Take over a fitted classifier, with thresholds from rows that it has learned."""
        classes = estimator.classes_
        unknown = self._label_of_unknown(classes)
        novelty = estimator.leave_one_out_novelty(X, y, shared_encoding=True)
        least, nearest = novelty.min(axis=1), novelty.argmin(axis=1)
        common = float(np.quantile(least, self.quantile))
        threshold = np.full(classes.size, common)
        if self.per_class:
            for i in np.unique(nearest):
                threshold[i] = np.quantile(least[nearest == i], self.quantile)
        self.estimator_, self.classes_, self.unknown_ = estimator, classes, unknown
        self.threshold_, self.common_threshold_ = threshold, common
        self.n_features_in_ = estimator.n_features_in_
        return self

    def _label_of_unknown(self, classes: Array) -> int | str:
        """Return the label of rejected rows, which must be of the kind of the others and not among them."""
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
        return unknown

    def _keep_thresholds(self) -> None:
        """Give the classes that are known now the thresholds they had, and new ones the common one."""
        before = dict(zip(self.classes_.tolist(), self.threshold_.tolist(), strict=True))
        self.classes_ = self.estimator_.classes_
        self.threshold_ = np.array([before.get(label, self.common_threshold_) for label in self.classes_.tolist()])
