"""The one way to learn: moments -> start -> count -> add -> finish.

`fit`, `train` and a cluster differ only in who hands over the blocks of rows, and where they are counted. Whatever goes
wrong before the end, the model stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from scipy import sparse

from flybloom import _kernels
from flybloom._internal.typing import Array, Features, Weights
from flybloom._internal.validation import check_new_rows, check_rows, check_weights
from flybloom.core.counts.base import Counts
from flybloom.core.counts.shared import Shared
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.encoding.encoding import Wanted
from flybloom.core.encoding.step import Plan
from flybloom.core.hashing.hasher import Hasher
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
        counter.n_jobs = n_jobs
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
    encoding : Encoding, AutoEncoding or FixedEncoding
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
    encoding: Wanted
    sizes: Sizes
    signed: bool
    seed: int
    new_counts: Callable[[int, int], Counts] | None = None  # a hash alone counts nothing
    check_labels: Callable[[Any, int], Array | None] | None = None

    def hasher(
        self,
        encoder: Encoder,
        sums_of: Callable[[Plan, Encoder], Any],
        *,
        is_sparse: bool = False,
        n_rows: int | None = None,
    ) -> Hasher:
        """Return how rows are hashed; the steps of the encoder are fitted to sums over all rows, from `sums_of`."""
        encoding = self.encoding.resolved(encoder.n_features, is_sparse=is_sparse)
        n_columns = encoding.n_columns(encoder.n_features)
        sizes = self.sizes.for_features(encoder.n_features, n_columns, n_rows)  # refused before any work is done
        with _kernels.float_mode.SmallFloatsKept():
            fitted = encoding.fitted(encoder, sums_of)
        return Hasher.of(fitted, self.seed, sizes, signed=self.signed)


@dataclass
class Learning:
    """A model in the making, which nobody sees before it is finished.

    Parameters
    ----------
    recipe : Recipe
        What it is made of.
    shared : Shared
        Where it goes in the end, and what it goes on from.
    n_jobs : int or None
        Number of threads.
    learned : Learned or None
        What has been learned so far; None to begin from scratch.
    features : Encoder or None
        What is known of the rows before there is anything learned.
    is_sparse : bool
        Whether the first of them were sparse.
    """

    recipe: Recipe
    shared: Shared[Learned | None]
    n_jobs: int | None
    learned: Learned | None = None
    features: Encoder | None = None
    is_sparse: bool = False
    _own: Counts | None = field(default=None, init=False)  # the counts that were made here: nobody else has them

    def check(self, X: Any, y: Any = None, sample_weight: Any = None) -> Block:
        """Return a block that was checked; the first one tells which features there are."""
        recipe = self.recipe
        known = self.features if self.learned is None else self.learned.hasher.encoder
        if known is None:
            rows, names = check_new_rows(X, recipe.owner, takes_sparse=recipe.encoding.takes_sparse)
            self.features, self.is_sparse = Encoder(rows.shape[1], names), sparse.issparse(rows)
        else:
            takes_sparse = recipe.encoding.takes_sparse if self.learned is None else None
            rows = check_rows(X, recipe.owner, known, takes_sparse=takes_sparse)
        n_rows = rows.shape[0]
        labels = None if recipe.check_labels is None else recipe.check_labels(y, n_rows)
        return Block(rows, labels, check_weights(sample_weight, n_rows))

    def check_features(self, sample: Any) -> tuple[Encoder, Any]:
        """Return the features, and the type, of rows of which a sample is given that need not have any row."""
        owner = self.recipe.owner
        known = self.features if self.learned is None else self.learned.hasher.encoder
        if known is None:
            rows, names = check_new_rows(sample, owner, takes_sparse=self.recipe.encoding.takes_sparse, min_rows=0)
            known = self.features = Encoder(rows.shape[1], names)
            self.is_sparse = sparse.issparse(rows)
        else:
            rows = check_rows(sample, owner, known, min_rows=0)
        return known, rows.dtype

    def start(self, sums_of: Callable[[Plan, Encoder], Any], n_rows: int | None = None) -> None:
        """Fix how rows are hashed, unless that is known, from sums over all rows, and perhaps their number."""
        if self.learned is None:
            assert self.features is not None  # noqa: S101 - a block was checked before
            assert self.recipe.new_counts is not None  # noqa: S101
            hasher = self.recipe.hasher(self.features, sums_of, is_sparse=self.is_sparse, n_rows=n_rows)
            self.learned = Learned(hasher, self.recipe.new_counts(hasher.projection.n_components, hasher.n_winners))

    def start_with(self, block: Block) -> None:
        """Fix how rows are hashed from a single block."""
        if self.learned is None:
            self.start(
                lambda plan, encoder: encoder.measure(plan, block.rows, block.labels, block.weights),
                int(block.weights.sum()),
            )

    def tune(self, tuned: dict[str, Any]) -> None:
        """Keep what was chosen with rows at hand."""
        assert self.learned is not None  # noqa: S101 - it was started before
        self.learned = self.learned._replace(tuned=tuned)

    def learn(self, block: Block, *, is_all: bool = False, **known: Any) -> None:
        """Count a block and add it; `is_all` says that no other one follows, nor anything else that can fail."""
        assert self.learned is not None  # noqa: S101 - it was started before
        self.add(self.learned.count_block(block, self.n_jobs, **known), owned=True, is_all=is_all)

    def add(self, delta: Any, *, owned: bool = False, is_all: bool = False) -> None:
        """Add what rows change, beside what others see; in place where that is small and made here, or is all."""
        assert self.learned is not None  # noqa: S101
        counts = self.learned.counts
        if not isinstance(delta, Counts):
            if counts is self._own and counts.change_in_place(delta, 1):
                return
            if is_all and self.learned is self.shared.value and self.shared.change(counts, delta, 1):
                return
        self._own = counts.plus(delta, owned=owned)
        self.learned = self.learned._replace(counts=self._own)
