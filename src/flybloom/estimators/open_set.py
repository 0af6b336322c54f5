"""Open-set classification: rejection of novel rows."""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import chain, count, filterfalse
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from flybloom._internal.sklearn_compat import HasMethods, Interval, fit_context
from flybloom._internal.typing import Array
from flybloom._internal.validation import check_labels
from flybloom.core.counts.columns import unite
from flybloom.core.files import model_file
from flybloom.core.files.model_file import Parts, describe_inside, restore_inside
from flybloom.core.hashing.hasher import Hasher
from flybloom.estimators.base import missing_attribute
from flybloom.estimators.learned_page import ShowsInside


class OpenSetClassifier(ShowsInside, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Classifier that predicts "unknown" for rows that are novel to every class.

    A row is rejected if its minimum novelty, ``novelty(X).min(axis=1)``, exceeds a threshold: the quantile of the
    leave-one-out values of the training rows. So about a share of ``1 - quantile`` of the rows of known classes is
    rejected, and more of unknown ones.

    Parameters
    ----------
    estimator : FlyBloomClassifier or FlyRidgeClassifier
        The classifier; a clone of it is fitted.

    quantile : float, default=0.95
        Share of rows of known classes to accept, above 0 and below 1.

    unknown : int, str or "auto", default="auto"
        Label of rejected rows, different from all others. "auto" is "unknown" for strings and -1 for numbers (one less
        than the smallest label if -1 is a label).

    per_class : bool, default=False
        Whether each class has its own threshold.

    Attributes
    ----------
    estimator_ : FlyBloomClassifier
        The fitted classifier.

    classes_ : ndarray of shape (n_classes,)
        The known labels, sorted.

    unknown_ : int or str
        Label of rejected rows.

    threshold_ : ndarray of shape (n_classes,)
        Novelty to the predicted class above which a row is rejected.

    common_threshold_ : float
        The threshold of all classes together, used for classes that `partial_fit` adds.

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
    0.88
    >>> round(float((model.predict(X[y < 8][1000:]) == -1).mean()), 2)
    0.16
    """

    shown_inside = "estimator_"
    estimator_: Any
    unknown_: int | str
    common_threshold_: float
    _threshold_of: dict[Any, float]  # by label

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

    def __sklearn_tags__(self) -> Any:
        """Accept the input that the classifier accepts."""
        tags = super().__sklearn_tags__()
        inside = get_tags(self.estimator).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inside.sparse, inside.allow_nan
        return tags

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
        """Update the model with a block of rows.

        The first block sets the threshold; later classes have ``common_threshold_``. `calibrate` updates both.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            Labels to expect; optional.

        Returns
        -------
        OpenSetClassifier
            The classifier itself.
        """
        if not hasattr(self, "estimator_"):
            return self._with(clone(self.estimator).partial_fit(X, y, classes), X, y)
        for labels in (y, classes):
            if labels is not None:
                self._require_other_labels(check_labels(labels))
        self.estimator_.partial_fit(X, y, classes)  # the only change that matters: all of it, or nothing
        self._drop_thresholds()
        return self

    def forget(self, X: Any, y: Any) -> Self:
        """Remove rows from the inner classifier; the threshold is kept.

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
        self._drop_thresholds()
        return self

    def calibrate(self, X: Any, y: Any) -> Self:
        """Recompute the thresholds from learned rows by leave-one-out.

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

    @property
    def classes_(self) -> Array:
        """The known labels, sorted."""
        return np.asarray(self._inside("classes_").classes_)

    @property
    def threshold_(self) -> Array:
        """Novelty to the predicted class above which a row is rejected."""
        classes, common = self._inside("threshold_").classes_, self.common_threshold_
        return np.array([self._threshold_of.get(label, common) for label in classes.tolist()])

    @property
    def n_features_in_(self) -> int:
        """Number of features seen during fit."""
        return int(self._inside("n_features_in_").n_features_in_)

    def _inside(self, name: str) -> Any:
        """Return the fitted classifier for an attribute; AttributeError before fit."""
        if "estimator_" not in self.__dict__:
            raise missing_attribute(self, name)
        return self.estimator_

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model to a file for `flybloom.load`.

        Parameters
        ----------
        path : str or path-like
            Path of the file. An existing file is replaced.
        """
        model_file.save(self, path)

    def predict(self, X: Any) -> Array:
        """Predict the smallest novel class of each row, or `unknown_` if it is rejected.

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
        classes = self.classes_
        together = unite(classes, np.array([self.unknown_]))
        labels = np.append(classes.astype(together.dtype), np.array([self.unknown_], together.dtype))
        codes = np.searchsorted(classes, self.estimator_.predict(X))
        return np.asarray(labels[np.where(is_accepted, codes, classes.size)])

    def acceptance(self, X: Any) -> Array:
        """Return the threshold minus the minimum novelty of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Negative for rejected rows.
        """
        check_is_fitted(self)
        novelty = self.estimator_.novelty(X)
        return np.asarray(self.threshold_[novelty.argmin(axis=1)] - novelty.min(axis=1))

    def _to_parts(self) -> Parts:
        """Return the state that files store: the inner classifier and the thresholds."""
        check_is_fitted(self)
        inside, arrays = describe_inside(self.estimator_)
        facts = {"unknown": self.unknown_, "common_threshold": self.common_threshold_, "inside": inside}
        return Parts(None, facts, {**arrays, "threshold": self.threshold_})

    def _from_parts(self, hasher: Hasher | None, facts: dict[str, Any], arrays: dict[str, Array]) -> Self:  # noqa: ARG002
        """Restore the state from a file, and return the classifier; ValueError if it is invalid."""
        others = {name: values for name, values in arrays.items() if name != "threshold"}
        estimator = restore_inside(facts.get("inside"), others, type(self.estimator))
        threshold, common, unknown = arrays.get("threshold"), facts.get("common_threshold"), facts.get("unknown")
        if (
            threshold is None
            or threshold.shape != estimator.classes_.shape
            or not np.isfinite(threshold).all()
            or type(common) is not float
        ):
            msg = "its thresholds are not one for each class"
            raise ValueError(msg)
        if not isinstance(unknown, int | str) or isinstance(unknown, bool) or unknown in estimator.classes_.tolist():
            msg = "its label of the rejected is no label, or that of a class"
            raise ValueError(msg)
        unite(estimator.classes_, np.array([unknown]))  # refuses labels that no type holds together
        return self._take_over(estimator, unknown, threshold, common)

    def _with(self, estimator: Any, X: Any, y: Any) -> Self:
        """Set a fitted classifier, with thresholds from its training rows."""
        classes = estimator.classes_
        unknown = self._label_of_unknown(classes)
        novelty = estimator.leave_one_out_novelty(X, y, shared_encoding=True)
        least, nearest = novelty.min(axis=1), novelty.argmin(axis=1)
        common = float(np.quantile(least, self.quantile))
        threshold = np.full(classes.size, common)
        if self.per_class:
            for i in np.unique(nearest):
                threshold[i] = np.quantile(least[nearest == i], self.quantile)
        return self._take_over(estimator, unknown, threshold, common)

    def _take_over(self, estimator: Any, unknown: int | str, threshold: Array, common: float) -> Self:
        """Set the fitted state atomically."""
        of_label = dict(zip(estimator.classes_.tolist(), threshold.tolist(), strict=True))
        self.__dict__.update(estimator_=estimator, unknown_=unknown, common_threshold_=common, _threshold_of=of_label)
        return self

    def _label_of_unknown(self, classes: Array) -> int | str:
        """Return the label of rejected rows, of the type of the others and different from them."""
        is_text = classes.dtype.kind in "OUST"
        unknown = self.unknown
        if unknown == "auto":
            unknown = "unknown" if is_text else _other_number(classes)
        if isinstance(unknown, str) != is_text or unknown in classes.tolist():
            msg = (
                "The 'unknown' parameter of OpenSetClassifier must be a label of the kind of those in y, and not among "
                f"them, {classes.tolist()}. Got {unknown!r} instead."
            )
            raise ValueError(msg)
        unite(classes, np.array([unknown]))
        return unknown

    def _require_other_labels(self, labels: Array) -> None:
        """Raise an error for labels that conflict with the label of rejected rows."""
        unknown = np.array([self.unknown_])
        if self.unknown_ in np.unique(labels).tolist():
            msg = (
                f"The label {self.unknown_!r} is that of rejected rows, so no row may have it. "
                "Rename it in y, or fit with another 'unknown'."
            )
            raise ValueError(msg)
        unite(unite(self.classes_, labels), unknown)

    def _drop_thresholds(self) -> None:
        """Drop the thresholds of removed classes."""
        known = set(self.classes_.tolist())
        self._threshold_of = {label: value for label, value in self._threshold_of.items() if label in known}


def _other_number(classes: Array) -> int:
    """Return an integer that is not a class and fits their type, -1 or less if possible."""
    known = set(classes.tolist())
    numbers = chain([min(-1, int(classes.min()) - 1), int(classes.max()) + 1], filterfalse(known.__contains__, count()))
    for number in numbers:
        with suppress(ValueError, OverflowError, TypeError):
            unite(classes, np.array([number]))
            return number
    raise AssertionError  # the last of them go on for ever
