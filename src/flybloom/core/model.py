"""The settings of a model, and its learned state as one value: hasher, counts, and the rows that the hash follows from.

While a model is whole, all its rows are in the sketch and everything else is derived from them, so it equals a fit of
the remaining rows. Beyond that, the hash is fixed and only counts change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from flybloom._internal.typing import Array
from flybloom.core.counts.base import Counts
from flybloom.core.counts.weight_unit import WHOLE_ROWS, WeightUnit
from flybloom.core.encoding.choice import MAX_WEIGHED, Auto, Wanted, fitted_encoder
from flybloom.core.encoding.columns import BiasColumns
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.encoding.encoding import Encoding
from flybloom.core.encoding.gradients import Gradients
from flybloom.core.encoding.image_shape import MIN_COLUMNS
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.hashing.sizes import Seen, Sizes
from flybloom.core.sketch import Block, Sketch

NOTHING: dict[str, Any] = {}
FEW_ROWS = 400  # up to which the hash is derived again whenever rows have come
GROWTH = 8  # and beyond it when an eighth more has come: deriving takes longer the more rows there are


@dataclass(frozen=True)
class Recipe:
    """The settings of a model, independent of rows.

    Parameters
    ----------
    owner : str
        Name of the estimator, for messages.
    encoding : Encoding, Auto or Encoder
        The requested encoding.
    sizes : Sizes
        Numbers of components, connections and winners.
    signed : bool
        Whether connections have signs.
    seed : int
        Seed of the connections.
    new_counts : callable or None
        Creates empty counts for numbers of components and winners, and a weight unit.
    check_labels : callable or None
        Validates labels, if any.
    weight_unit : float, "auto" or None
        The weight that counts as one row; None if all weights are integers.
    has_positions : bool
        Whether positions of rows are used instead of labels.
    calibrates : bool
        Whether a threshold or temperature is calibrated with the sketch.
    counts_fit_labels : bool
        Whether counts depend on the labels of the sketch.
    """

    owner: str
    encoding: Wanted
    sizes: Sizes
    signed: bool
    seed: int
    new_counts: Callable[..., Counts] | None = None  # a hash alone counts nothing
    check_labels: Callable[[Any, int], Array | None] | None = None
    weight_unit: float | str | None = None
    has_positions: bool = False
    calibrates: bool = False
    counts_fit_labels: bool = False

    def hasher(
        self, features: Encoder, sketch: Sketch | None, unit: WeightUnit = WHOLE_ROWS, n_jobs: int | None = 1
    ) -> Hasher:
        """Return the hasher with an encoder fitted to the sketch, if it needs rows.

        Parameters
        ----------
        features : Encoder
            The features, possibly with table steps.
        sketch : Sketch or None
            Of the rows.
        unit : WeightUnit
            Weight unit of the sketch.
        n_jobs : int or None, default=1
            Number of threads that may choose the encoding.
        """
        sample = None if sketch is None else sketch.sample(unit.per_row)
        encoder = fitted_encoder(self.encoding, features, sample, n_jobs)
        bias: BiasColumns | None = encoder.step(BiasColumns)
        n_columns = encoder.n_outputs - (0 if bias is None else bias.n)
        is_image = encoder.grid_shape is not None or encoder.step(Gradients) is not None
        seen = Seen.IMAGES if is_image else Seen.COLUMNS
        is_sparse = sketch is not None and sparse.issparse(sketch.rows)
        if is_sparse and isinstance(self.encoding, Auto) and encoder.n_features > MAX_WEIGHED:
            seen = Seen.WORDS
        elif encoder.n_features >= MIN_COLUMNS and encoder.is_only_centred:
            seen = Seen.EMBEDDINGS
        elif encoder.n_features >= MIN_COLUMNS and encoder.is_only_scaled and not isinstance(self.encoding, Encoding):
            seen = Seen.SCALED_EMBEDDINGS  # as "auto" takes them, and not as anybody asked for
        n_rows = None if sketch is None else int(unit.rows(sketch.n_rows))
        sizes = self.sizes.for_features(encoder.n_features, n_columns, n_rows, seen)
        return Hasher.of(encoder, self.seed, sizes, signed=self.signed)

    def sketch_of(self, block: Block, begin: int = 0) -> Sketch:
        """Return the sketch of a validated block that begins at a given row."""
        labels = block.labels
        if self.has_positions and labels is None:
            labels = np.arange(begin, begin + block.rows.shape[0])
        return Sketch.of(block.rows, labels, block.weights, by_class=not self.has_positions)

    def check_sizes(self, features: Encoder) -> None:
        """Raise an error for sizes that do not fit the features."""
        if features.kinds is None and isinstance(self.encoding, Encoding):
            self.sizes.for_features(features.n_features, self.encoding.n_columns(features.n_features))

    def needs_rows(self, *, is_table: bool = False, to_keep: bool = False) -> bool:
        """Return whether hash or counts depend on a sketch of rows; or calibration does, for which it is kept."""
        if (to_keep and self.calibrates) or (is_table and not isinstance(self.encoding, Encoder)):
            return True
        return self.encoding.needs_rows or self.sizes.needs_n_rows or self.counts_fit_labels

    def counts(self, hasher: Hasher, sketch: Sketch | None, unit: WeightUnit) -> Counts:
        """Return empty counts for rows like those of a sketch."""
        assert self.new_counts is not None  # noqa: S101 - a hash alone counts nothing
        fractions = {} if unit == WHOLE_ROWS else {"unit": unit}  # kinds that take no weights know whole rows alone
        counts = self.new_counts(hasher.n_components, hasher.n_winners, **fractions)
        if sketch is None or not self.counts_fit_labels:
            return counts
        has_trend = bool(hasher.encoder.steps) and not sparse.issparse(sketch.rows)
        encode = partial(hasher.encoder.columns_apart, sketch.rows) if has_trend else None
        return counts.fixed_to(sketch.labels, sketch.weights, encode)


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
        Number of rows added to the sketch since the hash was derived; all rows of the sketch once rows were removed.
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
