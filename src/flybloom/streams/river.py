"""Models with the interface of river, which learn one dictionary at a time. Needs ``flybloom[river]``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import clone

from flybloom._internal.typing import Array
from flybloom.estimators.classifier import FlyBloomClassifier
from flybloom.estimators.regressor import FlyRidgeRegressor
from flybloom.estimators.stream_follower import StreamFollower
from flybloom.exceptions import NeverLearnedError, require_extra

require_extra("river", "river", "flybloom.streams.river")

from river import base  # noqa: E402 - an extra, which may be missing

MAX_IGNORED = 1000  # keys that are remembered as such
Row = dict[Any, Any]


class _Follower:
    """Base of river classifiers and regressors."""

    model: Any
    warm_up: int
    missing: float | None
    _before_any: Any = None  # what is answered before the first row was learned

    def _begin(self) -> None:
        """Reset the model."""
        self.ignored: set[Any] = set()
        self._early: list[tuple[Row, Any]] = []
        self._keys: tuple[Any, ...] = ()
        self._learner: Any = None  # from the end of the warm-up on
        self._first: tuple[int, tuple[Any, ...], Any] = (0, (), None)  # of how many rows, their keys, their model

    def _default(self) -> Any:
        """Return the default model."""
        raise NotImplementedError

    def learn_one(self, x: Row, y: Any) -> None:
        """Learn a row.

        Parameters
        ----------
        x
            The values of its keys.
        y
            Its label or target.
        """
        if self._learner is None:
            self._collect([(dict(x), y)])
        else:
            self._learner.partial_fit(self._row(x), np.array([y]))

    def unlearn_one(self, x: Row, y: Any) -> None:
        """Unlearn a row: afterwards the model is one that never learned it.

        Parameters
        ----------
        x
            A row that was learned.
        y
            The label or target with which it was learned.
        """
        if isinstance(self.model, StreamFollower):
            msg = "A window forgets by itself, row after row. Leave out unlearn_one, or use the model without a window."
            raise TypeError(msg)
        if self._learner is not None:
            self._learner.forget(self._row(x), np.array([y]))
        elif (dict(x), y) in self._early:
            self._early.remove((dict(x), y))
            self._first = (0, (), None)
        else:
            msg = "This row was not learned with this label. Unlearn only rows that were learned, once for each time."
            raise NeverLearnedError(msg)

    def predict_one(self, x: Row, **kwargs: Any) -> Any:  # noqa: ARG002 - river's signature
        """Return the label of a row, or None before the first row was learned; of a regressor its target, or 0.

        Parameters
        ----------
        x
            The values of its keys.
        """
        keys, model = self._answering()
        return self._before_any if model is None else model.predict(self._row(x, keys)).tolist()[0]

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn a frame of rows: the same as in sequence, and faster.

        Parameters
        ----------
        X
            A frame of pandas, a column for each key.
        y
            The labels or targets, a series.
        """
        n_early = 0
        if self._learner is None:
            n_early = min(len(X), self.warm_up - len(self._early))
            labels = np.asarray(y.iloc[:n_early]).tolist()
            self._collect(list(zip(X.iloc[:n_early].to_dict("records"), labels, strict=True)))
        if n_early < len(X):
            self._learner.partial_fit(self._block(X.iloc[n_early:], self._keys), np.asarray(y.iloc[n_early:]))

    def predict_many(self, X: Any) -> Any:
        """Return the labels or targets of a frame of rows, a series.

        Parameters
        ----------
        X
            A frame of pandas, a column for each key.
        """
        import pandas as pd  # noqa: PLC0415 - only who has frames has it

        keys, model = self._answering()
        labels = [] if model is None or not len(X) else model.predict(self._block(X, keys)).tolist()
        return pd.Series(labels, index=X.index[: len(labels)], dtype=None if labels else object)

    def _collect(self, rows: list[tuple[Row, Any]]) -> None:
        """Buffer the first rows; fix keys and encoding when there are enough."""
        early = [*self._early, *rows]
        if len(early) >= self.warm_up:
            keys, learner = self._learned_from(early)
            self._keys, self._learner, self._early, self._first = keys, learner, [], (0, (), None)
            return
        for row, label in rows:
            self._row(row, tuple(row))  # refuses what is no number
            if isinstance(label, str) != isinstance(early[0][1], str):
                msg = f"The labels before are such as {early[0][1]!r}. Got {label!r} instead. Use labels of one type."
                raise ValueError(msg)
        self._early = early

    def _learned_from(self, rows: list[tuple[Row, Any]]) -> tuple[tuple[Any, ...], Any]:
        """Return the keys of rows, and a model of them."""
        keys = tuple(sorted({key for row, _ in rows for key in row}, key=lambda key: (str(type(key)), str(key))))
        if not keys:
            return keys, None
        model = clone(self._default() if self.model is None else self.model)
        X = np.concatenate([self._row(row, keys) for row, _ in rows])
        return keys, model.partial_fit(X, np.array([label for _, label in rows]))

    def _answering(self) -> tuple[tuple[Any, ...], Any]:
        """Return the keys and the model for predictions: of all rows, or of the first ones while they are buffered."""
        if self._learner is not None or not self._early:
            return self._keys, self._learner
        n = 1
        while n + max(1, n // 5) <= len(self._early):
            n += max(1, n // 5)
        if self._first[0] != n:
            self._first = (n, *self._learned_from(self._early[:n]))
        return self._first[1:]

    def _row(self, x: Row, keys: tuple[Any, ...] | None = None) -> Array:
        """Return the values of known keys as a row."""
        keys = self._keys if keys is None else keys
        missing = math.nan if self.missing is None else self.missing
        if keys is self._keys and self._learner is not None and len(self.ignored) < MAX_IGNORED:
            late = x.keys() - keys
            if late:
                self.ignored |= late
        try:
            return np.array([[x.get(key, missing) for key in keys]], np.float64)
        except (TypeError, ValueError) as error:
            msg = f"Values must be numbers. Got {x!r} instead. Put river's OneHotEncoder in front, and set missing=0."
            raise ValueError(msg) from error

    def _block(self, X: Any, keys: tuple[Any, ...]) -> Array:
        """Return the columns of known keys as rows."""
        if keys is self._keys and self._learner is not None and len(self.ignored) < MAX_IGNORED:
            self.ignored |= set(X.columns) - set(keys)
        rows = X.reindex(columns=list(keys), fill_value=math.nan if self.missing is None else self.missing)
        return np.asarray(rows.to_numpy(np.float64))


class FlyClassifier(_Follower, base.MiniBatchClassifier):
    """A classifier of river that counts winners of a hash: exact to learn, to unlearn, and to learn in blocks.

    The first rows are collected, because keys and encoding are fixed from all of them at once. Until then answers come
    from models of the first 1, 2, ... 5, 6, 7, 8, 9, 10, 12, 14, ... rows, each a fifth more. Afterwards the model is
    that of `partial_fit` with the same rows, bit for bit, whether they come alone or in blocks.

    A key that a row lacks adds nothing to the hash, unless `missing` says what it stands for. A key that was in none
    of the first rows is ignored, and noted in `ignored`; new labels are welcome at any time. Values must be numbers:
    put river's `OneHotEncoder` in front for categories, with ``missing=0``.

    Parameters
    ----------
    model
        The model that learns, a `FlyBloomClassifier`, a `FlyRidgeClassifier`, or a `SlidingWindow` or `AdaptiveWindow`
        of one; a clone of it does. Without it, a `FlyBloomClassifier` of 4096 components.
    warm_up
        How many rows are collected. One is enough for ``encoding="none"``.
    missing
        What stands for the value of a key that a row lacks. None adds nothing.

    Attributes
    ----------
    ignored : set
        Keys that came too late, the first 1000 of them.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from flybloom.streams.river import FlyClassifier
    >>> evaluate.progressive_val_score(datasets.Phishing(), FlyClassifier(), metrics.Accuracy())
    Accuracy: 9...%
    """

    def __init__(self, model: Any = None, warm_up: int = 400, missing: float | None = None) -> None:
        self.model = model
        self.warm_up = warm_up
        self.missing = missing
        self._begin()

    @property
    def _multiclass(self) -> bool:
        return True

    def predict_proba_one(self, x: Row, **kwargs: Any) -> dict[Any, float]:  # noqa: ARG002 - river's signature
        """Return a probability for each label that is known.

        Parameters
        ----------
        x
            The values of its keys.
        """
        keys, model = self._answering()
        if model is None:
            return {}
        probabilities = model.predict_proba(self._row(x, keys))[0].tolist()
        return dict(zip(model.classes_.tolist(), probabilities, strict=True))

    def predict_proba_many(self, X: Any) -> Any:
        """Return a frame of probabilities, a column for each label.

        Parameters
        ----------
        X
            A frame of pandas, a column for each key.
        """
        import pandas as pd  # noqa: PLC0415 - only who has frames has it

        keys, model = self._answering()
        if model is None or not len(X):
            return pd.DataFrame(index=X.index)
        return pd.DataFrame(model.predict_proba(self._block(X, keys)), X.index, model.classes_.tolist())

    def _default(self) -> Any:
        """Return the default model."""
        return FlyBloomClassifier(4096)


class FlyRegressor(_Follower, base.MiniBatchRegressor):
    """A regressor of river that counts pairs of winners: exact to learn, to unlearn, and to learn in blocks.

    First rows, keys and missing values are as for `FlyClassifier`.

    Parameters
    ----------
    model
        The model that learns, a `FlyRidgeRegressor`, or a `SlidingWindow` of one; a clone of it does. Without it, a
        `FlyRidgeRegressor` of 512 components, whose penalty stays.
    warm_up
        How many rows are collected, and answered by models of the first of them.
    missing
        What stands for the value of a key that a row lacks. None adds nothing.

    Attributes
    ----------
    ignored : set
        Keys that came too late, the first 1000 of them.

    Examples
    --------
    >>> from river import datasets, metrics
    >>> from flybloom.streams.river import FlyRegressor
    >>> model, error = FlyRegressor(warm_up=100), metrics.MAE()
    >>> for x, y in datasets.TrumpApproval().take(300):
    ...     error.update(y, model.predict_one(x))
    ...     model.learn_one(x, y)
    >>> bool(error.get() < 3)
    True
    """

    _before_any = 0.0

    def __init__(self, model: Any = None, warm_up: int = 400, missing: float | None = None) -> None:
        self.model = model
        self.warm_up = warm_up
        self.missing = missing
        self._begin()

    def _default(self) -> Any:
        """Return the default model."""
        return FlyRidgeRegressor(512, alpha=0.1)
