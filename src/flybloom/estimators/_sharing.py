"""Many threads may score with a model while one learns: each sees what was learned whole, or not at all.

What is learned is replaced, never changed, while anybody reads it. Nobody reading is the usual case; then learning adds
to the table in place, because copying it would cost far more than learning a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Lock, RLock
from typing import Any, NamedTuple, TypeVar

import numpy as np

from flybloom._internal.typing import Array, Codes, Counts, Features, Weights, Winners
from flybloom.core.readout import filters
from flybloom.core.readout.scorer import Scorer
from flybloom.estimators._base import BaseFly

Seen = TypeVar("Seen")


class Learned(NamedTuple):
    """All that a classifier has learned; the three belong together."""

    classes: Array  # (n_classes,), sorted
    class_count: Array  # (n_classes,): rows of each class, weights included
    counts: Counts  # (n_components, n_classes)


class Guard:
    """Knows who reads what was learned, so that a learner knows whether it may add in place."""

    def __init__(self) -> None:
        self.learning = RLock()  # one learner at a time
        self._looking = Lock()  # held for moments: to begin or end reading, and to put in place what was learned
        self._n_readers = 0
        self._is_handed_out = True  # the table may belong to a copy of the model as well

    @contextmanager
    def reading(self, look: Callable[[], Learned]) -> Iterator[Learned]:
        """Return what `look` sees; it stays as it is until the end of the block."""
        with self._looking:
            learned = look()
            self._n_readers += 1
        try:
            yield learned
        finally:
            with self._looking:
                self._n_readers -= 1

    def hand_out(self, look: Callable[[], Seen]) -> Seen:
        """Return what `look` sees; it stays as it is for good, because the next learner makes a table of its own."""
        with self._looking:
            self._is_handed_out = True
            return look()

    @contextmanager
    def replacing(self) -> Iterator[bool]:
        """Keep new readers out; give whether the table may be changed in place. A new table is the learner's own."""
        with self._looking:
            yield self._n_readers == 0 and not self._is_handed_out
            self._is_handed_out = False


class SharedCounts(BaseFly):
    """An estimator that counts winners for each class, and whose counts many threads may read.

    Learned: ``classes_``, ``class_count_`` and ``counts_``.
    """

    classes_: Array
    class_count_: Array
    _counts: Counts
    decay: float

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled and copied; it stays as it is while others learn."""
        return self._guard.hand_out(super().__getstate__)

    @property
    def counts_(self) -> Counts:
        """How often each component won among the rows of each class, of shape (n_classes, n_components_).

        What you get stays as it is, whatever the model learns later.
        """
        return self._guard.hand_out(self._learned).counts.T

    @property
    def _guard(self) -> Guard:
        """What keeps readers and learners apart, made when first needed."""
        guard: Guard = self.__dict__.setdefault("_sharing", Guard())  # atomic, so all threads get the same one
        return guard

    def _learned(self) -> Learned:
        """Return what is learned now; only safe when called by the guard, or while learning."""
        return Learned(self.classes_, self.class_count_, self._counts)

    def _reading(self) -> AbstractContextManager[Learned]:
        """Give what is learned, and keep it as it is for the length of a with block."""
        return self._guard.reading(self._learned)

    def _scorer(self, n_rows: int, learned: Learned) -> Scorer:
        """Return what scores so many rows."""
        return Scorer(learned.counts, learned.class_count, self.decay, n_rows * self.n_winners_, self.n_jobs)

    def _count(self, X: Features, codes: Codes, weights: Weights, n_classes: int) -> filters.Change:
        """Hash the rows and return what is to be added: a table of counts, or the winners where they are fewer.

        Nothing of the model changes meanwhile, so a failure or an interrupt leaves it as it was.
        """
        if X.shape[0] * self.n_winners_ < self.n_components_ * n_classes:
            return filters.Winnings(self._winners(X), codes, weights)
        table = np.zeros((self.n_components_, n_classes), filters.count_dtype(weights.sum(keepdims=True)))
        lock = Lock()

        def count(block: slice, winners: Winners) -> None:
            with lock:  # counting is a small part of the work, so threads hardly wait, and one table is enough
                filters.add(winners, codes[block], weights[block], table)

        self._for_winners(X, count)
        return table

    def _replace(
        self, classes: Array, class_count: Array, change: Callable[[Counts], None], keep: Array | None = None
    ) -> None:
        """Put in place what was learned, at once.

        `classes` contain those known, `class_count` are their rows, `change` adds to the table of counts or takes away
        from it, and `keep` tells which classes are still known afterwards.
        """
        if (class_count < 0).any():
            msg = "More than 2**63 - 1 rows of a class cannot be counted. Use smaller weights, or fewer rows."
            raise ValueError(msg)
        dtype = filters.count_dtype(class_count)
        with self._guard.replacing() as in_place:
            counts = filters.arranged(self._counts, self.classes_, classes, axis=1)
            counts = counts.astype(np.result_type(counts, dtype), copy=False)
            if counts is self._counts and not in_place:
                counts = counts.copy()
            change(counts)
            if keep is not None and not keep.all():
                classes, class_count, counts = classes[keep], class_count[keep], counts[:, keep]
            counts = np.ascontiguousarray(counts, dtype)
            self.classes_, self.class_count_, self._counts = classes, class_count, counts
