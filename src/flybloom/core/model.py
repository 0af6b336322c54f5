"""The learned state as one value: hasher, counts, and the rows from which the hasher was derived.

While a model is whole, all its rows are in the sketch and everything else is derived from them, so it equals a fit of
the remaining rows. Beyond that, the hash is fixed and only counts change.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from flybloom._internal.typing import Array
from flybloom.core.block import Block
from flybloom.core.counts.base import Counts
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.recipe import Recipe
from flybloom.core.sketch import Sketch

NOTHING: dict[str, Any] = {}
FEW_ROWS = 400  # up to which the hash is derived again whenever rows have come
GROWTH = 8  # and beyond it when an eighth more has come: deriving takes longer the more rows there are


class Origin(NamedTuple):
    """The rows from which a hash was derived.

    Parameters
    ----------
    recipe : Recipe
        How it was derived.
    sketch : Sketch
        The rows, or a sample of them; empty if the hash comes from another model.
    is_whole : bool
        Whether all learned rows are in the sketch or pending.
    pending : tuple of Block
        Rows learned since, in order; not in the sketch yet, and possibly not counted yet.
    announced : ndarray or None
        Labels announced without rows.
    n_changed : int
        Number of rows added to or removed from the sketch since the hash was derived.
    n_pending : int
        Number of pending rows, weights included.
    is_handed_over : bool
        Whether the hash comes from another model.
    """

    recipe: Recipe
    sketch: Sketch
    is_whole: bool
    pending: tuple[Block, ...] = ()
    announced: Array | None = None
    n_changed: int = 0
    n_pending: int = 0
    is_handed_over: bool = False

    def with_pending(self, block: Block, *, is_known: bool = True) -> Origin:
        """Return the origin with a pending block.

        Where counts do not know its labels, the hash and what is counted are to be derived again before it is counted.
        """
        if not block.weights.size:
            return self
        n_pending = self.n_pending + int(block.weights.sum())
        n_changed = self.n_changed if is_known else self.sketch.n_rows
        return self._replace(pending=(*self.pending, block), n_pending=n_pending, n_changed=n_changed)

    def with_sketch(self, sketch: Sketch) -> Origin:
        """Return the origin with pending rows in its sketch."""
        return self._replace(sketch=sketch, pending=(), n_pending=0)

    @property
    def is_due(self) -> bool:
        """Whether the hash must be derived again before prediction."""
        n_rows, n_changed = self.sketch.n_rows, self.n_pending + self.n_changed
        return n_rows + self.n_pending <= FEW_ROWS or n_changed * GROWTH >= n_rows

    @property
    def known(self) -> dict[str, Any]:
        """Further arguments of counts."""
        return {} if self.announced is None else {"announced": self.announced}

    def uncounted(self, counts: Counts) -> list[Block]:
        """Return the pending rows that are not counted yet.

        Counts know their number of rows and pending rows are counted in order, so an interrupt loses nothing and counts
        nothing twice.
        """
        n_left = self.sketch.n_rows + self.n_pending - counts.n_rows
        blocks: list[Block] = []
        for block in reversed(self.pending):
            if n_left <= 0:
                break
            blocks.insert(0, block)
            n_left -= int(block.weights.sum())
        return blocks


class Model(NamedTuple):
    """The learned state of an estimator."""

    hasher: Hasher
    counts: Counts
    tuned: dict[str, Any] = NOTHING  # what is kept besides: a calibration that was given, an account of releases
    origin: Origin | None = None  # None where nothing is derived from rows, or the hash was handed over

    @property
    def is_whole(self) -> bool:
        """Whether all learned rows are in the sketch."""
        return self.origin is not None and self.origin.is_whole

    @property
    def is_stale(self) -> bool:
        """Whether the hash or the counts are out of date."""
        origin = self.origin
        return origin is not None and origin.is_whole and bool(origin.pending or origin.n_changed)

    @property
    def n_rows(self) -> int:
        """Number of learned rows, weights included, counted or pending."""
        if self.origin is None or not self.origin.pending:
            return self.counts.n_rows
        return self.origin.sketch.n_rows + self.origin.n_pending

    def fixed(self) -> Model:
        """Return the model with a fixed hash: further rows are only counted."""
        if self.origin is None or not self.origin.is_whole:
            return self
        return self._replace(origin=self.origin._replace(is_whole=False))

    def count_block(self, block: Block, n_jobs: int | None, *, sign: int = 1, **known: Any) -> Any:
        """Return the change of the counts by a block."""
        labels = self.counts.labels_of(block.labels, lambda some: self.hasher.encoder.columns_apart(block.rows[some]))
        counter = self.counts.counter(labels, block.weights, sign=sign, **known)
        counter.n_jobs = n_jobs
        X = block.rows if counter.keep is None else block.rows[counter.keep]
        self.hasher.for_each_block(X, counter.add, n_jobs)
        return counter.delta()
