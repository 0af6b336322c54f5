"""Outlier detection with exact updates: leverage of winners, or the Fly Bloom Filter."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np

from flybloom._internal.sklearn_compat import Interval, StrOptions
from flybloom._internal.typing import Array, Features, Size, Winners
from flybloom.core.algebra import Forgotten
from flybloom.core.counts.base import Counts
from flybloom.core.counts.by_age import AgeCounts
from flybloom.core.counts.pairs import PairsAlone
from flybloom.core.encoding.choice import Wanted, wanted_encoding
from flybloom.core.encoding.columns import BiasColumns
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.hashing.sizes import LeverageSizes, Sizes
from flybloom.core.model import Model
from flybloom.core.readout.aged_filter import AgedFilter
from flybloom.core.readout.novelty_forms import NoveltyReadout
from flybloom.core.readout.pair_novelty import PairNovelty, solve
from flybloom.core.readout.temperature import weighted_quantile
from flybloom.core.sketch import Sketch
from flybloom.estimators.base import HASH_PARAMETERS, OLD_PARAMETERS, missing_attribute
from flybloom.estimators.counting import GIVEN, CountingEstimator, kept_value
from flybloom.estimators.frozen import FrozenNovelty
from flybloom.estimators.scores import NoveltyReading, NoveltyScores

USUAL_OFFSET = -0.5  # where there are no rows to set it by
AUTO, LEVERAGE, FILTER = "auto", "leverage", "filter"


class FlyBloomNovelty(NoveltyScores, CountingEstimator):
    """Outlier detector that counts the winners of a hash.

    Each row is hashed (see `FlyHash`), and nearby rows share winners. By default it counts how often two components won
    together, and the novelty of a row is its leverage, which is also the variance of a Gaussian process. With
    ``readout="filter"`` it counts how often each component won: in the Fly Bloom Filter [1]_ a row is novel if its
    winners have rarely won before. With `forget_after` rows that have not appeared for long become novel again.

    Counts are the only learned state, so any order of rows, blocks and threads gives the same detector, detectors can
    be merged, and rows forgotten exactly. With `forget_after` the order of rows matters.

    Parameters
    ----------
    n_components : int, float or "auto", default="auto"
        Number of components, m in the paper.

        - If int, exactly that many.
        - If float, that multiple of the number of features.
        - If "auto", 2048, or 1024 for more than 100 features, and twice as many for more than 20 000 rows; 32768 for
          filters.

    n_connections : int, float or "auto", default="auto"
        Number of features that each component sums, s in the paper.

        - If int, exactly that many.
        - If float, that share of the features, at least one.
        - If "auto", half of the hashed columns, at most 64, or 32 for leverage with more than 100 features.

    n_winners : int, float or "auto", default="auto"
        Number of winning components per row, rho in the paper.

        - If int, exactly that many.
        - If float, that share of ``n_components_``, at least one.
        - If "auto", a quarter of the components, at most 512, and at most 128 for filters.

    readout : {"auto", "leverage", "filter"}, default="auto"
        What is counted, and how novelty follows from it.

        - If "leverage", pairs of winners, in ``2 * n_components**2`` bytes. Novelty is the leverage of the row.
        - If "filter", winners, with one count per component.
        - If "auto", "leverage", or "filter" with `forget_after`; see ``readout_``.

    alpha : float, default=100.0
        Ridge penalty of the leverage. Larger values are more robust to outliers among the training rows. It may be
        changed after fit. Only for leverage.

    decay : float, default=0.4
        Decay of the filter, above 0 and up to 1: a component that won n times has the weight ``(1 - decay)**n``. It may
        be changed after fit. Only for filters.

    forget_after : int, default=None
        Number of further rows after which a row is forgotten, in eight equal steps: a win that is k steps old
        multiplies the weight by ``1 - decay * (8 - k) / 8``. None for never. Only for filters.

    contamination : "auto" or float, default="auto"
        Share of outliers among the training rows, which sets the threshold of `predict`.

        - If "auto", a row is an outlier if the odds of its novelty, ``novelty / (1 - novelty)``, exceed 1.5 times those
          of the mean leave-one-out novelty of the training rows.
        - If float, above 0 and up to 0.5: the threshold is the quantile of the leave-one-out novelty of the training
          rows, so it holds for new rows. `fit_predict` scores the training rows by leave-one-out as well.

    bias_columns : float, default=1.0
        Number of constant columns of value 1 to add, as a share of the features. The hash depends on the direction of a
        row and not on its distance from the mean; constant columns let it depend on distance. 0 omits them, as in the
        paper. Only for standardised columns. If positive, soft bins are not centred, which has the same effect.

    signed : bool, default=True
        Whether connections have random signs. False gives the paper's binary matrix.

    encoding : str, Encoding or Encoder, default="auto"
        How columns are transformed before hashing; see `Encoding` and docs/encodings.md.

        - If "auto", images of up to 512 pixels become histograms of gradients for leverage. Columns are standardised,
          and clipped at 10 standard deviations. Up to 100 columns (5 for filters) that are not images are straightened
          where they are skewed, and become 5 soft bins each over 4 standard deviations on either side. In a constant
          column, any other value is clipped. Sparse rows are not changed.
        - If "none", no transformation, as in the paper: integers are summed as integers.
        - Otherwise steps such as "standard", "bins", "relevance" and "rotation", joined by "+".
        - If an `Encoding`, its steps. If a fitted encoder, that encoder.

        Missing values (NaN) add nothing to a sum.

    random_state : int, RandomState instance or None, default=0
        Seed of the connections. Models with the same seed can be added, and are the same on every machine. None draws a
        new seed for each fit.

    n_jobs : int or None, default=None
        Number of threads. None means 1, -1 all processors. The result does not depend on it.

    Attributes
    ----------
    counts_ : ndarray of shape (n_ages, n_components_)
        How often each component won: one row, or eight by age with `forget_after`, newest first.

    readout_ : str
        The read-out in use, "leverage" or "filter".

    n_rows_ : int
        Number of rows learned and not forgotten.

    clock_ : int
        Number of rows seen so far with `forget_after`, otherwise 0.

    epoch_ : int or None
        Number of rows per age step.

    n_bias_columns_ : int
        Number of constant columns; in ``connections_`` they come after the features.

    offset_ : float
        Threshold of `score_samples`; outliers are below it.

    n_components_, n_connections_, n_winners_, signed_, seed_, center_, scale_, connections_, signs_
        As for `FlyHash`.

    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has string column names.

    See Also
    --------
    FlyBloomClassifier : A filter for each class.
    OpenSetClassifier : Rejection by a classifier.

    References
    ----------
    .. [1] S. Dasgupta, T. C. Sheehan, C. F. Stevens and S. Navlakha (2018). A neural data structure for novelty
           detection. PNAS 115, 13093-13098.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomNovelty
    >>> X, y = load_digits(return_X_y=True)
    >>> detector = FlyBloomNovelty(contamination=0.05, random_state=0).fit(X[(y != 7)][:1000])
    >>> round(float((detector.predict(X[y == 7]) == -1).mean()), 2)     # sevens were never met
    0.8
    >>> detector = detector.partial_fit(X[y == 7][:50])
    >>> round(float((detector.predict(X[y == 7][50:]) == -1).mean()), 2)
    0.1
    """

    _old_parameters: ClassVar = {**OLD_PARAMETERS, "recovery": "forget_after"}
    _has_labels = False
    readout: Literal["auto", "leverage", "filter"] = "filter"  # of pickles from before there was any other
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **HASH_PARAMETERS,
        "readout": [StrOptions({AUTO, LEVERAGE, FILTER})],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "decay": [Interval(Real, 0, 1, closed="right")],
        "bias_columns": [Interval(Real, 0, 1, closed="both")],
        "forget_after": [Interval(Integral, 1, None, closed="left"), None],
        "contamination": [StrOptions({"auto"}), Interval(Real, 0, 0.5, closed="right")],
    }

    def __init__(
        self,
        n_components: Size = "auto",
        *,
        n_connections: Size = "auto",
        n_winners: Size = "auto",
        readout: Literal["auto", "leverage", "filter"] = "auto",
        alpha: float = 100.0,
        decay: float = 0.4,
        forget_after: int | None = None,
        contamination: float | str = "auto",
        bias_columns: float = 1.0,
        signed: bool = True,
        encoding: Any = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_connections = n_connections
        self.n_winners = n_winners
        self.readout = readout
        self.alpha = alpha
        self.decay = decay
        self.forget_after = forget_after
        self.contamination = contamination
        self.bias_columns = bias_columns
        self.signed = signed
        self.encoding = encoding
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Fit from scratch and set the threshold.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; with `forget_after`, oldest first.
        y : None
            Ignored.

        Returns
        -------
        FlyBloomNovelty
            The fitted detector itself.
        """
        self._learn_rows(X, None, anew=True)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> Array:  # noqa: ARG002
        """Fit, and return which of the rows are outliers.

        With ``contamination="auto"`` this is ``fit(X).predict(X)``. Otherwise each row is scored by leave-one-out, so
        that this share of the rows are outliers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_samples,)
            -1 for outliers, 1 for the others.
        """
        block = self._learn_rows(X, None, anew=True)
        if isinstance(self.contamination, str):
            return self.predict(X)
        with self._reading_learned() as learned:
            scores = -self._left_out_novelty(learned, block.rows, np.arange(block.rows.shape[0]))
        return np.where(scores < self.offset_, -1, 1)

    def partial_fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Update the model with a block of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : None
            Ignored.

        Returns
        -------
        FlyBloomNovelty
            The detector itself.
        """
        self._learn_rows(X, None)
        return self

    def forget(self, X: Any, positions: Any = None) -> Forgotten:
        """Remove rows: afterwards the counts equal those of a detector that never learned them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that were learned.
        positions : array-like of shape (n_samples,), default=None
            With `forget_after`, the number of rows learned before each of these, which gives its age. Faded rows are
            skipped.

        Returns
        -------
        Forgotten
            Its ``extent`` is "complete" if nothing remains of the rows, or "counts only" if the encoding in use differs
            from that of the remaining rows; ``steps`` lists the differences.
        """
        return self._forget(X, None if self.forget_after is None else positions)

    def calibrate(self, X: Any, contamination: float) -> Self:
        """Set the threshold from held-out rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Held-out typical rows.
        contamination : float
            Share of them to be detected as outliers, above 0 and up to 0.5.

        Returns
        -------
        FlyBloomNovelty
            The detector itself.
        """
        if not 0 < contamination <= 0.5:  # noqa: PLR2004
            msg = (
                "The 'contamination' parameter of FlyBloomNovelty.calibrate must be a float above 0 and up to 0.5. "
                f"Got {contamination!r} instead."
            )
            raise ValueError(msg)
        offset = float(np.percentile(self.score_samples(X), 100 * contamination))
        with self._shared.learning:
            learned = self._learned()
            self._shared.replace(learned._replace(tuned={"offset": offset, GIVEN: True}), is_own=False)
        return self

    def leave_one_out_novelty(self, X: Any, positions: Any = None) -> Array:
        """Return the novelty of learned rows, each left out of the model; exact.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that were learned.
        positions : array-like of shape (n_samples,), default=None
            With `forget_after`, the number of rows learned before each of these.

        Returns
        -------
        ndarray of shape (n_samples,)
            From 0, familiar, to 1, never seen.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from flybloom import FlyBloomNovelty
        >>> X, _ = load_iris(return_X_y=True)
        >>> model = FlyBloomNovelty(random_state=0).fit(X)
        >>> bool((model.leave_one_out_novelty(X) >= model.novelty(X)).all())
        True
        """
        with self._scoring(X) as (rows, learned):
            if not self._has_positions:
                positions = np.zeros(rows.shape[0], np.int64)
            else:
                learned.counts.counter(positions, np.ones(rows.shape[0], np.int64), sign=-1)  # refuses wrong ones
            return self._left_out_novelty(learned, rows, np.asarray(positions))

    def freeze(self) -> FrozenNovelty:
        """Return a small detector that only scores, and scores the same.

        Returns
        -------
        FrozenNovelty
            How to hash, the weights, and the threshold.
        """
        self._require_hasher()
        with self._reading_learned() as learned:
            frozen = NoveltyReadout(self._reader(learned.counts).form, self._offset_of(learned))
            return FrozenNovelty(self.n_jobs).with_readout(learned.hasher, frozen)

    def _calibrated_with(self, learned: Model, sketch: Sketch) -> dict[str, Any]:
        """Return the threshold: a quantile of the leave-one-out scores of the sketch."""
        if isinstance(self.contamination, str):
            return dict(self._usual_calibration)
        positions = np.zeros(sketch.n_distinct, np.int64) if sketch.labels is None else sketch.labels
        scores = -self._left_out_novelty(learned, sketch.rows, positions)
        return {"offset": weighted_quantile(scores, sketch.weights, float(self.contamination))}

    def _left_out_novelty(self, learned: Model, rows: Features, positions: Array) -> Array:
        """Return the leave-one-out novelty of each row."""
        counts: Any = learned.counts
        reader = self._reader(counts)
        ages = counts.ages(positions, counts.clock) if isinstance(counts, AgeCounts) else positions
        novelty = np.empty(rows.shape[0])

        def leave_out(block: slice, winners: Winners) -> None:
            novelty[block] = reader.of_learned(winners, ages[block])

        learned.hasher.for_each_block(rows, leave_out, self.n_jobs)
        return novelty

    def _from_parts(self, hasher: Hasher | None, facts: dict[str, Any], arrays: dict[str, Array]) -> Self:
        """Restore the state from a file, and return the detector; ValueError if it is invalid."""
        if ("pairs" in arrays) != self._reads_leverage:  # a file from before there was a choice, or a later choice
            self.readout = "leverage" if "pairs" in arrays else "filter"
            self._validate_params()
        return super()._from_parts(hasher, facts, arrays)

    @property
    def readout_(self) -> str:
        """The read-out in use, "leverage" or "filter"."""
        learned = self._shared.value
        if learned is None:
            raise missing_attribute(self, "readout_")
        return LEVERAGE if isinstance(learned.counts, PairsAlone) else FILTER

    @property
    def offset_(self) -> float:
        """Threshold of `score_samples`; outliers are below it."""
        learned = self._shared.value
        if learned is None:
            raise missing_attribute(self, "offset_")
        return self._offset_of(learned)

    def _offset_of(self, learned: Model) -> float:
        """Return the threshold: given, calibrated with the sketch, or the default of the read-out."""
        tuned = self._tuned(learned)
        if "offset" in tuned:
            return float(tuned["offset"])
        mean = self._reader(learned.counts).mean_of_learned
        return -3.0 * mean / (2.0 + mean)  # where the odds are half as much again as those of the mean

    @property
    def _calibrates(self) -> bool:  # type: ignore[override]
        """Whether the threshold follows from rows."""
        return not isinstance(self.contamination, str)

    @property
    def _usual_calibration(self) -> dict[str, Any]:  # type: ignore[override]
        """The threshold without rows for calibration."""
        return {"offset": USUAL_OFFSET} if self._calibrates else {}

    def _calibration_key(self) -> Any:
        """Return the parameters on which the calibration depends."""
        return self.contamination, self.decay, self.alpha

    @property
    def n_rows_(self) -> int:
        """Number of rows learned and not forgotten."""
        return int(self._counts("n_rows_").n_rows)

    @property
    def clock_(self) -> int:
        """Number of rows seen so far with `forget_after`, otherwise 0."""
        return int(self._counts("clock_").n_met)

    @property
    def epoch_(self) -> int | None:
        """Number of rows per age step; None without `forget_after`."""
        return getattr(self._counts("epoch_"), "epoch", None)

    @property
    def n_bias_columns_(self) -> int:
        """Number of constant columns; in ``connections_`` they come after the features."""
        step: BiasColumns | None = self._of_hasher("n_bias_columns_").encoder.step(BiasColumns)
        return 0 if step is None else step.n

    @property
    def _encoding(self) -> Wanted:
        """The requested encoding."""
        return wanted_encoding(
            self.encoding,
            uses_labels=False,
            for_pairs=self._reads_leverage,
            bias=float(self.bias_columns),
        )

    @property
    def _reads_leverage(self) -> bool:
        """Whether pair counts are used."""
        return self.readout == LEVERAGE or (self.readout == AUTO and self.forget_after is None)

    @property
    def _counts_type(self) -> type[Counts]:  # type: ignore[override]
        """The type of the counts: pairs, or counts by age."""
        return PairsAlone if self._reads_leverage else AgeCounts

    @property
    def _sizes_type(self) -> type[Sizes]:  # type: ignore[override]
        """The rule for sizes "auto"."""
        return LeverageSizes if self._reads_leverage else Sizes

    @property
    def _counts_settings(self) -> dict[str, Any]:  # type: ignore[override]
        """Settings of counts by age."""
        if self._reads_leverage:
            return {}
        return {"forget_after": None if self.forget_after is None else int(self.forget_after)}

    @property
    def _has_positions(self) -> bool:  # type: ignore[override]
        """Whether rows have positions, from which their age follows."""
        return self.forget_after is not None

    @staticmethod
    def _check_labels(y: Any, n_rows: int | None = None) -> Any:  # noqa: ARG004
        """Return the positions of rows instead of labels, if given."""
        return None if y is None else np.asarray(y)

    def _validate_params(self) -> None:
        """Also check what scikit-learn's constraints cannot express."""
        super()._validate_params()
        if self.readout == LEVERAGE and self.forget_after is not None:
            msg = (
                "FlyBloomNovelty forgets with time only where it reads filters. Got readout='leverage' and "
                f"forget_after={self.forget_after!r}. Use readout='filter', or `forget` or a SlidingWindow."
            )
            raise ValueError(msg)

    def _check_tuned(self, tuned: Any) -> None:
        """Raise an error unless the state is a threshold or empty."""
        offset = kept_value(tuned, "offset", USUAL_OFFSET)
        if type(offset) is not float or not -1 <= offset <= 0:
            msg = "its threshold is not a number from -1 to 0"
            raise ValueError(msg)

    def _counts(self, name: str) -> Any:
        """Return the counts for an attribute."""
        learned = self._shared.value
        if learned is None:
            raise missing_attribute(self, name)
        return learned.counts

    def _reader(self, counts: Any) -> AgedFilter | PairNovelty:
        """Return the novelty read-out for a snapshot of the counts, cached."""
        if isinstance(counts, AgeCounts):
            return AgedFilter(counts.table, self.decay)
        shared = self._sharing
        with shared.deriving:
            key = (counts.edition, self.alpha)
            if shared.derived is None or shared.derived[0] is not counts or shared.derived[1] != key:
                shared.derived = (counts, key, solve(counts, float(self.alpha)))
            return shared.derived[2]  # type: ignore[no-any-return]

    @contextmanager
    def _reading_novelty(self, X: Any) -> Iterator[NoveltyReading]:
        """Yield validated rows with the current novelty read-out."""
        with self._scoring(X) as (rows, learned):
            reader = self._reader(learned.counts)
            yield NoveltyReading(rows, learned.hasher, reader.novelty, lambda: self._offset_of(learned))
