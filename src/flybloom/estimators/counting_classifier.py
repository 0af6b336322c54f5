"""Base class of classifiers that count winners by class."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Generic, Self, TypeVar

from sklearn.base import ClassifierMixin

from flybloom._internal.deprecated import Renamed
from flybloom._internal.sklearn_compat import Interval, StrOptions
from flybloom._internal.typing import Array
from flybloom._internal.validation import check_labels
from flybloom.core.algebra import Forgotten
from flybloom.core.counts.by_class import ClassCounts
from flybloom.core.counts.pairs import PairsByClass
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.encoding.relevance import Relevance
from flybloom.core.files.receipt import forget_with_receipt
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.model import Model
from flybloom.core.readout.class_weight import ClassWeight, check_class_weight, require_weights_for
from flybloom.estimators.base import read_only
from flybloom.estimators.counting import CountingEstimator

Counted = TypeVar("Counted", ClassCounts, PairsByClass)


WEIGHT_UNIT: list[Any] = [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})]


class CountingClassifier(ClassifierMixin, CountingEstimator, Generic[Counted]):  # type: ignore[misc]
    """Classifier whose learned state is integer counts of winners for each class.

    A subclass names its `_counts_type` and adds `predict` and its scores.
    """

    _old_attributes: ClassVar[Renamed] = {
        "forget_with_receipt": ("flybloom.core.files.receipt.forget_with_receipt(model, X, y)", forget_with_receipt)
    }
    class_weight: ClassWeight

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit from scratch.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels, of at least two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 3 counts as three copies, rows of weight 0 are ignored. For fractions, see `weight_unit`.

        Returns
        -------
        estimator
            The fitted classifier itself.
        """
        self._learn_rows(X, y, sample_weight, anew=True)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Update the model with a block of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows. Sizes and encoding follow from all rows so far, up to 8192 distinct ones; then they are fixed.
        y : array-like of shape (n_samples,)
            Their labels. New ones may appear in any block.
        classes : array-like of shape (n_classes,), default=None
            Labels to expect, including some without rows; optional.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 3 counts as three copies, rows of weight 0 are ignored. For fractions, see `weight_unit`.

        Returns
        -------
        estimator
            The classifier itself.
        """
        announced = None if classes is None else check_labels(classes)
        self._learn_rows(X, y, sample_weight, known={"announced": announced})
        return self

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Forgotten:
        """Remove rows: afterwards the counts equal, bit for bit, those of a model that never learned them.

        While all rows fit into the sketch (8192 distinct rows), the model equals a `fit` of the remaining rows. Beyond
        that, sizes and encoding are kept, and the returned value says whether they are still those of the remaining
        rows. A class without rows is removed, and without any rows the model is unfitted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that were learned before.
        y : array-like of shape (n_samples,)
            The labels with which they were learned.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights with which they were learned.

        Returns
        -------
        Forgotten
            Its ``extent`` is "complete" if nothing remains of the rows, or "counts only" if the encoding in use differs
            from that of the remaining rows; ``steps`` lists the differences.

        Raises
        ------
        NeverLearnedError
            If the rows cannot all have been learned. The model is then unchanged.

        Notes
        -----
        Beyond its sketch the model keeps counts only. It refuses rows that the counts cannot contain, but cannot detect
        other rows that were never learned.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from flybloom import FlyBloomClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> model = FlyBloomClassifier(random_state=0).fit(X, y)
        >>> model.forget(X[:100], y[:100]).extent
        'complete'
        >>> never = FlyBloomClassifier(random_state=0).fit(X[100:], y[100:])
        >>> bool((model.counts_ == never.counts_).all())
        True
        """
        return self._forget(X, y, sample_weight)

    @property
    def classes_(self) -> Array:
        """The labels, sorted."""
        return read_only(self._handed_out("classes_").classes)

    @property
    def class_count_(self) -> Array:
        """Number of rows learned of each class, weights included; floats with fractional weights."""
        counts = self._handed_out("class_count_")
        return read_only(counts.unit.rows(counts.class_count))

    @property
    def weight_unit_(self) -> float:
        """The weight that counts as one row."""
        return float(self._handed_out("weight_unit_").unit.weight)

    @property
    def counts_per_row_(self) -> int:
        """How much one row adds to the counts of its winners: 1, or 1024 with fractional weights."""
        return int(self._handed_out("counts_per_row_").unit.per_row)

    def _can_score(self, learned: Model) -> bool:
        """Scores need at least one class."""
        return learned.counts.classes.size > 0  # type: ignore[attr-defined, no-any-return]

    def _validate_params(self) -> None:
        """Also check what scikit-learn's constraints cannot express."""
        super()._validate_params()
        check_class_weight(self.class_weight, type(self).__name__)

    def _require_complete(self, learned: Model) -> None:
        """Raise an error for a single class, and for class weights of unknown classes."""
        classes = learned.counts.classes  # type: ignore[attr-defined]
        if classes.size < 2:  # noqa: PLR2004
            msg = (
                f"{type(self).__name__}.fit needs rows of at least 2 classes. "
                f"Got one class, {classes[0]!r}, instead. To learn class after class, use partial_fit."
            )
            raise ValueError(msg)
        if self.class_weight is not None:
            require_weights_for(self.class_weight, classes, type(self).__name__)

    def _require_own_encoding(self, hasher: Hasher, is_shared: bool) -> None:
        """Raise an error for leave-one-out if the encoding uses labels, unless that is accepted."""
        if hasher.encoder.step(Relevance) is not None and not (is_shared or isinstance(self.encoding, Encoder)):
            msg = (
                "The encoding weighs columns by their relevance to the labels of all rows, so a row that is left out "
                "would be judged by weights that its own label has a part in. Use an encoding without relevance, one "
                "that was fitted beforehand, or folds (scikit-learn's cross_val_predict)."
            )
            raise ValueError(msg)
