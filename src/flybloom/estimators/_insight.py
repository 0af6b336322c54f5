"""What a classifier can tell beyond labels: similar classes, shares of features, profiles, and rows left out."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from flybloom._internal.typing import Array, Codes, Novelty, Winners
from flybloom._internal.validation import check_labels
from flybloom.core.readout import explanation, filters, similarity
from flybloom.core.readout.class_weight import ClassTables, ClassWeight, class_tables, class_weights, left_out_weights
from flybloom.core.readout.scorer import Scorer
from flybloom.estimators._sharing import Learned, SharedCounts

FILTERS = ("filters", "familiarity")
SCORES = ("novelty", "familiarity")


class ClassInsight(SharedCounts):
    """Methods of `FlyBloomClassifier` that read the counts of a fitted model."""

    class_weight: ClassWeight

    def class_similarity(self, *, of: str = "filters") -> Array:
        """Return how similar each pair of classes is: the cosine between their filters.

        Parameters
        ----------
        of : {"filters", "familiarity"}, default="filters"
            What is compared. "filters" is the paper's ``filters_``; all cosines are near 1 where most components never
            won. "familiarity" is ``1 - filters_``, to which such components add nothing: the values spread out, and
            follow the errors that the model makes more closely (see docs/similarity.md).

        Returns
        -------
        ndarray of shape (n_classes, n_classes)
            Symmetric, from 0 to 1, with ones on the diagonal; rows and columns as in ``classes_``.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from flybloom import FlyBloomClassifier
        >>> model = FlyBloomClassifier(random_state=0).fit(*load_digits(return_X_y=True))
        >>> model.class_similarity(of="familiarity")[3].round(2)
        array([0.09, 0.15, 0.3 , 1.  , 0.04, 0.27, 0.09, 0.18, 0.3 , 0.4 ])
        """
        check_is_fitted(self)
        _check_choice("of", of, FILTERS)
        self._validate_params()
        with self._reading() as learned:
            return similarity.cosine_similarity(
                learned.counts, self._tables_of(learned), of_familiarity=of == "familiarity"
            )

    def most_similar_classes(self, k: int = 3, *, of: str = "filters") -> list[tuple[Any, Any, float]]:
        """Return the pairs of classes that are hardest to tell apart.

        Parameters
        ----------
        k : int, default=3
            How many pairs, at most as many as there are.
        of : {"filters", "familiarity"}, default="filters"
            What is compared, see `class_similarity`.

        Returns
        -------
        list of (label, label, float)
            Both labels and their similarity, the most similar pair first.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from flybloom import FlyBloomClassifier
        >>> model = FlyBloomClassifier(random_state=0).fit(*load_digits(return_X_y=True))
        >>> [(int(a), int(b)) for a, b, _ in model.most_similar_classes(2, of="familiarity")]
        [(3, 9), (1, 8)]
        """
        pairs = similarity.most_similar_pairs(self.class_similarity(of=of), k)
        return [(self.classes_[i], self.classes_[j], value) for i, j, value in pairs]

    def leave_one_out_novelty(self, X: Any, y: Any) -> Novelty:
        """Return how novel each learned row is to each class, as if that row alone had not been learned.

        Exact, without learning again: one count less for each winner of the row in its own class. The scaling stays
        that of all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that were learned.
        y : array-like of shape (n_samples,)
            The labels they were learned with.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            From 0, familiar, to 1, never met; columns as in ``classes_``.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from flybloom import FlyBloomClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> model = FlyBloomClassifier(random_state=0).fit(X, y)
        >>> bool((model.leave_one_out_novelty(X, y) >= model.novelty(X)).all())
        True
        """
        X = self._check_scoring(X)
        with self._reading() as learned:
            classes, class_count, counts = learned
            codes = _codes(check_labels(y, X), classes)
            result = np.empty((X.shape[0], classes.size))
            weights = left_out_weights(self.class_weight, classes, class_count)
            tables = None if weights is None else class_tables(self.decay, class_count, weights)

            def score(block: slice, winners: Winners) -> None:
                if tables is None:
                    result[block] = filters.left_out_novelty(winners, codes[block], counts, class_count, self.decay)
                else:
                    result[block] = filters.left_out_novelty_by_class(
                        winners, codes[block], counts, class_count, tables
                    )

            self._for_winners(X, score)
        return result

    def explain(self, X: Any, labels: Any = None, *, of: str = "novelty") -> Array:
        """Return the share of each feature in the score of each row for a class.

        The novelty of a row is the mean weight of its winners. Each winner's part goes to the features that lifted its
        sum, in proportion to how much they did. The shares are not negative and add up to the novelty.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        labels : label or array-like of shape (n_samples,), default=None
            The class that each row is scored for, or one class for all rows. None takes the predicted one.
        of : {"novelty", "familiarity"}, default="novelty"
            Which score is divided: the novelty, or one minus it. The latter shows what speaks for the class.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows add up to ``novelty(X)`` for the class, or to one minus it, up to rounding.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from flybloom import FlyBloomClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> model = FlyBloomClassifier(random_state=0).fit(X, y)
        >>> shares = model.explain(X[:1], labels=8)
        >>> shares.shape, round(shares.sum(), 3), round(model.novelty(X[:1])[0, 8], 3)
        ((1, 64), np.float64(0.922), np.float64(0.922))
        """
        _check_choice("of", of, SCORES)
        X = self._check_scoring(X)
        of_familiarity = of == "familiarity"
        connections, signs = self._projection.connections()
        result = np.empty((X.shape[0], self.n_features_in_))
        with self._reading() as learned:
            wanted = None if labels is None else np.broadcast_to(np.asarray(labels), X.shape[0])
            given = None if wanted is None else _codes(wanted, learned.classes)
            scorer, tables = self._scorer(X.shape[0] if given is None else 0, learned), self._tables_of(learned)

            def divide(block: slice, winners: Winners) -> None:
                codes = scorer.most_familiar(winners, self.seed_) if given is None else given[block]
                rows = self._scaled(X[block])
                rows = rows.toarray() if sparse.issparse(rows) else rows
                rows = rows.astype(np.float32) if rows.dtype.kind == "f" else rows
                result[block] = explanation.feature_shares(
                    rows, winners, codes, connections, signs, learned.counts, tables, of_familiarity=of_familiarity
                )

            self._for_winners(X, divide)
        return result

    def class_profiles(self, *, contrast: bool = True) -> Array:
        """Return what each class remembers of each feature: its winners, traced back to the features they sum.

        For images, a row shaped like the image shows what the class looks like to the model.

        Parameters
        ----------
        contrast : bool, default=True
            Whether to show what sets a class apart from the others: each component counts with the share of the class's
            rows in which it won, less the mean of that share over the classes. False leaves the mean in.

        Returns
        -------
        ndarray of shape (n_classes, n_features)
            Large where large values are typical of the class, negative where small ones are; rows as in ``classes_``.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from flybloom import FlyBloomClassifier
        >>> model = FlyBloomClassifier(random_state=0).fit(*load_digits(return_X_y=True))
        >>> zero = model.class_profiles()[0].reshape(8, 8)
        >>> bool(zero[4, 4] < 0 < zero[4, 5])                    # a hole in the middle, ink beside it
        True
        """
        check_is_fitted(self)
        connections, signs = self._projection.connections()
        with self._reading() as learned:
            return explanation.class_profiles(
                learned.counts, learned.class_count, connections, signs, self.n_features_in_, contrast=contrast
            )

    def _class_weights(self, learned: Learned) -> Array | None:
        """Return the weight of each class, or None if all count the same."""
        return class_weights(self.class_weight, learned.classes, learned.class_count)

    def _scorer(self, n_rows: int, learned: Learned) -> Scorer:
        """Return what scores so many rows; with class weights, always by the table of counts."""
        if self.class_weight is None:
            return super()._scorer(n_rows, learned)
        return Scorer(learned.counts, learned.class_count, self.decay, tables=self._tables_of(learned))

    def _tables_of(self, learned: Learned) -> ClassTables:
        """Return what each class makes of a count."""
        return class_tables(self.decay, learned.class_count, self._class_weights(learned))


def _codes(labels: Array, classes: Array) -> Codes:
    """Return the positions of labels among the classes; unknown ones are refused."""
    codes = np.clip(np.searchsorted(classes, labels), 0, classes.size - 1)
    is_unknown = classes[codes] != labels
    if is_unknown.any():
        msg = (
            f"Labels must be among those learned, {classes.tolist()}. "
            f"Got {np.asarray(labels)[is_unknown][0]!r} instead. Learn rows of that class first."
        )
        raise ValueError(msg)
    return codes


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Refuse what is not one of the choices."""
    if value not in choices:
        msg = f"The {name!r} parameter must be one of {choices}. Got {value!r} instead."
        raise ValueError(msg)
