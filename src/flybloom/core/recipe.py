"""The one way to learn: moments -> start -> count -> add -> finish.

`fit`, `train` and a cluster differ only in who hands over the blocks of rows, and where they are counted. Whatever goes
wrong before the end, the model stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from flybloom._internal.typing import Array, Features, Weights
from flybloom._internal.validation import check_new_rows, check_rows, check_weights
from flybloom.core.counts.base import Counts
from flybloom.core.counts.shared import Shared
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.encoding.encoding import Encoding
from flybloom.core.encoding.step import Plan
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.hashing.projection import Projection
from flybloom.core.hashing.sizes import Sizes

NOTHING: dict[str, Any] = {}


class Learned(NamedTuple):
    """All that a model has learned, as one value."""

    hasher: Hasher
    counts: Counts
    tuned: dict[str, Any] = NOTHING  # chosen with the rows at hand, and kept: a threshold, a temperature

    def count_block(self, block: Block, n_jobs: int | None, *, sign: int = 1, **known: Any) -> Any:
        """Return what a block of rows changes; nothing changes yet."""
        counter = self.counts.counter(block.labels, block.weights, sign=sign, **known)
        X = block.rows if counter.keep is None else block.rows[counter.keep]
        self.hasher.for_each_block(X, counter.add, n_jobs)
        return counter.delta()


class Block(NamedTuple):
    """Rows that were checked, with their labels and weights."""

    rows: Features
    labels: Array | None
    weights: Weights


@dataclass(frozen=True)
class Recipe:
    """What a model is made of, as its parameters say; knows no rows.

    Parameters
    ----------
    owner : str
        The estimator, for messages.
    encoding : Encoding
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
    """

    owner: str
    encoding: Encoding
    sizes: Sizes
    signed: bool
    seed: int
    new_counts: Callable[[int, int], Counts] | None = None  # a hash alone counts nothing
    check_labels: Callable[[Any, int], Array | None] | None = None

    def check(self, X: Any, y: Any, sample_weight: Any, encoder: Encoder | None) -> tuple[Block, Encoder]:
        """Return a block that was checked, and the encoder as far as it is known; None before the first rows."""
        if encoder is None:
            rows, names = check_new_rows(X, self.owner, takes_sparse=self.encoding.takes_sparse)
            encoder = Encoder(rows.shape[1], names)
        else:
            rows = check_rows(X, self.owner, encoder)
        n_rows = rows.shape[0]
        labels = None if self.check_labels is None else self.check_labels(y, n_rows)
        return Block(rows, labels, check_weights(sample_weight, n_rows)), encoder

    def hasher(self, encoder: Encoder) -> Hasher:
        """Return the hasher for an encoder that is fitted."""
        m, s, rho = self.sizes.for_features(encoder.n_features)
        return Hasher(encoder, Projection(self.seed, encoder.n_outputs, m, s, self.signed), rho)

    def start(self, encoder: Encoder) -> Learned:
        """Return a model of no rows."""
        hasher = self.hasher(encoder)
        assert self.new_counts is not None  # noqa: S101 - asked by those who count
        return Learned(hasher, self.new_counts(hasher.n_components, hasher.n_winners))

    def measure(self, plan: Plan, encoder: Encoder, block: Block) -> Any:
        """Return what a block adds to the sums from which a step is fitted."""
        return plan.measure(encoder.encode(block.rows), block.labels, block.weights)

    def fitted(self, encoder: Encoder, sums_of: Callable[[Plan, Encoder], Any]) -> Encoder:
        """Return the encoder with all its steps, each fitted to sums over all rows that `sums_of` adds up."""
        for plan in self.encoding.plans():
            measured = sums_of(plan, encoder) if plan.needs_rows else None
            encoder = encoder.extended(plan.fit(encoder.n_outputs, measured))
        return encoder


@dataclass
class Learning:
    """A model in the making, which nobody sees before it is finished.

    Parameters
    ----------
    recipe : Recipe
        What it is made of.
    shared : Shared
        Where it goes in the end, and what it goes on from.
    learned : Learned or None
        What has been learned so far; None to begin from scratch.
    n_jobs : int or None
        Number of threads.
    """

    recipe: Recipe
    shared: Shared[Learned | None]
    learned: Learned | None
    n_jobs: int | None
    features: Encoder | None = field(default=None)  # what is known of the rows before there is an encoder

    def __post_init__(self) -> None:
        """Know the features of what has been learned."""
        if self.learned is not None:
            self.features = self.learned.hasher.encoder

    def check(self, X: Any, y: Any = None, sample_weight: Any = None) -> Block:
        """Return a block that was checked; the first one tells which features there are."""
        block, self.features = self.recipe.check(X, y, sample_weight, self.features)
        return block

    def check_features(self, sample: Any) -> tuple[Encoder, Any]:
        """Return the features, and the type, of rows of which a sample is given that need not have any row."""
        owner = self.recipe.owner
        if self.features is None:
            rows, names = check_new_rows(sample, owner, takes_sparse=self.recipe.encoding.takes_sparse, min_rows=0)
            self.features = Encoder(rows.shape[1], names)
        else:
            rows = check_rows(sample, owner, self.features, min_rows=0)
        return self.features, rows.dtype

    def start(self, sums_of: Callable[[Plan, Encoder], Any]) -> None:
        """Fix how rows are hashed, unless that is known, from sums over all rows."""
        if self.learned is None:
            assert self.features is not None  # noqa: S101 - a block was checked before
            self.recipe.sizes.for_features(self.features.n_features)  # refused before any work is done
            self.learned = self.recipe.start(self.recipe.fitted(self.features, sums_of))

    def start_with(self, block: Block) -> None:
        """Fix how rows are hashed from a single block."""
        self.start(lambda plan, encoder: self.recipe.measure(plan, encoder, block))

    def go_on_from(self, learned: Learned) -> None:
        """Take over what was learned of the same rows before."""
        self.learned, self.features = learned, learned.hasher.encoder

    def tune(self, tuned: dict[str, Any]) -> None:
        """Keep what was chosen with rows at hand."""
        if self.learned is not None and tuned:
            self.learned = self.learned._replace(tuned=tuned)

    def learn(self, block: Block, **known: Any) -> None:
        """Count a block and add it."""
        assert self.learned is not None  # noqa: S101 - it was started before
        self.add(self.learned.count_block(block, self.n_jobs, **known), owned=True)

    def add(self, delta: Any, *, owned: bool = False) -> None:
        """Add what rows change: beside what others see, or in place where nobody else has it."""
        assert self.learned is not None  # noqa: S101
        counts = self.learned.counts
        if self.learned is self.shared.value:
            if self.shared.change(lambda: counts.change_in_place(delta, 1)):
                return
        elif counts.change_in_place(delta, 1):
            return
        self.learned = self.learned._replace(counts=counts.plus(delta, owned=owned))
