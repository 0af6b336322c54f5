"""Estimators that only predict: a hasher and weights, of a classifier, a regressor or a detector."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin

from flybloom._internal.typing import Array, Features
from flybloom.core.files.model_file import Parts
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.readout.linear import FrozenOutputs, FrozenReadout
from flybloom.core.readout.novelty_forms import NoveltyReadout
from flybloom.estimators.base import HASH_PARAMETERS, FixedEstimator, read_only
from flybloom.estimators.scores import LinearScores, NoveltyReading, NoveltyScores, Reading
from flybloom.estimators.solved import as_given, output_scores, targets_of


class FrozenEstimator(FixedEstimator):
    """What `freeze` returns: a hasher and a frozen read-out."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"n_jobs": HASH_PARAMETERS["n_jobs"]}
    _readout_type: ClassVar[Any]  # what files hold beside the hasher

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    def with_readout(self, hasher: Hasher, frozen: Any) -> Self:
        """Set hasher and weights, and return the estimator.

        Parameters
        ----------
        hasher : Hasher
            The hasher.
        frozen : FrozenReadout, FrozenOutputs or NoveltyReadout
            The weights of the components, and all else that predictions follow from.

        Returns
        -------
        estimator
            The estimator itself.
        """
        self._fitted_hasher, self._frozen = hasher, frozen
        self._read_out = frozen.read_out(hasher.projection.seed)
        return self

    @property
    def frozen_readout(self) -> Any:
        """The weights of the components, and all else that predictions follow from."""
        self._require_hasher()
        return self._frozen

    def _to_parts(self) -> Parts:
        """Return the state that files store."""
        return Parts(self._require_hasher(), *self._frozen.to_parts())

    def _from_parts(self, hasher: Hasher | None, facts: dict[str, Any], arrays: dict[str, Array]) -> Self:
        """Restore the state from a file, and return the estimator; ValueError if it is invalid."""
        if hasher is None:
            msg = "it does not say how it hashes"
            raise ValueError(msg)
        return self.with_readout(hasher, self._readout_type.from_parts(hasher.n_components, facts, arrays))


class FrozenClassifier(LinearScores, ClassifierMixin, FrozenEstimator):  # type: ignore[misc]
    """Classifier returned by `freeze`: the same predictions from weights alone.

    It has no counts, so it cannot learn, merge or forget. Use it for deployment.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Number of threads. None means 1, -1 all processors. The result does not depend on it.

    Attributes
    ----------
    classes_
    coef_
    intercept_
    temperature_

    n_components_, n_connections_, n_winners_, signed_, seed_, center_, scale_, connections_, signs_
        As for `FlyHash`, with the number and the names of the features, ``n_features_in_`` and ``feature_names_in_``.

    See Also
    --------
    FlyRidgeClassifier : A classifier that can be frozen; its file is 20 to 100 times larger.
    FlyBloomClassifier : Another classifier that can be frozen.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyRidgeClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = FlyRidgeClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> frozen = model.freeze()
    >>> bool((frozen.predict(X) == model.predict(X)).all())
    True
    """

    _readout_type = FrozenReadout

    @property
    def classes_(self) -> Array:
        """The labels, sorted."""
        self._of_hasher("classes_")
        return read_only(self._frozen.classes)

    @property
    def temperature_(self) -> float:
        """Temperature of the softmax in `predict_proba`."""
        self._of_hasher("temperature_")
        return float(self._frozen.temperature)

    @property
    def coef_(self) -> Array:
        """Weights of the components, of shape ``(n_classes, n_components_)``."""
        frozen = self.frozen_readout
        return np.asarray(frozen.weights.T * frozen.unit)

    @property
    def intercept_(self) -> Array:
        """Intercept of each class, class weights included."""
        return np.asarray(self.frozen_readout.intercept * self.frozen_readout.unit)

    def _reading(self, rows: Features, learned: Any = None, *, by_filters: bool = False) -> Reading:  # noqa: ARG002
        """Return the read-out for validated rows."""
        frozen, hasher = self._frozen, self._require_hasher()
        return Reading(rows, hasher, self.classes_, self._read_out, lambda: self.temperature_, frozen.divisor)


class FrozenNovelty(NoveltyScores, FrozenEstimator):
    """What `freeze` of a detector returns: the same scores and labels, from the weights alone.

    It has no counts, so it cannot learn, merge or forget. Use it for deployment.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Number of threads. None means 1, -1 all processors. The result does not depend on it.

    Attributes
    ----------
    offset_

    n_components_, n_connections_, n_winners_, signed_, seed_, center_, scale_, connections_, signs_
        As for `FlyHash`, with the number and the names of the features, ``n_features_in_`` and ``feature_names_in_``.

    See Also
    --------
    FlyBloomNovelty : The detector that it comes from.
    FrozenClassifier : The same for labels.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomNovelty
    >>> X, _ = load_digits(return_X_y=True)
    >>> model = FlyBloomNovelty(random_state=0).fit(X)
    >>> bool((model.freeze().score_samples(X) == model.score_samples(X)).all())
    True
    """

    _readout_type = NoveltyReadout

    @property
    def offset_(self) -> float:
        """Threshold on `score_samples`; outliers score less."""
        self._of_hasher("offset_")
        return float(self._frozen.offset)

    @contextmanager
    def _reading_novelty(self, X: Any) -> Iterator[NoveltyReading]:
        """Yield validated rows with the current novelty read-out."""
        with self._scoring(X) as (rows, _):
            yield NoveltyReading(rows, self._require_hasher(), self._read_out.novelty, lambda: self.offset_)


class FrozenRegressor(MultiOutputMixin, RegressorMixin, FrozenEstimator):  # type: ignore[misc]
    """Regressor returned by `freeze`: the same predictions from weights alone.

    It has no counts, so it cannot learn, merge or forget. Use it for deployment.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Number of threads. None means 1, -1 all processors. The result does not depend on it.

    Attributes
    ----------
    n_components_, n_connections_, n_winners_, signed_, seed_, center_, scale_, connections_, signs_
        As for `FlyHash`, with the number and the names of the features, ``n_features_in_`` and ``feature_names_in_``.

    See Also
    --------
    FlyRidgeRegressor : The regressor that can be frozen.
    FrozenClassifier : The same for labels.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from flybloom import FlyRidgeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = FlyRidgeRegressor(random_state=0).fit(X, y)
    >>> bool((model.freeze().predict(X) == model.predict(X)).all())
    True
    """

    _readout_type = FrozenOutputs

    def predict(self, X: Any) -> Array:
        """Predict the targets of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The targets; one-dimensional for a single output.
        """
        with self._scoring(X) as (rows, _):
            hasher, frozen = self._require_hasher(), self.frozen_readout
            scores = output_scores(rows, hasher, self._read_out, self.n_jobs)
            return as_given(targets_of(rows, hasher, frozen.grid, scores))

    def _from_parts(self, hasher: Hasher | None, facts: dict[str, Any], arrays: dict[str, Array]) -> Self:
        """Restore the state from a file, and return the regressor; ValueError if it is invalid."""
        super()._from_parts(hasher, facts, arrays)
        encoder, frozen = self._require_hasher().encoder, self._frozen
        if frozen.grid.trend is not None:
            n_columns = encoder.columns_apart(np.zeros((1, encoder.n_features))).shape[1]
            if len(frozen.grid.trend.knots) != n_columns:
                msg = "the trend of its targets is not of the columns of its encoding"
                raise ValueError(msg)
        return self
