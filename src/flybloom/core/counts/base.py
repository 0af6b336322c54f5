"""What every kind of counts can do; the rest of the library relies on this and on nothing else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from threading import Lock
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from flybloom._internal.typing import Array, Values, Weights, Winners
from flybloom.core.counts.weight_unit import WHOLE_ROWS, WeightUnit
from flybloom.exceptions import NeverLearnedError

MAX_ROWS = 2**62
"""Rows that can be counted, so that the sum of two counts stays within 64 bits."""


class Won(NamedTuple):
    """All that counts see of rows: enough to count them again, or to take them away."""

    winners: Winners | Values  # winners ascending
    labels: Array | None
    weights: Weights

    def only(self, rows: slice | Array) -> Won:
        """Return some of the rows."""
        labels = None if self.labels is None else self.labels[rows]
        return Won(self.winners[rows], labels, self.weights[rows])


class Counter:
    """Takes the winners of rows, block by block and from several threads, and returns what they change.

    Few rows are kept in a batch, whose winners are entered into a table later; many are entered into counts of their
    own. Entering is a small part of the work, so threads hardly wait for each other.

    Parameters
    ----------
    delta : object
        What the rows change, when all are entered; `Counts.plus` and `Counts.minus` take it.
    enter : callable
        Enters the winners of a block.
    keep : ndarray or None, default=None
        Which rows are to be hashed at all; None for all of them.
    """

    n_jobs: int | None = None  # number of threads, for what is done with all blocks together

    def __init__(self, delta: Any, enter: Callable[[slice, Any], None], keep: Array | None = None) -> None:
        self._delta, self._enter, self.keep, self._lock = delta, enter, keep, Lock()

    @staticmethod
    def of_batch(batch: Any) -> Counter:
        """Return a counter that keeps the winners of few rows in a batch."""
        return Counter(batch, batch.winners.__setitem__)

    def add(self, block: slice, winners: Winners | Values) -> None:
        """Take the winners of a block of the rows."""
        with self._lock:
            self._enter(block, winners)

    def delta(self) -> Any:
        """Return what all rows change."""
        return self._delta


class Counts(ABC):
    """Integers that say what was learned: a value, which is replaced and not changed while anybody reads it.

    Counts of parts of the rows add up to those of all rows, in any order, bit for bit. They know winners and labels,
    but no features. A new kind of counts is a subclass and an estimator that names it as its `_counts_type`; learning,
    merging, forgetting, files, checkpoints and clusters follow.
    """

    kind: ClassVar[str]
    ARRAYS: ClassVar[frozenset[str]] = frozenset({"counts"})  # names that `to_parts` may use
    not_contained: ClassVar[str] = "These rows cannot all have been learned. Forget only rows that were learned."
    fits_labels: ClassVar[bool] = False  # whether `fixed_to` does anything
    n_components: int
    n_winners: int
    unit: WeightUnit = WHOLE_ROWS  # what one count stands for
    grid: Any = None  # what targets are counted in, where rows have targets

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of rows counted, weights included, in units."""

    @property
    def has_won(self) -> Array:
        """Whether each component has ever won."""
        table: Array = self.table  # type: ignore[attr-defined]
        return np.asarray(table.any(axis=1))

    @property
    def n_bytes(self) -> int:
        """Bytes of its arrays."""
        inside = vars(self).values()
        return sum(part.nbytes if isinstance(part, np.ndarray) else part.n_bytes for part in inside if _is_held(part))

    def __sizeof__(self) -> int:
        """Bytes in memory, by which a scheduler decides what to move."""
        return object.__sizeof__(self) + self.n_bytes

    @abstractmethod
    def counter(self, labels: Any, weights: Weights, *, sign: int = 1) -> Counter:
        """Begin to count rows; with the sign -1, to take them away. Labels that cannot be are refused here."""

    def count_won(self, won: Won, *, sign: int = 1) -> Any:
        """Return what rows change whose winners are known; nothing changes yet."""
        counter = self.counter(won.labels, won.weights, sign=sign)
        is_narrow = won.winners.dtype == np.uint16  # as windows keep them
        counter.add(slice(0, len(won.weights)), won.winners.astype(np.uint32) if is_narrow else won.winners)
        return counter.delta()

    @abstractmethod
    def plus(self, delta: Any, *, owned: bool = False) -> Self:
        """Return the counts with a delta or with other counts; what is `owned` may be used up."""

    @abstractmethod
    def minus(self, delta: Any) -> Self:
        """Return the counts without a delta or without other counts; NeverLearnedError where that cannot be."""

    def require_contained(self, is_contained: object) -> None:
        """Refuse to take away what cannot have been counted."""
        if not is_contained:
            raise NeverLearnedError(self.not_contained)

    def change_in_place(self, delta: Any, sign: int) -> bool:  # noqa: ARG002
        """Add a small delta to the arrays themselves, or take it away; return whether that could be done.

        A shortcut for `plus` and `minus` where copying costs more than counting. It must change all or nothing: a
        single call of a kernel, which no signal can interrupt.
        """
        return False

    def exchange_at_once(self, came: Any, went: Any, bounds: Array) -> bool:  # noqa: ARG002
        """Enter one small delta and take away another, and move the bounds of kept rows; return whether it was done.

        A shortcut for windows, in which all that must change together is changed by a single call of a kernel.
        """
        return False

    def following(self, before: Counts) -> Self:  # noqa: ARG002
        """Return these counts as they add to others whose rows came before; order matters to few kinds."""
        return self

    @property
    def needs_positions(self) -> bool:
        """Whether the order of rows matters, so that a part of them must know where in the stream it is."""
        return False

    @property
    def n_met(self) -> int:
        """Number of rows that came before the next one, where their order matters."""
        return 0

    def at_end_of(self, n_rows: int) -> Self:  # noqa: ARG002
        """Return counts to which parts of the next so many rows can be added in any order."""
        return self

    def fixed_to(self, labels: Array | None, weights: Weights, encode: Callable[[], Array] | None) -> Self:  # noqa: ARG002
        """Return counts of no rows that are ready for rows like those of a sample, which a function encodes.

        Most kinds are ready for all rows.
        """
        return self

    @classmethod
    def counting(cls, n_winners: int) -> type[Counts]:  # noqa: ARG003
        """Return the kind of counts for rows with so many winners; with none, components have values."""
        return cls

    def labels_of(self, labels: Any, encode: Callable[[slice], Array]) -> Any:  # noqa: ARG002
        """Return the labels of rows, parts of which a function encodes, as a counter takes them."""
        return labels

    def require_labels(self, labels: Any, weights: Weights, **known: Any) -> None:
        """Raise an error for labels that cannot be counted beside those before."""
        self.counter(labels, weights, **known)

    def knows(self, labels: Any) -> bool:  # noqa: ARG002
        """Return whether labels can be counted as they are, without being fixed to others first."""
        return True

    @abstractmethod
    def emptied(self) -> Self:
        """Return counts of no rows, for workers that count a part."""

    @abstractmethod
    def to_parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return facts for JSON, and arrays, for files."""

    @classmethod
    @abstractmethod
    def from_parts(cls, n_components: int, n_winners: int, facts: dict[str, Any], arrays: dict[str, Array]) -> Self:
        """Return the counts of these parts; ValueError where no rows can have given them."""


def _is_held(part: Any) -> bool:
    """Return whether an attribute takes memory: an array, or other counts."""
    return isinstance(part, np.ndarray | Counts)
