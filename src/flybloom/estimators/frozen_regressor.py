"""A regressor that only predicts: a hasher, weights and the transformation of scores."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from flybloom._internal.typing import Array
from flybloom.core.files.model_file import Parts
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.readout.outputs import FrozenOutputs
from flybloom.estimators.base import HASH_PARAMETERS
from flybloom.estimators.fixed import FixedEstimator
from flybloom.estimators.outputs import as_given, output_scores, targets_of


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
            if len(frozen.grid.trend.coefficients) != n_columns:
                msg = "the trend of its targets is not of the columns of its encoding"
                raise ValueError(msg)
        return self.with_readout(hasher, frozen)
