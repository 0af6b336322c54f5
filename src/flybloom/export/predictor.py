"""Predict with numpy and safetensors alone: no numba, no scipy, no scikit-learn, nothing to compile.

For small machines, functions that start again for each request, and rows that come a few at a time::

    pip install --no-deps flybloom && pip install numpy safetensors

Where numba is installed, large batches are compiled after all.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from flybloom._internal.typing import Array, Winners, issparse
from flybloom.core.counts.by_class import ClassCounts
from flybloom.core.files.envelope import damaged, hasher_of, open_file
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.readout.complement_bayes import Bayes, temperature_unit
from flybloom.core.readout.filters import AUTO, Filters, decay_of
from flybloom.core.readout.linear import FrozenOutputs, FrozenReadout
from flybloom.core.readout.novelty_forms import NoveltyReadout
from flybloom.exceptions import ModelFileError

__all__ = ["NoveltyPredictor", "Predictor", "TargetPredictor", "load"]


class _Scored:
    """Hashes rows and reads their winners."""

    def __init__(self, hasher: Hasher, read_out: Any) -> None:
        self._hasher, self._read_out = hasher, read_out
        self.n_features_in_, self.feature_names_in_ = hasher.encoder.n_features, hasher.encoder.names

    def _scored(self, rows: Array, score: Any, *shape: int) -> Array:
        """Return what `score` makes of the winners of each row."""
        result = np.empty((len(rows), *shape))

        def keep(block: slice, winners: Winners) -> None:
            result[block] = score(winners)

        self._hasher.for_each_block(rows, keep, 1)
        return result

    def _checked(self, X: Any) -> Array:
        """Return rows of numbers, as many as there are features."""
        rows = np.asarray(X) if not issparse(X) else np.empty(0, object)
        if rows.dtype.kind not in "buif":
            msg = f"Expected dense rows of numbers. Got {type(X).__name__} of {rows.dtype} instead. Convert them."
            raise ValueError(msg)
        if rows.ndim != 2 or rows.shape[1] != self.n_features_in_:  # noqa: PLR2004
            msg = f"Expected rows of {self.n_features_in_} features. Got shape {rows.shape} instead."
            raise ValueError(msg)
        if rows.dtype.kind == "f" and np.isinf(rows).any():
            msg = "Expected finite values, or NaN where one is missing. Got infinity instead."
            raise ValueError(msg)
        return rows


class Predictor(_Scored):
    """What `load` returns of a classifier: the predictions of a model, and nothing else of it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.

    n_features_in_ : int
        Number of features of a row.

    feature_names_in_ : tuple of str or None
        Their names, where the rows of fit had names. They are not compared with those of rows: columns must come in
        this order.
    """

    def __init__(self, hasher: Hasher, frozen: FrozenReadout) -> None:
        super().__init__(hasher, frozen.read_out(hasher.projection.seed))
        self._temperature, self._divisor = frozen.temperature, frozen.divisor
        self.classes_ = frozen.classes

    def predict(self, X: Any) -> Array:
        """Return the label of each row, as the model does.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows. Values may be missing (NaN).

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        codes = self._scored(self._checked(X), self._read_out.labels)
        return np.asarray(self.classes_[codes.astype(np.int64)])

    def decision_scores(self, X: Any) -> Array:
        """Return how much each row belongs to each class; larger is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns as in ``classes_``; minus the novelty for a model of first order.
        """
        return self._scored(self._checked(X), self._read_out.scores, self.classes_.size) / self._divisor

    def predict_proba(self, X: Any) -> Array:
        """Return a probability for each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows sum to 1; columns as in ``classes_``. The last bits may differ from those of the model.
        """
        scores = self.decision_scores(X) / self._temperature
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))


class TargetPredictor(_Scored):
    """What `load` returns of a regressor: its predictions, and nothing else of it.

    Attributes
    ----------
    n_features_in_ : int
        Number of features of a row.

    feature_names_in_ : tuple of str or None
        Their names, as for `Predictor`.
    """

    def __init__(self, hasher: Hasher, frozen: FrozenOutputs) -> None:
        super().__init__(hasher, frozen.read_out(hasher.projection.seed))
        self._grid = frozen.grid

    def predict(self, X: Any) -> Array:
        """Return the targets that are expected of rows, as the model does.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows. Values may be missing (NaN).

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            One dimension where there is one output.
        """
        rows, grid, encoder = self._checked(X), self._grid, self._hasher.encoder
        scores = self._scored(rows, self._read_out.scores, grid.n_outputs)
        offsets = grid.offsets(lambda some: encoder.columns_apart(rows[some]), len(rows))
        targets = grid.targets(scores, offsets)
        return targets[:, 0] if grid.n_outputs == 1 else targets


class NoveltyPredictor(_Scored):
    """What `load` returns of a detector: how novel rows are, and nothing else of it.

    Attributes
    ----------
    offset_ : float
        Threshold on minus the novelty; outliers have less.

    n_features_in_ : int
        Number of features of a row.

    feature_names_in_ : tuple of str or None
        Their names, as for `Predictor`.
    """

    def __init__(self, hasher: Hasher, frozen: NoveltyReadout) -> None:
        super().__init__(hasher, frozen.form)
        self.offset_ = frozen.offset

    def novelty(self, X: Any) -> Array:
        """Return how novel each row is, as the model does.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows. Values may be missing (NaN).

        Returns
        -------
        ndarray of shape (n_samples,)
            From 0, familiar, to 1, never seen.
        """
        return self._scored(self._checked(X), self._read_out.novelty)

    def predict(self, X: Any) -> Array:
        """Tell which rows are outliers, as the model does.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            -1 for outliers, 1 for the others.
        """
        return np.where(-self.novelty(X) - self.offset_ < 0, -1, 1)


def load(path: str | os.PathLike[str], *, max_memory: int | None = None) -> Any:
    """Load a model to predict with: what `freeze().save` or `flybloom export` wrote, or a saved `FlyBloomClassifier`.

    Parameters
    ----------
    path : str or path-like
        The file. Nothing in it is executed, and everything is checked, as by `flybloom.load`.
    max_memory : int or None, default=None
        Bytes that the connections may need. None is what the machine has available.

    Returns
    -------
    Predictor, TargetPredictor or NoveltyPredictor
        It has `predict`; of a classifier also `predict_proba` and `decision_scores`, of a detector `novelty`.

    Raises
    ------
    ModelFileError
        If the file cannot be read as such a model.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from flybloom import FlyRidgeClassifier
    >>> from flybloom.export import predictor
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FlyRidgeClassifier(random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.freeze().save(f"{folder}/iris.fly")
    ...     small = predictor.load(f"{folder}/iris.fly")
    >>> bool((small.predict(X) == model.predict(X)).all())
    True
    """
    description, arrays = open_file(path)
    kind = description.get("kind")
    if kind not in ("FrozenClassifier", "FrozenNovelty", "FrozenRegressor", "FlyBloomClassifier"):
        msg = (
            f"{path} is a {kind}. Expected a frozen model, or a FlyBloomClassifier. "
            "Freeze it: model.freeze().save(path), or flybloom export."
        )
        raise ModelFileError(msg)
    try:
        hasher, arrays = hasher_of(description, arrays, max_memory)
        if kind == "FrozenClassifier":
            return Predictor(hasher, FrozenReadout.from_parts(hasher.n_components, description, arrays))
        if kind == "FrozenNovelty":
            return NoveltyPredictor(hasher, NoveltyReadout.from_parts(hasher.n_components, description, arrays))
        if kind == "FrozenRegressor":
            return TargetPredictor(hasher, FrozenOutputs.from_parts(hasher.n_components, description, arrays))
        return _counted(path, hasher, description, arrays)
    except ValueError as error:
        raise damaged(path, error) from error


def _counted(
    path: str | os.PathLike[str], hasher: Hasher, description: dict[str, Any], arrays: dict[str, Array]
) -> Predictor:
    """Return what reads the counts of a first-order model; ValueError if it is invalid."""
    stored = description.get("parameters")
    parameters: dict[str, Any] = stored if isinstance(stored, dict) else {}
    decay: Any = parameters.get("decay")
    temperature: Any = parameters.get("temperature")
    if decay != AUTO and (type(decay) not in (int, float) or not 0 < decay <= 1):
        msg = "its decay is not a number above 0 and up to 1, or auto"
        raise ValueError(msg)
    if type(temperature) not in (int, float) or not 0 < temperature < np.inf:
        msg = "its temperature is not a number above 0"
        raise ValueError(msg)
    readout = parameters.get("readout", "filter")
    if readout not in ("auto", "bayes", "filter"):
        msg = "its readout is not auto, bayes or filter"
        raise ValueError(msg)
    if parameters.get("class_weight") is not None:
        msg = f"{path} has class weights, which only flybloom.load knows. Use that, or leave out class_weight."
        raise ModelFileError(msg)
    counts = ClassCounts.from_parts(hasher.n_components, hasher.n_winners, description, arrays)
    if counts.classes.size == 0 or "held" in description:
        msg = f"{path} has learned no class, or too few rows to fix its encoding. Learn more rows and save it again."
        raise ModelFileError(msg)
    n_winners = hasher.n_winners
    if readout != "filter":  # files say "auto" only where it is "bayes"
        return Predictor(hasher, Bayes(counts).frozen(temperature * temperature_unit(n_winners)))
    filters = Filters(counts.table, counts.class_count, decay_of(decay, counts, of_count=True))
    return Predictor(hasher, filters.frozen(counts.classes, n_winners, temperature))
