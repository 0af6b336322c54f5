"""The Fly Bloom Filter itself: an outlier detector that learns in one pass, forgets exactly, and may recover."""

from __future__ import annotations

import math
from numbers import Integral, Real
from threading import Lock
from typing import Any, ClassVar

import numpy as np
from sklearn.base import OutlierMixin

from flybloom._internal.sklearn_compat import Interval, StrOptions, fit_context
from flybloom._internal.typing import Array, Codes, Counts, Features, Weights, Winners
from flybloom._internal.validation import check_rows, unchanged_on_error
from flybloom.core.counts import by_age as recovering
from flybloom.core.hashing.projection import Projection
from flybloom.core.readout.filters import add, count_dtype
from flybloom.estimators._base import BaseFly

AUTO_OFFSET = -0.5  # half of what wins is new


class FlyBloomNovelty(OutlierMixin, BaseFly):  # type: ignore[misc]
    """Outlier detector that counts the winners of a hash: the Fly Bloom Filter.

    Each row is hashed (see `FlyHash`) and its winners are counted. A new row is novel as far as its winners have
    rarely won before [1]_: sensitive to distance, because near rows share winners, and, with `recovery`, to time,
    because what was not met for long becomes novel again.

    The counts are all that is learned. So learning block by block, in any order, on any number of threads gives the
    same filter, and rows can be forgotten exactly. With `recovery` the order of rows matters, as it should, and nothing
    else does.

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
        How fast the filter gets used to a component, above 0 and up to 1: one that won n times has the weight
        ``(1 - decay)**n``. It may be changed after fit.

    recovery : int, default=None
        After how many further rows a row is forgotten. Until then its effect fades in eight equal steps: a win that is
        k steps old multiplies the weight by ``1 - decay * (8 - k) / 8``. None means never.

    contamination : "auto" or float, default="auto"
        Share of outliers among the rows of `fit`, which sets the threshold of `predict`.

        - If "auto", a row is an outlier where its novelty exceeds 1/2.
        - If float, above 0 and up to 0.5: the threshold is the quantile of the novelty of the rows of `fit`, each
          scored as if it alone had not been learned. So new rows like those exceed it with that probability, while the
          rows themselves, which are familiar, hardly ever do; `fit_predict` judges them without themselves.

    anchors : float, default=0.25
        How many constant columns of value 1, one standard deviation, are hashed along, as a share of the features. The
        hash alone sees the direction of a row from the mean and not how far away it is; anchors are what far rows
        outshine. 0 leaves them out, as the paper does. Only with ``scaling="standard"``; otherwise rows have no common
        unit, and are hashed as they are.

    signed : bool, default=True
        Whether each connection has a random sign. False gives the paper's matrix of zeros and ones.

    scaling : {"none", "center", "standard"}, default="standard"
        What is done to the columns before hashing. "center" subtracts their means, "standard" divides by their standard
        deviations as well. Sparse rows need "none". With `partial_fit` the first block fixes the scaling.

    random_state : int, RandomState instance or None, default=None
        Seed of the connections. An int is used as it is and makes the filter reproducible on every machine.

    n_jobs : int or None, default=None
        Number of threads. None means 1, -1 all processors. Nothing but the time depends on it.

    Attributes
    ----------
    counts_ : ndarray of shape (n_ages, n_components_)
        How often each component won: one row, or one for each of eight ages, the newest first, with `recovery`.

    n_rows_ : int
        Number of rows learned and not forgotten.

    clock_ : int
        Number of rows met so far, if there is `recovery`; 0 without.

    epoch_ : int or None
        Number of rows after which what was learned grows one step older.

    n_anchors_ : int
        Number of constant columns; in ``connections_`` they come after the features.

    offset_ : float
        Threshold on `score_samples`; outliers score less.

    n_components_, n_connections_, n_winners_, signed_, seed_, center_, scale_, connections_, signs_
        As for `FlyHash`.

    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X has names that are strings.

    See Also
    --------
    FlyBloomClassifier : One such filter for each class.

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
    0.74
    >>> detector = detector.partial_fit(X[y == 7][:50])
    >>> round(float((detector.predict(X[y == 7][50:]) == -1).mean()), 2)
    0.13
    """

    _counts: Counts
    epoch_: int | None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseFly._parameter_constraints,  # noqa: SLF001
        "decay": [Interval(Real, 0, 1, closed="right")],
        "anchors": [Interval(Real, 0, 1, closed="both")],
        "recovery": [Interval(Integral, 1, None, closed="left"), None],
        "contamination": [StrOptions({"auto"}), Interval(Real, 0, 0.5, closed="right")],
    }

    def __init__(
        self,
        n_components: int | float | str = "auto",
        *,
        n_connections: int | float | str = "auto",
        n_winners: int | float | str = "auto",
        decay: float = 0.4,
        recovery: int | None = None,
        contamination: float | str = "auto",
        anchors: float = 0.25,
        signed: bool = True,
        scaling: str = "standard",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_connections = n_connections
        self.n_winners = n_winners
        self.decay = decay
        self.recovery = recovery
        self.contamination = contamination
        self.anchors = anchors
        self.signed = signed
        self.scaling = scaling
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None) -> FlyBloomNovelty:  # noqa: ARG002
        """Forget everything, learn the rows, and set the threshold.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows, oldest first where there is `recovery`.
        y : None
            Ignored.

        Returns
        -------
        FlyBloomNovelty
            The fitted detector itself.
        """
        with unchanged_on_error(self):
            self._fit(X)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> Array:  # noqa: ARG002
        """Fit, and tell which of the rows are outliers among the others: each is judged as if it had not been learned.

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
        self._validate_params()
        with unchanged_on_error(self):
            scores = self._fit(X)
        return np.where(scores < self.offset_, -1, 1)

    @fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None) -> FlyBloomNovelty:  # noqa: ARG002
        """Learn a block of rows in addition to those before.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows. The first block fixes sizes, scaling and threshold; `calibrate` moves the threshold later.
        y : None
            Ignored.

        Returns
        -------
        FlyBloomNovelty
            The detector itself.
        """
        with unchanged_on_error(self):
            if hasattr(self, "seed_"):
                self._learn(X)
            else:
                self._fit(X)
        return self

    def forget(self, X: Any, positions: Any = None) -> FlyBloomNovelty:
        """Undo the learning of rows exactly: the counts become what they would be had the rows never been met.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that were learned.
        positions : array-like of shape (n_samples,), default=None
            With `recovery`, how many rows had been learned before each of these, from which its age follows. Rows that
            have faded are left alone.

        Returns
        -------
        FlyBloomNovelty
            The detector itself.
        """
        X = self._check_scoring(X)
        ages = self._ages_of(positions, X.shape[0])
        is_kept = ages >= 0
        removed = self._count(X[is_kept], ages[is_kept])
        if (removed > self._counts).any():
            msg = (
                "Some of the rows were not learned, or already forgotten: their winners were counted less often than "
                "that. Nothing was forgotten. Pass only rows that were learned."
            )
            raise ValueError(msg)
        self._counts = self._counts - removed
        self.n_rows_ -= int(is_kept.sum())
        return self

    def calibrate(self, X: Any, contamination: float) -> FlyBloomNovelty:
        """Set the threshold from rows that were not learned.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Typical rows, held out.
        contamination : float
            Share of them that is to be found an outlier, above 0 and up to 0.5.

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
        self.offset_ = float(np.percentile(self.score_samples(X), 100 * contamination))
        return self

    def novelty(self, X: Any) -> Array:
        """Return how novel each row is.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            From 0, familiar, to 1, never met.
        """
        X = self._check_scoring(X)
        return self._novelty_of(X, np.full(X.shape[0], -1))

    def score_samples(self, X: Any) -> Array:
        """Return minus the novelty of each row: the lower, the more abnormal.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            From -1, never met, to 0, familiar.
        """
        return -self.novelty(X)

    def decision_function(self, X: Any) -> Array:
        """Return `score_samples` less the threshold: negative for outliers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Negative for outliers.
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Array:
        """Tell which rows are outliers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            -1 for outliers, 1 for the others.
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    @property
    def counts_(self) -> Counts:
        """How often each component won, of shape (n_ages, n_components_), the newest age first."""
        return self._counts.T

    def _start(self, X: Features, weights: Weights | None = None) -> None:
        """Fix sizes, seed, scaling and anchors from the first rows."""
        self.n_anchors_ = math.ceil(self.anchors * self.n_features_in_) if self.scaling == "standard" else 0
        super()._start(X, weights)

    def _set_projection(self) -> None:
        """Prepare the connections, to features and anchors."""
        self._projection = Projection(
            self.seed_,
            self.n_features_in_ + self.n_anchors_,
            self.n_components_,
            self.n_connections_,
            signed=self.signed_,
        )

    def _scaled(self, rows: Features) -> Features:
        """Return rows as they are hashed, anchors included."""
        scaled = super()._scaled(rows)
        if self.n_anchors_ == 0:
            return scaled
        return np.hstack([scaled, np.ones((scaled.shape[0], self.n_anchors_), np.float32)])

    def _fit(self, X: Any) -> Array:
        """Learn from scratch; return the score of each row as if it alone had not been learned."""
        for name in [name for name in vars(self) if name in ("_counts", "_projection") or name.endswith("_")]:
            delattr(self, name)
        X, ages = self._learn(X)
        scores: Array = -self._novelty_of(X, ages)
        self.offset_ = AUTO_OFFSET
        if not isinstance(self.contamination, str):
            self.offset_ = float(np.percentile(scores, 100 * self.contamination))
        return scores

    def _learn(self, X: Any) -> tuple[Features, Codes]:
        """Check, count, and return the rows with the age at which each now stands, -1 where it has faded already."""
        is_first = not hasattr(self, "seed_")
        X = check_rows(self, X, reset=is_first)
        if is_first:
            self._start(X)
            self.epoch_ = None if self.recovery is None else recovering.epoch_length(self.recovery)
            self.n_rows_, self.clock_ = 0, 0
            self._counts = np.zeros((self.n_components_, recovering.n_ages(self.epoch_)), np.int32)
        before = self.clock_
        n_rows = self.n_rows_ + X.shape[0]
        counts = self._counts
        if self.epoch_ is None:
            ages = np.zeros(X.shape[0], np.int64)
        else:
            self.clock_ = before + X.shape[0]
            ages = recovering.ages(np.arange(before, self.clock_), self.clock_, self.epoch_)
            counts = recovering.aged(counts, self.clock_ // self.epoch_ - before // self.epoch_)
        is_kept = ages >= 0
        added = self._count(X[is_kept] if not is_kept.all() else X, ages[is_kept])
        self._counts = counts.astype(count_dtype(np.array([n_rows])), copy=False) + added
        self.n_rows_ = n_rows
        return X, ages

    def _count(self, X: Features, ages: Codes) -> Counts:
        """Return how often each component won at each age among these rows."""
        table = np.zeros_like(self._counts)
        ones = np.ones(X.shape[0], np.int64)
        lock = Lock()

        def count(block: slice, winners: Winners) -> None:
            with lock:
                add(winners, ages[block], ones[block], table)

        if X.shape[0]:
            self._for_winners(X, count)
        return table

    def _novelty_of(self, X: Features, ages: Codes) -> Array:
        """Return the novelty of rows, each without its own count at its age."""
        tables = recovering.weight_tables(self._counts, self.decay)
        result = np.empty(X.shape[0])

        def score(block: slice, winners: Winners) -> None:
            result[block] = recovering.novelty(winners, ages[block], self._counts, tables)

        self._for_winners(X, score)
        return result

    def _ages_of(self, positions: Any, n_rows: int) -> Codes:
        """Return the ages of rows that were learned at these positions."""
        if self.epoch_ is None:
            return np.zeros(n_rows, np.int64)
        given = np.full(0, -1) if positions is None else np.asarray(positions)
        if (
            given.shape != (n_rows,)
            or given.dtype.kind not in "ui"
            or (given < 0).any()
            or (given >= self.clock_).any()
        ):
            msg = (
                f"With recovery, forget needs the position of each of the {n_rows} rows: whole numbers from 0 to "
                f"{self.clock_ - 1}, how many rows had been learned before it. Got {positions!r} instead."
            )
            raise ValueError(msg)
        return recovering.ages(given, self.clock_, self.epoch_)
