"""Internal access of the library to the learned state of estimators."""

from __future__ import annotations

from contextlib import AbstractContextManager
from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from flybloom._internal.typing import Array, Features
    from flybloom.core.counts.base import Counts, Won
    from flybloom.core.hashing.hasher import Hasher
    from flybloom.core.learning import Learning
    from flybloom.core.model import Model
    from flybloom.core.sketch import Block

Estimator = TypeVar("Estimator")


def reading_learned(estimator: Any) -> AbstractContextManager[Model]:
    """Yield a snapshot of the learned state."""
    reading: AbstractContextManager[Model] = estimator._reading_learned()
    return reading


def hasher_of(estimator: Any) -> Hasher:
    """Return how a fitted estimator hashes rows."""
    hasher: Hasher = estimator._require_hasher()
    return hasher


def has_labels(estimator: Any) -> bool:
    """Return whether an estimator learns from labels."""
    return bool(getattr(estimator, "_has_labels", True))


def with_learned(estimator: Estimator, learned: Model) -> Estimator:
    """Set the learned state of an estimator, and return the estimator."""
    estimator._shared.replace(learned, is_own=False)  # type: ignore[attr-defined]
    return estimator


def forgetting(estimator: Estimator, X: Any, y: Any) -> Estimator:
    """Return a copy without some rows."""
    left = copy(estimator)
    left.forget(X, y)  # type: ignore[attr-defined]
    return left


def learning(estimator: Any, *, anew: bool = False) -> AbstractContextManager[Learning]:
    """Learn from blocks; the estimator is updated once, at the end of the with block."""
    session: AbstractContextManager[Learning] = estimator._learning(anew=anew)
    return session


def learn_rows(estimator: Any, X: Any, y: Any = None, sample_weight: Any = None, *, anew: bool = False) -> Block:
    """Learn rows, as `fit` and `partial_fit` do, and return them checked."""
    block: Block = estimator._learn_rows(X, y, sample_weight, anew=anew)
    return block


def check_block(estimator: Any, learned: Model, X: Any, y: Any, sample_weight: Any = None) -> Block:
    """Return validated rows for a fixed hash."""
    block: Block = estimator._check_block(learned, X, y, sample_weight)
    return block


def scoring(estimator: Any, X: Any) -> AbstractContextManager[tuple[Features, Model]]:
    """Yield validated rows and a snapshot of the learned state."""
    scored: AbstractContextManager[tuple[Features, Model]] = estimator._scoring(X)
    return scored


def exchange(estimator: Any, came: Won, went: Won) -> None:
    """Add and subtract rows with known winners, atomically."""
    shared, learned = estimator._sharing, estimator._learned()
    counts, delta = learned.counts, learned.counts.count_won(came)
    if not shared.exchange(counts, delta, counts.count_won(went, sign=-1)):
        counts = counts.plus(delta, owned=True)
        counts = counts.minus(counts.count_won(went, sign=-1))
        shared.replace(learned._replace(counts=counts))


def exchange_at_once(estimator: Any, came: Won, went: Won, bounds: Array) -> bool:
    """Do the same in one uninterrupted kernel call that also moves the bounds of kept rows; return whether it did."""
    counts = estimator._learned().counts
    went_counts = counts.count_won(went, sign=-1)
    return bool(estimator._sharing.exchange_at_once(counts, counts.count_won(came), went_counts, bounds))


def replace_counts(estimator: Any, counts: Counts) -> None:
    """Replace the counts of an estimator."""
    estimator._sharing.replace(estimator._learned()._replace(counts=counts), is_own=False)


def with_fixed_hash(estimator: Any, learned: Model) -> Model:
    """Return the learned state with fixed hash and calibration."""
    return learned if learned.origin is None else estimator._calibrated(learned.fixed())


def n_rows_learned(estimator: Any) -> float | None:
    """Return the number of rows that were learned, weights included; None before the first rows."""
    learned = estimator._shared.value
    return None if learned is None else learned.counts.unit.rows(learned.counts.n_rows)


def edition(estimator: Any) -> tuple[int, float]:
    """Return a number that grows with every change of a fitted estimator, and how many rows it has learned."""
    shared = estimator._sharing
    return shared.edition, shared.value.n_rows


def class_scores(estimator: Any, X: Any) -> Array:
    """Return one score per class, also of two classes, where `decision_function` has one column."""
    scores: Array = estimator._decision_scores(X)
    return scores


def nearly_left_out(estimator: Any, X: Any, y: Any) -> Array:
    """Return leave-one-out scores: of ridge models from the factor that predictions were solved with."""
    if hasattr(estimator, "_nearly_left_out"):
        scores: Array = estimator._nearly_left_out(X, y)
    else:
        scores = estimator.leave_one_out_decision(X, y, shared_encoding=True)
    return scores


def leaving_out(estimator: Any, X: Any, y: Any) -> AbstractContextManager[Any]:
    """Yield learned rows and the solver that leaves them out one by one."""
    left_out: AbstractContextManager[Any] = estimator._leaving_out(X, y)
    return left_out
