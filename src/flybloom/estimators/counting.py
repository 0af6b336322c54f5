"""Base classes of estimators that count: learning, merging, forgetting, copies and thread safety."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import partial
from numbers import Real
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from sklearn.base import ClassifierMixin

from flybloom._internal.deprecated import Renamed
from flybloom._internal.sklearn_compat import Interval, StrOptions
from flybloom._internal.typing import Array, CountTable, Features, WantedUnit, issparse
from flybloom._internal.validation import check_labels, check_rows, resolve_seed
from flybloom.core.algebra import Forgotten, empty_from, handed_over, merged, subtracted, without
from flybloom.core.counts.base import Counts
from flybloom.core.counts.by_class import ClassCounts
from flybloom.core.counts.pairs import PairsByClass
from flybloom.core.counts.shared import Shared, SharedOnDemand
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.encoding.relevance import Relevance
from flybloom.core.files.model_file import Parts
from flybloom.core.files.origin_file import ORIGIN_ARRAYS, origin_from_parts, origin_to_parts
from flybloom.core.files.receipt import forget_with_receipt
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.hashing.sizes import Sizes
from flybloom.core.learning import Learning, united
from flybloom.core.model import NOTHING, Model, Recipe
from flybloom.core.readout.class_weight import ClassWeight, check_class_weight, require_weights_for
from flybloom.core.sketch import Block, Sketch, joined
from flybloom.estimators.access import reading_learned, scoring, with_learned
from flybloom.estimators.base import FlyEstimator, missing_attribute, not_fitted, read_only
from flybloom.estimators.certified import certify
from flybloom.estimators.classes import class_similarity
from flybloom.estimators.learned_page import as_html, learned_facts

MAX_INT32 = 2**31 - 1
EXTREME = 1e30
GIVEN = "given"  # says of what was tuned that users gave it
Counted = TypeVar("Counted", ClassCounts, PairsByClass)
WEIGHT_UNIT: list[Any] = [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})]


def novelty_rate(model: Any, X: Any) -> Array:
    """Return the share of each row's winners that have never won in any class.

    It needs no labels. It rises when a stream changes and falls as the model learns.

    Parameters
    ----------
    model : estimator that counts, or window
        A fitted model.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows.

    Returns
    -------
    ndarray of shape (n_samples,)
        Values from 0 to 1.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomClassifier
    >>> from flybloom.streams import novelty_rate
    >>> X, y = load_digits(return_X_y=True)
    >>> model = FlyBloomClassifier(random_state=0).fit(X[:900], y[:900])
    >>> bool(novelty_rate(model, X[900:]).mean() < novelty_rate(model, X[900:, ::-1]).mean())
    True
    """
    with scoring(getattr(model, "model_", model), X) as (rows, learned):
        winners = learned.hasher.winners(rows)
        return np.asarray((~learned.counts.has_won)[winners].mean(axis=1))


class CountingEstimator(FlyEstimator):
    """Estimator whose learned state is integer counts of winners.

    The learned state is one reference to an immutable `Model`. Many threads may read it while one learns: each call
    sees a `partial_fit` completely or not at all. A call that fails or is interrupted changes nothing.

    A subclass names its `_counts_type`; it may override `_counts_settings`, `_check_labels`, `_require_complete`,
    and `calibrated_with`, and adds `fit`, `partial_fit` and its predictions.
    """

    _old_attributes: ClassVar[Renamed] = {
        "novel_winners": ("flybloom.streams.novelty_rate(model, X)", novelty_rate),
    }
    _counts_type: ClassVar[type[Counts]]
    weight_unit: WantedUnit = None  # of kinds that have no such parameter: whole rows alone
    _usual_calibration: Mapping[str, Any] = MappingProxyType({})  # where there are no rows to calibrate with
    _has_positions: bool = False  # whether the positions of rows stand for labels
    _sizes_type: ClassVar[type[Sizes]] = Sizes
    _calibrates: bool = False  # whether `calibrated_with` derives something from the rows of a sketch
    _check_labels = staticmethod(check_labels)  # of so many rows; None where there are none
    _sharing = SharedOnDemand[Model]()  # what is learned, with readers and learners kept apart
    _counts_settings: Mapping[str, Any] = MappingProxyType({})  # what the counts are made with besides their sizes

    def merge(self, other: CountingEstimator) -> Self:
        """Add another model, as if its rows had been learned by this one.

        ``a + b`` does the same without changing either; ``sum(models)`` works as well. Parameters that only affect
        predictions, such as `decay`, are those of the first model.

        Parameters
        ----------
        other : estimator of the same kind
            A model with the same features, encoder, seed and sizes.

        Returns
        -------
        estimator
            The model itself.

        Raises
        ------
        IncompatibleHashError
            If the two hash differently; the message lists the differences.

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
        """Return the state besides counts of a sum of models, without calibration."""
        return self._given(mine, both)

    def _given(self, before: Model, after: Model) -> dict[str, Any]:
        """Return the state besides counts after rows are added or removed, without calibration."""
        if GIVEN in before.tuned or after.origin is None or after.origin.sketch.n_rows == 0:
            return before.tuned
        return {name: value for name, value in before.tuned.items() if name not in self._usual_calibration}

    def like(self, sketch: Sketch | None = None) -> Self:
        """Return an empty model with the same encoder, sizes and seed.

        Such models can be added, so parts of the data can be learned separately. Parties without common rows can add
        their sketches, ``a.sketch_ + b.sketch_``, and derive the same hash from the sum.

        Parameters
        ----------
        sketch : Sketch or None, default=None
            Rows from which to derive the hash, with the settings of this model. None for the hash of this model.

        Returns
        -------
        estimator
            The new model; `partial_fit` and `flybloom.train` keep its hash, `fit` starts from scratch.

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
            counts, origin = learned.counts.minus(learned.counts), handed_over(learned.origin)
            return with_learned(copy(self), Model(learned.hasher, counts, self._tuned(learned), origin))

    @property
    def sketch_(self) -> Sketch | None:
        """The sample of rows from which the hash was derived, or None."""
        learned = self._shared.value
        if learned is None:
            raise missing_attribute(self, "sketch_")
        return None if learned.origin is None else learned.origin.sketch

    def save(self, path: str | os.PathLike[str], *, sketch: bool = True) -> None:
        """Save the model to a file for `flybloom.load`.

        The file is in safetensors format and contains no code. It is written atomically. A `random_state` that is not
        an int is saved as the seed that was drawn from it. If the encoding was fitted to rows, the file contains the
        sketch: up to 8192 of these rows, with their labels.

        Parameters
        ----------
        path : str or path-like
            Path of the file. An existing file is replaced.
        sketch : bool, default=True
            Whether to save the sketch. Without it the model can still predict, learn, merge and forget, but its
            encoding is fixed.

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
            with_learned(copy(self), self._calibrated(learned)._replace(origin=None)).save(path)

    def __add__(self, other: object) -> Self:
        """Return the sum of two models."""
        if not isinstance(other, type(self)):
            return NotImplemented
        return copy(self).merge(other)

    def __radd__(self, other: object) -> Self:
        """Return a copy: sum() starts with zero."""
        return copy(self) if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, other: object) -> Self:
        """Return this model without the rows of the other one."""
        if not isinstance(other, type(self)):
            return NotImplemented
        with self._reading_learned() as mine, reading_learned(other) as theirs:
            model = subtracted(mine, theirs, self.n_jobs)
            if model is None:
                return self.like()
            return with_learned(copy(self), model._replace(tuned=self._merged_tuned(mine, theirs, model)))

    @contextmanager
    def _learning(self, *, anew: bool = False) -> Iterator[Learning]:
        """Learn from blocks, for `train` and Dask.

        Yields a `Learning`, which validates, counts and adds. The model is updated once, at the end of the with block;
        it is unchanged if anything fails before.
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
        """Yield a snapshot of the learned state."""
        with self._shared.reading() as learned:
            if learned is None:
                raise not_fitted(self)
            yield learned

    @contextmanager
    def _scoring(self, X: Any) -> Iterator[tuple[Features, Model]]:
        """Yield validated rows and a snapshot of the learned state."""
        shared = self._sharing
        if shared.value is not None and shared.value.is_stale:
            self._settle(exact=False)
        with shared.reading() as learned:
            if learned is None or not self._can_score(learned):
                raise not_fitted(self)
            self._check_parameters()  # what only matters when scoring may have been set since fit
            yield check_rows(X, type(self).__name__, learned.hasher.encoder), learned

    def memory_usage(self, more_rows: int = 0) -> dict[str, int]:
        """Return the memory of the model in bytes.

        Parameters
        ----------
        more_rows : int, default=0
            Number of further rows of known classes.

        Returns
        -------
        dict
            ``counts``; ``connections``, which are drawn when rows are first hashed and are not saved; and
            ``more_rows``, the memory that further rows may add, which is 0 until counts exceed 31 bits.

        Examples
        --------
        >>> import flybloom
        >>> from sklearn.datasets import load_iris
        >>> model = flybloom.FlyBloomClassifier(1024, random_state=0).fit(*load_iris(return_X_y=True))
        >>> model.memory_usage(more_rows=1_000_000)
        {'counts': 12336, 'connections': 24576, 'more_rows': 0}
        """
        with self._reading_learned() as learned:
            counts = learned.counts
            is_outgrown = counts.n_rows + more_rows > MAX_INT32
            return {
                "counts": counts.n_bytes,
                "connections": learned.hasher.projection.n_bytes,
                "more_rows": counts.n_bytes if is_outgrown else 0,
            }

    def _check_block(self, learned: Model, X: Any, y: Any, sample_weight: Any = None) -> Block:
        """Return validated rows for a fixed hash."""
        rows = check_rows(X, type(self).__name__, learned.hasher.encoder)
        n_rows = rows.shape[0]
        return Block(rows, self._check_labels(y, n_rows), learned.counts.unit.counted(sample_weight, n_rows))

    def _to_parts(self) -> Parts:
        """Return the state that files store."""
        with self._reading_learned() as learned:
            facts, arrays = learned.counts.to_parts()
            tuned = learned.tuned if learned.origin is not None else self._tuned(learned)
            facts = {**facts, "tuned": tuned} if tuned else facts
            if learned.origin is not None:
                origin_facts, origin_arrays = origin_to_parts(learned.origin)
                facts, arrays = {**facts, "sketch": origin_facts}, {**arrays, **origin_arrays}
            return Parts(learned.hasher, facts, arrays)

    def _from_parts(self, hasher: Hasher | None, facts: dict[str, Any], arrays: dict[str, Array]) -> Self:
        """Restore the state from a file, and return the model; ValueError if it is invalid."""
        origin_arrays = {name: values for name, values in arrays.items() if name in ORIGIN_ARRAYS}
        arrays = {name: values for name, values in arrays.items() if name not in ORIGIN_ARRAYS}
        if hasher is None or set(arrays) - self._counts_type.counting(hasher.n_winners).ARRAYS:
            msg = "it holds arrays that no such model has" if arrays else "it does not say how it hashes"
            raise ValueError(msg)
        tuned = facts.get("tuned", {})
        self._check_tuned(tuned)
        counts = self._counts_type.counting(hasher.n_winners).from_parts(
            hasher.n_components, hasher.n_winners, facts, arrays
        )
        recipe = replace(self._recipe(), seed=hasher.projection.seed)
        origin = origin_from_parts(facts, origin_arrays, hasher.encoder.n_features, recipe, counts)
        if origin is not None and origin.is_whole and GIVEN not in tuned:  # it is derived again when it is needed
            tuned = {name: value for name, value in tuned.items() if name not in self._usual_calibration}
        return with_learned(self, Model(hasher, counts, tuned, origin))

    @property
    def counts_(self) -> CountTable:
        """How often each component won, one row per class or age, in units of ``1 / counts_per_row_`` rows.

        This is a snapshot, which later updates of the model do not change.
        """
        return read_only(self._handed_out("counts_").table.T)

    def _handed_out(self, name: str) -> Any:
        """Return the counts for an attribute, which stay as they are."""
        learned = self._shared.hand_out()
        if learned is None:
            raise missing_attribute(self, name)
        return learned.counts

    def __copy__(self) -> Self:
        """Return a copy, which shares the learned state until one of the two is updated."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update({name: value for name, value in self.__dict__.items() if name != "_sharing"})
        learned = self._shared.hand_out()
        return twin if learned is None else with_learned(twin, learned)

    def _html_repr(self) -> str:
        """Return scikit-learn's diagram with a table of the learned state, for notebooks."""
        diagram: str = super()._html_repr()
        learned = self._shared.value
        return diagram if learned is None else diagram + as_html(learned_facts(learned))

    @property
    def _shared(self) -> Shared[Model | None]:
        """The shared state, with all pending rows counted."""
        shared = self._sharing
        if shared.value is not None and shared.value.is_stale:
            self._settle(exact=True)
        return shared

    def _settle(self, *, exact: bool) -> None:
        """Count the pending rows of a whole model; derive its hash again, only occasionally unless `exact`."""
        shared = self._sharing
        with shared.learning:
            learned = shared.value
            if learned is None or learned.origin is None or not learned.is_stale:
                return
            if exact or learned.origin.is_due:
                self._bring_up_to_date(shared, learned)
                return
            uncounted = learned.origin.uncounted(learned.counts)
            if uncounted:
                self._change(shared, learned, joined(uncounted), 1, **learned.origin.known)

    def _bring_up_to_date(self, shared: Shared[Model | None], learned: Model, *, derives: bool = True) -> None:
        """Add pending rows to the sketch, and derive the hash again unless that can wait."""
        assert learned.origin is not None  # noqa: S101 - it has pending rows
        session = Learning(learned.origin.recipe, self.n_jobs, learned, calibrate=self._calibrated)
        session.bring_up_to_date(derives=derives)
        shared.replace(session.learned)

    def _calibrated(self, learned: Model) -> Model:
        """Return the model with a fixed calibration."""
        return learned._replace(tuned=self._tuned(learned))

    def _tuned(self, learned: Model) -> dict[str, Any]:
        """Return what is kept besides counts: given, or calibrated with the sketch, cached until something changes."""
        if set(self._usual_calibration) <= set(learned.tuned):
            return learned.tuned
        if learned.origin is None or learned.origin.sketch.n_rows == 0:
            return {**self._usual_calibration, **learned.tuned}
        shared = self._sharing
        with shared.calibrating:
            key = (shared.edition, self._calibration_key())
            kept = shared.calibration
            if kept is not None and kept[0] == key and kept[1] is learned.counts:
                return {**kept[2], **learned.tuned}
            found = self._calibrated_with(learned, learned.origin.sketch)
            shared.calibration = key, learned.counts, found
            return {**found, **learned.tuned}

    def _calibration_key(self) -> Any:
        """Return the parameters on which a cached calibration depends."""
        return None

    def _can_score(self, learned: Model) -> bool:  # noqa: ARG002
        """Return whether enough was learned to score rows."""
        return True

    def __sklearn_is_fitted__(self) -> bool:
        """A model is fitted if it has a hasher and enough rows to predict."""
        learned = self._sharing.value
        return learned is not None and (bool(learned.is_whole) or self._can_score(learned))

    @property
    def _hasher(self) -> Hasher | None:
        """The hasher; None before fit."""
        learned = self._shared.value
        return None if learned is None else learned.hasher

    def _learned(self) -> Model:
        """Return the current state; only for constant parts, and while learning."""
        learned = self._shared.value
        if learned is None:
            raise not_fitted(self)
        return learned

    def _recipe(self) -> Recipe:
        """Return the recipe of a model from the parameters."""
        return Recipe(
            owner=type(self).__name__,
            encoding=self._encoding,
            sizes=self._sizes_type(self.n_components, self.n_connections, self.n_winners),
            signed=bool(self.signed),
            seed=resolve_seed(self.random_state),
            new_counts=partial(_empty_counts, self._counts_type, dict(self._counts_settings)),
            check_labels=self._check_labels,
            weight_unit=self.weight_unit,
            has_positions=self._has_positions,
            calibrates=self._calibrates,
            counts_fit_labels=self._counts_type.fits_labels,
        )

    def _check_tuned(self, tuned: Any) -> None:
        """Raise ValueError for invalid state besides the counts."""
        if tuned != {}:
            msg = "it was tuned to what no such model is tuned to"
            raise ValueError(msg)

    def _look_at(self, learned: Model, *, anew: bool = False) -> None:
        """Inspect the state after learning, and warn if needed."""

    def _require_complete(self, learned: Model) -> None:
        """Check the requirements of `fit`, for all ways to learn from scratch."""

    def _learn_rows(
        self, X: Any, y: Any, sample_weight: Any = None, *, anew: bool = False, known: Mapping[str, Any] = NOTHING
    ) -> Block:
        """Count rows, in addition or from scratch: the body of `fit` and `partial_fit`."""
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
        """Append rows to a whole model; they are counted on the next access."""
        assert learned.origin is not None  # noqa: S101 - it is whole
        learned.counts.require_labels(block.labels, block.weights, **known)
        origin = learned.origin.with_pending(block.copied(), is_known=learned.counts.knows(block.labels))
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
        """Return a model with fixed hash and calibration, before more rows are learned."""
        if not set(self._usual_calibration) <= set(learned.tuned):
            learned = self._calibrated(learned)
            shared.amend(learned)
        return learned

    def _change(self, shared: Shared[Model | None], learned: Model, block: Block, sign: int, **known: Any) -> None:
        """Add rows, or subtract them with sign -1; in place if they are few and there are no concurrent readers."""
        counts, delta = learned.counts, learned.count_block(block, self.n_jobs, sign=sign, **known)
        if not shared.change(counts, delta, sign):
            counts = counts.plus(delta, owned=True) if sign > 0 else counts.minus(delta)
            shared.replace(learned._replace(counts=counts))

    def _calibrated_with(self, learned: Model, sketch: Sketch) -> dict[str, Any]:  # noqa: ARG002
        """Return the calibration that follows from the sketch, if any."""
        return {}

    def _forget(self, X: Any, y: Any, sample_weight: Any = None) -> Forgotten:
        """Remove rows from the counts and the sketch."""
        shared = self._sharing
        with shared.learning:
            learned = self._learned()
            block = self._check_block(learned, X, y, sample_weight).weighted()
            if learned.is_stale:
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
        """Raise an error unless the other model is of the same kind."""
        if not isinstance(other, type(self)):
            name = type(self).__name__
            msg = f"Cannot {action}: expected another {name}. Got {type(other).__name__} instead. Pass a fitted {name}."
            raise TypeError(msg)


def _empty_counts(kind: Any, settings: dict[str, Any], m: int, rho: int, **fractions: Any) -> Counts:
    """Return counts of no rows, for so many components and winners."""
    counts: Counts = kind.counting(rho).empty(m, rho, **settings, **fractions)
    return counts


def _is_extreme(rows: Features) -> bool:
    """Return whether sums of values may overflow."""
    values = rows.data if issparse(rows) else rows
    if values.dtype.kind != "f" or not values.size:
        return False
    return bool(np.nanmax(np.abs(values), initial=0.0) > EXTREME)


def kept_value(tuned: Any, name: str, usual: float) -> Any:
    """Return the calibration that files store, `usual` if it is derived again, or None."""
    is_right = isinstance(tuned, dict) and set(tuned) <= {GIVEN, name} and tuned.get(GIVEN, True) is True
    return tuned.get(name, usual) if is_right else None


def forgotten_by(model: CountingEstimator) -> Forgotten:
    """Return what remains of forgotten rows in a model.

    Parameters
    ----------
    model : estimator
        The model after forgetting.

    Returns
    -------
    Forgotten
        Whether forgetting was complete.
    """
    with reading_learned(model) as learned:
        return Forgotten(learned, is_known=isinstance(model.encoding, Encoder))


class LabelledEstimator(CountingEstimator):
    """Estimator that learns rows with labels or targets."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit from scratch.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their labels, of at least two classes, or targets.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 3 counts as three copies, rows of weight 0 are ignored. For fractions, see `weight_unit`.

        Returns
        -------
        estimator
            The fitted estimator itself.
        """
        self._learn_rows(X, y, sample_weight, anew=True)
        return self

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Forgotten:
        """Remove rows: afterwards the counts equal, bit for bit, those of a model that never learned them.

        While all rows fit into the sketch (8192 distinct rows), the model equals a `fit` of the remaining rows. Beyond
        that, sizes and encoding are kept, and the returned value says whether they are still those of the remaining
        rows. A class without rows is removed, and without any rows the model is unfitted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that were learned before.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The labels or targets with which they were learned.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights with which they were learned.

        Returns
        -------
        Forgotten
            Its ``extent`` is "complete" if nothing remains of the rows, or "counts only" if the encoding in use differs
            from that of the remaining rows; ``steps`` lists the differences.

        Raises
        ------
        NeverLearnedError
            If the rows cannot all have been learned. The model is then unchanged.

        Notes
        -----
        Beyond its sketch the model keeps counts only. It refuses rows that the counts cannot contain, but cannot detect
        other rows that were never learned.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from flybloom import FlyBloomClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> model = FlyBloomClassifier(random_state=0).fit(X, y)
        >>> model.forget(X[:100], y[:100]).extent
        'complete'
        >>> never = FlyBloomClassifier(random_state=0).fit(X[100:], y[100:])
        >>> bool((model.counts_ == never.counts_).all())
        True
        """
        return self._forget(X, y, sample_weight)

    @property
    def weight_unit_(self) -> float:
        """The weight that counts as one row."""
        return float(self._handed_out("weight_unit_").unit.weight)


class CountingClassifier(ClassifierMixin, LabelledEstimator, Generic[Counted]):  # type: ignore[misc]
    """Classifier whose learned state is integer counts of winners for each class.

    A subclass names its `_counts_type` and adds `predict` and its scores.
    """

    _old_attributes: ClassVar[Renamed] = {
        "certify": ("flybloom.audit.certify(model, X)", certify),
        "certified_radius": ("flybloom.audit.certify(model, X)", certify),
        "class_similarity": ("flybloom.report.class_similarity(model)", class_similarity),
        "forget_with_receipt": ("flybloom.core.files.receipt.forget_with_receipt(model, X, y)", forget_with_receipt),
    }
    class_weight: ClassWeight

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Update the model with a block of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows. Sizes and encoding follow from all rows so far, up to 8192 distinct ones; then they are fixed.
        y : array-like of shape (n_samples,)
            Their labels. New ones may appear in any block.
        classes : array-like of shape (n_classes,), default=None
            Labels to expect, including some without rows; optional.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 3 counts as three copies, rows of weight 0 are ignored. For fractions, see `weight_unit`.

        Returns
        -------
        estimator
            The classifier itself.
        """
        announced = None if classes is None else check_labels(classes)
        self._learn_rows(X, y, sample_weight, known={"announced": announced})
        return self

    @property
    def classes_(self) -> Array:
        """The labels, sorted."""
        return read_only(self._handed_out("classes_").classes)

    @property
    def class_count_(self) -> Array:
        """Number of rows learned of each class, weights included; floats with fractional weights."""
        counts = self._handed_out("class_count_")
        return read_only(counts.unit.rows(counts.class_count))

    @property
    def counts_per_row_(self) -> int:
        """How much one row adds to the counts of its winners: 1, or 1024 with fractional weights."""
        return int(self._handed_out("counts_per_row_").unit.per_row)

    def _can_score(self, learned: Model) -> bool:
        """Scores need at least one class."""
        return learned.counts.classes.size > 0  # type: ignore[attr-defined, no-any-return]

    def _validate_params(self) -> None:
        """Also check what scikit-learn's constraints cannot express."""
        super()._validate_params()
        check_class_weight(self.class_weight, type(self).__name__)

    def _require_complete(self, learned: Model) -> None:
        """Raise an error for a single class, and for class weights of unknown classes."""
        classes = learned.counts.classes  # type: ignore[attr-defined]
        if classes.size < 2:  # noqa: PLR2004
            msg = (
                f"{type(self).__name__}.fit needs rows of at least 2 classes. "
                f"Got one class, {classes[0]!r}, instead. To learn class after class, use partial_fit."
            )
            raise ValueError(msg)
        if self.class_weight is not None:
            require_weights_for(self.class_weight, classes, type(self).__name__)

    def _require_own_encoding(self, hasher: Hasher, is_shared: bool) -> None:
        """Raise an error for leave-one-out if the encoding uses labels, unless that is accepted."""
        if hasher.encoder.step(Relevance) is not None and not (is_shared or isinstance(self.encoding, Encoder)):
            msg = (
                "The encoding weighs columns by their relevance to the labels of all rows, so a row that is left out "
                "would be judged by weights that its own label has a part in. Use an encoding without relevance, one "
                "that was fitted beforehand, or folds (scikit-learn's cross_val_predict)."
            )
            raise ValueError(msg)
