"""A model of the last rows of a stream."""

from __future__ import annotations

import math
import time
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

from flybloom._internal.parallel import uninterrupted
from flybloom._internal.sklearn_compat import HasMethods, Interval, fit_context
from flybloom._internal.typing import Array
from flybloom.core.counts.base import Counts, Won
from flybloom.core.counts.kept_winners import ARRAYS, NEWEST, Generations, KeptWinners
from flybloom.core.files.model_file import Parts, describe_inside, restore_inside
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.model import Model
from flybloom.core.sketch import Block
from flybloom.estimators.access import (
    check_block,
    exchange,
    exchange_at_once,
    learn_rows,
    reading_learned,
    replace_counts,
    with_learned,
)
from flybloom.estimators.counting import CountingEstimator
from flybloom.estimators.releasing import Releasing, never_released
from flybloom.estimators.stream_follower import EARLY, Early, Following, StreamFollower

LIMITS = ("n_rows", "seconds", "half_life")
FEW_ROWS = 16  # of a block; for more, a thread that nothing interrupts costs little


class SlidingWindow(StreamFollower):
    """Sliding window over a stream: a model of the last rows, which forgets older ones exactly.

    After every block the model equals, bit for bit, one with the same hash that learned only the rows of the window.
    The winners of each row are kept rather than the row: ``2 * n_winners_`` bytes (``4 * n_winners_`` with more than
    65536 components) and 16 for its label, weight and time. Memory is at most twice that for each row of the window and
    of a block. Rows are hashed once and counted twice.

    The hash is fixed by the first 400 rows. Until then the model contains all rows.

    Parameters
    ----------
    model : FlyBloomClassifier, FlyRidgeClassifier, FlyRidgeRegressor or FlyBloomNovelty
        The model to clone. With `forget_after`, `FlyBloomNovelty` needs no window.

    n_rows : int or None, default=None
        Number of rows of the window. A row counts as one, whatever its weight; rows of weight 0 are ignored.

    seconds : float or None, default=None
        Maximum age of rows, by the times given to `partial_fit` or by the clock.

    half_life : int or None, default=None
        Instead of a window: after this number of rows (a generation) the weight of all older rows halves; after eight
        generations they are forgotten. No single rows are kept, but counts of eight generations. Rows weigh 128, 64,
        ..., 1, and `decay` of the inner model is scaled accordingly.

        Exactly one of `n_rows`, `seconds` and `half_life` must be given.

    Attributes
    ----------
    model_
    n_rows_in_window_

    See Also
    --------
    FlyBloomNovelty : With `forget_after`, familiar rows become novel again.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomClassifier, SlidingWindow
    >>> X, y = load_digits(return_X_y=True)
    >>> window = SlidingWindow(FlyBloomClassifier(encoding="none", random_state=0), n_rows=500)
    >>> for i in range(0, 1700, 100):
    ...     window = window.partial_fit(X[i : i + 100], y[i : i + 100])
    >>> alone = FlyBloomClassifier(encoding="none", random_state=0).fit(X[1200:1700], y[1200:1700])
    >>> bool((window.model_.counts_ == alone.counts_).all())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "model": [HasMethods(["partial_fit", "predict"])],
        "n_rows": [Interval(Integral, 1, None, closed="left"), None],
        "seconds": [Interval(Real, 0, None, closed="neither"), None],
        "half_life": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self, model: Any, *, n_rows: int | None = None, seconds: float | None = None, half_life: int | None = None
    ) -> None:
        self.model = model
        self.n_rows = n_rows
        self.seconds = seconds
        self.half_life = half_life

    @fit_context
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, times: Any = None) -> Self:
        """Fit from scratch; the window holds the last rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows, in order of arrival.
        y : array-like of shape (n_samples,), default=None
            Their labels, if the model needs them.
        sample_weight : array-like of shape (n_samples,), default=None
            Integers; a row of weight 3 counts as three copies.
        times : float or array-like of shape (n_samples,), default=None
            Arrival times in seconds; None for now. See `seconds`.

        Returns
        -------
        SlidingWindow
            The window itself.
        """
        with self._guard.learning:
            model = self._new_model()
            block = learn_rows(model, X, y, sample_weight, anew=True)
            self._following = self._begin(model, block, _checked_times(times, len(block.weights), np.zeros(0)))
        return self

    @fit_context
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, times: Any = None) -> Self:
        """Learn a block of rows, and forget those that leave the window, atomically.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows, in order of arrival.
        y : array-like of shape (n_samples,), default=None
            Their labels, if the model needs them.
        sample_weight : array-like of shape (n_samples,), default=None
            Integers; a row of weight 3 counts as three copies.
        times : float or array-like of shape (n_samples,), default=None
            Arrival times in seconds, not decreasing; None for now. See `seconds`.

        Returns
        -------
        SlidingWindow
            The window itself.
        """
        with self._guard.learning:
            following = self.__dict__.get("_following")
            if following is None or following.memory is None:
                self._following = self._warmed(X, y, sample_weight, partial(_checked_times, times))
                return self
            model, memory = following.model, following.memory
            with reading_learned(model) as learned:
                block = check_block(model, learned, X, y, sample_weight)
                won = _winners_of(block, learned, model.n_jobs)
            if isinstance(memory, Generations):
                self._fade(following, memory, won.only(block.weights > 0))
            else:
                came = _checked_times(times, len(won.weights), memory.times)
                self._slide(model, memory, won.only(block.weights > 0), came[block.weights > 0])
        return self

    @property
    def n_rows_in_window_(self) -> int:
        """Number of rows in the window; with `half_life`, in the current generation."""
        self._answering("n_rows_in_window_")
        memory = self._following.memory
        if memory is None:
            return self._following.early.n_rows
        return memory.n_rows if isinstance(memory, Generations) else len(memory)

    def memory_usage(self) -> dict[str, int]:
        """Return the memory of the window in bytes.

        Returns
        -------
        dict
            ``window``, the kept rows, and the memory of the model.
        """
        self._answering("memory_usage")
        memory = self._following.memory
        return {"window": 0 if memory is None else memory.n_bytes, **self._fitted().memory_usage()}

    def _to_parts(self) -> Parts:
        """Return the state that files store: the inner model and the kept rows."""
        with self._guard.learning:  # model and window of one moment
            self._fitted()
            model, memory, early = self._following
            inside, arrays = describe_inside(model)
            facts, own = ({}, {}) if memory is None else memory.to_parts()
            first, first_rows = early.to_parts()
        return Parts(None, {"inside": inside, "window": facts, **first}, {**arrays, **own, **first_rows})

    def _from_parts(self, hasher: Hasher | None, facts: dict[str, Any], arrays: dict[str, Array]) -> Self:  # noqa: ARG002
        """Restore the state from a file, and return the window; ValueError if it is invalid."""
        own = {name: values for name, values in arrays.items() if name in ARRAYS or name.startswith("generation_")}
        others = {name: values for name, values in arrays.items() if name not in own and not name.startswith(EARLY)}
        model: CountingEstimator = restore_inside(facts.get("inside"), others, type(self.model))
        window = facts.get("window")
        with reading_learned(model) as learned:
            counts, hashes = learned.counts, learned.hasher
            if learned.is_whole:
                self._following = Following(model, None, Early.from_parts(facts, arrays, learned))
                return self
            memory: KeptWinners | Generations
            if self.half_life is None:
                memory = KeptWinners.from_parts(hashes.n_components, hashes.n_winners, window, own)
                nothing = counts.minus(counts)
                counted = nothing.plus(nothing.count_won(memory.oldest(len(memory)))) if len(memory) else nothing
            else:
                memory = Generations.from_parts(type(counts), hashes.n_components, hashes.n_winners, window, own)
                counted = memory.total()
            if not _are_equal(counted.to_parts(), counts.to_parts()):
                msg = "its window does not hold the rows that its model has learned"
                raise ValueError(msg)
        self._following = Following(_holding(model, counts), memory)
        return self

    def _validate_params(self) -> None:
        """Check what scikit-learn's constraints cannot express."""
        super()._validate_params()
        given = [name for name in LIMITS if getattr(self, name) is not None]
        if len(given) != 1:
            msg = (
                f"SlidingWindow takes exactly one of {', '.join(LIMITS)}. Got {' and '.join(given) or 'none'} instead."
            )
            raise ValueError(msg)
        if not isinstance(self.model, CountingEstimator):
            msg = (
                f"SlidingWindow needs a model that counts, such as FlyBloomClassifier. Got {type(self.model).__name__} "
                "instead."
            )
            raise TypeError(msg)
        if getattr(self.model, "forget_after", None) is not None:
            msg = "A model with forget_after fades by itself. Use it without SlidingWindow, or set forget_after=None."
            raise ValueError(msg)

    def _answers_now(self) -> Any:
        """Return the model in use, or None before the first rows."""
        following = self.__dict__.get("_following")
        return None if following is None else following.model

    def _new_model(self) -> CountingEstimator:
        """Return a new model without rows, with its decay scaled to the weight of rows."""
        model: CountingEstimator = super()._new_model()
        decay = getattr(model, "decay", None)
        decay = 0.4 if decay == "auto" else decay  # it would follow counts of another unit
        if self.half_life is not None and isinstance(decay, Real) and 0 < float(decay) < 1:
            model.set_params(decay=-math.expm1(math.log1p(-float(decay)) / NEWEST))
        return model

    def _begin(self, model: CountingEstimator, block: Block, times: Array) -> Following:
        """Return the state after a model has learned these rows, which fix the hash."""
        with reading_learned(model) as learned:
            hasher = learned.hasher
            nothing = learned.counts.minus(learned.counts)
            won = _winners_of(block, learned, model.n_jobs).only(block.weights > 0)
            times = times[block.weights > 0]
            if self.half_life is not None:
                generations = self._with_generations(Generations(nothing), won)
                return Following(_holding(model, generations.total()), generations)
            kept = KeptWinners(hasher.n_components, hasher.n_winners)
            n_gone = self._n_leaving(times, times[:0])
            won, times = won.only(slice(n_gone, None)), times[n_gone:]
            kept.write(won, times)
            kept.move(len(times), 0)
            counts = nothing.plus(nothing.count_won(won))
            return Following(_holding(model, counts), kept)

    def _n_leaving(self, before: Array, came: Array) -> int:
        """Return the number of rows that leave the window, given arrival times."""
        if self.n_rows is not None:
            return min(before.size, max(0, before.size + came.size - self.n_rows))
        newest = came[-1] if came.size else before[-1]
        return int(np.searchsorted(before, newest - self.seconds, side="right"))

    def _slide(self, model: CountingEstimator, kept: KeptWinners, won: Won, times: Array) -> None:
        """Add rows, and subtract those that leave the window."""
        n_passing = self._n_leaving(times, times[:0])  # of a block longer than the window
        n_gone = self._n_leaving(kept.times, times)
        won, times = won.only(slice(n_passing, None)), times[n_passing:]
        kept.write(won, times)
        went = kept.oldest(n_gone)
        if len(times) <= FEW_ROWS and exchange_at_once(model, won, went, kept.bounds):
            return

        def change() -> None:
            exchange(model, won, went)
            kept.move(len(times), n_gone)

        uninterrupted(change)

    def _with_generations(self, generations: Generations, won: Won) -> Generations:
        """Return the generations after more rows."""
        assert self.half_life is not None  # noqa: S101 - asked by who has one
        done, n_rows = 0, len(won.weights)
        while done < n_rows:
            n = max(0, min(self.half_life - generations.n_rows, n_rows - done))  # half_life may have been lowered
            delta = generations.current.count_won(won.only(slice(done, done + n)))
            generations = generations.after(delta, n)
            done += n
            if generations.n_rows >= self.half_life:
                generations = generations.next()
        return generations

    def _fade(self, following: Following, generations: Generations, won: Won) -> None:
        """Count rows in the current generation and, with their weight, in the model."""
        after = self._with_generations(generations, won)
        if len(after.closed) == len(generations.closed) and after.n_rows > generations.n_rows:
            with reading_learned(following.model) as learned:
                counts = learned.counts
            counts = counts.plus(counts.count_won(won._replace(weights=won.weights * NEWEST)))
        else:
            counts = after.total()

        def change() -> None:
            replace_counts(following.model, counts)
            self._following = following._replace(memory=after)

        uninterrupted(change)


def _holding(model: CountingEstimator, counts: Counts) -> CountingEstimator:
    """Return a model with the same hash and the counts of a window.

    It refuses private releases, because a row changes which others are in the window.
    """
    windowed = model.like()
    with reading_learned(windowed) as alike:
        learned = alike._replace(counts=counts)
    return with_learned(windowed, never_released(learned) if isinstance(windowed, Releasing) else learned)


def _winners_of(block: Block, learned: Model, n_jobs: int | None) -> Won:
    """Return winners and labels of rows."""
    hasher = learned.hasher
    labels = learned.counts.labels_of(block.labels, lambda some: hasher.encoder.columns_apart(block.rows[some]))
    return Won(hasher.winners(block.rows, n_jobs), labels, block.weights)


def _checked_times(times: Any, n_rows: int, before: Array) -> Array:
    """Return validated arrival times, which must not decrease, given those before."""
    latest = before[-1] if before.size else -math.inf
    given = np.asarray(time.time() if times is None else times, np.float64)
    came = np.broadcast_to(given, n_rows) if given.ndim == 0 else given
    if times is None:
        came = np.maximum(came, latest)  # clocks are set back at times
    if came.shape != (n_rows,) or not np.isfinite(came).all() or (np.diff(came, prepend=latest) < 0).any():
        msg = (
            f"times must be one number for each of the {n_rows} rows, none before the one that came before it, "
            f"{latest}. Got {times!r} instead. Sort the rows by time."
        )
        raise ValueError(msg)
    return came


def _are_equal(a: tuple[dict[str, Any], dict[str, Array]], b: tuple[dict[str, Any], dict[str, Array]]) -> bool:
    """Return whether parts of counts are equal."""
    return a[0] == b[0] and all(np.array_equal(a[1][name], b[1][name]) for name in {**a[1], **b[1]})
