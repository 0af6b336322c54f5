"""Ridge classification from pair counts."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np

from flybloom._internal.sklearn_compat import Interval, StrOptions
from flybloom._internal.typing import Array, Features, Size, WantedUnit
from flybloom._internal.validation import check_labels
from flybloom.core.counts.columns import known_codes
from flybloom.core.counts.pairs import PairsByClass
from flybloom.core.hashing.sizes import ClassPairSizes
from flybloom.core.model import Model
from flybloom.core.readout.class_weight import ClassWeight, class_weights
from flybloom.core.readout.left_out import LeftOut
from flybloom.core.readout.linear import FrozenReadout
from flybloom.core.readout.ridge import indicator
from flybloom.core.readout.temperature import fitted_temperature
from flybloom.core.sketch import Sketch
from flybloom.estimators.base import HASH_PARAMETERS, missing_attribute
from flybloom.estimators.counting import GIVEN, CountingClassifier, kept_value
from flybloom.estimators.frozen import FrozenClassifier
from flybloom.estimators.scores import LinearScores, Reading
from flybloom.estimators.solved import RIDGE_PARAMETERS, USUAL_TEMPERATURE, SolvedEstimator


class FlyRidgeClassifier(LinearScores, SolvedEstimator, CountingClassifier[PairsByClass]):
    """Ridge classifier on hashes, computed from counts of pairs of winners.

    Each row is hashed (see `FlyHash`). It counts how often each component won in each class, as `FlyBloomClassifier`
    does, and how often two components won together. The weights of ridge regression on the hashes of all rows, and its
    penalty, follow from these counts. Use it for tables and images; it is usually more accurate than
    `FlyBloomClassifier`.

    Counts are the only learned state, so any order of rows, blocks and threads gives the same counts, bit for bit;
    models can be merged and rows forgotten exactly. Weights are solved in float64 when first needed after a change:
    equal counts give equal weights on one machine, and weights that agree to about ten digits on different ones.

    Parameters
    ----------
    n_components : int, float or "auto", default="auto"
        Number of components. Pair counts take ``2 * n_components**2`` bytes.

        - If int, exactly that many.
        - If float, that multiple of the number of features.
        - If "auto", 1024 for up to 1000 rows in the first block or `fit`, 2048 for up to 2000, 4096 for more. For
          rows that are unit vectors, as embeddings are, 2048 for up to 1000 rows, 4096 for more, and at least twice
          the number of columns.

    n_connections : int, float or "auto", default="auto"
        Number of features that each component sums.

        - If int, exactly that many.
        - If float, that share of the features, at least one.
        - If "auto", half of the hashed columns, at most 16; at most 64 for more than 100 columns, and 24 for windows.

    n_winners : int, float or "auto", default="auto"
        Number of winning components per row.

        - If int, exactly that many. If 0, none wins: components are the columns and products of two columns, as whole
          numbers from -127 to 127, and sums of products are counted instead of pairs. Columns should be standardised.
        - If float, that share of ``n_components_``, at least one.
        - If "auto", an eighth of the components; without windows at most 256, or a sixteenth of more than 4096. For
          unit vectors, 0.

    alpha : float or "gcv", default="gcv"
        Ridge penalty, as a multiple of the mean eigenvalue of the pair counts. "gcv" chooses it by generalised
        cross-validation from the counts. It may be changed after fit.

    class_weight : "balanced", dict or None, default=None
        Weights of the classes in prediction: scores are shifted by the logarithm of the weights. "balanced" compensates
        for the sizes of the classes. It may be changed after fit.

    signed : bool, default=True
        Whether connections have random signs.

    encoding : str, Encoding or Encoder, default="auto"
        How columns are transformed before hashing; see `Encoding` and docs/encodings.md.

        - If "auto", columns are standardised, clipped at 2.5 standard deviations, imputed (up to 100 columns) and
          weighted by relevance to the labels. Up to 30 columns, or up to 30 informative ones of more, also become 5
          soft bins each, unless a k-NN check finds that bins do harm, and 3 of 8 winners are those of random ferns.
          Images are detected: components see windows of those with more than 512 pixels, others become 50 principal
          components. Sparse rows are only weighted.
        - If "none", no transformation: integers are summed as integers.
        - Otherwise steps such as "standard", "bins", "relevance" and "rotation", joined by "+".
        - If an `Encoding`, its steps. If a fitted encoder, that encoder.

    weight_unit : float or "auto", default="auto"
        The `sample_weight` that counts as one row. Weights are rounded to integer multiples of 1/1024 of it.

        - If float, each weight is rounded to the nearest 1/1024 of a row, weights below half of that to 0.
        - If "auto", integers are used as they are. If the first block has fractional weights, the mean of its positive
          weights counts as one row, also in later blocks.

        Models can be added if they have the same ``weight_unit_``.

    random_state : int, RandomState instance or None, default=0
        Seed of the connections. Models with the same seed can be added, and are the same on every machine. None draws a
        new seed for each fit.

    n_jobs : int or None, default=None
        Number of threads. None means 1, -1 all processors. Counts do not depend on it.

    Attributes
    ----------
    classes_
    class_count_
    counts_
    pair_counts_
    coef_
    intercept_
    alpha_
    gcv_
    temperature_

    n_components_, n_connections_, n_winners_, signed_, seed_, center_, scale_, connections_, signs_
        As for `FlyHash`, with the number and the names of the features, ``n_features_in_`` and ``feature_names_in_``.

    See Also
    --------
    FlyBloomClassifier : Counts of winners by class: smaller, and better for many classes.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyRidgeClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = FlyRidgeClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.94)
    True
    >>> never = FlyRidgeClassifier(random_state=0).fit(X[100:], y[100:])
    >>> model = FlyRidgeClassifier(random_state=0).fit(X, y)
    >>> model.forget(X[:100], y[:100])
    Forgotten('complete', steps=())
    >>> bool((model.pair_counts_ == never.pair_counts_).all())
    True
    """

    _counts_type = PairsByClass
    _has_ferns = True
    _counts_values = True
    _sizes_type = ClassPairSizes
    _calibrates = True
    _usual_calibration: ClassVar[dict[str, Any]] = {"temperature": USUAL_TEMPERATURE}  # type: ignore[misc]
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RIDGE_PARAMETERS,
        "n_winners": [Interval(Integral, 0, None, closed="left"), *HASH_PARAMETERS["n_winners"][1:]],
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    def __init__(
        self,
        n_components: Size = "auto",
        *,
        n_connections: Size = "auto",
        n_winners: Size = "auto",
        alpha: float | str = "gcv",
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
        self.alpha = alpha
        self.class_weight = class_weight
        self.signed = signed
        self.encoding = encoding
        self.weight_unit = weight_unit
        self.random_state = random_state
        self.n_jobs = n_jobs

    def leave_one_out_decision(self, X: Any, y: Any, *, shared_encoding: bool = False) -> Array:
        """Return leave-one-out scores of learned rows.

        They equal those of a model fitted to the other rows with the same penalty, to 1e-9 for an alpha of at least
        1e-5. The encoding remains that of all rows. If it uses labels, the label of a row would leak into its own
        score; this is refused unless `shared_encoding` is true.

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
            The scores; columns as in ``classes_``.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from flybloom import FlyRidgeClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> model = FlyRidgeClassifier(encoding="rotation", random_state=0).fit(X, y)
        >>> left_out = model.classes_[model.leave_one_out_decision(X, y).argmax(axis=1)]
        >>> bool((left_out == y).mean() < model.score(X, y))
        True
        """
        with self._reading_learned() as learned:
            self._require_own_encoding(learned.hasher, shared_encoding)
        with self._leaving_out(X, y) as rows:
            return rows.own()

    def novelty(self, X: Any) -> Array:
        """Return the novelty of each row to each class: one minus its score, shrunk by its leverage.

        A row with high leverage is novel to all classes, whatever its scores are.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            About 0 for rows of the class, about 1 for others; columns as in ``classes_``.
        """
        with self._scoring(X) as (rows, learned):
            counts: Any = learned.counts
            alpha = self._solution(counts).alpha
            return LeftOut(counts, alpha).novelty(learned.hasher.winners(rows, self.n_jobs))

    def leave_one_out_novelty(self, X: Any, y: Any, *, shared_encoding: bool = False) -> Array:
        """Return the novelty of learned rows, each left out of the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that were learned.
        y : array-like of shape (n_samples,)
            The labels they were learned with.
        shared_encoding : bool, default=False
            See `leave_one_out_decision`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The novelty; columns as in ``classes_``.
        """
        with self._reading_learned() as learned:
            self._require_own_encoding(learned.hasher, shared_encoding)
        with self._leaving_out(X, y) as rows:
            return rows.own_novelty()

    def _truth(self, learned: Model, rows: Features, y: Any) -> Array:
        """Return a 1 for the class of each learned row, and zeros for the others."""
        counts: Any = learned.counts
        n_rows = rows.shape[0]
        return indicator(known_codes(check_labels(y, n_rows), counts.classes), counts.classes.size)

    def calibrate(self, X: Any, y: Any) -> Self:
        """Set the temperature of `predict_proba` from held-out rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        FlyRidgeClassifier
            The classifier itself.
        """
        scores = self._decision_scores(X)
        temperature = fitted_temperature(-scores, known_codes(check_labels(y, len(scores)), self.classes_))
        with self._shared.learning:
            learned = self._learned()
            tuned = {"temperature": temperature, GIVEN: True}
            self._shared.replace(learned._replace(tuned=tuned), is_own=False)
        return self

    def explain(self, X: Any, labels: Any = None) -> Array:
        """Return the share of each feature in the score of each row for a class.

        A score is a sum over winners. The part of each winner is divided among the features that increased its sum, in
        proportion.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        labels : label or array-like of shape (n_samples,), default=None
            The class for each row, or one class for all rows. None for the predicted class.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows add up to the score for the class minus its intercept, up to rounding.
        """
        with self._scoring(X) as (rows, learned):
            ridge = self._solution(learned.counts)
            return self._reading(rows, learned).shares(labels, ridge.weights * ridge.unit, self.n_jobs)

    def freeze(self) -> FrozenClassifier:
        """Return a small classifier with the same predictions that cannot learn; `class_weight` is then fixed.

        Returns
        -------
        FrozenClassifier
            Hasher and weights. Its file is 20 to 100 times smaller.
        """
        self._require_hasher()
        with self._reading_learned() as learned:
            return FrozenClassifier(self.n_jobs).with_readout(learned.hasher, self._frozen_readout(learned))

    @property
    def coef_(self) -> Array:
        """Weights of the components, of shape ``(n_classes, n_components_)``; derived from the counts."""
        ridge = self._current()
        return np.asarray(ridge.weights.T * ridge.unit)

    @property
    def intercept_(self) -> Array:
        """Intercept of each class; derived from the counts."""
        return self._current().intercept

    @property
    def temperature_(self) -> float:
        """What scores are divided by before the softmax of `predict_proba`: calibrated by leave-one-out."""
        learned = self._shared.value
        if learned is None:
            raise missing_attribute(self, "temperature_")
        return self._temperature_of(learned)

    def _temperature_of(self, learned: Model) -> float:
        """Return the temperature: given, or calibrated with the sketch."""
        return float(self._tuned(learned)["temperature"])

    def _frozen_readout(self, learned: Model) -> FrozenReadout:
        """Return weights, intercepts and temperature as a frozen read-out."""
        counts: Any = learned.counts
        return self._solution(counts).frozen(counts.classes, self._shift(learned), self._temperature_of(learned))

    def _reading(self, rows: Features, learned: Model, *, by_filters: bool = False) -> Reading:  # noqa: ARG002
        """Return the read-out for validated rows."""
        counts: Any = learned.counts
        read_out = self._solution(counts).read_out(self._shift(learned), learned.hasher.projection.seed)
        return Reading(rows, learned.hasher, counts.classes, read_out, lambda: self._temperature_of(learned))

    def _calibrated_with(self, learned: Model, sketch: Sketch) -> dict[str, Any]:
        """Return the temperature that minimises the leave-one-out log-loss of the sketch."""
        found = self._left_out_of(learned, sketch)
        if found is None:
            return dict(self._usual_calibration)
        scores, truth = found
        return {"temperature": fitted_temperature(-scores, truth.argmax(axis=1), sketch.weights[: len(truth)])}

    def _check_tuned(self, tuned: Any) -> None:
        """Raise an error unless the state is a temperature or empty."""
        value = kept_value(tuned, "temperature", USUAL_TEMPERATURE)
        if type(value) is not float or not 0 < value < np.inf:
            msg = "its temperature is not a number above 0"
            raise ValueError(msg)

    def _shift(self, learned: Model) -> Array:
        """Return the shift of the scores by class weights: their logarithm in units of the temperature."""
        counts: Any = learned.counts
        weights = class_weights(self.class_weight, counts.classes, counts.class_count)
        if weights is None:
            return np.zeros(counts.classes.size)
        return np.asarray(np.log(weights) * self._temperature_of(learned))
