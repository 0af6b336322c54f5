"""Prequential evaluation of streams: each row is predicted, then learned."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import NotFittedError

from flybloom._internal.deprecated import OldAttributes, Renamed
from flybloom._internal.typing import Array
from flybloom._internal.validation import check_labels, taken
from flybloom.estimators.counting import novelty_rate

WINDOW = 1000  # rows of the rolling scores
MANY_ROWS = 1024  # that a model is given at once which predicts and learns one after the other by itself


@dataclass
class StreamScores(OldAttributes):
    """Result of `test_then_train`.

    Each entry of the curves belongs to the end of a block.

    Attributes
    ----------
    n_rows : int
        How many rows were tested, and then learned.
    accuracy : float
        Share of the rows that were predicted right. Rows that came before the model knew anything count as wrong.
    no_change_accuracy : float
        The same for who predicts the label of the row before.
    majority_accuracy : float
        The same for who predicts the most frequent label so far.
    kappa_no_change : float
        How much of what the first of these gets wrong the model gets right: 1 for all, 0 for none, below for worse.
    kappa_majority : float
        The same for the second.
    seconds : float
        What predicting and learning took.
    rows_per_second : float
        Rows that were predicted and learned in a second.
    memory : int or None
        Bytes of the model in the end, where it tells.
    rows : list of int
        Number of rows up to the end of each block.
    rolling_accuracy, rolling_no_change, rolling_majority : list of float
        Accuracies of the last 1000 rows, or of as many as were asked for.
    novelty : list of float
        Mean novelty of the rows of each block before they were learned, if asked for.
    novelty_rate : list of float
        Mean share of winners that had never won, if asked for: it rises where rows change.
    """

    _old_attributes: ClassVar[Renamed] = {"novel_winners": "novelty_rate"}

    n_rows: int = 0
    accuracy: float = 0.0
    no_change_accuracy: float = 0.0
    majority_accuracy: float = 0.0
    kappa_no_change: float = 0.0
    kappa_majority: float = 0.0
    seconds: float = 0.0
    rows_per_second: float = 0.0
    memory: int | None = None
    rows: list[int] = field(default_factory=list)
    rolling_accuracy: list[float] = field(default_factory=list)
    rolling_no_change: list[float] = field(default_factory=list)
    rolling_majority: list[float] = field(default_factory=list)
    novelty: list[float] = field(default_factory=list)
    novelty_rate: list[float] = field(default_factory=list)


def test_then_train(
    model: Any,
    blocks: Iterable[Any],
    *,
    block_rows: int | None = None,
    window: int = WINDOW,
    signals: bool = False,
) -> StreamScores:
    """Predict each block of a stream, compare with its labels, and only then learn it.

    Parameters
    ----------
    model : estimator
        Anything with `predict` and `partial_fit`; it learns all rows. It may have learned others before.
    blocks : iterable of (X, y) or of blocks of `read_blocks`
        The rows with their labels, in the order in which they came.
    block_rows : int or None, default=None
        Longer blocks are split into pieces of this size. Labels of a block are known only after all of it was
        predicted; with 1, after every row. A model with `predict_then_learn`, such as `AdaptiveWindow`, is given many
        rows at a time then, and predicts and learns them in sequence by itself: the same, and faster.
    window : int, default=1000
        Rows of the rolling accuracies.
    signals : bool, default=False
        Whether to follow novelty and the share of novel winners as well, for models of flybloom. Rows are hashed once
        more for that, which `seconds` leaves out.

    Returns
    -------
    StreamScores
        Accuracy, kappas, curves, memory and speed.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomClassifier
    >>> from flybloom.streams import test_then_train
    >>> X, y = load_digits(return_X_y=True)
    >>> scores = test_then_train(FlyBloomClassifier(random_state=0), [(X, y)], block_rows=64)
    >>> scores.n_rows, scores.accuracy > 0.8, scores.kappa_majority > 0.8
    (1797, True, True)
    """
    for name, value in (("block_rows", block_rows), ("window", window)):
        if value is not None and not (isinstance(value, int) and value > 0):
            msg = f"The {name!r} parameter of test_then_train must be a whole number above 0. Got {value!r} instead."
            raise ValueError(msg)
    scores, judge = StreamScores(), _Judge(window)
    curves = scores.rolling_accuracy, scores.rolling_no_change, scores.rolling_majority
    many_at_once = block_rows == 1 and not signals and hasattr(model, "predict_then_learn")
    for X, y in _pieces(blocks, MANY_ROWS if many_at_once else block_rows):
        if signals:
            _follow(model, X, scores)
        start = time.perf_counter()
        tested = _one_by_one(model, X, y) if many_at_once else _at_once(model, X, y)
        scores.seconds += time.perf_counter() - start
        for labels, predicted in tested:
            judge.compare(labels, predicted)
            scores.rows.append(judge.n_rows)
            for curve, last in zip(curves, judge.rolling(), strict=True):
                curve.append(last)
    if judge.n_rows == 0:
        msg = "There are no rows to test. Expected blocks of rows with their labels."
        raise ValueError(msg)
    scores.n_rows = judge.n_rows
    scores.accuracy, scores.no_change_accuracy, scores.majority_accuracy = judge.accuracies()
    scores.kappa_no_change = kappa(scores.accuracy, scores.no_change_accuracy)
    scores.kappa_majority = kappa(scores.accuracy, scores.majority_accuracy)
    scores.rows_per_second = scores.n_rows / scores.seconds
    usage = getattr(model, "memory_usage", None)
    scores.memory = None if usage is None else sum(usage().values())
    return scores


test_then_train.__test__ = False  # type: ignore[attr-defined]  # a function of users, which pytest would take for its own


def kappa(accuracy: float, baseline: float) -> float:
    """Return the kappa statistic against a baseline: 1 is perfect, 0 as good as the baseline, negative worse.

    Parameters
    ----------
    accuracy : float
        Of what is judged.
    baseline : float
        Of what it is compared with.

    Returns
    -------
    float
        At most 1; 0 where the baseline is never wrong.

    Examples
    --------
    >>> kappa(0.9, 0.8)
    0.5
    """
    return round((accuracy - baseline) / (1 - baseline), 12) if baseline < 1 else 0.0


class _Judge:
    """Accumulates scores of a model and of two baselines that know all earlier labels."""

    def __init__(self, window: int) -> None:
        self.n_rows = 0
        self._right = np.zeros(3, np.int64)  # of the model, of no change, of the majority
        self._last: deque[tuple[bool, bool, bool]] = deque(maxlen=window)
        self._rolling = np.zeros(3, np.int64)
        self._before: Any = None
        self._seen: Counter[Any] = Counter()
        self._majority: Any = None

    def compare(self, labels: Array, predicted: Array | None) -> None:
        """Compare the labels of a block with predictions; None if there are none."""
        known = labels.tolist()
        is_right = [False] * len(known) if predicted is None else (predicted == labels).tolist()
        for label, right in zip(known, is_right, strict=True):
            has_before = self.n_rows > 0
            triple = (bool(right), has_before and label == self._before, has_before and label == self._majority)
            if len(self._last) == self._last.maxlen:
                self._rolling -= self._last[0]
            self._last.append(triple)
            self._rolling += triple
            self._right += triple
            self.n_rows += 1
            self._before = label
            self._seen[label] += 1
            if not has_before or self._seen[label] > self._seen[self._majority]:
                self._majority = label

    def rolling(self) -> list[float]:
        """Return the accuracies of the last rows."""
        return [float(n) / len(self._last) for n in self._rolling]

    def accuracies(self) -> list[float]:
        """Return the accuracies of all rows."""
        return [float(n) / self.n_rows for n in self._right]


def _pieces(blocks: Iterable[Any], block_rows: int | None) -> Iterator[tuple[Any, Array]]:
    """Yield rows and labels in blocks."""
    for block in blocks:
        X, y = (block.X, block.y) if hasattr(block, "X") else block
        if y is None:
            msg = "Blocks without labels cannot be tested. Read them with target=..., or pass (X, y)."
            raise ValueError(msg)
        labels = check_labels(y)
        step = block_rows or max(len(labels), 1)
        for begin in range(0, len(labels), step):
            yield taken(X, slice(begin, begin + step)), labels[begin : begin + step]


def _predicted(model: Any, X: Any) -> Array | None:
    """Return predictions, or None if the model is not fitted yet."""
    try:
        return np.asarray(model.predict(X))
    except NotFittedError:
        return None


def _at_once(model: Any, X: Any, y: Array) -> list[tuple[Array, Array | None]]:
    """Predict and then learn a block; return labels and predictions."""
    predicted = _predicted(model, X)
    model.partial_fit(X, y)
    return [(y, predicted)]


def _one_by_one(model: Any, X: Any, y: Array) -> list[tuple[Array, Array | None]]:
    """Predict and then learn row by row; return labels and predictions."""
    predicted: list[Array | None] = []
    if _predicted(model, taken(X, slice(1))) is None:  # it knows nothing, not even how to begin
        model.partial_fit(taken(X, slice(1)), y[:1])
        predicted.append(None)
    rest = slice(len(predicted), None)
    if len(y) > len(predicted):
        answers = model.predict_then_learn(taken(X, rest), y[rest])
        predicted.extend(answers[i : i + 1] for i in range(len(answers)))
    return [(y[i : i + 1], predicted[i]) for i in range(len(y))]


def _follow(model: Any, X: Any, scores: StreamScores) -> None:
    """Record the novelty of rows; 1 while the model is not fitted."""
    novelty = novel = 1.0
    try:
        scored = np.asarray(model.novelty(X)) if hasattr(model, "novelty") else np.zeros(0)
        novelty = float((scored.min(axis=1) if scored.ndim > 1 else scored).mean()) if scored.size else np.nan
        novel = float(novelty_rate(model, X).mean())
    except NotFittedError:
        pass
    scores.novelty.append(novelty)
    scores.novelty_rate.append(novel)
