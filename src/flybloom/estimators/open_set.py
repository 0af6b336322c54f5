"""Open-set classification: rejection of novel rows."""

from __future__ import annotations

import os
from contextlib import suppress
from copy import copy
from itertools import chain, count, filterfalse
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from flybloom._internal.sklearn_compat import HasMethods, Interval, fit_context
from flybloom._internal.typing import Array, Weights
from flybloom._internal.validation import NamedRows, check_labels
from flybloom.core.algebra import Forgotten
from flybloom.core.counts.columns import unite
from flybloom.core.files import model_file
from flybloom.core.files.model_file import Parts, describe_inside, restore_inside
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.readout.temperature import weighted_quantile
from flybloom.estimators.access import edition, hasher_of
from flybloom.estimators.base import missing_attribute
from flybloom.estimators.learned_page import ShowsInside

MOST_LEFT_OUT = 4096  # rows of the sketch, a random sample, from which thresholds are derived
GROWTH = 9 / 8  # how many times as many rows a model may have learned before `predict` derives thresholds again


class Thresholds(NamedTuple):
    """Novelty above which rows are rejected: by class, and for classes that had no rows."""

    by_label: dict[Any, float]
    common: float

    def of(self, classes: Array) -> Array:
        """Return the threshold of each class."""
        return np.array([self.by_label.get(label, self.common) for label in classes.tolist()])


class OpenSetClassifier(ShowsInside, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Classifier that predicts "unknown" for rows that are novel to every class.

    A row is rejected if its minimum novelty, ``novelty(X).min(axis=1)``, exceeds a threshold: the quantile of the
    leave-one-out values of training rows. So about a share of ``1 - quantile`` of the rows of known classes is
    rejected, and more of unknown ones. Thresholds are derived from the sketch of the classifier, so they follow all
    that is learned, merged and forgotten. With ``encoding="none"`` there is no sketch: thresholds follow from the rows
    of `fit` or of the first `partial_fit`, and `calibrate` sets them again.

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
        The threshold of all classes together, used for classes without a threshold of their own.

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
    0.93
    >>> round(float((model.predict(X[y < 8][1000:]) == -1).mean()), 2)
    0.14
    """

    shown_inside = "estimator_"
    estimator_: Any
    _given: Thresholds | None = None  # from rows, where they do not follow from the sketch
    _derived: tuple[Any, float, Thresholds] | None = None  # cached, with the state and number of rows they follow from

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
        self._with(clone(self.estimator).fit(X, y), X, y)
        self._thresholds()  # predictions leave attributes as they are
        return self

    @fit_context
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Update the model with a block of rows.

        Between calls for single rows, `predict` may use thresholds from up to an eighth fewer rows.

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
        self.estimator_.partial_fit(X, y, classes)
        return self

    def merge(self, other: Any) -> Self:
        """Add the rows of another model, as `FlyBloomClassifier.merge` does; ``a + b`` changes neither.

        Parameters
        ----------
        other : OpenSetClassifier
            A model whose classifier hashes rows in the same way.

        Returns
        -------
        OpenSetClassifier
            The classifier itself.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from flybloom import FlyBloomClassifier, OpenSetClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> a, b = (OpenSetClassifier(FlyBloomClassifier()).fit(X[i::2], y[i::2]) for i in (0, 1))
        >>> whole = OpenSetClassifier(FlyBloomClassifier()).fit(X, y)
        >>> bool((a.merge(b).threshold_ == whole.threshold_).all())
        True
        """
        if not isinstance(other, OpenSetClassifier):
            msg = f"Cannot merge: expected another OpenSetClassifier. Got {type(other).__name__} instead."
            raise TypeError(msg)
        check_is_fitted(self)
        check_is_fitted(other)
        self._require_other_labels(other.classes_)
        self.estimator_.merge(other.estimator_)
        self._derived = None
        return self

    def __add__(self, other: object) -> Self:
        """Return the sum of two models."""
        return copy(self).merge(other) if isinstance(other, OpenSetClassifier) else NotImplemented

    def __radd__(self, other: object) -> Self:
        """Return a copy: sum() starts with zero."""
        return copy(self) if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, other: object) -> Self:
        """Return this model without the rows of the other one."""
        if not isinstance(other, OpenSetClassifier):
            return NotImplemented
        return copy(self)._take_over(self.estimator_ - other.estimator_, self._given)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickles, without derived thresholds."""
        return {name: value for name, value in super().__getstate__().items() if name != "_derived"}

    def __copy__(self) -> Self:
        """Return a copy whose classifier can be updated alone."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        if "estimator_" in self.__dict__:
            twin.estimator_ = copy(self.estimator_)
        return twin

    def forget(self, X: Any, y: Any) -> Forgotten:
        """Remove rows from the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that were learned before.
        y : array-like of shape (n_samples,)
            The labels with which they were learned.

        Returns
        -------
        Forgotten
            What remains of the rows. Thresholds do, unless they are derived from a sketch; `calibrate` sets them.
        """
        check_is_fitted(self)
        forgotten: Forgotten = self.estimator_.forget(X, y)
        self._derived = None
        return forgotten if self._given is None else forgotten.except_for("thresholds")

    def calibrate(self, X: Any, y: Any) -> Self:
        """Set the thresholds from learned rows by leave-one-out, and keep them until `fit`.

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
        self._given = self._thresholds_from(self.estimator_, X, y)
        return self

    @property
    def classes_(self) -> Array:
        """The known labels, sorted."""
        return np.asarray(self._inside("classes_").classes_)

    @property
    def unknown_(self) -> int | str:
        """Label of rejected rows."""
        return self._label_of_unknown(self._inside("unknown_").classes_)

    @property
    def threshold_(self) -> Array:
        """Novelty to the predicted class above which a row is rejected."""
        classes = self._inside("threshold_").classes_
        return self._thresholds().of(classes)

    @property
    def common_threshold_(self) -> float:
        """The threshold of all classes together."""
        self._inside("common_threshold_")
        return self._thresholds().common

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
        threshold = self._thresholds(exact=False).of(self.estimator_.classes_)
        return np.asarray(threshold[novelty.argmin(axis=1)] - novelty.min(axis=1))

    def _to_parts(self) -> Parts:
        """Return the state that files store: the inner classifier, and thresholds that do not follow from it."""
        check_is_fitted(self)
        facts, arrays = describe_inside(self.estimator_)
        facts = {"inside": facts}
        if self._given is not None:
            facts["common_threshold"] = self._given.common
            arrays["threshold"] = self._given.of(self.classes_)
        return Parts(None, facts, arrays)

    def _from_parts(self, hasher: Hasher | None, facts: dict[str, Any], arrays: dict[str, Array]) -> Self:  # noqa: ARG002
        """Restore the state from a file, and return the classifier; ValueError if it is invalid."""
        others = {name: values for name, values in arrays.items() if name != "threshold"}
        estimator = restore_inside(facts.get("inside"), others, type(self.estimator))
        threshold, common = arrays.get("threshold"), facts.get("common_threshold")
        if threshold is None and common is None and _has_sketch(estimator):
            return self._take_over(estimator, None)
        if (
            threshold is None
            or threshold.shape != estimator.classes_.shape
            or not np.isfinite(threshold).all()
            or type(common) is not float
        ):
            msg = "its thresholds are not one for each class"
            raise ValueError(msg)
        by_label = dict(zip(estimator.classes_.tolist(), threshold.tolist(), strict=True))
        return self._take_over(estimator, Thresholds(by_label, common))

    def _with(self, estimator: Any, X: Any, y: Any) -> Self:
        """Set a fitted classifier, with thresholds from its training rows where it has no sketch."""
        self._label_of_unknown(estimator.classes_)
        return self._take_over(estimator, None if _has_sketch(estimator) else self._thresholds_from(estimator, X, y))

    def _take_over(self, estimator: Any, given: Thresholds | None) -> Self:
        """Set the fitted state atomically."""
        self._label_of_unknown(estimator.classes_)
        self.__dict__.update(estimator_=estimator, _given=given, _derived=None)
        return self

    def _thresholds(self, *, exact: bool = True) -> Thresholds:
        """Return the thresholds: given, or derived from the sketch; unless `exact`, perhaps of a few rows less."""
        if self._given is not None:
            return self._given
        number, n_rows = edition(self.estimator_)
        key, kept = (number, self.quantile, self.per_class), self._derived
        if kept is not None and kept[0] == key:
            return kept[2]
        if kept is not None and not exact and kept[0][1:] == key[1:] and kept[1] <= n_rows <= kept[1] * GROWTH:
            return kept[2]
        _ = self.estimator_.sketch_  # counts pending rows
        number, n_rows = edition(self.estimator_)
        estimator = copy(self.estimator_)  # which no other thread changes
        sketch, n = estimator.sketch_, MOST_LEFT_OUT
        rows, encoder = sketch.rows[:n], hasher_of(estimator).encoder
        if encoder.names is not None:
            rows = NamedRows(rows, list(encoder.names), encoder.kinds)
        found = self._thresholds_from(estimator, rows, sketch.labels[:n], sketch.weights[:n])
        self._derived = (number, *key[1:]), n_rows, found
        return found

    def _thresholds_from(self, estimator: Any, X: Any, y: Any, weights: Weights | None = None) -> Thresholds:
        """Return quantiles of the novelty of learned rows, each left out."""
        novelty = estimator.leave_one_out_novelty(X, y, shared_encoding=True)
        least, nearest = novelty.min(axis=1), novelty.argmin(axis=1)
        weights = np.ones(least.size, np.int64) if weights is None else weights
        common = weighted_quantile(least, weights, self.quantile)
        own: Any = np.unique(nearest) if self.per_class else ()
        return Thresholds(
            {
                estimator.classes_[i].item(): weighted_quantile(
                    least[nearest == i], weights[nearest == i], self.quantile
                )
                for i in own
            },
            common,
        )

    def _label_of_unknown(self, classes: Array) -> int | str:
        """Return the label of rejected rows, of the type of the others and different from them."""
        if not classes.size:
            return -1 if self.unknown == "auto" else self.unknown
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


def _has_sketch(estimator: Any) -> bool:
    """Return whether a classifier has rows from which thresholds can be derived."""
    return estimator.sketch_ is not None and estimator.sketch_.n_rows > 0


def _other_number(classes: Array) -> int:
    """Return an integer that is not a class and fits their type, -1 or less if possible."""
    known = set(classes.tolist())
    numbers = chain([min(-1, int(classes.min()) - 1), int(classes.max()) + 1], filterfalse(known.__contains__, count()))
    for number in numbers:
        with suppress(ValueError, OverflowError, TypeError):
            unite(classes, np.array([number]))
            return number
    raise AssertionError  # the last of them go on for ever
