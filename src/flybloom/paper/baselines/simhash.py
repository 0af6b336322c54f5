"""A Bloom filter over SimHash for each class: SBFC of the paper."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from flybloom._internal.sklearn_compat import Interval, RealNotInt, fit_context
from flybloom._internal.typing import Array, Codes
from flybloom._internal.validation import check_labels, resolve_seed, unchanged_on_error
from flybloom.core.readout.linear import choose

FEWEST = 2  # components, as in the authors' code
VALUES_AT_ONCE = 2**22  # bounds the directions, and the projections of a block of rows
MAX_AT_ONCE = 4096  # components hashed together
KEY_BITS = 64  # of the hash, for the choice between classes that tie


def resolve_size(n_components: int | float, n_features: int) -> int:
    """Return m: an int as it is, a float as a multiple of the features, clipped as the authors do."""
    if isinstance(n_components, float | np.floating):
        return max(FEWEST, int(n_components * n_features))
    return int(n_components)


def direction_blocks(
    seed: int, n_features: int, cuts: list[int], most: int | None = None
) -> Iterator[tuple[slice, Array]]:
    """Draw random directions in blocks of bounded size, up to the last of the ascending `cuts`.

    Direction j depends on the seed and on j alone, so that few directions are the first of many. A block also ends
    at each cut, and after `most` directions or those that are needed for the keys of ties.
    """
    generator = np.random.Generator(np.random.Philox(key=seed))
    step = max(KEY_BITS, min(most or MAX_AT_ONCE, MAX_AT_ONCE, VALUES_AT_ONCE // n_features))
    begin = 0
    for cut in cuts:
        while begin < cut:
            end = min(cut, begin + step)
            yield slice(begin, end), generator.standard_normal((end - begin, n_features))
            begin = end


def hash_blocks(X: Array, directions: Array) -> Iterator[tuple[slice, Array]]:
    """SimHash in blocks of rows: whether each row lies on the positive side of each direction."""
    step = max(1, VALUES_AT_ONCE // len(directions))
    for begin in range(0, len(X), step):
        rows = slice(begin, min(begin + step, len(X)))
        yield rows, X[rows] @ directions.T > 0


def unmet(bits: Array, never: Array) -> Array:
    """How many of the active bits of each row each class has never seen: (rows, m) and (classes, m) give counts."""
    return (bits.astype(np.float32) @ never.astype(np.float32).T).astype(np.int64)  # whole numbers below 2^24: exact


def tie_keys(bits: Array) -> Array:
    """The first bits of each hash as two words: what the choice between tied classes depends on, beside the seed."""
    packed = np.zeros((len(bits), KEY_BITS // 8), np.uint8)
    first = np.packbits(bits[:, :KEY_BITS], axis=1)
    packed[:, : first.shape[1]] = first
    return packed.view("<u4").astype(np.uint32)


def decide(scores: Array, keys: Array, seed: int) -> Codes:
    """Return the class of the lowest score; ties as if at random, but always the same for the same hash and seed."""
    return choose(-scores.astype(np.float64), keys, seed)


class SimHashBloomClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifier by a Bloom filter over SimHash for each class, SBFC of the paper.

    FBFC with another hash: a component is active where the row lies on the positive side of a random direction [1]_.
    Each class remembers which components were active in any of its rows; a row goes to the class that has met most of
    what is active in it. About half of the components of SimHash are active, so the filters soon know everything: the
    paper takes this baseline to show why the hash has to be sparse.

    Parameters
    ----------
    n_components : int or float, default=32.0
        How many random directions there are, m in the paper. A float is a multiple of the number of features, below
        one to project down and above to project up, clipped to an integer, and at least two.

    random_state : int, RandomState instance or None, default=None
        Seed of the directions, and of the choice between classes that tie.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.

    n_components_ : int
        Number of random directions.

    seed_ : int
        Seed of the directions, which are drawn again when they are needed.

    filters_ : ndarray of shape (n_classes, n_components_), bool
        Whether no row of the class had the component active.

    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has string column names.

    See Also
    --------
    flybloom.FlyBloomClassifier : The same with sparse hashes.

    Notes
    -----
    Nested: with the same seed, the filters of fewer components are the first columns of those of more. Memory is
    bounded: directions and hashes exist for a block of components and rows at a time.

    References
    ----------
    .. [1] M. S. Charikar (2002). Similarity estimation techniques from rounding algorithms. STOC '02, 380-388.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom.paper.baselines import SimHashBloomClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SimHashBloomClassifier(64.0, random_state=0).fit(X[:1000], y[:1000])
    >>> model.n_components_
    4096
    >>> round(model.score(X[1000:], y[1000:]), 1)
    0.8
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), Interval(RealNotInt, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(self, n_components: int | float = 32.0, *, random_state: Any = None) -> None:
        self.n_components = n_components
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Say that not much should be expected: the hash sees angles alone, and half of it is active."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    @fit_context
    def fit(self, X: Any, y: Any) -> SimHashBloomClassifier:
        """Enter the rows into the filters of their classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        SimHashBloomClassifier
            The fitted classifier itself.
        """
        with unchanged_on_error(self):
            X = validate_data(self, X, dtype=np.float64)
            classes, codes = np.unique(check_labels(y, X.shape[0]), return_inverse=True)
            self.seed_ = resolve_seed(self.random_state)
            self.n_components_ = resolve_size(self.n_components, X.shape[1])
            never = np.ones((classes.size, self.n_components_), bool)
            for components, directions in direction_blocks(self.seed_, X.shape[1], [self.n_components_]):
                for rows, bits in hash_blocks(X, directions):
                    for i in np.unique(codes[rows]):
                        never[i, components] &= ~bits[codes[rows] == i].any(axis=0)
            self.classes_, self.filters_ = classes, never
        return self

    def predict(self, X: Any) -> Array:
        """Return the class that has met most of what is active in each row.

        Classes that tie are chosen between by a hash of the seed and the first bits of the row's SimHash: as if at
        random, but always the same for the same row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        scores, keys = self._score(X)
        return np.asarray(self.classes_[decide(scores, keys, self.seed_)])

    def novelty(self, X: Any) -> Array:
        """Return how many of the active components of each row no row of each class had.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), int64
            Small is familiar; columns as in ``classes_``.
        """
        return self._score(X)[0]

    def _score(self, X: Any) -> tuple[Array, Array]:
        """Return scores and keys for ties."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        scores = np.zeros((len(X), self.classes_.size), np.int64)
        keys = np.zeros((len(X), KEY_BITS // 32), np.uint32)
        for components, directions in direction_blocks(self.seed_, X.shape[1], [self.n_components_]):
            for rows, bits in hash_blocks(X, directions):
                scores[rows] += unmet(bits, self.filters_[:, components])
                if components.start == 0:
                    keys[rows] = tie_keys(bits)
        return scores, keys
