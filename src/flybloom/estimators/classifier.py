"""The Fly Bloom Filter classifier: counts of winners for each class."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np

from flybloom._internal.callers import user_level
from flybloom._internal.deprecated import ATTRIBUTE, Renamed
from flybloom._internal.sklearn_compat import Interval, StrOptions
from flybloom._internal.typing import Array, Features, Novelty, Size, WantedUnit, Winners
from flybloom._internal.validation import check_labels
from flybloom.core.counts.by_class import ClassCounts
from flybloom.core.counts.columns import known_codes
from flybloom.core.encoding.choice import MAX_WEIGHED
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.hashing.sizes import AUTO_COMPONENTS, BayesSizes, Sizes
from flybloom.core.model import Model
from flybloom.core.readout.class_weight import ClassWeight, class_weights
from flybloom.core.readout.complement_bayes import Bayes, left_out_scores, temperature_unit
from flybloom.core.readout.filters import AUTO, BAYES, FILTER, Filters, decay_of, fullness
from flybloom.core.readout.leave_one_out import LeaveOneOut
from flybloom.core.readout.linear import FrozenReadout
from flybloom.core.readout.temperature import fitted_temperature
from flybloom.estimators.base import HASH_PARAMETERS, OLD_PARAMETERS
from flybloom.estimators.classes import class_profiles, most_similar_classes
from flybloom.estimators.counting import WEIGHT_UNIT, CountingClassifier
from flybloom.estimators.frozen import FrozenClassifier
from flybloom.estimators.releasing import Releasing
from flybloom.estimators.scores import FilterScores, Reading
from flybloom.exceptions import SaturationWarning

SCORES = ("novelty", "familiarity", "score")
USUAL_TEMPERATURE = 0.1  # unless it was calibrated

CLASSIFIER_PARAMETERS: dict[str, list[Any]] = {
    **HASH_PARAMETERS,
    "decay": [Interval(Real, 0, 1, closed="right"), StrOptions({"auto"})],
    "class_weight": [StrOptions({"balanced"}), dict, None],
    "readout": [StrOptions({AUTO, BAYES, FILTER})],
    "weight_unit": WEIGHT_UNIT,
}


class FlyBloomClassifier(Releasing, FilterScores, CountingClassifier[ClassCounts]):
    """Fly Bloom Filter classifier, which counts the winners of a hash for each class.

    Each row is hashed (see `FlyHash`), and for each class it counts how often each component won. The novelty of a new
    row to a class is high if its winners have rarely won there; the predicted class is the smallest novel one. With
    ``decay=1`` this is FBFC of the paper [1]_, a Bloom filter for each class; below, FBFC*.

    Counts are the only learned state, so any order of rows, blocks and threads gives the same model, bit for bit.
    Models can be merged and rows forgotten exactly. Use it for streams, text, many classes and small models;
    `FlyRidgeClassifier` is usually more accurate on tables and images.

    Many threads may predict while another one learns: each call sees a `partial_fit` completely or not at all.

    Parameters
    ----------
    n_components : int, float or "auto", default="auto"
        Number of components, m in the paper.

        - If int, exactly that many.
        - If float, that multiple of the number of features.
        - If "auto", 32768; 131072 for sparse rows with more than 1024 features, such as text.

    n_connections : int, float or "auto", default="auto"
        Number of features that each component sums, s in the paper.

        - If int, exactly that many.
        - If float, that share of the features, at least one.
        - If "auto", half of the features, at most 64; 3 for such sparse rows.

    n_winners : int, float or "auto", default="auto"
        Number of winning components per row, rho in the paper.

        - If int, exactly that many.
        - If float, that share of ``n_components_``, at least one.
        - If "auto", 128 (384 for such sparse rows), or a quarter of the components if that is less.

    decay : float or "auto", default="auto"
        Decay of the filter, c in the paper, above 0 and up to 1: a component that won n times in a class has the weight
        ``(1 - decay)**n`` there. With 1 the filter is binary. It may be changed after fit. "auto" is ``16 /
        mean**1.375`` for the mean of all counts, at most 0.6, so that filters do not saturate as rows arrive;
        ``decay_`` is its current value.

    readout : {"auto", "filter", "bayes"}, default="auto"
        How predictions follow from the counts. It may be changed after fit.

        - If "filter", by the paper's filters: the smallest novel class.
        - If "bayes", by complement naive Bayes, which is better if most components have won in most classes, as with
          text.
        - If "auto", "bayes" for sparse rows with more than 1024 features and ``encoding="auto"``, otherwise "filter";
          see ``readout_``. With "filter", such rows have 32768 components of 6 features each, of which 256 win.

        `novelty`, ``filters_`` and `class_similarity` always use the filters.

    class_weight : "balanced", dict or None, default=None
        Weights of the classes in prediction: a component that won n times in a class of weight w has the weight ``(1 -
        decay)**(n * w)`` there. Without weights, large classes are favoured because their counts are larger. It may be
        changed after fit. It has no effect with a decay of 1.

        - If "balanced", ``n / (n_classes * class_count_)`` for the n rows that the model has learned at prediction
          time.
        - If a dict, a positive weight for each label; 1 for missing labels.
        - If None, all classes have the weight 1.

    signed : bool, default=True
        Whether connections have random signs. False gives the paper's binary matrix.

    encoding : str, Encoding or Encoder, default="auto"
        How columns are transformed before hashing; see `Encoding` and docs/encodings.md.

        - If "auto", columns are standardised, clipped at 2.5 standard deviations, imputed (up to 100 columns) and
          weighted by relevance to the labels. Up to 30 columns, or up to 30 informative ones of more, also become 5
          soft bins each, unless a k-NN check finds that bins do harm. Images are detected and become 50 principal
          components. Sparse rows are only weighted.
        - If "none", no transformation, as in the paper: integers are summed as integers.
        - Otherwise steps such as "standard", "bins", "relevance" and "rotation", joined by "+".
        - If an `Encoding`, its steps. If a fitted encoder, that encoder.

        Missing values (NaN) that are not imputed add nothing to a sum.

    weight_unit : float or "auto", default="auto"
        The `sample_weight` that counts as one row. Weights are rounded to integer multiples of 1/1024 of it.

        - If float, each weight is rounded to the nearest 1/1024 of a row, weights below half of that to 0.
        - If "auto", integers are used as they are. If the first block has fractional weights, the mean of its positive
          weights counts as one row, also in later blocks.

        Models can be added if they have the same ``weight_unit_``.

    random_state : int, RandomState instance or None, default=0
        Seed of the connections and of the choice between tied classes. Models with the same seed can be added, and
        are the same on every machine. None draws a new seed for each fit.

    n_jobs : int or None, default=None
        Number of threads. None means 1, -1 all processors. The result does not depend on it.

    Attributes
    ----------
    classes_
    class_count_
    counts_
    counts_per_row_
    weight_unit_
    temperature
    decay_
    readout_
    filters_

    n_components_, n_connections_, n_winners_, signed_, seed_, center_, scale_, connections_, signs_
        As for `FlyHash`, with the number and the names of the features, ``n_features_in_`` and ``feature_names_in_``.

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
    >>> again = again.set_params(encoding="none").partial_fit(X[500:1000], y[500:1000]).partial_fit(X[:500], y[:500])
    >>> model = model.set_params(encoding="none").fit(X[:1000], y[:1000])
    >>> bool((again.counts_ == model.counts_).all())
    True
    """

    _counts_type = ClassCounts
    _old_attributes: ClassVar[Renamed] = {
        "most_similar_classes": ("flybloom.report.most_similar_classes(model)", most_similar_classes),
        "class_profiles": ("flybloom.report.class_profiles(model)", class_profiles),
    }
    _old_parameters: ClassVar = {**OLD_PARAMETERS, "temperature": ATTRIBUTE}
    readout: Literal["auto", "filter", "bayes"] = "filter"  # of pickles from before there was any other
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = CLASSIFIER_PARAMETERS

    def __init__(
        self,
        n_components: Size = "auto",
        *,
        n_connections: Size = "auto",
        n_winners: Size = "auto",
        decay: float | Literal["auto"] = "auto",
        readout: Literal["auto", "filter", "bayes"] = "auto",
        class_weight: ClassWeight = None,
        signed: bool = True,
        encoding: Any = "auto",
        weight_unit: WantedUnit = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_connections = n_connections
        self.n_winners = n_winners
        self.decay = decay
        self.readout = readout
        self.class_weight = class_weight
        self.signed = signed
        self.encoding = encoding
        self.weight_unit = weight_unit
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        """Declare a poor score for the paper's unsigned matrix: rows of two features have only two hashes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = not self.signed
        return tags

    def leave_one_out_novelty(self, X: Any, y: Any, *, shared_encoding: bool = False) -> Novelty:
        """Return the novelty of learned rows to each class, each left out of the model.

        This is exact: one count less for each winner of the row in its own class. The encoding remains that of all
        rows. If it uses labels, the label of a row would leak into its own score; this is refused unless
        `shared_encoding` is true.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that were learned.
        y : array-like of shape (n_samples,)
            The labels they were learned with.
        shared_encoding : bool, default=False
            Whether to accept an encoding that was fitted to the labels of all rows. Do not estimate accuracies with it.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            From 0, familiar, to 1, never seen; columns as in ``classes_``.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from flybloom import FlyBloomClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> model = FlyBloomClassifier(encoding="bins", random_state=0).fit(X, y)
        >>> bool((model.leave_one_out_novelty(X, y) >= model.novelty(X)).all())
        True
        """
        with self._scoring(X) as (rows, learned):
            hasher, counts = learned.hasher, cast("ClassCounts", learned.counts)
            self._require_own_encoding(hasher, shared_encoding)
            counts.unit.require_whole("leave rows out")
            codes = known_codes(check_labels(y, rows.shape[0]), counts.classes)
            result = np.empty((rows.shape[0], counts.classes.size))
            scorer = LeaveOneOut(counts, self.decay, self.class_weight, result.shape[0] * counts.n_winners)

            def leave_out(block: slice, winners: Winners) -> None:
                result[block] = scorer.novelty(winners, codes[block])

            hasher.for_each_block(rows, leave_out, self.n_jobs)
        return result

    def leave_one_out_decision(self, X: Any, y: Any, *, shared_encoding: bool = False) -> Array:
        """Return the scores of learned rows, each left out of the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that were learned.
        y : array-like of shape (n_samples,)
            The labels they were learned with.
        shared_encoding : bool, default=False
            See `leave_one_out_novelty`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The scores; columns as in ``classes_``.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from flybloom import FlyBloomClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> model = FlyBloomClassifier(encoding="bins", readout="bayes", random_state=0).fit(X, y)
        >>> left_out = model.classes_[model.leave_one_out_decision(X, y).argmax(axis=1)]
        >>> bool((left_out == y).mean() < model.score(X, y))
        True
        """
        with self._scoring(X) as (rows, learned):
            if resolved_readout(self.readout, self.encoding, learned.hasher.encoder) == FILTER:
                return -self.leave_one_out_novelty(X, y, shared_encoding=shared_encoding)
            self._require_own_encoding(learned.hasher, shared_encoding)
            counts: Any = learned.counts
            counts.unit.require_whole("leave rows out")
            codes = known_codes(check_labels(y, rows.shape[0]), counts.classes)
            winners = learned.hasher.winners(rows, self.n_jobs)
            return left_out_scores(counts, self.class_weight, winners, codes)

    def explain(
        self, X: Any, labels: Any = None, *, kind: Literal["novelty", "familiarity", "score"] = "novelty"
    ) -> Array:
        """Return the share of each feature in the score of each row for a class.

        The novelty of a row is the mean weight of its winners. The part of each winner is divided among the features
        that increased its sum, in proportion. The shares are not negative and add up to the novelty.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        labels : label or array-like of shape (n_samples,), default=None
            The class for each row, or one class for all rows. None for the predicted class.
        kind : {"novelty", "familiarity", "score"}, default="novelty"
            What is divided: the novelty, one minus the novelty, or the score of ``readout="bayes"``.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows add up to ``novelty(X)`` for the class, to one minus it, or to the score without its intercept, up to
            rounding.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from flybloom import FlyBloomClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> model = FlyBloomClassifier(random_state=0).fit(X, y)
        >>> shares = model.explain(X[:1], labels=8)
        >>> shares.shape, round(shares.sum(), 3), round(model.novelty(X[:1])[0, 8], 3)
        ((1, 64), np.float64(0.875), np.float64(0.875))
        """
        _check_choice("kind", kind, SCORES)
        with self._scoring(X) as (rows, learned):
            hasher, counts = learned.hasher, cast("ClassCounts", learned.counts)
            is_score = kind == "score"
            if is_score and resolved_readout(self.readout, self.encoding, hasher.encoder) == FILTER:
                msg = (
                    'Only readout="bayes" has scores beside the novelty. Got "filter" instead. Use kind="familiarity".'
                )
                raise ValueError(msg)
            frozen = self._frozen_readout(learned) if is_score else None
            weights = self._filters(counts).familiarity() if frozen is None else frozen.weights * frozen.unit
            weights = 1.0 - weights if kind == "novelty" else weights
            weights = weights if is_score else weights / counts.n_winners  # a mean over winners
            return self._reading(rows, learned).shares(labels, weights, self.n_jobs)

    def calibrate(self, X: Any, y: Any) -> Self:
        """Set the temperature of `predict_proba` from rows that were not learned: that of least log-loss.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        FlyBloomClassifier
            The classifier itself.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from sklearn.metrics import log_loss
        >>> from flybloom import FlyBloomClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> model = FlyBloomClassifier().fit(X[:1000], y[:1000])
        >>> before = log_loss(y[1400:], model.predict_proba(X[1400:]))
        >>> bool(log_loss(y[1400:], model.calibrate(X[1000:1400], y[1000:1400]).predict_proba(X[1400:])) < before)
        True
        """
        with self._scoring(X) as (rows, learned):
            reading, counts = self._reading(rows, learned), cast("ClassCounts", learned.counts)
            codes = known_codes(check_labels(y, rows.shape[0]), counts.classes)
            unit = self._temperature_of(learned) / self.temperature
            self.temperature = fitted_temperature(-reading.scores(self.n_jobs), codes) / unit
        return self

    @property
    def temperature(self) -> float:
        """Temperature of the softmax in `predict_proba`; with Bayes, relative to the mean score of a winner.

        Smaller is more confident; the paper has 1. It is 0.1, unless it is set, or calibrated by `calibrate`.
        """
        return float(self.__dict__.get("temperature", USUAL_TEMPERATURE))

    @temperature.setter
    def temperature(self, value: float) -> None:
        """Refuse what is not above 0."""
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 < value < np.inf:
            msg = (
                f"The 'temperature' attribute of {type(self).__name__} must be a float in the range (0.0, inf). "
                f"Got {value!r} instead."
            )
            raise ValueError(msg)
        self.__dict__["temperature"] = float(value)

    def freeze(self) -> FrozenClassifier:
        """Return a classifier with the same predictions that cannot learn.

        Returns
        -------
        FrozenClassifier
            Hasher and weights, with the current `class_weight`, `decay` and `temperature`.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from flybloom import FlyBloomClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> model = FlyBloomClassifier(random_state=0).fit(X, y)
        >>> bool((model.freeze().predict(X) == model.predict(X)).all())
        True
        """
        with self._reading_learned() as learned:
            return FrozenClassifier(self.n_jobs).with_readout(learned.hasher, self._frozen_readout(learned))

    def _look_at(self, learned: Model, *, anew: bool = False) -> None:
        """Warn, once per fit, if filters can hardly separate the classes."""
        if resolved_readout(self.readout, self.encoding, learned.hasher.encoder) != FILTER:
            return
        if anew:
            self.__dict__.pop("_has_warned", None)
        counts: Any = learned.counts
        found = (
            None if "_has_warned" in self.__dict__ else fullness(counts, decay_of(self.decay, counts, of_count=True))
        )
        if found is None or not (found.is_full or found.is_alike):
            return
        self.__dict__["_has_warned"] = True
        if found.is_full:
            msg = (
                f"Filters are saturated: {found.full:.0%} of the components have won in every class, and what two "
                f"classes know has a cosine of {found.alike:.2f}. Raise n_components (now {counts.n_components}; "
                f"'auto' is {AUTO_COMPONENTS}), or use FlyRidgeClassifier."
            )
            msg += "" if self.decay == AUTO else f" decay='auto' helps as well (now {self.decay})."
        else:
            msg = (
                f"The classes look alike to the hash: the counts of two of them have a cosine of {found.same:.2f}. Use "
                "another encoding ('auto' or 'bins' where columns are few), see whether labels belong to their rows, "
                "or use FlyRidgeClassifier."
            )
        warnings.warn(msg, SaturationWarning, stacklevel=user_level())

    @property
    def decay_(self) -> float:
        """The decay in use; with "auto" it follows from the counts."""
        return decay_of(self.decay, self._handed_out("decay_"))

    @property
    def readout_(self) -> str:
        """The read-out in use, "filter" or "bayes"."""
        return resolved_readout(self.readout, self.encoding, self._of_hasher("readout_").encoder)

    @property
    def _sizes_type(self) -> type[Sizes]:  # type: ignore[override]
        """The rule for sizes "auto", which depends on the read-out for text."""
        return Sizes if self.readout == FILTER else BayesSizes

    @property
    def filters_(self) -> Array:
        """The paper's filters, ``(1 - decay_)**(counts_ * weight / counts_per_row_)`` for the weight of each class."""
        with self._reading_learned() as learned:
            counts: Any = learned.counts
            return self._filters(counts).weights().T

    def _frozen_readout(self, learned: Model) -> FrozenReadout:
        """Return weights, intercepts and temperature as a frozen read-out."""
        counts: Any = learned.counts
        temperature = self._temperature_of(learned)
        if resolved_readout(self.readout, self.encoding, learned.hasher.encoder) == FILTER:
            return self._filters(counts).frozen(counts.classes, counts.n_winners, temperature)
        return Bayes(counts, self.class_weight).frozen(temperature)

    def _reading(self, rows: Features, learned: Model, *, by_filters: bool = False) -> Reading:
        """Return the read-out for validated rows: that of labels, or always the filters."""
        hasher, counts = learned.hasher, cast("ClassCounts", learned.counts)
        seed, n_winners = hasher.projection.seed, counts.n_winners
        n_lookups = rows.shape[0] * n_winners
        if by_filters or resolved_readout(self.readout, self.encoding, hasher.encoder) == FILTER:
            read_out, divisor = self._filters(counts).read_out(n_winners, seed, n_lookups, self.n_jobs), n_winners
        else:
            read_out, divisor = Bayes(counts, self.class_weight).read_out(seed, n_lookups), 1
        return Reading(rows, hasher, counts.classes, read_out, lambda: self._temperature_of(learned), divisor)

    def _temperature_of(self, learned: Model) -> float:
        """Return the temperature of the softmax; scores of naive Bayes are sums."""
        is_filter = resolved_readout(self.readout, self.encoding, learned.hasher.encoder) == FILTER
        return float(self.temperature) * (1.0 if is_filter else temperature_unit(learned.hasher.n_winners))

    def _filters(self, counts: ClassCounts) -> Filters:
        """Return the filters of a snapshot of the counts."""
        weights = class_weights(self.class_weight, counts.classes, counts.class_count)
        return Filters(counts.table, counts.class_count, decay_of(self.decay, counts, of_count=True), weights)


def resolved_readout(readout: str, encoding: Any, encoder: Encoder) -> str:
    """Return the read-out: "auto" is "bayes" if the encoding is "auto" and the training rows were sparse and wide."""
    if readout != AUTO:
        return readout
    is_auto = isinstance(encoding, str) and encoding.strip().startswith(AUTO)
    is_text = is_auto and not encoder.steps and encoder.n_features > MAX_WEIGHED
    return BAYES if is_text else FILTER


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Raise an error for an invalid choice."""
    if value not in choices:
        msg = f"The {name!r} parameter must be one of {choices}. Got {value!r} instead."
        raise ValueError(msg)
