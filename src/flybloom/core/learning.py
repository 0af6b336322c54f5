"""Learning: sketch, derive the hash, count, add.

`fit`, `train` and Dask differ only in where blocks come from and where they are counted. If anything fails, the model
is unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from flybloom._internal.typing import Array, Features, issparse
from flybloom._internal.validation import check_new_rows, check_rows
from flybloom.core.counts.base import Counts
from flybloom.core.counts.weight_unit import WeightUnit, unit_for
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.model import Model, Origin, Recipe
from flybloom.core.sketch import Block, Sketch, joined


@dataclass
class Learning:
    """A model under construction, not visible before it is finished.

    Parameters
    ----------
    recipe : Recipe
        The recipe of the model.
    n_jobs : int or None
        Number of threads.
    learned : Model or None
        The state so far; None to start from scratch.
    features : Encoder or None
        The features, if known beforehand.
    unit : WeightUnit or None
        The weight unit, if it is known; otherwise, the first rows determine it.
    calibrate : callable or None
        Calibrates a model when its hash is fixed.
    """

    recipe: Recipe
    n_jobs: int | None
    learned: Model | None = None
    features: Encoder | None = None
    unit: WeightUnit | None = None
    calibrate: Callable[[Model], Model] | None = None
    _own: Counts | None = field(default=None, init=False)  # the counts that were made here: nobody else has them

    def check(self, X: Any, y: Any = None, sample_weight: Any = None) -> Block:
        """Validate a block; the first one determines the features."""
        recipe, (_, rows) = self.recipe, self.check_features(X, min_rows=1)
        n_rows = rows.shape[0]
        labels = None if recipe.check_labels is None else recipe.check_labels(y, n_rows)
        if self.learned is not None:
            self.unit = self.learned.counts.unit
        elif self.unit is None:
            self.unit = unit_for(recipe.weight_unit, sample_weight)
        return Block(rows, labels, self.unit.counted(sample_weight, n_rows))

    def check_features(self, X: Any, *, min_rows: int = 0) -> tuple[Encoder, Features]:
        """Return the features and validated rows; the first rows determine the features."""
        owner, takes_sparse = self.recipe.owner, self.recipe.encoding.takes_sparse
        if self.learned is not None:
            known = self.learned.hasher.encoder
            return known, check_rows(X, owner, known, min_rows=min_rows)
        if self.features is not None:
            return self.features, check_rows(X, owner, self.features, min_rows=min_rows, takes_sparse=takes_sparse)
        rows, names, kinds = check_new_rows(X, owner, takes_sparse=takes_sparse, min_rows=min_rows)
        self.features = Encoder(rows.shape[1], names, kinds=kinds)
        return self.features, rows

    @property
    def keeps_sketch(self) -> bool:
        """Whether the model needs a sketch of its rows."""
        features = self.features if self.learned is None else self.learned.hasher.encoder
        return features is not None and self.recipe.needs_rows(is_table=features.kinds is not None, to_keep=True)

    def start(self, sketch: Sketch | None) -> Model:
        """Derive the hash from a sketch of all rows unless it is known."""
        if self.learned is None:
            assert self.features is not None  # noqa: S101 - a block was checked before
            unit = unit_for(self.recipe.weight_unit) if self.unit is None else self.unit
            hasher = self.recipe.hasher(self.features, sketch, unit, self.n_jobs)
            self.learned = Model(hasher, self.recipe.counts(hasher, sketch, unit))
        return self.learned

    def attach(self, sketch: Sketch, *, is_finished: bool = True, announced: Array | None = None) -> None:
        """Attach the sketch and announced labels, if the model needs them."""
        assert self.learned is not None  # noqa: S101 - it was started before
        if self.keeps_sketch:
            origin = Origin(self.recipe, sketch, is_finished and sketch.is_all, announced=announced)
            self.learned = self.learned._replace(origin=origin)

    def learn_first(self, block: Block, *, is_all: bool, **known: Any) -> None:
        """Learn the first rows: all rows, or the beginning of a stream."""
        if not self.keeps_sketch:
            self.start(None)
            self.learn(block, **known)
            return
        sketch = self.recipe.sketch_of(block)
        if is_all or sketch.is_all:
            self.start(sketch)
            self.learn(block, **known)
            self.attach(sketch, announced=known.get("announced"))
        else:
            self._learn_until_full(None, block, known)

    def add(self, sketch: Sketch, announced: Array | None = None) -> bool:
        """Learn the rows of a complete sketch, if they fit into a whole model."""
        assert self.learned is not None  # noqa: S101 - it is whole
        origin = self.learned.origin
        assert origin is not None  # noqa: S101
        total = origin.sketch + sketch
        if not (sketch.is_all and total.is_all):
            return False
        origin = origin._replace(announced=united(origin.announced, announced)).with_sketch(total)
        self.learned = derived(self.learned._replace(origin=None), origin, self.n_jobs)
        return True

    def stream(self, block: Block) -> None:
        """Learn a block of a stream, which may be the first."""
        if self.learned is None:
            self.learn_first(block, is_all=False)
        elif self.learned.is_whole:
            assert self.learned.origin is not None  # noqa: S101
            origin = self.learned.origin
            self.learned = self.learned._replace(
                origin=origin.with_pending(block.weighted(), is_known=self.learned.counts.knows(block.labels))
            )
            self.bring_up_to_date(derives=False)
        else:
            self.learn(block)

    def bring_up_to_date(self, *, derives: bool = True) -> None:
        """Add pending rows to the sketch of a whole model, and derive its hash again unless that can wait."""
        before = self.learned
        if before is None or before.origin is None or not before.is_stale:
            return
        origin, self.recipe = before.origin, before.origin.recipe
        if not origin.pending:
            self.learned = derived(before, origin, self.n_jobs) if derives else before
            return
        n_met = before.counts.n_met - (before.counts.n_rows - origin.sketch.n_rows)  # before the pending rows
        block = joined(list(origin.pending))
        sketch = origin.sketch + self.recipe.sketch_of(block, n_met)
        if not sketch.is_all:
            self._learn_until_full(before, block, origin.known, n_met)
        elif derives or origin.is_due:
            n_met += len(block.weights)
            self.learned = derived(before, origin.with_sketch(sketch), self.n_jobs, n_met)
        else:
            for uncounted in origin.uncounted(before.counts):
                self.learn(uncounted, **origin.known)
            origin = origin.with_sketch(sketch)._replace(n_changed=origin.n_changed + origin.n_pending)
            assert self.learned is not None  # noqa: S101
            self.learned = self.learned._replace(origin=origin)

    def _learn_until_full(self, before: Model | None, block: Block, known: dict[str, Any], n_met: int = 0) -> None:
        """Fix the hash with the rows of a block that fit into the sketch, then count the others."""
        labels = np.arange(n_met, n_met + len(block.weights)) if self.recipe.has_positions else block.labels
        if before is None or before.origin is None:
            n_first = self.recipe.sketch_of(block.part(0, 0)).n_fitting(block.rows, labels, block.weights)
            sketch = self.recipe.sketch_of(block.part(None, n_first))
            self.start(sketch)
            self.learn(block.part(None, n_first), **known)
            self.attach(sketch, announced=known.get("announced"))
        else:
            sketch = before.origin.sketch
            n_first = sketch.n_fitting(block.rows, labels, block.weights)
            sketch += self.recipe.sketch_of(block.part(None, n_first), n_met)
            origin = before.origin.with_sketch(sketch)
            self.learned = derived(before._replace(origin=None), origin, self.n_jobs, n_met + n_first)
        assert self.learned is not None  # noqa: S101 - just learned
        self.learned = self.learned.fixed()
        if self.calibrate is not None:
            self.learned = self.calibrate(self.learned)
        self.learn(block.part(n_first, None), **known)

    def learn(self, block: Block, **known: Any) -> Model:
        """Count a block and add it to a private copy; in place for small blocks."""
        assert self.learned is not None  # noqa: S101 - it was started before
        counts, delta = self.learned.counts, self.learned.count_block(block.weighted(), self.n_jobs, **known)
        if counts is not self._own or not counts.change_in_place(delta, 1):
            self._own = counts.plus(delta, owned=True)
            self.learned = self.learned._replace(counts=self._own)
        return self.learned


def derived(model: Model, origin: Origin, n_jobs: int | None, n_met: int | None = None) -> Model:
    """Return a whole model with the hash derived from the sketch of an origin.

    All rows are counted again if the hash changes, otherwise only pending ones.
    """
    sketch, before = origin.sketch, model.origin
    hasher = hasher_for(model, origin)
    origin = origin._replace(n_changed=0)
    if before is not None and is_same_hash(model, before.sketch, hasher, origin):
        counts = model.counts
        for block in before.uncounted(counts):
            counts = counts.plus(model._replace(counts=counts).count_block(block, n_jobs, **origin.known), owned=True)
        return model._replace(counts=counts, origin=origin)
    n_met = model.counts.n_met if n_met is None else n_met
    counts = counted(origin, sketch, hasher, model.counts.unit, n_jobs, n_met)
    return Model(hasher, counts, model.tuned, origin)


def hasher_for(model: Model, origin: Origin) -> Hasher:
    """Return the hash derived from the sketch of an origin; unchanged connections are reused."""
    hasher = origin.recipe.hasher(model.hasher.encoder.plain(), origin.sketch, model.counts.unit)
    if hasher.projection == model.hasher.projection:
        hasher = replace(hasher, projection=model.hasher.projection)
    return hasher


def is_same_hash(model: Model, rows: Sketch, hasher: Hasher, wanted: Origin) -> bool:
    """Return whether the rows counted by a model would be hashed alike with another hash.

    Integers and sparse rows are summed differently, so the type of rows matters.
    """
    sketch = wanted.sketch
    is_alike = issparse(rows.rows) == issparse(sketch.rows) and _is_float(rows) == _is_float(sketch)
    if not is_alike or hasher.fields != model.hasher.fields:
        return False
    recipe, counts = wanted.recipe, model.counts
    return not recipe.counts_fit_labels or recipe.counts(hasher, sketch, counts.unit).grid == counts.grid


def counted(
    origin: Origin, rows: Sketch, hasher: Hasher, unit: WeightUnit, n_jobs: int | None, n_met: int = 0
) -> Counts:
    """Return counts of the rows of a sketch with a hash."""
    counts = origin.recipe.counts(hasher, origin.sketch, unit).at_end_of(n_met)
    block = Block(rows.rows, rows.labels, rows.weights)
    return counts.plus(Model(hasher, counts).count_block(block, n_jobs, **origin.known), owned=True)


def _is_float(sketch: Sketch) -> bool:
    """Return whether rows are floats."""
    return bool(sketch.rows.dtype.kind == "f")


def united(labels: Array | None, more: Array | None) -> Array | None:
    """Return the union of announced labels."""
    return labels if more is None else more if labels is None else np.concatenate([labels, more])
