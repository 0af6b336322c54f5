"""The settings of a model, resolved from the parameters of an estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from flybloom._internal.typing import Array
from flybloom.core.block import Block
from flybloom.core.counts.base import Counts
from flybloom.core.counts.weight_unit import WHOLE_ROWS, WeightUnit
from flybloom.core.encoding.choice import MAX_WEIGHED, Auto, Wanted, fitted_encoder
from flybloom.core.encoding.columns import BiasColumns
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.encoding.encoding import Encoding
from flybloom.core.encoding.unit_vectors import are_unit_vectors
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.hashing.sizes import Seen, Sizes
from flybloom.core.sketch import Sketch


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
        Creates empty counts for numbers of components and winners.
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
    new_counts: Callable[[int, int], Counts] | None = None  # a hash alone counts nothing
    check_labels: Callable[[Any, int], Array | None] | None = None
    weight_unit: float | str | None = None
    has_positions: bool = False
    calibrates: bool = False
    counts_fit_labels: bool = False

    def hasher(self, features: Encoder, sketch: Sketch | None, unit: WeightUnit = WHOLE_ROWS) -> Hasher:
        """Return the hasher with an encoder fitted to the sketch, if it needs rows.

        Parameters
        ----------
        features : Encoder
            The features, possibly with table steps.
        sketch : Sketch or None
            Of the rows.
        unit : WeightUnit
            Weight unit of the sketch.
        """
        sample = None if sketch is None else sketch.sample(unit.per_row)
        encoder = fitted_encoder(self.encoding, features, sample)
        bias: BiasColumns | None = encoder.step(BiasColumns)
        n_columns = encoder.n_outputs - (0 if bias is None else bias.n)
        seen = Seen.COLUMNS if encoder.grid_shape is None else Seen.WINDOWS
        is_sparse = sketch is not None and sparse.issparse(sketch.rows)
        if is_sparse and isinstance(self.encoding, Auto) and encoder.n_features > MAX_WEIGHED:
            seen = Seen.WORDS
        elif sketch is not None and are_unit_vectors(sketch.rows):
            seen = Seen.EMBEDDINGS
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

    def needs_rows(self, *, is_table: bool = False) -> bool:
        """Return whether hash or counts depend on a sketch of rows."""
        if is_table and not isinstance(self.encoding, Encoder):
            return True
        return self.encoding.needs_rows or self.sizes.needs_n_rows or self.counts_fit_labels

    def counts(self, hasher: Hasher, sketch: Sketch | None, unit: WeightUnit) -> Counts:
        """Return empty counts for rows like those of a sketch."""
        assert self.new_counts is not None  # noqa: S101 - a hash alone counts nothing
        counts = self.new_counts(hasher.n_components, hasher.n_winners)
        counts = counts if counts.unit == unit else counts.in_unit(unit)
        if sketch is None or not self.counts_fit_labels:
            return counts
        has_trend = bool(hasher.encoder.steps) and not sparse.issparse(sketch.rows)
        encode = partial(hasher.encoder.columns_apart, sketch.rows) if has_trend else None
        return counts.fixed_to(sketch.labels, sketch.weights, encode)

    def keeps_sketch(self, features: Encoder) -> bool:
        """Return whether a model of such rows needs a sketch."""
        return self.calibrates or self.needs_rows(is_table=features.kinds is not None)
