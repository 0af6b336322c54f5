"""Models add up and can be taken apart, because counts do."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from flybloom._internal.typing import Array, Counts
from flybloom._internal.validation import check_labels, check_rows, check_weights, united_classes
from flybloom.core.hashing.fingerprint import require_same_construction
from flybloom.core.readout import filters
from flybloom.estimators._sharing import Learned, SharedCounts
from flybloom.exceptions import NeverLearnedError


class Algebra(SharedCounts):
    """Merging and forgetting, for a classifier that counts."""

    def merge(self, other: Algebra) -> Self:
        """Learn all that another model has learned, as if this one had met its rows.

        ``a + b`` does the same and leaves both as they were; ``sum(models)`` works. Parameters that only matter when
        scoring, `decay`, `class_weight` and `temperature`, stay those of the first model.

        Parameters
        ----------
        other : FlyBloomClassifier
            A model that hashes alike: of the same features, scaling, seed and sizes.

        Returns
        -------
        FlyBloomClassifier
            The classifier itself.

        Raises
        ------
        DifferentConstructionError
            If the two hash differently; the message lists all that differs.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from flybloom import FlyBloomClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> def learned(rows):
        ...     return FlyBloomClassifier(scaling="none", random_state=0).fit(X[rows], y[rows])
        >>> first, second = learned(slice(900)), learned(slice(900, None))
        >>> bool(((first + second).counts_ == learned(slice(None)).counts_).all())
        True
        """
        require_same_construction(self, other, "merge")
        with self._guard.learning, other._reading() as theirs:
            classes = united_classes(self.classes_, theirs.classes)
            rows, added = _aligned(theirs, classes)
            class_count = filters.arranged(self.class_count_, self.classes_, classes, axis=0) + rows
            self._replace(classes, class_count, lambda table: filters.apply(added, table))
        return self

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Unlearn rows: afterwards the model equals, bit for bit, one that never learned them.

        A class of which no row is left is no longer known. What the scaling took from the rows stays: it is part of how
        the model hashes, not of what it counts. Use `scaling="none"`, or a scaling learned from other rows, where that
        matters.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that were learned before.
        y : array-like of shape (n_samples,)
            The labels with which they were learned.
        sample_weight : array-like of shape (n_samples,), default=None
            Whole numbers; a row of weight 3 is forgotten three times.

        Returns
        -------
        FlyBloomClassifier
            The classifier itself.

        Raises
        ------
        NeverLearnedError
            If the rows cannot all have been learned; nothing has changed then.

        Notes
        -----
        The model keeps no rows, only counts. So it notices rows that its counts cannot contain; rows that were never
        learned but look as if they were, it cannot tell.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from flybloom import FlyBloomClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> model = FlyBloomClassifier(scaling="none", random_state=0).fit(X, y).forget(X[:100], y[:100])
        >>> never = FlyBloomClassifier(scaling="none", random_state=0).fit(X[100:], y[100:])
        >>> bool((model.counts_ == never.counts_).all())
        True
        """
        check_is_fitted(self)
        with self._guard.learning:
            X = check_rows(self, X, reset=False)
            y = check_labels(y, X)
            weights = check_weights(sample_weight, X.shape[0])
            _require_known(y, self.classes_)
            codes = np.searchsorted(self.classes_, y)
            rows = filters.rows_of_classes(codes, weights, self.classes_.size)
            _require_rows(rows, self._learned())
            self._take_away(rows, self._count(X, codes, weights, self.classes_.size))
        return self

    def __add__(self, other: object) -> Self:
        """Return a model that has learned what both have."""
        if not isinstance(other, Algebra):
            return NotImplemented
        return copy(self).merge(other)

    def __radd__(self, other: object) -> Self:
        """Return a copy: sum() starts with zero."""
        return copy(self) if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, other: object) -> Self:
        """Return a model that has learned what this one has, but not what the other has."""
        if not isinstance(other, Algebra):
            return NotImplemented
        require_same_construction(self, other, "subtract")
        result = copy(self)
        with other._reading() as learned:
            theirs = _met(learned)
            _require_known(theirs.classes, result.classes_)
            rows, removed = _aligned(theirs, result.classes_)
            _require_rows(rows, result._learned())
            result._take_away(rows, removed)
        return result

    def _take_away(self, rows: Array, removed: filters.Change) -> None:
        """Subtract rows of each class and their counts; refuse before anything changes."""
        class_count = self.class_count_ - rows
        if not filters.contains(self._counts, removed, class_count):
            msg = (
                "These rows cannot all have been learned: some of their winners were never counted for their class. "
                "Forget only rows that were learned, each with its label, once for each time it was learned."
            )
            raise NeverLearnedError(msg)
        self._replace(
            self.classes_,
            class_count,
            lambda table: filters.apply(removed, table, sign=-1),
            keep=(class_count > 0) | (rows == 0),
        )


def _met(learned: Learned) -> Learned:
    """Leave out classes that were only announced."""
    is_met = learned.class_count > 0
    return Learned(learned.classes[is_met], learned.class_count[is_met], learned.counts[:, is_met])


def _aligned(learned: Learned, classes: Array) -> tuple[Array, Counts]:
    """Return rows and counts for `classes`, which contain those of `learned`."""
    return (
        filters.arranged(learned.class_count, learned.classes, classes, axis=0),
        filters.arranged(learned.counts, learned.classes, classes, axis=1),
    )


def _require_known(labels: Array, classes: Array) -> None:
    """Refuse labels that were never learned."""
    if united_classes(classes, labels).size > classes.size:
        unknown = np.setdiff1d(labels, classes).tolist()
        msg = (
            f"Cannot forget rows of classes that were never learned: {', '.join(map(repr, unknown[:5]))}"
            f"{' and more' if len(unknown) > 5 else ''}. classes_ lists what was learned."  # noqa: PLR2004
        )
        raise NeverLearnedError(msg)


def _require_rows(rows: Array, learned: Learned) -> None:
    """Refuse to take away more rows of a class than were learned."""
    for label, n, known in zip(learned.classes.tolist(), rows.tolist(), learned.class_count.tolist(), strict=True):
        if n > known:
            msg = f"Cannot forget {n} rows of class {label!r}: only {known} were learned. Leave out the others."
            raise NeverLearnedError(msg)
