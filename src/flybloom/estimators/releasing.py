"""Differentially private releases and their ledger."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin

from flybloom._internal.deprecated import Renamed
from flybloom._internal.sklearn_compat import Interval, StrOptions
from flybloom._internal.typing import Array, Features
from flybloom._internal.validation import check_labels
from flybloom.core.counts.columns import align_columns, check_table, narrowest, unite, unknown_among
from flybloom.core.counts.label_json import classes_from_facts, labels_to_json
from flybloom.core.encoding.columns import BiasColumns
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.files.model_file import Parts
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.model import Model
from flybloom.core.privacy.budget import NO_RELEASE, Ledger, Spent
from flybloom.core.privacy.mechanisms import Request, noisy
from flybloom.core.readout.class_weight import ClassWeight, check_class_weight, class_weights
from flybloom.core.readout.filters import Filters
from flybloom.estimators.access import reading_learned
from flybloom.estimators.base import HASH_PARAMETERS, FixedEstimator, FlyEstimator, read_only
from flybloom.estimators.scores import FilterScores, Reading
from flybloom.exceptions import PrivacyError

LARGEST = 2**61
MAX_DECAY = 0.4
FITTED_TO_DATA = ("classes", "encoding")
KEPT = "released"


class ReleasedClassifier(FilterScores, ClassifierMixin, FixedEstimator):  # type: ignore[misc]
    """Differentially private classifier returned by `FlyBloomClassifier.release`.

    Its counts are noisy, so everything computed from it is private as well. It cannot learn or forget. Releases of
    disjoint rows can be added.

    Parameters
    ----------
    decay : float or "auto", default="auto"
        Decay of the filter, c in the paper. "auto" is ``2 / (mean + 2 * deviation)``, at most 0.4, for the mean count
        and the standard deviation of the noise; see docs/privacy.md.

    class_weight : "balanced", dict or None, default=None
        Weights of the classes in prediction, see `FlyBloomClassifier`. "balanced" uses the noisy counts.

    temperature : float, default=0.1
        Temperature of the softmax in `predict_proba`.

    n_jobs : int or None, default=None
        Number of threads. None means 1, -1 all processors. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.

    counts_
    class_count_
    releases_

    epsilon_, delta_ : float
        The largest epsilon and delta: the guarantee for each person if nobody has rows in two releases.

    decay_

    n_components_, n_connections_, n_winners_, signed_, seed_, center_, scale_, connections_, signs_
        As for `FlyHash`, with the number and the names of the features, ``n_features_in_`` and ``feature_names_in_``.

    See Also
    --------
    FlyBloomClassifier : The classifier that can be released.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> def released(rows, seed):
    ...     model = FlyBloomClassifier(512, n_winners=32, encoding="none", random_state=0).fit(X[rows], y[rows])
    ...     return model.release(8.0, delta=1e-5, classes=range(10), random_state=seed)
    >>> both = released(slice(900), 0) + released(slice(900, None), 1)
    >>> both.epsilon_, len(both.releases_)
    (8.0, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "decay": [Interval(Real, 0, 1, closed="right"), StrOptions({"auto"})],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "temperature": [Interval(Real, 0, None, closed="neither")],
        "n_jobs": HASH_PARAMETERS["n_jobs"],
    }

    def __init__(
        self,
        decay: float | str = "auto",
        *,
        class_weight: ClassWeight = None,
        temperature: float = 0.1,
        n_jobs: int | None = None,
    ) -> None:
        self.decay = decay
        self.class_weight = class_weight
        self.temperature = temperature
        self.n_jobs = n_jobs

    def merge(self, other: ReleasedClassifier) -> Self:
        """Add a release of other rows; ``a + b`` does the same without changing either.

        Parameters
        ----------
        other : ReleasedClassifier
            A release of a model with the same hash. Nobody may have rows in both, or the epsilons add up.

        Returns
        -------
        ReleasedClassifier
            The release itself.

        Raises
        ------
        IncompatibleHashError
            If the two hash differently; the message lists the differences.
        """
        if not isinstance(other, ReleasedClassifier):
            name = type(other).__name__
            msg = f"Cannot merge: expected another ReleasedClassifier. Got {name} instead. Release it first."
            raise TypeError(msg)
        hasher = self._require_hasher()
        hasher.require_same(other._require_hasher(), "merge")
        classes = unite(self.classes_, other.classes_)
        table = align_columns(self._table, self.classes_, classes, 1) + align_columns(
            other._table, other.classes_, classes, 1
        )
        return self.with_counts(hasher, classes, table, self._spent + other._spent)

    def __add__(self, other: object) -> Self:
        """Return the sum of two releases of disjoint rows."""
        return copy(self).merge(other) if isinstance(other, ReleasedClassifier) else NotImplemented

    def __radd__(self, other: object) -> Self:
        """Return a copy: sum() starts with zero."""
        return copy(self) if isinstance(other, int) and other == 0 else NotImplemented

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Raise an error: a release cannot learn or forget.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Not used.
        y : array-like of shape (n_samples,), default=None
            Not used.

        Raises
        ------
        PrivacyError
            Always.
        """
        msg = (
            "A release cannot learn or forget: it has no counts but noisy ones. Do so with the FlyBloomClassifier that "
            "it came from, and release that again."
        )
        raise PrivacyError(msg)

    partial_fit = forget = fit

    def with_counts(self, hasher: Hasher, classes: Array, table: Array, spent: tuple[Spent, ...]) -> Self:
        """Set the noisy counts, and return the classifier.

        Parameters
        ----------
        hasher : Hasher
            The hasher.
        classes : ndarray of shape (n_classes,)
            The labels, sorted.
        table : ndarray of shape (n_components, n_classes), int64
            The noisy counts.
        spent : tuple of Spent
            The cost of each release.

        Returns
        -------
        ReleasedClassifier
            The classifier itself.
        """
        self._fitted_hasher, self._table, self._spent = hasher, table, spent
        self.classes_ = classes
        return self

    @property
    def counts_(self) -> Array:
        """The noisy counts, one row per class; negative ones are 0 in predictions."""
        self._of_hasher("counts_")
        return read_only(self._table.T)

    @property
    def class_count_(self) -> Array:
        """Estimated number of rows of each class, from the noisy counts."""
        n_winners = self._of_hasher("class_count_").n_winners
        return np.asarray(np.maximum(0, np.rint(self._table.sum(axis=0) / n_winners)), np.int64)

    @property
    def releases_(self) -> list[dict[str, Any]]:
        """Mechanism, epsilon, delta and more of each release in the sum."""
        self._of_hasher("releases_")
        return [spent.to_json() for spent in self._spent]

    @property
    def epsilon_(self) -> float:
        """The largest epsilon of the releases."""
        self._of_hasher("epsilon_")
        return max(spent.epsilon for spent in self._spent)

    @property
    def delta_(self) -> float:
        """The largest delta of the releases."""
        self._of_hasher("delta_")
        return max(spent.delta for spent in self._spent)

    @property
    def decay_(self) -> float:
        """The decay in use."""
        self._of_hasher("decay_")
        if not isinstance(self.decay, str):
            return float(self.decay)
        deviation = math.sqrt(sum(spent.variance for spent in self._spent))
        mean = max(0.0, float(self._table.mean()))
        return float(min(MAX_DECAY, 2 / max(mean + 2 * deviation, 1.0)))

    def _to_parts(self) -> Parts:
        """Return the state that files store."""
        lowest = int(self._table.min())
        facts = {"classes": labels_to_json(self.classes_), "releases": self.releases_, "lowest": lowest}
        return Parts(self._require_hasher(), facts, {"counts": narrowest(self._table - lowest)})

    def _from_parts(self, hasher: Hasher | None, facts: dict[str, Any], arrays: dict[str, Array]) -> Self:
        """Restore the state from a file, and return the release; ValueError if it is invalid."""
        classes = classes_from_facts(facts)
        releases, lowest = facts.get("releases"), facts.get("lowest")
        if hasher is None or set(arrays) != {"counts"} or classes.size == 0:
            msg = "its counts are not one whole number for each component and class"
            raise ValueError(msg)
        table = check_table(arrays["counts"], hasher.n_components, classes.size)
        if type(lowest) is not int or abs(lowest) > LARGEST or int(table.max()) > LARGEST:
            msg = f"its counts are not from {-LARGEST} to {LARGEST}"
            raise ValueError(msg)
        if not (isinstance(releases, list) and releases):
            msg = "it does not say what it cost"
            raise ValueError(msg)
        return self.with_counts(hasher, classes, table.astype(np.int64) + lowest, tuple(map(Spent.from_json, releases)))

    def _validate_params(self) -> None:
        """Also check what scikit-learn's constraints cannot express."""
        super(FlyEstimator, self)._validate_params()
        check_class_weight(self.class_weight, type(self).__name__)

    def _reading(self, rows: Features, learned: Any = None, *, by_filters: bool = True) -> Reading:  # noqa: ARG002
        """Return the filters for validated rows; negative counts are 0."""
        hasher, counts = self._require_hasher(), np.maximum(self._table, 0)
        weights = class_weights(self.class_weight, self.classes_, self.class_count_)
        filters, n_winners = Filters(counts, counts.max(axis=0, initial=0), self.decay_, weights), hasher.n_winners
        read_out = filters.read_out(n_winners, hasher.projection.seed, rows.shape[0] * n_winners, self.n_jobs)
        return Reading(rows, hasher, self.classes_, read_out, lambda: float(self.temperature), n_winners)


class Releasing:
    """Mixin for differentially private releases of counts by class.

    The ledger of releases is part of the model and of its file.
    """

    _old_attributes: ClassVar[Renamed] = {
        "privacy_spent": (
            "flybloom.estimators.releasing.privacy_spent(model)",
            lambda self, delta=0.0: privacy_spent(self, delta),
        )
    }
    encoding: Any

    def release(
        self,
        epsilon: float,
        *,
        delta: float = 0.0,
        mechanism: str = "auto",
        n_kept: int | None = None,
        classes: Any = None,
        public: Sequence[str] = (),
        max_rows: int = 1,
        limit: tuple[float, float] | None = None,
        random_state: Any = None,
    ) -> ReleasedClassifier:
        """Return a differentially private model with noisy counts, which may be published.

        Neighbouring data sets differ by the rows of one person. The guarantee covers the counts. Labels and encoding
        must be known beforehand or declared `public`; see docs/privacy.md. The temperature of the release is 0.1.
        Models of windows are refused, because a new row changes which rows stay.

        Parameters
        ----------
        epsilon : float
            Privacy loss: probabilities change by a factor of at most ``exp(epsilon)``.
        delta : float, default=0
            Probability with which the bound may fail; use much less than one over the number of rows.
        mechanism : {"auto", "laplace", "gaussian", "top"}, default="auto"
            The mechanism. "laplace" (without delta) and "gaussian" (with delta) add noise to all counts; "top"
            publishes the `n_kept` largest counts and sets the others to 0. "auto" chooses one of the first two.
        n_kept : int or None, default=None
            Number of counts that "top" publishes.
        classes : array-like or None, default=None
            The labels known beforehand, possibly including some without rows.
        public : sequence of {"classes", "encoding"}, default=()
            What may be published although it depends on the rows.
        max_rows : int, default=1
            Maximum number of rows of one person, weights included.
        limit : tuple of (epsilon, delta) or None, default=None
            Limit for all releases of this model together. It is stored and can only be lowered.
        random_state : int, Generator or None, default=None
            None uses the randomness of the operating system. A seed makes the noise reproducible and removable; use it
            for tests only.

        Returns
        -------
        ReleasedClassifier
            A model that predicts and can be added to releases of other rows.

        Raises
        ------
        PrivacyError
            If the release would not be private or would exceed the limit. Nothing is spent then.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from flybloom import FlyBloomClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> model = FlyBloomClassifier(512, n_winners=32, encoding="none", random_state=0).fit(X, y)
        >>> released = model.release(8.0, delta=1e-5, classes=range(10), random_state=0)
        >>> bool(released.score(X, y) > 0.6)
        True
        """
        request = Request(epsilon, delta, mechanism, 0, _checked_rows(max_rows), 0 if n_kept is None else n_kept)
        generator = None if random_state is None else np.random.default_rng(random_state)
        _check_public(public)
        shared = self._shared  # type: ignore[attr-defined]
        with shared.learning:
            learned: Model = self._learned()  # type: ignore[attr-defined]
            ledger = ledger_of(learned).with_limit(limit)
            self._require_public_encoding(learned, public)
            counts: Any = learned.counts
            counts.unit.require_whole("release")
            known = _known_classes(classes, counts.classes, public)
            table = align_columns(counts.table, counts.classes, known, 1)
            noised, spent = noisy(table, request._replace(n_winners=counts.n_winners), generator)
            ledger = ledger.spend(spent)
            shared.replace(learned._replace(tuned={**learned.tuned, KEPT: ledger.to_json()}), is_own=False)
        released = ReleasedClassifier(class_weight=self.class_weight, n_jobs=self.n_jobs)  # type: ignore[attr-defined]
        return released.with_counts(learned.hasher, known, noised, (spent,))

    def _check_tuned(self, tuned: Any) -> None:
        """Raise an error unless the state is a ledger or empty."""
        if not (isinstance(tuned, dict) and set(tuned) <= {KEPT}):
            msg = "it was tuned to what no such model is tuned to"
            raise ValueError(msg)
        if KEPT in tuned:
            Ledger.from_json(tuned[KEPT])

    def _merged_tuned(self, mine: Model, theirs: Model, both: Model) -> dict[str, Any]:  # noqa: ARG002
        """Return the ledger of all rows of two models."""
        ledger = ledger_of(mine).joined(ledger_of(theirs))
        return {**mine.tuned, KEPT: ledger.to_json()} if ledger.releases or ledger.limit else mine.tuned

    def _require_public_encoding(self, learned: Model, public: Sequence[str]) -> None:
        """Raise an error if the encoding was fitted to the rows."""
        is_fixed = isinstance(self.encoding, Encoder) or all(
            isinstance(step, BiasColumns) for step in learned.hasher.encoder.steps
        )
        if not is_fixed and "encoding" not in public:
            steps = ", ".join(step.kind for step in learned.hasher.encoder.steps)
            msg = (
                f"The encoding of this model ({steps}) was fitted to its rows, and a release would tell it as it is. "
                "Learn with encoding='none' or with one that was fitted to other rows, Encoding(...).fit(X); or state "
                "that it is no secret: public=['encoding']."
            )
            raise PrivacyError(msg)


def ledger_of(learned: Model) -> Ledger:
    """Return the ledger of releases."""
    return Ledger.from_json(learned.tuned[KEPT]) if KEPT in learned.tuned else Ledger()


def never_released(learned: Model) -> Model:
    """Return the state with a ledger that refuses releases, also in sums and files.

    For counts that a row changes by more than its own winners, as those of a window do.
    """
    ledger = ledger_of(learned)._replace(limit=NO_RELEASE)
    return learned._replace(tuned={**learned.tuned, KEPT: ledger.to_json()})


def privacy_spent(model: Releasing, delta: float = 0.0) -> float:
    """Return the epsilon of all releases of a model together.

    Parameters
    ----------
    model : FlyBloomClassifier
        The model.
    delta : float, default=0
        The total delta.

    Returns
    -------
    float
        0 before the first release; infinite if there is none for this delta.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from flybloom import FlyBloomClassifier
    >>> from flybloom.estimators.releasing import privacy_spent
    >>> model = FlyBloomClassifier(64, encoding="none", random_state=0).fit(*load_iris(return_X_y=True))
    >>> released = [model.release(0.5, classes=range(3), random_state=seed) for seed in range(2)]
    >>> privacy_spent(model)
    1.0
    """
    with reading_learned(model) as learned:
        return ledger_of(learned).total(delta)


def _known_classes(classes: Any, learned: Array, public: Sequence[str]) -> Array:
    """Return the labels to publish, sorted: those known beforehand, or those learned if declared public."""
    if classes is None:
        if "classes" in public:
            return learned
        msg = (
            "Which labels there are was learned from the rows. Give those known beforehand, classes=[...]; or state "
            "that they are no secret: public=['classes']."
        )
        raise PrivacyError(msg)
    given = check_labels(
        np.repeat(np.asarray(list(classes)), 2)
    )  # twice: labels that are all different look like no labels
    unknown = unknown_among(learned, given)
    if unknown:
        msg = (
            f"The model has learned labels that are not among the classes given, such as {unknown[0]!r}. "
            "Give all labels that there may be."
        )
        raise PrivacyError(msg)
    return unite(learned, given)


def _checked_rows(max_rows: Any) -> int:
    """Return the validated number of rows per person."""
    if isinstance(max_rows, bool) or not isinstance(max_rows, int | np.integer) or max_rows < 1:
        msg = f"The 'max_rows' parameter of release must be a whole number from 1 on. Got {max_rows!r} instead."
        raise PrivacyError(msg)
    return int(max_rows)


def _check_public(public: Sequence[str]) -> None:
    """Raise an error for anything else declared public."""
    if isinstance(public, str) or any(word not in FITTED_TO_DATA for word in public):
        msg = f"The 'public' parameter of release must be a list of {FITTED_TO_DATA}. Got {public!r} instead."
        raise PrivacyError(msg)
