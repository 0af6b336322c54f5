"""The one way to learn: sketch -> start -> count -> add -> tune.

`fit`, `train` and a cluster differ only in who hands over the blocks of rows, and where they are counted. Whatever goes
wrong before the end, the model stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from flybloom._internal.typing import Array, Features, Weights
from flybloom._internal.validation import check_new_rows, check_rows
from flybloom.core import _kernels
from flybloom.core.counts.base import Counts
from flybloom.core.counts.weight_unit import WHOLE_ROWS, WeightUnit, unit_for
from flybloom.core.encoding.bias_columns import BiasColumns
from flybloom.core.encoding.choice import MAX_WEIGHED, Auto, Wanted, fitted_encoder
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.encoding.encoding import Encoding
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.hashing.sizes import Seen, Sizes
from flybloom.core.sketch import Sketch
from flybloom.exceptions import NeverLearnedError

NOTHING: dict[str, Any] = {}
FEW_ROWS = 400  # of a stream that has just begun; so many are soon learned anew


class Learned(NamedTuple):
    """All that a model has learned, as one value."""

    hasher: Hasher
    counts: Counts
    tuned: dict[str, Any] = NOTHING  # chosen with the rows at hand, and kept: a threshold, a temperature
    held: Held | None = None  # all rows so far, while they are too few to fix an encoding

    def count_block(self, block: Block, n_jobs: int | None, *, sign: int = 1, **known: Any) -> Any:
        """Return what a block of rows changes; nothing changes yet."""
        labels = self.counts.labels_of(block.labels, lambda some: self.hasher.encoder.columns_apart(block.rows[some]))
        counter = self.counts.counter(labels, block.weights, sign=sign, **known)
        counter.n_jobs = n_jobs
        X = block.rows if counter.keep is None else block.rows[counter.keep]
        self.hasher.for_each_block(X, counter.add, n_jobs)
        return counter.delta()


class Block(NamedTuple):
    """Rows that were checked, with their labels and weights."""

    rows: Features
    labels: Array | None
    weights: Weights

    def part(self, begin: int | None, end: int | None) -> Block:
        """Return some of the rows."""
        some = slice(begin, end)
        return Block(self.rows[some], None if self.labels is None else self.labels[some], self.weights[some])


class Tuner(Protocol):
    """Chooses something with a sample of the first rows, and keeps it: a threshold, a temperature."""

    is_tuned: ClassVar[bool]  # whether there is anything to choose

    def tuned_with(self, learned: Learned, sketch: Sketch) -> dict[str, Any]:
        """Return what is chosen, after the rows of the sketch were learned."""


class Held(NamedTuple):
    """Rows of a stream that has just begun: what was learned from them is learned anew until they are enough.

    Parameters
    ----------
    block : Block
        The rows in the order in which they came, as float64.
    recipe : Recipe
        How the model is made.
    known : dict
        What was said beside the rows, such as classes to expect.
    n_counted : int
        How many of the rows were counted.
    """

    block: Block
    recipe: Recipe
    known: dict[str, Any]
    n_counted: int = 0

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.block.rows.shape[0])

    @property
    def is_stale(self) -> bool:
        """Whether rows have come that have not been counted yet."""
        return self.n_counted < self.n_rows

    def with_more(self, block: Block, known: dict[str, Any]) -> Held:
        """Return the rows with more rows after them."""
        names = {**self.known, **known}
        together = {
            name: np.concatenate([self.known[name], known[name]]) if name in self.known and name in known else value
            for name, value in names.items()
        }
        return self._replace(block=joined([self.block, block]), known=together)

    def without(self, block: Block) -> Held | None:
        """Return the rows without some of them, or None if none is left; NeverLearnedError where they are not there."""
        rows, weights = as_dense(self.block.rows), self.block.weights.copy()
        for row, weight, at in zip(as_dense(block.rows), block.weights, range(len(block.weights)), strict=True):
            is_it = ((rows == row) | (np.isnan(rows) & np.isnan(row))).all(axis=1) & (weights > 0)
            if self.block.labels is not None and block.labels is not None:
                is_it &= (self.block.labels == block.labels[at]).reshape(len(weights), -1).all(axis=1)
            for found in np.flatnonzero(is_it):
                taken = min(int(weight), int(weights[found]))
                weights[found] -= taken
                weight -= taken  # noqa: PLW2901
            if weight > 0:
                msg = (
                    "These rows cannot all have been learned: some are not among those that were. "
                    "Forget only rows that were learned, each with its label, once for each time it was learned."
                )
                raise NeverLearnedError(msg)
        keep = (weights > 0) | (self.block.weights == 0)
        if not (weights > 0).any():
            return None
        labels = None if self.block.labels is None else self.block.labels[keep]
        return self._replace(block=Block(self.block.rows[keep], labels, weights[keep]), n_counted=0)


def first_rows(n: int) -> int:
    """Return how many of the rows that are held back fix the encoding meanwhile: few ones all, more by each quarter.

    To learn them all anew whenever one has come would take longer the more there are.
    """
    if n <= FEW_ROWS:
        return n
    first = FEW_ROWS
    while first * 5 // 4 <= n:
        first = first * 5 // 4
    return first


def joined(blocks: list[Block]) -> Block:
    """Return several blocks as one, of float64."""
    rows = [block.rows.astype(np.float64) for block in blocks]
    if len({sparse.issparse(part) for part in rows}) > 1:
        rows = [part if sparse.issparse(part) else sparse.csr_matrix(part) for part in rows]
    labels = None if blocks[0].labels is None else np.concatenate([block.labels for block in blocks])
    together = sparse.vstack(rows, format="csr") if sparse.issparse(rows[0]) else np.concatenate(rows)
    return Block(together, labels, np.concatenate([block.weights for block in blocks]))


def as_dense(rows: Features) -> Array:
    """Return few rows as an array."""
    dense: Array = rows.toarray() if sparse.issparse(rows) else np.asarray(rows)
    return dense.astype(np.float64)


@dataclass(frozen=True)
class Recipe:
    """What a model is made of, as its parameters say; knows no rows.

    Parameters
    ----------
    owner : str
        The estimator, for messages.
    encoding : Encoding, Auto or Encoder
        Which steps the encoder has.
    sizes : Sizes
        How many components, connections and winners.
    signed : bool
        Whether connections have signs.
    seed : int
        Seed of the connections.
    new_counts : callable or None
        Makes counts of no rows, for so many components and winners.
    check_labels : callable or None
        Checks the labels of so many rows, where there are labels.
    warm_up : int
        How many rows of a stream must have come to fix an encoding.
    weight_unit : float, "auto" or None
        The weight that counts as one row; None where all weights are whole numbers.
    has_positions : bool
        Whether the positions of rows stand for labels.
    tuned : dict
        What is chosen later with a sketch of the rows, as it is until then.
    counts_fit_labels : bool
        Whether counts, too, are made for labels like those of a sketch.
    """

    owner: str
    encoding: Wanted
    sizes: Sizes
    signed: bool
    seed: int
    new_counts: Callable[[int, int], Counts] | None = None  # a hash alone counts nothing
    check_labels: Callable[[Any, int], Array | None] | None = None
    warm_up: int = 0
    weight_unit: float | str | None = None
    has_positions: bool = False
    tuned: dict[str, Any] = field(default_factory=dict)
    counts_fit_labels: bool = False

    def hasher(self, features: Encoder, sketch: Sketch | None, unit: WeightUnit = WHOLE_ROWS) -> Hasher:
        """Return how rows are hashed: the encoder is fitted to the sketch, None where no step is fitted to rows.

        Parameters
        ----------
        features : Encoder
            The features, without steps but perhaps those of a table.
        sketch : Sketch or None
            Of the rows.
        unit : WeightUnit
            What the weights of the sketch are counted in.
        """
        sample = None if sketch is None else sketch.sample(unit.per_row)
        with _kernels.float_mode.SmallFloatsKept():
            encoder = fitted_encoder(self.encoding, features, sample)
        bias: BiasColumns | None = encoder.step(BiasColumns)
        n_columns = encoder.n_outputs - (0 if bias is None else bias.n)
        seen = Seen.COLUMNS if encoder.grid_shape is None else Seen.WINDOWS
        is_sparse = sketch is not None and sparse.issparse(sketch.rows)
        if is_sparse and isinstance(self.encoding, Auto) and encoder.n_features > MAX_WEIGHED:
            seen = Seen.WORDS
        n_rows = None if sketch is None else int(unit.rows(sketch.n_rows))
        sizes = self.sizes.for_features(encoder.n_features, n_columns, n_rows, seen)
        return Hasher.of(encoder, self.seed, sizes, signed=self.signed)

    def sketch_of(self, block: Block, begin: int = 0) -> Sketch:
        """Return the sketch of a block that was checked, before which so many rows came."""
        labels = block.labels
        if self.has_positions and labels is None:
            labels = np.arange(begin, begin + block.rows.shape[0])
        return Sketch.of(block.rows, labels, block.weights, by_class=not self.has_positions)

    def check_sizes(self, features: Encoder) -> None:
        """Refuse sizes that do not fit the features, as far as that is known before any row is read."""
        if features.kinds is None and isinstance(self.encoding, Encoding):
            self.sizes.for_features(features.n_features, self.encoding.n_columns(features.n_features))

    @property
    def needs_sketch(self) -> bool:
        """Whether how rows are hashed, or what counts are of, follows from rows: then a sketch comes before counts."""
        return self.encoding.needs_rows or self.sizes.needs_n_rows or self.counts_fit_labels


@dataclass
class Learning:
    """A model in the making, which nobody sees before it is finished.

    Parameters
    ----------
    recipe : Recipe
        What it is made of.
    n_jobs : int or None
        Number of threads.
    learned : Learned or None
        What has been learned so far; None to begin from scratch.
    features : Encoder or None
        What is known of the rows before there is anything learned.
    first_unit : WeightUnit or None
        What the weights of the first of them are counted in.
    """

    recipe: Recipe
    n_jobs: int | None
    learned: Learned | None = None
    features: Encoder | None = None
    first_unit: WeightUnit | None = None
    _own: Counts | None = field(default=None, init=False)  # the counts that were made here: nobody else has them

    def check(self, X: Any, y: Any = None, sample_weight: Any = None) -> Block:
        """Return a block that was checked; the first one tells which features there are."""
        recipe, (_, rows) = self.recipe, self.check_features(X, min_rows=1)
        n_rows = rows.shape[0]
        labels = None if recipe.check_labels is None else recipe.check_labels(y, n_rows)
        if self.learned is None and self.first_unit is None:
            self.first_unit = unit_for(recipe.weight_unit, sample_weight)
        return Block(rows, labels, self.unit.counted(sample_weight, n_rows))

    @property
    def unit(self) -> WeightUnit:
        """What weights are counted in."""
        if self.learned is not None:
            return self.learned.counts.unit
        return unit_for(self.recipe.weight_unit) if self.first_unit is None else self.first_unit

    def check_features(self, X: Any, *, min_rows: int = 0) -> tuple[Encoder, Features]:
        """Return the features, and rows that were checked; the first ones, even if they are none, tell the features."""
        owner, takes_sparse = self.recipe.owner, self.recipe.encoding.takes_sparse
        if self.learned is not None:
            known = self.learned.hasher.encoder
            return known, check_rows(X, owner, known, min_rows=min_rows)
        if self.features is not None:
            return self.features, check_rows(X, owner, self.features, min_rows=min_rows, takes_sparse=takes_sparse)
        rows, names, kinds = check_new_rows(X, owner, takes_sparse=takes_sparse, min_rows=min_rows)
        self.features = Encoder(rows.shape[1], names, kinds=kinds)
        return self.features, rows

    def sketch_of(self, block: Block, begin: int = 0) -> Sketch:
        """Return the sketch of a block that was checked, before which so many rows came."""
        return self.recipe.sketch_of(block, begin)

    def start(self, sketch: Sketch | None) -> Learned:
        """Fix how rows are hashed, unless that is known, from a sketch of all rows."""
        if self.learned is None:
            assert self.features is not None  # noqa: S101 - a block was checked before
            assert self.recipe.new_counts is not None  # noqa: S101
            hasher = self.recipe.hasher(self.features, sketch, self.unit)
            counts = self.recipe.new_counts(hasher.projection.n_components, hasher.n_winners)
            counts = counts if counts.unit == self.unit else counts.in_unit(self.unit)
            if self.recipe.counts_fit_labels and sketch is not None:
                has_trend = bool(hasher.encoder.steps) and not sparse.issparse(sketch.rows)
                encode = partial(hasher.encoder.columns_apart, sketch.rows) if has_trend else None
                counts = counts.fixed_to(sketch.labels, sketch.weights, encode)
            self.learned = Learned(hasher, counts, self.recipe.tuned)
        return self.learned

    def learn_first(self, block: Block, tuner: Tuner, **known: Any) -> None:
        """Learn a block of a stream: hold rows back while they are too few to fix how they are hashed."""
        held = None if self.learned is None else self.learned.held
        known = {name: value for name, value in known.items() if value is not None}
        if held is None:
            held = Held(joined([block]), self.recipe, known) if self.recipe.warm_up > 0 else None
            block = block if held is None or self.must_fix(held) else held.block
        else:
            assert self.learned is not None  # noqa: S101 - it holds rows
            self.learned.counts.require_labels(block.labels, block.weights, **known)
            held = held.with_more(block, known)
            if not self.must_fix(held):
                self.learned = self.learned._replace(held=held)
                return
            block, known = held.block, held.known
        if held is None or self.must_fix(held):
            self.learn_anew(block, tuner, known)
        else:
            self.learn_meanwhile(held, tuner)

    def must_fix(self, held: Held) -> bool:
        """Return whether enough rows have come."""
        return held.n_rows >= held.recipe.warm_up

    def learn_anew(self, block: Block, tuner: Tuner, known: dict[str, Any], n_first: int | None = None) -> None:
        """Fix how rows are hashed from a block, or from the first of its rows, and count it."""
        sketch = self.sketch_of(block.part(None, n_first))
        if self.learned is not None:
            assert self.learned.held is not None  # noqa: S101
            self.recipe, before = self.learned.held.recipe, self.learned.hasher.encoder
            self.features = before.plain()
            self.first_unit, self.learned = self.unit, None
        self.start(sketch)
        learned = self.learn(block, **known)
        self.learned = learned._replace(tuned=tuner.tuned_with(learned, sketch))

    def learn_meanwhile(self, held: Held, tuner: Tuner) -> None:
        """Count rows that are held back; how they are hashed is found anew, unless hardly more have come since."""
        n_first, n_counted = first_rows(held.n_rows), held.n_counted
        if n_counted and first_rows(n_counted) == n_first and not tuner.is_tuned:
            self.learn(held.block.part(n_counted, None), **held.known)
        else:
            self.learn_anew(held.block, tuner, held.known, n_first)
        assert self.learned is not None  # noqa: S101 - just learned
        self.learned = self.learned._replace(held=held._replace(n_counted=held.n_rows))

    def settle(self, tuner: Tuner) -> None:
        """Count rows that were held back since the last look."""
        held = None if self.learned is None else self.learned.held
        if held is not None and held.is_stale:
            self.learn_meanwhile(held, tuner)

    def tune(self, tuner: Tuner, sketch: Sketch | None) -> None:
        """Keep what is chosen with a sketch of the rows that were learned."""
        assert self.learned is not None  # noqa: S101 - it was started before
        if sketch is not None:
            self.learned = self.learned._replace(tuned=tuner.tuned_with(self.learned, sketch))

    def learn(self, block: Block, **known: Any) -> Learned:
        """Count a block and add it, beside what others see; in place where that is small and made here."""
        assert self.learned is not None  # noqa: S101 - it was started before
        counts, delta = self.learned.counts, self.learned.count_block(block, self.n_jobs, **known)
        if counts is not self._own or not counts.change_in_place(delta, 1):
            self._own = counts.plus(delta, owned=True)
            self.learned = self.learned._replace(counts=self._own)
        return self.learned
