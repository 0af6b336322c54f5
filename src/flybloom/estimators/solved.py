"""Base classes of ridge estimators, whose weights are solved when first needed after a change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.linalg import LinAlgError
from sklearn.base import MultiOutputMixin

from flybloom._internal.deprecated import Renamed
from flybloom._internal.sklearn_compat import Interval, StrOptions
from flybloom._internal.typing import Array, Features, Size, WantedUnit, Winners
from flybloom.core.counts.pairs import n_bytes_of
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.hashing.sizes import PairSizes
from flybloom.core.model import Model
from flybloom.core.readout.left_out import LeftOut
from flybloom.core.readout.linear import FrozenOutputs, LinearReadout
from flybloom.core.readout.ridge import Ridge, solve
from flybloom.core.sketch import Sketch
from flybloom.estimators.base import HASH_PARAMETERS, read_only
from flybloom.estimators.counting import WEIGHT_UNIT, CountingEstimator, LabelledEstimator

USUAL_TEMPERATURE = 0.1  # where there are too few rows to tell
FEW_ROWS = 30
MOST_CALIBRATED, LEAST_CALIBRATED = 2048, 1024  # rows that temperatures and thresholds follow from, of many
CALIBRATION_WORK = 2**22  # rows times components, up to which there are the most: a row costs the square of these
RIDGE_PARAMETERS: dict[str, list[Any]] = {
    **HASH_PARAMETERS,
    "weight_unit": WEIGHT_UNIT,
    "alpha": [StrOptions({"gcv"}), Interval(Real, 0, None, closed="neither")],
}


class LearnedRows(NamedTuple):
    """Learned rows with a leave-one-out solver."""

    rows: Features
    learned: Model
    left_out: LeftOut
    winners: Winners
    truth: Array

    def own(self) -> Array:
        """Return leave-one-out scores."""
        return self.left_out.own(self.winners, self.truth)

    def own_novelty(self) -> Array:
        """Return the leave-one-out novelty to each class."""
        return self.left_out.own_novelty(self.winners, self.truth)


class SolvedEstimator(CountingEstimator):
    """Estimator from pair counts whose weights solve linear equations."""

    _old_attributes: ClassVar[Renamed] = {
        "estimate_memory": (
            "memory_usage(n_rows, n_features=...)",
            lambda self, n_features, n_rows=None: self.memory_usage(n_rows or 0, n_features=n_features),
        )
    }
    _counts_pairs = True
    _sizes_type = PairSizes
    alpha: float | str

    def memory_usage(self, more_rows: int = 0, *, n_features: int | None = None) -> dict[str, int]:
        """Return how many bytes of memory the model takes, or will take.

        Parameters
        ----------
        more_rows : int, default=0
            Rows of known classes yet to be learned.
        n_features : int or None, default=None
            Before `fit`: the number of columns of these rows.

        Returns
        -------
        dict
            ``counts``; ``connections``, which are drawn when rows are first hashed, and are in no file; and
            ``more_rows``, what so many further rows may add. Before `fit`, ``counts`` of pairs, and what ``solving``
            needs besides.
        """
        if n_features is None:
            return super().memory_usage(more_rows)
        sizes = self._sizes_type(self.n_components, self.n_connections, self.n_winners)
        m, _, _ = sizes.for_features(n_features, None, more_rows or None)
        return {"counts": n_bytes_of(m, more_rows), "solving": 2 * 8 * m * m}

    @property
    def pair_counts_(self) -> Array:
        """How often two components won together, or sums of products; u and v <= u are at ``u (u + 1) / 2 + v``."""
        return read_only(self._handed_out("pair_counts_").triangle)

    @property
    def alpha_(self) -> float:
        """The penalty in use, as a multiple of the mean eigenvalue."""
        return self._current().alpha

    @property
    def gcv_(self) -> Array:
        """Candidate penalties, ascending, and their generalised cross-validation."""
        return np.array(self._current().gcv, np.float64).reshape(-1, 2)

    def _can_score(self, learned: Model) -> bool:
        """Scores need at least one row."""
        return learned.counts.n_rows > 0

    def _current(self) -> Ridge:
        """Return the weights for the current counts."""
        self._require_hasher()
        with self._reading_learned() as learned:
            return self._solution(learned.counts)

    def _solution(self, counts: Any, *, needs_factor: bool = False) -> Ridge:
        """Return the weights for a snapshot of the counts, cached.

        Weights from a few iterations keep the previous factorisation unless a current one is needed.
        """
        shared = self._sharing
        with shared.deriving:
            kept = shared.derived
            key = (counts.edition, self.alpha)
            before = None if kept is None else kept[2]
            if kept is not None and kept[0] is counts and kept[1] == key and (kept[3] or not needs_factor):
                return kept[2]  # type: ignore[no-any-return]
            with _alpha_blamed(self.alpha):
                ridge = solve(counts, self.alpha, None if needs_factor else before)
            has_own_factor = before is None or ridge.factor is not before.factor
            shared.derived = (counts, key, ridge, has_own_factor)
            return ridge

    @contextmanager
    def _leaving_out(self, X: Any, y: Any) -> Iterator[LearnedRows]:
        """Yield learned rows and an exact leave-one-out solver."""
        with self._scoring(X) as (rows, learned):
            learned.counts.unit.require_whole("leave rows out")
            truth = self._truth(learned, rows, y)
            winners = learned.hasher.winners(rows, self.n_jobs)
            alpha = self._solution(learned.counts).alpha
            with _alpha_blamed(alpha):
                counts: Any = learned.counts
                yield LearnedRows(rows, learned, LeftOut(counts, alpha), winners, truth)

    def _nearly_left_out(self, X: Any, y: Any) -> Array:
        """Return leave-one-out scores, as precise as the factor that predictions were solved with."""
        with self._scoring(X) as (rows, learned):
            counts: Any = learned.counts
            counts.unit.require_whole("leave rows out")
            winners, n_rows = learned.hasher.winners(rows, self.n_jobs), counts.unit.rows(counts.n_rows)
            solved = self._solution(counts, needs_factor=True)
            return solved.leave_one_out(winners, self._truth(learned, rows, y), n_rows)

    def _left_out_of(self, learned: Model, sketch: Sketch) -> tuple[Array, Array] | None:
        """Return the scores of rows of a sketch, each left out, and their truth; None if there are too few."""
        n = max(LEAST_CALIBRATED, min(MOST_CALIBRATED, CALIBRATION_WORK // learned.hasher.n_components))
        counts, rows = learned.counts, sketch.rows[:n]
        copies = counts.unit.rows(sketch.weights[:n])
        if sketch.labels is None or copies.sum() < FEW_ROWS:
            return None
        truth = self._truth(learned, rows, sketch.labels[:n])
        winners, n_rows = learned.hasher.winners(rows, self.n_jobs), counts.unit.rows(counts.n_rows)
        solved = self._solution(counts, needs_factor=True)
        return solved.leave_one_out(winners, truth, n_rows, np.minimum(1.0, copies)), truth  # one of several copies

    def _truth(self, learned: Model, rows: Features, y: Any) -> Array:
        """Return the right-hand side for learned rows."""
        raise NotImplementedError

    def _calibration_key(self) -> Any:
        """Return the parameters on which a calibration depends."""
        return self.alpha


@contextmanager
def _alpha_blamed(alpha: float | str) -> Iterator[None]:
    """Raise a helpful error if the penalty is too small to solve the equations."""
    try:
        yield
    except LinAlgError as error:
        msg = (
            f"alpha={alpha} is too small to solve the equations of these counts: some components always win together. "
            "Choose a larger alpha, such as 1e-6, or 'gcv'."
        )
        raise ValueError(msg) from error


class OutputsEstimator(MultiOutputMixin, SolvedEstimator, LabelledEstimator):  # type: ignore[misc]
    """Estimator of one or more outputs from pair counts and sums of targets."""

    def __init__(
        self,
        n_components: Size = "auto",
        *,
        n_connections: Size = "auto",
        n_winners: Size = "auto",
        alpha: float | str = "gcv",
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
        self.signed = signed
        self.encoding = encoding
        self.weight_unit = weight_unit
        self.random_state = random_state
        self.n_jobs = n_jobs

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Update the model with a block of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their targets, with the same number of outputs as before.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 3 counts as three copies. For fractions, see `weight_unit`.

        Returns
        -------
        estimator
            The estimator itself.
        """
        self._learn_rows(X, y, sample_weight)
        return self

    @property
    def n_rows_(self) -> Any:
        """Number of rows learned, weights included."""
        counts = self._handed_out("n_rows_")
        return counts.unit.rows(counts.n_rows)

    def _frozen_outputs(self, counts: Any) -> FrozenOutputs:
        """Return weights, intercepts and the transformation of scores as a frozen read-out."""
        ridge = self._solution(counts)
        return FrozenOutputs(ridge.weights, ridge.read_out().intercept, ridge.unit, counts.grid)


def output_scores(rows: Features, hasher: Hasher, read_out: LinearReadout, n_jobs: int | None) -> Array:
    """Return the score of each row for each column of the weights."""
    scores = np.empty((rows.shape[0], read_out.intercept.size))
    return hasher.read(rows, scores, read_out.scores, n_jobs)


def targets_of(rows: Features, hasher: Hasher, grid: Any, scores: Array) -> Array:
    """Return the targets for scores of shape (..., n_samples, n_outputs)."""
    offsets = grid.offsets(lambda some: hasher.encoder.columns_apart(rows[some]), rows.shape[0])
    return np.asarray(grid.targets(scores, offsets))


def as_given(targets: Array) -> Array:
    """Drop the last dimension for a single output."""
    return targets[:, 0] if targets.shape[1] == 1 else targets
