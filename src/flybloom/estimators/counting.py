"""An estimator that counts: learning, merging, forgetting, copies and threads, once for every kind of counts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from flybloom._internal.sparse import issparse
from flybloom._internal.typing import Array, CountTable, Features, WantedUnit
from flybloom._internal.validation import check_labels, check_rows, resolve_seed
from flybloom.core.algebra import Forgotten, empty_from, handed_over, merged, subtracted, without
from flybloom.core.block import Block, joined
from flybloom.core.counts.base import Counts, Won
from flybloom.core.counts.shared import Shared, SharedOnDemand
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.files.model_file import Parts
from flybloom.core.files.origin_file import ORIGIN_ARRAYS, origin_from_parts, origin_to_parts
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.hashing.sizes import Sizes
from flybloom.core.learning import Learning, united
from flybloom.core.model import NOTHING, Model
from flybloom.core.readout.novel_share import novel_share
from flybloom.core.recipe import Recipe
from flybloom.core.sketch import Sketch
from flybloom.estimators.access import reading_learned, with_learned
from flybloom.estimators.base import FlyEstimator, missing_attribute, not_fitted, read_only
from flybloom.estimators.learned_page import as_html, learned_facts

MAX_INT32 = 2**31 - 1
EXTREME = 1e30
GIVEN = "given"  # says of what was tuned that users gave it


class CountingEstimator(FlyEstimator):
    """An estimator whose only learned state are whole-number counts of winners.

    What is learned is one reference to one value, `Model`. Many threads may read it while one learns: each call sees
    a `partial_fit` whole, or not at all. A call that fails, or is interrupted, changes nothing.

    A subclass names its `counts_type`; it may override `_counts_settings`, `_check_labels`, `_require_complete`,
    and `calibrated_with`, and adds `fit`, `partial_fit` and what it reads off the counts.
    """

    _old_attributes: ClassVar = {"novel_winners": "novelty_rate"}
    counts_type: ClassVar[type[Counts]]
    weight_unit: WantedUnit = None  # of kinds that have no such parameter: whole rows alone
    needs_labels: ClassVar[bool] = True
    _usual_calibration: Mapping[str, Any] = MappingProxyType({})  # where there are no rows to calibrate with
    _has_positions: bool = False  # whether the positions of rows stand for labels
    _sizes_type: ClassVar[type[Sizes]] = Sizes
    _calibrates: bool = False  # whether `calibrated_with` derives something from the rows of a sketch
    _check_labels = staticmethod(check_labels)  # of so many rows; None where there are none
    _sharing = SharedOnDemand[Model]()  # what is learned, with readers and learners kept apart
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
        ...     return FlyBloomClassifier(encoding="none", random_state=0).fit(X[rows], y[rows])
        >>> first, second = learned(slice(900)), learned(slice(900, None))
        >>> bool(((first + second).counts_ == learned(slice(None)).counts_).all())
        True
        """
        self._require_kin(other, "merge")
        shared = self._shared
        with shared.learning, reading_learned(other) as theirs:
            mine = self._learned()
            model = merged(mine, theirs, self.n_jobs)
            shared.replace(model._replace(tuned=self._merged_tuned(mine, theirs, model)))
        return self

    def _merged_tuned(self, mine: Model, theirs: Model, both: Model) -> dict[str, Any]:  # noqa: ARG002
        """Return what is kept besides counts when models are added: what cannot be calibrated from their rows."""
        return self._given(mine, both)

    def _given(self, before: Model, after: Model) -> dict[str, Any]:
        """Return what is kept besides counts when rows come or go: all but what is calibrated from these."""
        if GIVEN in before.tuned or after.origin is None or after.origin.sketch.n_rows == 0:
            return before.tuned
        return {name: value for name, value in before.tuned.items() if name not in self._usual_calibration}

    def like(self, sketch: Sketch | None = None) -> Self:
        """Return a model of no rows that hashes as this one does: same encoder, sizes and seed.

        What such models learn adds up, so that parts of the data can be learned apart. Parties that have no rows in
        common add up their sketches, ``a.sketch_ + b.sketch_``, and get the same hash from the sum.

        Parameters
        ----------
        sketch : Sketch or None, default=None
            Rows to derive the hash from, with the settings of this model. None for the hash of this model.

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
        with self._reading_learned() as learned:
            if sketch is not None:
                empty = empty_from(learned, sketch, self._recipe())
                return with_learned(copy(self), empty._replace(tuned=dict(self._usual_calibration)))
            tuned = {**self._calibration(learned), **learned.tuned}
            counts, origin = learned.counts.minus(learned.counts), handed_over(learned.origin)
            return with_learned(copy(self), Model(learned.hasher, counts, tuned, origin))

    @property
    def sketch_(self) -> Sketch | None:
        """The sample of rows that the hash was derived from; None where it was not derived from rows."""
        learned = self._shared.value
        if learned is None:
            raise missing_attribute(self, "sketch_")
        return None if learned.origin is None else learned.origin.sketch

    def rebuild(self, source: Any, target: str | int | None = None) -> Self:
        """Learn a source from scratch with the same settings and seed, as after rows were deleted from it.

        Then nothing is left of rows that are not in the source, whatever `forget` said of them.

        Parameters
        ----------
        source : str, path-like, frame, (X, y) or iterable of (X, y)
            The rows that remain; see `train`.
        target : str, int or None, default=None
            The column of the labels; see `train`.

        Returns
        -------
        estimator
            The model itself.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from flybloom import FlyBloomClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> model = FlyBloomClassifier(random_state=0).fit(X, y)
        >>> int(model.rebuild((X[100:], y[100:]), "digit").class_count_.sum())
        1697
        """
        from flybloom.estimators.learning.train import train  # noqa: PLC0415 - which imports this module

        fresh = clone(self).set_params(random_state=self._of_hasher("rebuild").projection.seed)
        with reading_learned(train(fresh, source, target)) as learned:
            return self._with_learned(learned)

    def save(self, path: str | os.PathLike[str], *, sketch: bool = True) -> None:
        """Save the model to a file, which `flybloom.load` reads.

        The file is a safetensors file without any code. It is written atomically: a crash leaves the old file or the
        new one. A `random_state` that is not an int is saved as the seed that was drawn from it. Where the encoding was
        fitted to rows, the file holds the sketch: up to 8192 of these rows, with their labels.

        Parameters
        ----------
        path : str or path-like
            Where to. A file that is there is replaced.
        sketch : bool, default=True
            Whether the file may hold rows. Without them the model predicts, learns, adds up and forgets counts as
            before, but its encoding no longer follows rows that come and go.

        Examples
        --------
        >>> import tempfile, flybloom
        >>> from sklearn.datasets import load_iris
        >>> model = flybloom.FlyBloomClassifier(random_state=0).fit(*load_iris(return_X_y=True))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/iris.fly", sketch=False)
        ...     flybloom.load(f"{folder}/iris.fly").sketch_ is None
        True
        """
        if sketch:
            super().save(path)
            return
        with self._reading_learned() as learned:
            tuned = {**self._calibration(learned), **learned.tuned}
            with_learned(copy(self), learned._replace(tuned=tuned, origin=None)).save(path)

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
        with self._reading_learned() as mine, reading_learned(other) as theirs:
            model = subtracted(mine, theirs, self.n_jobs)
            if model is None:
                return self.like()
            return with_learned(copy(self), model._replace(tuned=self._merged_tuned(mine, theirs, model)))

    @contextmanager
    def _learning(self, *, anew: bool = False) -> Iterator[Learning]:
        """Learn from rows that come in parts, for those who read them from elsewhere.

        Gives a `Learning`, which checks, starts, counts and adds. The model takes it over at the end of the with
        block, all at once; if anything goes wrong before, it stays as it was.

        Parameters
        ----------
        anew : bool, default=False
            Whether to forget everything first. The rules of `fit` hold then.
        """
        self._check_parameters()
        shared = self._sharing if anew else self._shared
        with shared.learning:
            before = None if anew else shared.value
            session = Learning(self._recipe(), self.n_jobs, before, calibrate=self._calibrated)
            yield session
            learned = session.learned
            if learned is not None and learned is not shared.value:
                if anew:
                    self._require_complete(learned)
                shared.replace(learned)
                self._look_at(learned, anew=anew)

    @contextmanager
    def _reading_learned(self) -> Iterator[Model]:
        """Give what is learned, as one value that stays as it is until the end of the with block."""
        with self._shared.reading() as learned:
            if learned is None:
                raise not_fitted(self)
            yield learned

    @contextmanager
    def _scoring(self, X: Any) -> Iterator[tuple[Features, Model]]:
        """Give rows that are to be scored, checked, and what is learned, which stays until the end of the with block.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        """
        self._settle(exact=False)
        with self._sharing.reading() as learned:
            if learned is None or not self._can_score(learned):
                raise not_fitted(self)
            self._check_parameters()  # what only matters when scoring may have been set since fit
            yield check_rows(X, type(self).__name__, learned.hasher.encoder), learned

    def _with_learned(self, learned: Model) -> Self:
        """Hold what was learned elsewhere, and return the model itself.

        Parameters
        ----------
        learned : Model
            What is learned, as `reading_learned` gives it.

        Returns
        -------
        estimator
            The model itself.
        """
        self._shared.replace(learned, is_own=False)
        return self

    def _with_fixed_hash(self, learned: Model) -> Model:
        """Return a model of this kind whose hash and calibration further rows do not change.

        Parameters
        ----------
        learned : Model
            What was learned; it has no pending rows.

        Returns
        -------
        Model
            The same, with its hash fixed.
        """
        return learned if learned.origin is None else self._calibrated(learned.fixed())

    def _n_rows_learned(self) -> float | None:
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
        with self._reading_learned() as learned:
            counts = learned.counts
            is_outgrown = counts.n_rows + more_rows > MAX_INT32
            return {
                "counts": counts.n_bytes,
                "connections": learned.hasher.projection.n_bytes,
                "more_rows": counts.n_bytes if is_outgrown else 0,
            }

    def novelty_rate(self, X: Any) -> Array:
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
        >>> bool(model.novelty_rate(X[900:]).mean() < model.novelty_rate(X[900:, ::-1]).mean())
        True
        """
        with self._scoring(X) as (rows, learned):
            winners = learned.hasher.winners(rows, self.n_jobs)
            return novel_share(learned.counts.has_won, winners)

    def _check_block(self, learned: Model, X: Any, y: Any, sample_weight: Any = None) -> Block:
        """Return rows that are hashed as those before, checked.

        Parameters
        ----------
        learned : Model
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

    def _exchange(self, came: Won, went: Won) -> None:
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

    def _exchange_at_once(self, came: Won, went: Won, bounds: Array) -> bool:
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

    def _replace_counts(self, counts: Counts) -> None:
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
        with self._reading_learned() as learned:
            facts, arrays = learned.counts.to_parts()
            tuned = learned.tuned if learned.origin is not None else {**self._calibration(learned), **learned.tuned}
            facts = {**facts, "tuned": tuned} if tuned else facts
            if learned.origin is not None:
                origin_facts, origin_arrays = origin_to_parts(learned.origin)
                facts, arrays = {**facts, "sketch": origin_facts}, {**arrays, **origin_arrays}
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
        origin_arrays = {name: values for name, values in arrays.items() if name in ORIGIN_ARRAYS}
        arrays = {name: values for name, values in arrays.items() if name not in ORIGIN_ARRAYS}
        if hasher is None or set(arrays) - self.counts_type.ARRAYS:
            msg = "it holds arrays that no such model has" if arrays else "it does not say how it hashes"
            raise ValueError(msg)
        tuned = facts.get("tuned", {})
        self._check_tuned(tuned)
        counts = self.counts_type.from_parts(hasher.n_components, hasher.n_winners, facts, arrays)
        recipe = replace(self._recipe(), seed=hasher.projection.seed)
        origin = origin_from_parts(facts, origin_arrays, hasher.encoder.n_features, recipe, counts)
        if origin is not None and origin.is_whole and GIVEN not in tuned:  # it is derived again when it is needed
            tuned = {name: value for name, value in tuned.items() if name not in self._usual_calibration}
        return self._with_learned(Model(hasher, counts, tuned, origin))

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
        return twin if learned is None else with_learned(twin, learned)

    def _html_repr(self) -> str:
        """Return what notebooks show: scikit-learn's diagram, and under it what was learned."""
        diagram: str = super()._html_repr()
        learned = self._shared.value
        return diagram if learned is None else diagram + as_html(learned_facts(learned))

    @property
    def _shared(self) -> Shared[Model | None]:
        """What keeps readers and learners apart; all that was learned is counted, with the hash that belongs to it."""
        self._settle(exact=True)
        return self._sharing

    def _settle(self, *, exact: bool) -> None:
        """Count the pending rows of a whole model; derive its hash again, or only now and then unless `exact`."""
        shared = self._sharing
        if not _is_stale(shared.value):
            return
        with shared.learning:
            learned = shared.value
            if learned is None or learned.origin is None or not learned.origin.is_stale:
                return
            if exact or learned.origin.is_due:
                self._bring_up_to_date(shared, learned)
                return
            uncounted = learned.origin.uncounted(learned.counts)
            if uncounted:
                self._change(shared, learned, joined(uncounted), 1, **learned.origin.known)

    def _bring_up_to_date(self, shared: Shared[Model | None], learned: Model, *, derives: bool = True) -> None:
        """Take pending rows into the sketch, and derive the hash again unless that can wait."""
        assert learned.origin is not None  # noqa: S101 - it has pending rows
        session = Learning(learned.origin.recipe, self.n_jobs, learned, calibrate=self._calibrated)
        session.bring_up_to_date(derives=derives)
        shared.replace(session.learned)

    def _calibrated(self, learned: Model) -> Model:
        """Return a model with its calibration, which further rows do not change."""
        return learned._replace(tuned={**self._calibration(learned), **learned.tuned})

    def _calibration(self, learned: Model) -> Mapping[str, Any]:
        """Return what is derived from the rows of the sketch: once for all threads, until something changes."""
        if not self._usual_calibration or set(self._usual_calibration) <= set(learned.tuned):
            return {}
        if learned.origin is None or learned.origin.sketch.n_rows == 0:
            return self._usual_calibration
        shared = self._sharing
        with shared.calibrating:
            key = (shared.edition, self._calibration_key())
            kept = shared.calibration
            if kept is not None and kept[0] == key and kept[1] is learned.counts:
                return kept[2]  # type: ignore[no-any-return]
            found = self._calibrated_with(learned, learned.origin.sketch)
            shared.calibration = key, learned.counts, found
            return found

    def _calibration_key(self) -> Any:
        """Return the parameters that the calibration depends on, for one that is kept."""
        return None

    def _can_score(self, learned: Model) -> bool:  # noqa: ARG002
        """Return whether enough was learned to score rows."""
        return True

    def __sklearn_is_fitted__(self) -> bool:
        """A model is fitted when it knows how to hash, and has learned what it needs to score."""
        learned = self._sharing.value
        return learned is not None and (bool(learned.is_whole) or self._can_score(learned))

    @property
    def _hasher(self) -> Hasher | None:
        """How rows are hashed; None before fit."""
        learned = self._shared.value
        return None if learned is None else learned.hasher

    def _learned(self) -> Model:
        """Return what is learned now; only for what never changes, and while learning."""
        learned = self._shared.value
        if learned is None:
            raise not_fitted(self)
        return learned

    def _recipe(self) -> Recipe:
        """Return how a model is made, as the parameters say."""
        return Recipe(
            owner=type(self).__name__,
            encoding=self._encoding,
            sizes=self._sizes_type(self.n_components, self.n_connections, self.n_winners),
            signed=bool(self.signed),
            seed=resolve_seed(self.random_state),
            new_counts=partial(self.counts_type.empty, **self._counts_settings),  # type: ignore[attr-defined]
            check_labels=self._check_labels,
            weight_unit=self.weight_unit,
            has_positions=self._has_positions,
            calibrates=self._calibrates,
            counts_fit_labels=self.counts_type.fits_labels,
        )

    def _check_tuned(self, tuned: Any) -> None:
        """Refuse what no model of this kind keeps besides its counts; ValueError."""
        if tuned != {}:
            msg = "it was tuned to what no such model is tuned to"
            raise ValueError(msg)

    def _look_at(self, learned: Model, *, anew: bool = False) -> None:
        """Look at what was learned while nobody else learns, and perhaps warn; most kinds have nothing to say."""

    def _require_complete(self, learned: Model) -> None:
        """Refuse what `fit` must not end with; for all ways to learn from scratch."""

    def _learn_rows(
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
            if anew or learned is None:
                with self._learning(anew=anew) as session:
                    block = session.check(X, y, sample_weight)
                    session.learn_first(block, is_all=anew, **known)
                return block
            self._check_parameters()
            block = self._check_block(learned, X, y, sample_weight)
            n_before = learned.n_rows
            if learned.is_whole:
                self._append(shared, learned, block.weighted(), known)
            else:
                self._change(shared, self._with_calibration(shared, learned), block.weighted(), 1, **known)
            after = shared.value
            if after is not None and after.n_rows.bit_length() > n_before.bit_length():  # twice as many
                self._settle(exact=False)
                self._look_at(shared.value or after)
        return block

    def _append(self, shared: Shared[Model | None], learned: Model, block: Block, known: Mapping[str, Any]) -> None:
        """Note rows of a whole model; they are counted when the model is next asked."""
        assert learned.origin is not None  # noqa: S101 - it is whole
        learned.counts.require_labels(block.labels, block.weights, **known)
        origin = learned.origin.with_pending(block.copied())
        origin = origin._replace(announced=united(origin.announced, known.get("announced")))
        shared.amend(learned._replace(origin=origin))
        if origin.recipe.has_positions:
            self._settle(exact=False)
        elif _is_extreme(block.rows):  # which may be more than can be hashed: refused now, and not when rows are scored
            try:
                self._settle(exact=True)
            except BaseException:
                shared.replace(learned)
                raise

    def _with_calibration(self, shared: Shared[Model | None], learned: Model) -> Model:
        """Return a model whose hash is fixed with its calibration fixed as well, before more rows come."""
        if set(self._usual_calibration) <= set(learned.tuned):
            return learned
        learned = self._calibrated(learned)
        shared.amend(learned)
        return learned

    def _change(self, shared: Shared[Model | None], learned: Model, block: Block, sign: int, **known: Any) -> None:
        """Count rows, or with the sign -1 take them away; in place where they are few and nobody looks."""
        counts, delta = learned.counts, learned.count_block(block, self.n_jobs, sign=sign, **known)
        if not shared.change(counts, delta, sign):
            counts = counts.plus(delta, owned=True) if sign > 0 else counts.minus(delta)
            shared.replace(learned._replace(counts=counts))

    def _calibrated_with(self, learned: Model, sketch: Sketch) -> dict[str, Any]:  # noqa: ARG002
        """Return what a sketch of the rows chooses, if anything.

        Parameters
        ----------
        learned : Model
            What was learned from the rows.
        sketch : Sketch
            A sample of them.

        Returns
        -------
        dict
            Facts that JSON can hold.
        """
        return {}

    def _forget(self, X: Any, y: Any, sample_weight: Any = None) -> Forgotten:
        """Take rows out of the counts, and out of the sketch."""
        shared = self._sharing
        with shared.learning:
            learned = self._learned()
            block = self._check_block(learned, X, y, sample_weight).weighted()
            if _is_stale(learned):
                self._bring_up_to_date(shared, learned, derives=False)
                learned = self._learned()
            if learned.origin is None:  # nothing but the counts knows of the rows
                self._change(shared, learned, block, -1)
                return forgotten_by(self)
            model = without(learned, block, self.n_jobs)
            model = None if model is None else model._replace(tuned=self._given(learned, model))
            shared.replace(model)
            return Forgotten(model)

    def _require_kin(self, other: Any, action: str) -> None:
        """Refuse what is not a model of the same kind."""
        if not isinstance(other, type(self)):
            name = type(self).__name__
            msg = f"Cannot {action}: expected another {name}. Got {type(other).__name__} instead. Pass a fitted {name}."
            raise TypeError(msg)


def _is_stale(learned: Model | None) -> bool:
    """Return whether the hash was derived from other rows than there are now, or some are not counted yet."""
    return learned is not None and learned.origin is not None and learned.origin.is_stale


def _is_extreme(rows: Features) -> bool:
    """Return whether some values are so large that their sums may not be floats."""
    values = rows.data if issparse(rows) else rows
    if values.dtype.kind != "f" or not values.size:
        return False
    return bool(np.nanmax(np.abs(values), initial=0.0) > EXTREME)


def kept_value(tuned: Any, name: str, usual: float) -> Any:
    """Return what a file keeps of a calibration, `usual` where it is derived again; None where there can be none."""
    is_right = isinstance(tuned, dict) and set(tuned) <= {GIVEN, name} and tuned.get(GIVEN, True) is True
    return tuned.get(name, usual) if is_right else None


def forgotten_by(model: CountingEstimator) -> Forgotten:
    """Return what is left in a model of rows that it forgot.

    Parameters
    ----------
    model : estimator
        The model after it forgot them.

    Returns
    -------
    Forgotten
        Whether nothing is left, or the counts alone were changed.
    """
    with reading_learned(model) as learned:
        return Forgotten(learned, is_known=isinstance(model.encoding, Encoder))
