"""Predict with numpy and safetensors alone: no numba, no scipy, no scikit-learn, nothing to compile.

For small machines, functions that start anew for each request, and rows that come a few at a time::

    pip install --no-deps flybloom && pip install numpy safetensors

Where numba is installed, large batches are compiled after all.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from flybloom._internal.sparse import issparse
from flybloom._internal.typing import Array, Winners
from flybloom.core.counts.by_class import ClassCounts
from flybloom.core.files.envelope import damaged, hasher_of, open_file
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.readout.complement_bayes import Bayes, temperature_unit
from flybloom.core.readout.decay import AUTO, count_decay_of
from flybloom.core.readout.filters import Filters
from flybloom.core.readout.linear import FrozenReadout
from flybloom.exceptions import ModelFileError

__all__ = ["Predictor", "load"]


class Predictor:
    """What `load` returns: the predictions of a model, and nothing else of it.

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
        self._hasher, self._read_out = hasher, frozen.read_out(hasher.projection.seed)
        self._temperature, self._divisor = frozen.temperature, frozen.divisor
        self.classes_, self.n_features_in_ = frozen.classes, hasher.encoder.n_features
        self.feature_names_in_ = hasher.encoder.names

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
        codes = self._scored(X, self._read_out.labels)
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
        return self._scored(X, self._read_out.scores, self.classes_.size) / self._divisor

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

    def _scored(self, X: Any, score: Any, *shape: int) -> Array:
        """Return what `score` makes of the winners of each row."""
        rows = self._checked(X)
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


def load(path: str | os.PathLike[str], *, max_memory: int | None = None) -> Predictor:
    """Load a model to predict with: what `freeze().save` or `flybloom export` wrote, or a saved `FlyBloomClassifier`.

    Parameters
    ----------
    path : str or path-like
        The file. Nothing in it is executed, and everything is checked, as by `flybloom.load`.
    max_memory : int or None, default=None
        Bytes that the connections may need. None is what the machine has available.

    Returns
    -------
    Predictor
        It has `predict`, `predict_proba` and `decision_scores`.

    Raises
    ------
    ModelFileError
        If the file cannot be read as such a model.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from flybloom import FlyRidgeClassifier, predictor
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
    if kind not in ("FrozenClassifier", "FlyBloomClassifier"):
        msg = (
            f"{path} is a {kind}. Expected a frozen model, or a FlyBloomClassifier. "
            "Freeze it: model.freeze().save(path), or flybloom export."
        )
        raise ModelFileError(msg)
    try:
        hasher, arrays = hasher_of(description, arrays, max_memory)
        if kind == "FrozenClassifier":
            return Predictor(hasher, FrozenReadout.from_parts(hasher.n_components, description, arrays))
        return _counted(path, hasher, description, arrays)
    except ValueError as error:
        raise damaged(path, error) from error


def _counted(
    path: str | os.PathLike[str], hasher: Hasher, description: dict[str, Any], arrays: dict[str, Array]
) -> Predictor:
    """Return what reads the counts of a first-order model; ValueError where there can be none."""
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
    filters = Filters(counts.table, counts.class_count, count_decay_of(decay, counts))
    return Predictor(hasher, filters.frozen(counts.classes, n_winners, temperature))
