"""Windows of several lengths over one stream; the most accurate one on recent rows predicts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np

from flybloom._internal.sklearn_compat import HasMethods, Interval, fit_context
from flybloom._internal.typing import Array
from flybloom._internal.validation import check_labels, taken
from flybloom.core.counts.base import Won
from flybloom.core.counts.kept_winners import ARRAYS, KeptWinners
from flybloom.core.counts.weight_unit import WHOLE_ROWS
from flybloom.core.files.model_file import Parts, describe_inside, restore_inside
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.model import Model
from flybloom.core.readout.rivals import Rivals
from flybloom.core.sketch import Block
from flybloom.estimators.access import check_block, learn_rows, reading_learned, with_learned
from flybloom.estimators.classifier import FlyBloomClassifier
from flybloom.estimators.releasing import never_released
from flybloom.estimators.stream_follower import EARLY, Early, Following, StreamFollower
from flybloom.exceptions import NeverLearnedError

MOST_ROWS = 2**20  # of a window, and judged; room for them is taken at once
ROWS_AT_ONCE = 1024  # that are hashed, and then learned one after the other


class AdaptiveWindow(StreamFollower):
    """Classifier for streams that chooses between windows of several lengths.

    Short windows follow changes, long ones have more data. Several are kept, each predicts every row before it is
    learned, and the one with the most correct predictions for the last rows is used; ties go to the longest.

    Each window is exact: it counts its rows and no others. A row is hashed once for all windows. Rows are processed one
    after the other, so the block size changes neither the windows nor the choice.

    Parameters
    ----------
    model : FlyBloomClassifier
        The classifier to clone, without `class_weight`.

    n_rows : sequence of int or None, default=(100, 1000, None)
        Number of rows of each window, up to 2**20; None for all rows.

    evaluation_window : int, default=1000
        Number of recent rows by which windows are compared.

    Attributes
    ----------
    model_
    n_rows_
    windows_
    classes_

    See Also
    --------
    SlidingWindow : One window, of rows or of seconds, for every kind of model.

    Notes
    -----
    The hash is fixed by the first 400 rows. Memory is bounded: the counts of each window, and ``2 * n_winners_ + 8``
    bytes for each row of the longest bounded window.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import AdaptiveWindow, FlyBloomClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> window = AdaptiveWindow(FlyBloomClassifier(1024, encoding="none", random_state=0), n_rows=(100, None))
    >>> answers = window.partial_fit(X[:800], y[:800]).predict_then_learn(X[800:], y[800:])
    >>> bool((answers == y[800:]).mean() > 0.9), window.n_rows_
    (True, None)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "model": [HasMethods(["partial_fit", "predict"])],
        "n_rows": ["array-like"],
        "evaluation_window": [Interval(Integral, 1, MOST_ROWS, closed="both")],
    }
    _old_parameters: ClassVar = {"judged_rows": "evaluation_window"}

    def __init__(
        self, model: Any, n_rows: tuple[int | None, ...] = (100, 1000, None), *, evaluation_window: int = 1000
    ) -> None:
        self.model = model
        self.n_rows = n_rows
        self.evaluation_window = evaluation_window

    @fit_context
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit from scratch, one row after the other.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows, in order of arrival.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Integers; a row of weight 3 counts as three copies.

        Returns
        -------
        AdaptiveWindow
            The estimator itself.
        """
        with self._guard.learning:
            model: FlyBloomClassifier = self._new_model()
            block = learn_rows(model, X, y, sample_weight, anew=True)
            self._following = self._begin(model, block, np.zeros(0))
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn a block of rows, in sequence.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows, in order of arrival.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Integers; a row of weight 3 counts as three copies.

        Returns
        -------
        AdaptiveWindow
            The estimator itself.
        """
        with self._guard.learning:
            if "_following" not in self.__dict__:
                self._validate_params()
            elif self._following.memory is not None:
                self._follow(X, y, sample_weight)
                return self
            self._following = self._warmed(X, y, sample_weight)
        return self

    def predict_then_learn(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """Predict each row, then learn it, one row after the other.

        Equals `predict` and `partial_fit` of single rows, bit for bit, but is much faster because rows are hashed in
        blocks.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows, in order of arrival.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Integers; a row of weight 3 counts as three copies, rows of weight 0 are only predicted.

        Returns
        -------
        ndarray of shape (n_samples,)
            The predicted labels.
        """
        with self._guard.learning:
            self._fitted()
            if self._following.memory is not None:
                return self._follow(X, y, sample_weight)
            labels, answers, at = check_labels(y), [], 0
            weights = WHOLE_ROWS.counted(sample_weight, len(labels))
            while at < len(labels) and self._following.memory is None:  # until it is fixed how rows are hashed
                row = taken(X, [at])
                answers.append(self.predict(row))
                if weights[at] > 0:
                    self.partial_fit(row, labels[at : at + 1], weights[at : at + 1])
                at += 1
            if at < len(labels):
                answers.append(self._follow(taken(X, np.arange(at, len(labels))), labels[at:], weights[at:]))
            return np.concatenate(answers)

    @property
    def n_rows_(self) -> int | None:
        """Number of rows of the window in use; None for all rows."""
        self._answering("n_rows_")
        with self._looking() as (_, rivals, _):
            return self._lengths()[-1 if rivals is None else rivals.best]

    @property
    def windows_(self) -> dict[int | None, FlyBloomClassifier]:
        """The model of each window, by its number of rows."""
        self._answering("windows_")
        with self._looking() as (model, rivals, _):
            if rivals is None:
                return dict.fromkeys(self._lengths(), model)
            return {n_rows: _model_of(model, rivals, k) for k, n_rows in enumerate(self._lengths())}

    def memory_usage(self) -> dict[str, int]:
        """Return the memory of the windows in bytes.

        Returns
        -------
        dict
            ``windows``, the counts and kept rows, and ``connections``, which are drawn when rows are first hashed.
        """
        self._answering("memory_usage")
        with self._looking() as (model, rivals, _):
            used = model.memory_usage()
            counts = used["counts"] if rivals is None else rivals.n_bytes
            return {"windows": counts, "connections": used["connections"]}

    def _to_parts(self) -> Parts:
        """Return the state that files store: a model, the latest rows, and which windows predicted them correctly."""
        self._fitted()
        with self._looking() as (model, rivals, early):
            if rivals is None:
                inside, arrays = describe_inside(model)
                first, first_rows = early.to_parts()
                return Parts(None, {"inside": inside, **first}, {**arrays, **first_rows})
            inside, arrays = describe_inside(_model_of(model, rivals, -1))
            latest, kept = rivals.latest(), KeptWinners(rivals.tables.shape[1], rivals.kept.shape[1])
            kept.write(latest, np.zeros(len(latest.weights)))
            kept.move(len(latest.weights), 0)
            facts, own = kept.to_parts()
            judged = {"judged": rivals.judgements().astype(np.uint8)}
        return Parts(None, {"inside": inside, "latest": facts}, {**arrays, **own, **judged})

    def _from_parts(self, hasher: Hasher | None, facts: dict[str, Any], arrays: dict[str, Array]) -> Self:  # noqa: ARG002
        """Restore the state from a file, and return the estimator; ValueError if it is invalid."""
        self._validate_params()
        own = {name: values for name, values in arrays.items() if name in ARRAYS}
        others = {
            name: values
            for name, values in arrays.items()
            if name not in own and name != "judged" and not name.startswith(EARLY)
        }
        model: FlyBloomClassifier = restore_inside(facts.get("inside"), others, FlyBloomClassifier)
        with reading_learned(model) as learned:
            if learned.is_whole:
                self._following = Following(model, None, Early.from_parts(facts, arrays, learned))
                return self
            counts: Any = learned.counts
            sizes = learned.hasher.n_components, learned.hasher.n_winners
            kept = KeptWinners.from_parts(*sizes, facts.get("latest"), own)
            rivals = Rivals.begin(self._limits(), *sizes, self.evaluation_window)
            latest = kept.oldest(len(kept))
            if latest.labels is None or not 0 < len(kept) <= len(rivals.kept) or not (latest.weights > 0).all():
                msg = "it does not hold the latest rows"
                raise ValueError(msg)
            rivals, _ = rivals.follow(latest, self.model.decay, 0)  # counts them; what it says of them is not asked
            longest = rivals.counts(-1)
            try:
                nothing_else = counts.minus(longest).n_rows == 0
            except NeverLearnedError:
                nothing_else = None
        judged = arrays.get("judged")
        if nothing_else is None or (rivals.limits[-1] > 0 and not nothing_else):
            msg = "the latest rows are not those that its model has learned"
            raise ValueError(msg)
        if (
            judged is None
            or judged.dtype != np.uint8
            or judged.shape[1:] != rivals.judged.shape[1:]
            or len(judged) > len(rivals.judged)
            or (judged > 1).any()
        ):
            msg = "it does not say which window was right"
            raise ValueError(msg)
        self._following = Following(model, rivals.with_counts(-1, counts).with_judgements(judged))
        return self

    def _validate_params(self) -> None:
        """Check what scikit-learn's constraints cannot express."""
        super()._validate_params()
        lengths = list(self.n_rows)
        is_right = all(n is None or (isinstance(n, Integral) and 0 < n <= MOST_ROWS) for n in lengths)
        if not lengths or not is_right or len({*lengths}) < len(lengths):
            msg = (
                "The 'n_rows' parameter of AdaptiveWindow must hold different whole numbers above 0, or None for all "
                f"rows. Got {self.n_rows!r} instead. At most {MOST_ROWS} rows are kept; SlidingWindow takes more."
            )
            raise ValueError(msg)
        model = self.model
        if not isinstance(model, FlyBloomClassifier) or model.class_weight is not None or model.readout == "bayes":
            msg = (
                'AdaptiveWindow needs a FlyBloomClassifier without class_weight, read by filters (readout="filter"). '
                f"Got {self.model!r} instead. Use SlidingWindow for other models."
            )
            raise TypeError(msg)

    def _lengths(self) -> list[int | None]:
        """Return the lengths of the windows, ascending."""
        ends = sorted(int(n) for n in self.n_rows if n is not None)
        return [*ends, None] if None in self.n_rows else [*ends]

    def _limits(self) -> list[int]:
        """Return the lengths as an array for kernels."""
        return [n or 0 for n in self._lengths()]

    @contextmanager
    def _looking(self) -> Iterator[Following]:
        """Yield a snapshot of the state."""
        with self._guard.looking:
            yield self._following

    def _answers_now(self) -> Any:
        """Return the model of the window in use, or None before the first rows."""
        if "_following" not in self.__dict__:
            return None
        with self._looking() as (model, rivals, _):
            if rivals is None:
                return model
            moment = (rivals, int(rivals.seen[0]))
            known, answering = self.__dict__.get("_last", (None, None))
            if known is None or known[0] is not rivals or known[1] != moment[1]:
                answering = _model_of(model, rivals, rivals.best)
                self._last = moment, answering
            return answering

    def _begin(self, model: FlyBloomClassifier, block: Block, times: Array) -> Following:  # noqa: ARG002
        """Return the state after a model has learned these rows, which fix the hash."""
        with reading_learned(model) as learned:
            hasher = learned.hasher
            learned.counts.unit.require_whole("compare windows")
            model.readout = "filter" if model.readout_ != "filter" else model.readout  # windows are compared by filters
            rivals = Rivals.begin(self._limits(), hasher.n_components, hasher.n_winners, self.evaluation_window)
        model, block = model.like(), block.weighted()
        for begin in range(0, len(block.weights), ROWS_AT_ONCE):
            rivals, _ = rivals.follow(_won(model, hasher, block, begin), model.decay, hasher.projection.seed)
        return Following(model, rivals)

    def _follow(self, X: Any, y: Any, sample_weight: Any) -> Array:
        """Predict and learn rows in sequence, atomically, and return the predictions."""
        model, rivals, _ = self._following
        assert rivals is not None  # noqa: S101 - asked when the hash is fixed
        with reading_learned(model) as learned:
            hasher, block = learned.hasher, check_block(model, learned, X, y, sample_weight)
        answers, guard = [], self._guard
        for begin in range(0, len(block.weights), ROWS_AT_ONCE):
            won = _won(model, hasher, block, begin)
            if len(block.weights) > 1:
                rivals, some = rivals.follow(won, model.decay, hasher.projection.seed)
            else:
                with guard.looking:  # it may be entered in place
                    rivals, some = rivals.follow(won, model.decay, hasher.projection.seed)
            answers.append(some)
        if rivals is not self._following.memory:
            with guard.looking:
                self._following = Following(model, rivals)
        return np.concatenate(answers)


def _won(model: FlyBloomClassifier, hasher: Hasher, block: Block, begin: int) -> Won:
    """Return winners and labels of rows, in the order of `predict`."""
    some = slice(begin, begin + ROWS_AT_ONCE)
    labels = None if block.labels is None else block.labels[some]
    return Won(hasher.winners(block.rows[some], model.n_jobs), labels, block.weights[some])


def _model_of(model: FlyBloomClassifier, rivals: Rivals, window: int) -> FlyBloomClassifier:
    """Return a copy of the model of one window, which refuses private releases."""
    with reading_learned(model) as learned:
        return with_learned(copy(model), never_released(Model(learned.hasher, rivals.counts(window))))
