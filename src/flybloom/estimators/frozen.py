"""Estimators that only predict: a hasher and weights, of a classifier, a regressor or a detector."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from flybloom._internal.typing import Array, Features
from flybloom._internal.validation import check_rows
from flybloom.core.files.model_file import Parts
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.readout.linear import FrozenOutputs, FrozenReadout
from flybloom.core.readout.novelty_forms import NoveltyReadout
from flybloom.estimators.base import HASH_PARAMETERS, FixedClassifier, FixedEstimator
from flybloom.estimators.scores import LinearScores, NoveltyReading, NoveltyScores, Reading
from flybloom.estimators.solved import as_given, output_scores, targets_of


class FrozenClassifier(LinearScores, FixedClassifier):
    """Classifier returned by `freeze`: the same predictions from weights alone.

    It has no counts, so it cannot learn, merge or forget. Use it for deployment.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Number of threads. None means 1, -1 all processors. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.

    coef_ : ndarray of shape (n_classes, n_components_)
        Weights of the components.

    intercept_ : ndarray of shape (n_classes,)
        Intercept of each class, class weights included.

    temperature_ : float
        Temperature of the softmax in `predict_proba`.

    n_components_, n_connections_, n_winners_, signed_, seed_, center_, scale_, connections_, signs_
        As for `FlyHash`.

    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X in fit had string column names.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"n_jobs": HASH_PARAMETERS["n_jobs"]}

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    def with_readout(self, hasher: Hasher, frozen: FrozenReadout) -> Self:
        """Set hasher and weights, and return the classifier.

        Parameters
        ----------
        hasher : Hasher
            The hasher.
        frozen : FrozenReadout
            The labels, the weights of the components, the intercepts, and the temperature.

        Returns
        -------
        FrozenClassifier
            The classifier itself.
        """
        self._fitted_hasher, self._frozen = hasher, frozen
        self._read_out = frozen.read_out(hasher.projection.seed)
        self.classes_, self.temperature_ = frozen.classes, frozen.temperature
        return self

    @property
    def frozen_readout(self) -> FrozenReadout:
        """The labels, weights, intercepts and temperature."""
        self._require_hasher()
        return self._frozen

    @property
    def coef_(self) -> Array:
        """Weights of the components, of shape (n_classes, n_components_)."""
        frozen = self.frozen_readout
        return np.asarray(frozen.weights.T * frozen.unit)

    @property
    def intercept_(self) -> Array:
        """Intercept of each class."""
        return self.frozen_readout.intercept * self.frozen_readout.unit

    def _to_parts(self) -> Parts:
        """Return the state that files store."""
        hasher = self._require_hasher()
        return Parts(hasher, *self._frozen.to_parts())

    def _from_parts(self, hasher: Hasher | None, facts: dict[str, Any], arrays: dict[str, Array]) -> Self:
        """Restore the state from a file, and return the classifier; ValueError if it is invalid."""
        if hasher is None:
            msg = "it does not say how it hashes"
            raise ValueError(msg)
        return self.with_readout(hasher, FrozenReadout.from_parts(hasher.n_components, facts, arrays))

    def _reading(self, rows: Features, learned: Any = None, *, by_filters: bool = False) -> Reading:  # noqa: ARG002
        """Return the read-out for validated rows."""
        frozen, hasher = self._frozen, self._require_hasher()
        return Reading(rows, hasher, self.classes_, self._read_out, lambda: self.temperature_, frozen.divisor)


class FrozenNovelty(NoveltyScores, FixedEstimator):
    """What `freeze` of a detector returns: the same scores and labels, from the weights alone.

    It has no counts, so it cannot learn, merge or forget. Use it for deployment.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Number of threads. None means 1, -1 all processors. The result does not depend on it.

    Attributes
    ----------
    offset_ : float
        Threshold on `score_samples`; outliers score less.

    n_components_, n_connections_, n_winners_, signed_, seed_, center_, scale_, connections_, signs_
        As for `FlyHash`.

    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X in fit had string column names.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"n_jobs": HASH_PARAMETERS["n_jobs"]}

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    def with_readout(self, hasher: Hasher, frozen: NoveltyReadout) -> Self:
        """Score with these, and return the detector itself.

        Parameters
        ----------
        hasher : Hasher
            The hasher.
        frozen : NoveltyReadout
            The weights, and the threshold.

        Returns
        -------
        FrozenNovelty
            The detector itself.
        """
        self._fitted_hasher, self._frozen, self.offset_ = hasher, frozen, frozen.offset
        return self

    @property
    def frozen_readout(self) -> NoveltyReadout:
        """The weights, and the threshold."""
        self._require_hasher()
        return self._frozen

    def _to_parts(self) -> Parts:
        """Return the state that files store."""
        return Parts(self._require_hasher(), *self._frozen.to_parts())

    def _from_parts(self, hasher: Hasher | None, facts: dict[str, Any], arrays: dict[str, Any]) -> Self:
        """Restore the state from a file, and return the detector; ValueError if it is invalid."""
        if hasher is None:
            msg = "it does not say how it hashes"
            raise ValueError(msg)
        return self.with_readout(hasher, NoveltyReadout.from_parts(hasher.n_components, facts, arrays))

    @contextmanager
    def _reading_novelty(self, X: Any) -> Iterator[NoveltyReading]:
        """Yield validated rows with the current novelty read-out."""
        hasher = self._require_hasher()
        rows = check_rows(X, type(self).__name__, hasher.encoder)
        yield NoveltyReading(rows, hasher, self._frozen.form.novelty, lambda: self.offset_)


class FrozenRegressor(MultiOutputMixin, RegressorMixin, FixedEstimator):  # type: ignore[misc]
    """Regressor returned by `freeze`: the same predictions from weights alone.

    It has no counts, so it cannot learn, merge or forget. Use it for deployment.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Number of threads. None means 1, -1 all processors. The result does not depend on it.

    Attributes
    ----------
    n_components_, n_connections_, n_winners_, signed_, seed_, center_, scale_, connections_, signs_
        As for `FlyHash`.

    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X in fit had string column names.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"n_jobs": HASH_PARAMETERS["n_jobs"]}

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

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

    def with_readout(self, hasher: Hasher, frozen: FrozenOutputs) -> Self:
        """Set hasher and weights, and return the regressor.

        Parameters
        ----------
        hasher : Hasher
            The hasher.
        frozen : FrozenOutputs
            The weights of the components, the intercepts, and the transformation of scores.

        Returns
        -------
        FrozenRegressor
            The regressor itself.
        """
        self._fitted_hasher, self._frozen = hasher, frozen
        self._read_out = frozen.read_out(hasher.projection.seed)
        return self

    @property
    def frozen_readout(self) -> FrozenOutputs:
        """The weights, intercepts, and the transformation of scores."""
        self._require_hasher()
        return self._frozen

    def _to_parts(self) -> Parts:
        """Return the state that files store."""
        return Parts(self._require_hasher(), *self._frozen.to_parts())

    def _from_parts(self, hasher: Hasher | None, facts: dict[str, Any], arrays: dict[str, Array]) -> Self:
        """Restore the state from a file, and return the regressor; ValueError if it is invalid."""
        if hasher is None:
            msg = "it does not say how it hashes"
            raise ValueError(msg)
        frozen = FrozenOutputs.from_parts(hasher.n_components, facts, arrays)
        if frozen.grid.trend is not None:
            n_columns = hasher.encoder.columns_apart(np.zeros((1, hasher.encoder.n_features))).shape[1]
            if len(frozen.grid.trend.knots) != n_columns:
                msg = "the trend of its targets is not of the columns of its encoding"
                raise ValueError(msg)
        return self.with_readout(hasher, frozen)
