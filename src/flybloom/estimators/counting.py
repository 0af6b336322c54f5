"""An estimator that counts: learning, merging, forgetting, copies and threads, once for every kind of counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import partial
from threading import get_ident
from types import MappingProxyType
from typing import Any, ClassVar, Self

from flybloom._internal.typing import Array, CountTable, Features, WantedUnit, WarmUp
from flybloom._internal.validation import check_labels, check_rows, resolve_seed
from flybloom.core.counts.base import Counts, Won
from flybloom.core.counts.shared import Shared, SharedOnDemand
from flybloom.core.files.held_rows import HELD_ARRAYS, held_from_parts, held_to_parts
from flybloom.core.files.model_file import Parts
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.hashing.sizes import Sizes
from flybloom.core.readout.novel_share import novel_share
from flybloom.core.recipe import NOTHING, Block, Held, Learned, Learning, Recipe
from flybloom.core.sketch import Sketch
from flybloom.estimators.base import FlyEstimator, missing_attribute, not_fitted, read_only
from flybloom.estimators.learned_page import as_html, learned_facts
from flybloom.exceptions import IncompatibleHashError, NeverLearnedError

AUTO_WARM_UP, WEIGHED_WARM_UP = 400, 1600  # rows; more where columns are weighed by labels, see docs/encodings.md

MAX_INT32 = 2**31 - 1


class CountingEstimator(FlyEstimator):
    """An estimator whose only learned state are whole-number counts of winners.

    What is learned is one reference to one value, `Learned`. Many threads may read it while one learns: each call sees
    a `partial_fit` whole, or not at all. A call that fails, or is interrupted, changes nothing.

    A subclass names its `counts_type`; it may override `_counts_settings`, `_check_labels`, `_require_complete`,
    and `tuned_with`, and adds `fit`, `partial_fit` and what it reads off the counts.
    """

    counts_type: ClassVar[type[Counts]]
    warm_up: WarmUp = "auto"
    weight_unit: WantedUnit = None  # of kinds that have no such parameter: whole rows alone
    needs_labels: ClassVar[bool] = True
    _usual_tuned: Mapping[str, Any] = MappingProxyType({})  # what `tuned_with` chooses, before there are rows
    _has_positions: bool = False  # whether the positions of rows stand for labels
    _sizes_type: ClassVar[type[Sizes]] = Sizes
    is_tuned: ClassVar[bool] = False  # whether `tuned_with` chooses something with the rows of `fit`, and keeps it
    _check_labels = staticmethod(check_labels)  # of so many rows; None where there are none
    _sharing = SharedOnDemand[Learned]()  # what is learned, with readers and learners kept apart
    _counts_settings: Mapping[str, Any] = MappingProxyType({})  # what the counts are made with besides their sizes

    def merge(self, other: CountingEstimator) -> Self:
        """Learn all that another model has learned, as if this one had met its rows.

        ``a + b`` does the same and leaves both as they were; ``sum(models)`` works. Parameters that only matter when
        scoring, such as `decay`, stay those of the first model.

        Parameters
        ----------
        other : estimator of the same kind
            A model that hashes alike: of the same features, scaling, seed and sizes.

        Returns
        -------
        estimator
            The model itself.

        Raises
        ------
        IncompatibleHashError
            If the two hash differently; the message lists all that differs.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from flybloom import FlyBloomClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> def learned(rows):
        ...     return FlyBloomClassifier(scaling="none", random_state=0).fit(X[rows], y[rows])
        >>> first, second = learned(slice(900)), learned(slice(900, None))
        >>> bool(((first + second).counts_ == learned(slice(None)).counts_).all())
        True
        """
        self._require_kin(other, "merge")
        shared = self._shared
        with shared.learning, other.reading_learned() as theirs:
            mine = self._learned()
            mine.counts.unit.require_same(theirs.counts.unit, "merge")
            if mine.held is not None or theirs.held is not None:
                self._merge_held(mine, theirs)
                return self
            mine.hasher.require_same(theirs.hasher, "merge")
            counts = mine.counts.plus(theirs.counts.following(mine.counts))
            shared.replace(mine._replace(counts=counts, tuned=self._merged_tuned(mine, theirs)))
        return self

    def _merged_tuned(self, mine: Learned, theirs: Learned) -> dict[str, Any]:  # noqa: ARG002
        """Return what is kept of what was chosen with the rows of two models: that of the first."""
        return mine.tuned

    def _merge_held(self, mine: Learned, theirs: Learned) -> None:
        """Merge models of which one or both still hold rows back: these are learned as the other one hashes."""
        mine.hasher.require_alike(theirs.hasher, "merge")
        session = Learning(self._recipe(), self.n_jobs, mine)
        if theirs.held is not None:
            if mine.held is not None:
                session.learn_first(theirs.held.block, self, **theirs.held.known)
            else:
                session.learn(theirs.held.block, **theirs.held.known)
        elif mine.held is not None:
            if mine.counts.needs_positions:
                msg = (
                    "Cannot merge: the first model still holds back rows, which came before those of the second, and "
                    "their order matters. Merge the first into the second, or learn more rows first, see warm_up."
                )
                raise IncompatibleHashError(msg)
            session.learned = theirs
            session.learned = theirs._replace(
                counts=theirs.counts.plus(theirs.count_block(mine.held.block, self.n_jobs, **mine.held.known))
            )
        if session.learned is not self._sharing.value:
            self._sharing.replace(session.learned)

    def like(self) -> Self:
        """Return a model of no rows that hashes as this one does: same encoder, sizes and seed.

        What such models learn adds up, so that parts of the data can be learned apart.

        Returns
        -------
        estimator
            The new model; `partial_fit` and `flybloom.train` go on from it, `fit` begins from scratch.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from flybloom import FlyRidgeClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> a = FlyRidgeClassifier(random_state=0).fit(X[:900], y[:900])
        >>> b = a.like().partial_fit(X[900:], y[900:])
        >>> int((a + b).class_count_.sum())
        1797
        """
        with self.reading_learned() as learned:
            counts = learned.counts.minus(learned.counts)
            return copy(self).with_learned(learned._replace(counts=counts, held=None))

    def __add__(self, other: object) -> Self:
        """Return a model that has learned what both have."""
        if not isinstance(other, type(self)):
            return NotImplemented
        return copy(self).merge(other)

    def __radd__(self, other: object) -> Self:
        """Return a copy: sum() starts with zero."""
        return copy(self) if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, other: object) -> Self:
        """Return a model that has learned what this one has, but not what the other has."""
        if not isinstance(other, type(self)):
            return NotImplemented
        with self.reading_learned() as mine, other.reading_learned() as theirs:
            mine.hasher.require_same(theirs.hasher, "subtract")
            mine.counts.unit.require_same(theirs.counts.unit, "subtract")
            return copy(self).with_learned(mine._replace(counts=mine.counts.minus(theirs.counts), held=None))

    @contextmanager
    def learning(self, *, anew: bool = False) -> Iterator[Learning]:
        """Learn from rows that come in parts, for those who read them from elsewhere.

        Gives a `Learning`, which checks, starts, counts and adds. The model takes it over at the end of the with
        block, all at once; if anything goes wrong before, it stays as it was.

        Parameters
        ----------
        anew : bool, default=False
            Whether to forget everything first. The rules of `fit` hold then.
        """
        self._check_parameters()
        shared = self._sharing
        with shared.learning:
            session = Learning(self._recipe(), self.n_jobs, None if anew else shared.value)
            yield session
            learned = session.learned
            if learned is not None and learned is not shared.value:
                if anew:
                    self._require_complete(learned)
                shared.replace(learned)
                self._look_at(learned, anew=anew)

    @contextmanager
    def reading_learned(self) -> Iterator[Learned]:
        """Give what is learned, as one value that stays as it is until the end of the with block."""
        with self._shared.reading() as learned:
            if learned is None:
                raise not_fitted(self)
            yield learned

    @contextmanager
    def scoring(self, X: Any) -> Iterator[tuple[Features, Learned]]:
        """Give rows that are to be scored, checked, and what is learned, which stays until the end of the with block.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        """
        with self.reading_learned() as learned:
            if not self.__sklearn_is_fitted__():
                raise not_fitted(self)
            self._check_parameters()  # what only matters when scoring may have been set since fit
            yield check_rows(X, type(self).__name__, learned.hasher.encoder), learned

    def with_learned(self, learned: Learned) -> Self:
        """Hold what was learned elsewhere, and return the model itself.

        Parameters
        ----------
        learned : Learned
            What is learned, as `reading_learned` gives it.

        Returns
        -------
        estimator
            The model itself.
        """
        self._shared.replace(learned, is_own=False)
        return self

    def n_rows_learned(self) -> float | None:
        """Return the number of rows that are counted, weights included; None before the first rows."""
        learned = self._shared.value
        return None if learned is None else learned.counts.unit.rows(learned.counts.n_rows)

    def memory_usage(self, more_rows: int = 0) -> dict[str, int]:
        """Return how many bytes of memory the model takes.

        Parameters
        ----------
        more_rows : int, default=0
            Rows of known classes yet to be learned.

        Returns
        -------
        dict
            ``counts``; ``connections``, which are drawn when rows are first hashed, and are in no file; and
            ``more_rows``, what so many further rows may add: nothing, until counts go beyond 31 bits.

        Examples
        --------
        >>> import flybloom
        >>> from sklearn.datasets import load_iris
        >>> model = flybloom.FlyBloomClassifier(1024, random_state=0).fit(*load_iris(return_X_y=True))
        >>> model.memory_usage(more_rows=1_000_000)
        {'counts': 12336, 'connections': 32768, 'more_rows': 0}
        """
        with self.reading_learned() as learned:
            counts = learned.counts
            is_outgrown = counts.n_rows + more_rows > MAX_INT32
            return {
                "counts": counts.n_bytes,
                "connections": learned.hasher.projection.n_bytes,
                "more_rows": counts.n_bytes if is_outgrown else 0,
            }

    def novel_winners(self, X: Any) -> Array:
        """Return for each row the share of its winners that have never won before, in whatever class.

        It needs no labels. It rises where a stream changes, and falls as the model learns what is new.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            From 0, where every winner has won before, to 1.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from flybloom import FlyBloomClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> model = FlyBloomClassifier(random_state=0).fit(X[:900], y[:900])
        >>> bool(model.novel_winners(X[900:]).mean() < model.novel_winners(X[900:, ::-1]).mean())
        True
        """
        with self.scoring(X) as (rows, learned):
            winners = learned.hasher.winners(rows, self.n_jobs)
            return novel_share(learned.counts.has_won, winners)

    def check_block(self, learned: Learned, X: Any, y: Any, sample_weight: Any = None) -> Block:
        """Return rows that are hashed as those before, checked.

        Parameters
        ----------
        learned : Learned
            What was learned.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or None
            Their labels, where there are labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, in the unit of the model.

        Returns
        -------
        Block
            The rows, with labels and weights.
        """
        rows = check_rows(X, type(self).__name__, learned.hasher.encoder)
        n_rows = rows.shape[0]
        return Block(rows, self._check_labels(y, n_rows), learned.counts.unit.counted(sample_weight, n_rows))

    def held_rows(self) -> Block | None:
        """Return all rows so far while they are too few to fix how they are hashed.

        Returns
        -------
        Block or None
            The rows, or None before the first and after the last of them.
        """
        learned = self._sharing.value
        return None if learned is None or learned.held is None else learned.held.block

    def exchange(self, came: Won, went: Won) -> None:
        """Count rows whose winners are known and take away others, both or neither; one learner at a time.

        Parameters
        ----------
        came : Won
            Rows to count.
        went : Won
            Rows that were counted before.
        """
        shared, learned = self._sharing, self._learned()
        counts, delta = learned.counts, learned.counts.count_won(came)
        if not shared.exchange(counts, delta, counts.count_won(went, sign=-1)):
            counts = counts.plus(delta, owned=True)
            counts = counts.minus(counts.count_won(went, sign=-1))
            shared.replace(learned._replace(counts=counts))

    def exchange_at_once(self, came: Won, went: Won, bounds: Array) -> bool:
        """Do the same by one call of a kernel, which nothing interrupts, and move the bounds of kept rows with it.

        Parameters
        ----------
        came : Won
            Rows to count.
        went : Won
            Rows that were counted before.
        bounds : ndarray of shape (2,)
            Where the rows begin and end that may have to be taken away.

        Returns
        -------
        bool
            Whether it was done; only few rows, of known classes, while nobody looks.
        """
        counts = self._learned().counts
        went_counts = counts.count_won(went, sign=-1)
        return self._sharing.exchange_at_once(counts, counts.count_won(came), went_counts, bounds)

    def replace_counts(self, counts: Counts) -> None:
        """Hold other counts of rows that are hashed alike.

        Parameters
        ----------
        counts : Counts
            The counts.
        """
        self._sharing.replace(self._learned()._replace(counts=counts), is_own=False)

    def to_parts(self) -> Parts:
        """Return what files hold of the model.

        Returns
        -------
        Parts
            The hasher, facts for JSON, and arrays.
        """
        with self.reading_learned() as learned:
            facts, arrays = learned.counts.to_parts()
            facts = {**facts, "tuned": learned.tuned} if learned.tuned else facts
            if learned.held is not None:
                held_facts, held_arrays = held_to_parts(learned.held)
                facts, arrays = {**facts, "held": held_facts}, {**arrays, **held_arrays}
            return Parts(learned.hasher, facts, arrays)

    def from_parts(self, hasher: Hasher | None, facts: dict[str, Any], arrays: dict[str, Array]) -> Self:
        """Hold what a file says, and return the model itself; ValueError where no model can have that.

        Parameters
        ----------
        hasher : Hasher or None
            How rows are hashed.
        facts : dict
            What JSON held.
        arrays : dict of ndarray
            The arrays that are not the hasher's.

        Returns
        -------
        estimator
            The model itself.
        """
        held_arrays = {name: values for name, values in arrays.items() if name in HELD_ARRAYS}
        arrays = {name: values for name, values in arrays.items() if name not in HELD_ARRAYS}
        if hasher is None or set(arrays) - self.counts_type.ARRAYS:
            msg = "it holds arrays that no such model has" if arrays else "it does not say how it hashes"
            raise ValueError(msg)
        tuned = facts.get("tuned", {})
        self._check_tuned(tuned)
        counts = self.counts_type.from_parts(hasher.n_components, hasher.n_winners, facts, arrays)
        held = None
        if held_arrays or "held" in facts:
            recipe = replace(self._recipe(), seed=hasher.projection.seed)
            held = held_from_parts(facts.get("held"), held_arrays, hasher.encoder.n_features, recipe)
        return self.with_learned(Learned(hasher, counts, tuned, held))

    @property
    def counts_(self) -> CountTable:
        """The counts, a row for each class or age: all that is learned.

        What you get stays as it is, whatever the model learns later.
        """
        learned = self._shared.hand_out()
        if learned is None:
            raise missing_attribute(self, "counts_")
        counts: Any = learned.counts
        return read_only(counts.table.T)

    def __copy__(self) -> Self:
        """Return a model with the same parameters, which shares what was learned until one of the two learns on."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update({name: value for name, value in self.__dict__.items() if name != "_sharing"})
        learned = self._shared.hand_out()
        return twin if learned is None else twin.with_learned(learned)

    def _html_repr(self) -> str:
        """Return what notebooks show: scikit-learn's diagram, and under it what was learned."""
        diagram: str = super()._html_repr()
        learned = self._shared.value
        return diagram if learned is None else diagram + as_html(learned_facts(learned))

    @property
    def _shared(self) -> Shared[Learned | None]:
        """What keeps readers and learners apart; rows that were held back are counted before anybody looks."""
        shared = self._sharing
        held = None if shared.value is None else shared.value.held
        if held is not None and held.is_stale and self.__dict__.get("_settler") != get_ident():
            with shared.learning:
                self._settle(shared)
        return shared

    def _settle(self, shared: Shared[Learned | None]) -> None:
        """Count rows that were held back, unless somebody else has done so meanwhile."""
        learned = shared.value
        if learned is None or learned.held is None or not learned.held.is_stale:
            return
        self.__dict__["_settler"] = get_ident()  # who judges rows on the way may look at what there was
        try:
            session = Learning(learned.held.recipe, self.n_jobs, learned)
            session.settle(self)
            shared.replace(session.learned)
        finally:
            del self.__dict__["_settler"]

    @property
    def _hasher(self) -> Hasher | None:
        """How rows are hashed; None before fit."""
        learned = self._shared.value
        return None if learned is None else learned.hasher

    def _learned(self) -> Learned:
        """Return what is learned now; only for what never changes, and while learning."""
        learned = self._shared.value
        if learned is None:
            raise not_fitted(self)
        return learned

    def _recipe(self) -> Recipe:
        """Return how a model is made, as the parameters say."""
        encoding = self._encoding
        needs_none = self.scaling is not None or not encoding.needs_rows  # the older scaling never waited
        auto_warm_up = WEIGHED_WARM_UP if encoding.uses_labels else AUTO_WARM_UP
        return Recipe(
            owner=type(self).__name__,
            encoding=encoding,
            sizes=self._sizes_type(self.n_components, self.n_connections, self.n_winners),
            signed=bool(self.signed),
            seed=resolve_seed(self.random_state),
            new_counts=partial(self.counts_type.empty, **self._counts_settings),  # type: ignore[attr-defined]
            check_labels=self._check_labels,
            warm_up=0 if needs_none else auto_warm_up if self.warm_up == "auto" else int(self.warm_up),
            weight_unit=self.weight_unit,
            has_positions=self._has_positions,
            tuned=dict(self._usual_tuned),
            counts_fit_labels=self.counts_type.fits_labels,
        )

    def _check_tuned(self, tuned: Any) -> None:
        """Refuse what `tune_to` never returns; ValueError."""
        if tuned != {}:
            msg = "it was tuned to what no such model is tuned to"
            raise ValueError(msg)

    def _look_at(self, learned: Learned, *, anew: bool = False) -> None:
        """Look at what was learned while nobody else learns, and perhaps warn; most kinds have nothing to say."""

    def _require_complete(self, learned: Learned) -> None:
        """Refuse what `fit` must not end with; for all ways to learn from scratch."""

    def learn_rows(
        self, X: Any, y: Any, sample_weight: Any = None, *, anew: bool = False, known: Mapping[str, Any] = NOTHING
    ) -> Block:
        """Count rows in addition to those before, or from scratch: what `fit` and `partial_fit` of every kind do.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or None
            Their labels, where there are labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Whole numbers.
        anew : bool, default=False
            Whether to forget everything first. The rules of `fit` hold then.
        known : dict, default={}
            What is said beside the rows, such as the classes to expect.

        Returns
        -------
        Block
            The rows, checked.
        """
        shared = self._sharing
        with shared.learning:
            learned = shared.value
            if not anew and learned is not None and learned.held is None:  # how rows are hashed is fixed
                self._check_parameters()
                block = self.check_block(learned, X, y, sample_weight)
                n_before = learned.counts.n_rows
                self._change(shared, learned, block, 1, **known)
                after = shared.value
                if after is not None and after.counts.n_rows.bit_length() > n_before.bit_length():  # twice as many
                    self._look_at(after)
                return block
            with self.learning(anew=anew) as session:
                block = session.check(X, y, sample_weight)
                if anew:
                    session.learn_anew(block, self, {**known})
                else:
                    session.learn_first(block, self, **known)
        return block

    def _change(self, shared: Shared[Learned | None], learned: Learned, block: Block, sign: int, **known: Any) -> None:
        """Count rows, or with the sign -1 take them away; in place where they are few and nobody looks."""
        counts, delta = learned.counts, learned.count_block(block, self.n_jobs, sign=sign, **known)
        if not shared.change(counts, delta, sign):
            counts = counts.plus(delta, owned=True) if sign > 0 else counts.minus(delta)
            shared.replace(learned._replace(counts=counts))

    def tuned_with(self, learned: Learned, sketch: Sketch) -> dict[str, Any]:  # noqa: ARG002
        """Return what a sketch of the first rows chooses, if anything.

        Parameters
        ----------
        learned : Learned
            What was learned from the rows.
        sketch : Sketch
            A sample of them.

        Returns
        -------
        dict
            Facts that JSON can hold.
        """
        return {}

    def _forget(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        """Take rows out of the counts."""
        shared = self._shared
        with shared.learning:
            learned = self._learned()
            if learned.held is not None:
                self._forget_held(learned, learned.held, X, y, sample_weight)
                return
            self._change(shared, learned, self.check_block(learned, X, y, sample_weight), -1)

    def _forget_held(self, learned: Learned, held: Held, X: Any, y: Any, sample_weight: Any) -> None:
        """Take rows out of those that are held back."""
        block = self.check_block(learned, X, y, sample_weight)
        if learned.counts.needs_positions:
            learned.counts.counter(block.labels, block.weights, sign=-1)  # says what is missing
            msg = "Rows that are held back cannot be forgotten by their positions. Learn more rows first, see warm_up."
            raise NeverLearnedError(msg)
        left = held.without(block)
        self._shared.replace(None if left is None else learned._replace(held=left))

    def _require_kin(self, other: Any, action: str) -> None:
        """Refuse what is not a model of the same kind."""
        if not isinstance(other, type(self)):
            name = type(self).__name__
            msg = f"Cannot {action}: expected another {name}. Got {type(other).__name__} instead. Pass a fitted {name}."
            raise TypeError(msg)
