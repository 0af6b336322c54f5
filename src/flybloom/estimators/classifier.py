"""The Fly Bloom Filter classifier: one count for each winner and class, and nothing else."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin

from flybloom._internal.sklearn_compat import Interval, StrOptions, fit_context
from flybloom._internal.typing import Array, Novelty, Winners
from flybloom._internal.validation import check_labels, check_rows, check_weights, unchanged_on_error, united_classes
from flybloom.core.encoding.standardise import ColumnMoments
from flybloom.core.readout import filters
from flybloom.core.readout.class_weight import ClassWeight, check_class_weight, require_weights_for
from flybloom.estimators._base import BaseFly
from flybloom.estimators._insight import ClassInsight
from flybloom.estimators.algebra import Algebra
from flybloom.files.model_file import Saveable


class FlyBloomClassifier(ClassifierMixin, Algebra, ClassInsight, Saveable):  # type: ignore[misc]
    """Classifier that learns in one pass, in any order, by counting the winners of a hash.

    Each row is hashed (see `FlyHash`); for each class it is counted how often each component won. A new row
    is novel to a class as far as its winners have rarely won there, and gets the class to which it is least novel. With
    ``decay=1`` this is FBFC of the paper [1]_, a Bloom filter for each class; below, FBFC*.

    The counts are all that is learned. So learning block by block, in any order, on any number of threads gives the
    same model as learning all at once, bit for bit. Models can be merged, and rows forgotten, just as exactly.

    Many threads may score with one model while another learns: each call sees a `partial_fit` whole, or not at all.

    Parameters
    ----------
    n_components : int, float or "auto", default="auto"
        How many components there are, m in the paper.

        - If int, exactly that many.
        - If float, that multiple of the number of features.
        - If "auto", 32768.

    n_connections : int, float or "auto", default="auto"
        How many features each component sums, s in the paper.

        - If int, exactly that many.
        - If float, that share of the features, at least one.
        - If "auto", half of the features, at most 64.

    n_winners : int, float or "auto", default="auto"
        How many components win in each row, rho in the paper.

        - If int, exactly that many.
        - If float, that share of ``n_components_``, at least one.
        - If "auto", 128, or a quarter of the components where there are fewer than 512.

    decay : float, default=0.4
        How fast a filter forgets that a component is new, c in the paper, above 0 and up to 1: a component that won n
        times in a class has the weight ``(1 - decay)**n`` there. With 1 the filter is binary. It may be changed after
        fit, without learning again.

    class_weight : "balanced", dict or None, default=None
        How many rows each row of a class counts as when scoring: a component that won n times in a class of weight w
        has the weight ``(1 - decay)**(n * w)`` there. Without weights large classes are favoured, because their counts
        are larger. It may be changed after fit. With a decay of 1 it changes nothing.

        - If "balanced", ``n / (n_classes * class_count_)`` for n rows in all, so that all classes count the same. It
          follows from the rows that the model holds when it scores, so also after `partial_fit` and `forget`.
        - If a dict, the weight of each label, a number above 0; 1 for labels that are not in it.
        - If None, all classes have the weight 1.

    signed : bool, default=True
        Whether each connection has a random sign. False gives the paper's matrix of zeros and ones.

    scaling : {"none", "center", "standard"}, default="standard"
        What is done to the columns before hashing. "center" subtracts their means, "standard" divides by their standard
        deviations as well. Rows of integers are summed as integers with "none". Sparse rows need "none". With
        `partial_fit` the first block fixes the scaling.

    temperature : float, default=0.1
        What the novelties are divided by before the softmax of `predict_proba`. Smaller is more confident; the paper's
        softmax has 1, which is nearly flat. It may be changed after fit.

    random_state : int, RandomState instance or None, default=None
        Seed of the connections, and of the choice between classes that tie. An int is used as it is and makes the model
        reproducible on every machine.

    n_jobs : int or None, default=None
        Number of threads. None means 1, -1 all processors. Nothing but the time depends on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.

    class_count_ : ndarray of shape (n_classes,)
        Number of rows learned of each class, weights included.

    counts_ : ndarray of shape (n_classes, n_components_)
        How often each component won among the rows of each class: all that is learned.

    filters_ : ndarray of shape (n_classes, n_components_)
        The paper's filters, ``(1 - decay)**counts_``, or what `class_weight` makes of them; derived.

    n_components_ : int
        Number of components.

    n_connections_ : int
        Number of features that each component sums.

    n_winners_ : int
        Number of winners of each row.

    signed_ : bool
        Whether connections have signs.

    seed_ : int
        Seed of the connections.

    center_ : ndarray of shape (n_features_in_,) or None
        What is subtracted from each column.

    scale_ : ndarray of shape (n_features_in_,) or None
        What each column is divided by.

    connections_ : ndarray of shape (n_components_, n_connections_)
        Features that each component sums; derived from ``seed_``.

    signs_ : ndarray of shape (n_components_, n_connections_)
        Sign of each connection, 1 or -1; derived from ``seed_``.

    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X has names that are strings.

    See Also
    --------
    FlyHash : The hash alone, as a transformer.

    References
    ----------
    .. [1] K. Sinha and P. Ram (2021). Fruit-fly inspired neighborhood encoding for classification. KDD '21. The
           preprint is titled "Neural neighborhood encoding for classification".

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = FlyBloomClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> model.predict(X[1000:1005])
    array([1, 4, 0, 5, 3])
    >>> again = FlyBloomClassifier(random_state=0)
    >>> again = again.set_params(scaling="none").partial_fit(X[500:1000], y[500:1000]).partial_fit(X[:500], y[:500])
    >>> model = model.set_params(scaling="none").fit(X[:1000], y[:1000])
    >>> bool((again.counts_ == model.counts_).all())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseFly._parameter_constraints,  # noqa: SLF001
        "decay": [Interval(Real, 0, 1, closed="right")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "temperature": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_components: int | float | str = "auto",
        *,
        n_connections: int | float | str = "auto",
        n_winners: int | float | str = "auto",
        decay: float = 0.4,
        class_weight: ClassWeight = None,
        signed: bool = True,
        scaling: str = "standard",
        temperature: float = 0.1,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_connections = n_connections
        self.n_winners = n_winners
        self.decay = decay
        self.class_weight = class_weight
        self.signed = signed
        self.scaling = scaling
        self.temperature = temperature
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        """Warn scikit-learn's checks of the paper's unsigned matrix: rows of two features have only two hashes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = not self.signed
        return tags

    @fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> FlyBloomClassifier:
        """Forget everything, then learn the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels, of at least two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Whole numbers; a row of weight 3 counts as three copies.

        Returns
        -------
        FlyBloomClassifier
            The fitted classifier itself.
        """
        with self._guard.learning, unchanged_on_error(self):
            self._forget_all()
            self._learn(X, y, None, sample_weight)
            self._require_two_classes()
            require_weights_for(self.class_weight, self.classes_, type(self).__name__)
        return self

    @fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> FlyBloomClassifier:
        """Learn a block of rows in addition to those before.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows. The first block fixes sizes and scaling.
        y : array-like of shape (n_samples,)
            Their labels. New ones may appear in any block.
        classes : array-like of shape (n_classes,), default=None
            Labels to expect. Never needed; a label that has no rows yet is known from the start.
        sample_weight : array-like of shape (n_samples,), default=None
            Whole numbers; a row of weight 3 counts as three copies.

        Returns
        -------
        FlyBloomClassifier
            The classifier itself.
        """
        with self._guard.learning, unchanged_on_error(self):
            self._learn(X, y, classes, sample_weight)
        return self

    def predict(self, X: Any) -> Array:
        """Return the class to which each row is least novel.

        Classes that tie are chosen between by a hash of the seed and the row's winners: as if at random, but always the
        same for the same row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        X = self._check_scoring(X)
        codes = np.empty(X.shape[0], np.int64)
        with self._reading() as learned:
            scorer = self._scorer(X.shape[0], learned)

            def decide(block: slice, winners: Winners) -> None:
                codes[block] = scorer.most_familiar(winners, self.seed_)

            self._for_winners(X, decide)
        return learned.classes[codes]

    def novelty(self, X: Any) -> Novelty:
        """Return how novel each row is to each class, f_i(x) in the paper.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            From 0, familiar, to 1, never met; columns as in ``classes_``.
        """
        X = self._check_scoring(X)
        with self._reading() as learned:
            scorer = self._scorer(X.shape[0], learned)
            result = np.empty((X.shape[0], learned.classes.size))

            def score(block: slice, winners: Winners) -> None:
                scorer.novelty(winners, result[block])

            self._for_winners(X, score)
        return result

    def decision_function(self, X: Any) -> Array:
        """Return how much each row belongs to each class; larger is better.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Minus the novelty; for two classes, the novelty to the first minus that to the second.
        """
        novelty = self.novelty(X)
        if novelty.shape[1] == 2:  # noqa: PLR2004
            difference: Array = novelty[:, 0] - novelty[:, 1]
            return difference
        return -novelty

    def predict_proba(self, X: Any) -> Array:
        """Return a probability for each class: the softmax of minus the novelty over the temperature.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows sum to 1; columns as in ``classes_``.
        """
        return np.asarray(softmax(self.novelty(X) / -self.temperature, axis=1))

    @property
    def filters_(self) -> Array:
        """The paper's filters, of the shape of ``counts_``; derived from it."""
        with self._reading() as learned:
            return filters.weights_of(learned.counts, self.decay, self._class_weights(learned)).T

    def _validate_params(self) -> None:
        """Check what scikit-learn's constraints cannot say as well."""
        super()._validate_params()
        check_class_weight(self.class_weight, type(self).__name__)

    def _require_two_classes(self) -> None:
        """Refuse a fit that met a single class."""
        if self.classes_.size < 2:  # noqa: PLR2004
            msg = (
                "FlyBloomClassifier.fit needs rows of at least 2 classes. "
                f"Got one class, {self.classes_[0]!r}, instead. To learn class after class, use partial_fit."
            )
            raise ValueError(msg)

    def _forget_all(self) -> None:
        """Become unfitted."""
        for name in [name for name in vars(self) if name in ("_counts", "_projection") or name.endswith("_")]:
            delattr(self, name)

    def _start_from(self, moments: ColumnMoments | None) -> None:
        """Fix sizes, seed and scaling, and become a model of no rows."""
        super()._start_from(moments)
        self.classes_ = np.empty(0)
        self.class_count_ = np.zeros(0, np.int64)
        self._counts = np.zeros((self.n_components_, 0), np.int32)

    def _start_empty(self, X: Any, moments: ColumnMoments | None) -> None:
        """Become a model of no rows, for rows like `X`, scaled by moments that were added up elsewhere.

        What is learned after that with `partial_fit`, in any number of blocks, equals one `fit` of all rows, if the
        moments are those of all rows.
        """
        with unchanged_on_error(self):
            self._validate_params()
            self._forget_all()
            check_rows(self, X, reset=True)
            self._start_from(moments)

    def __sklearn_is_fitted__(self) -> bool:
        """Scores need at least one class."""
        return hasattr(self, "classes_") and self.classes_.size > 0

    def _learn(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        """Check everything, then count."""
        is_first = not hasattr(self, "seed_")
        X = check_rows(self, X, reset=is_first)
        y = check_labels(y, X)
        weights = check_weights(sample_weight, X.shape[0])
        known: Array = np.empty(0) if is_first else self.classes_
        new_classes = united_classes(known, y)
        if classes is not None:
            new_classes = united_classes(new_classes, check_labels(classes, classes))
        if is_first:
            self._start(X, weights)
        codes = np.searchsorted(new_classes, y)
        added = self._count(X, codes, weights, new_classes.size)
        class_count = filters.arranged(self.class_count_, known, new_classes, axis=0) + filters.rows_of_classes(
            codes, weights, new_classes.size
        )
        self._replace(new_classes, class_count, lambda table: filters.apply(added, table))
