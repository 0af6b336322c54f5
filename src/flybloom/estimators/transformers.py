"""Steps of encodings as transformers for pipelines."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from flybloom._internal.sklearn_compat import Interval, fit_context
from flybloom._internal.typing import Array, Features
from flybloom._internal.validation import check_labels, check_new_rows, check_rows
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.encoding.encoding import Encoding
from flybloom.core.encoding.relevance import Relevance
from flybloom.core.sketch import Sketch
from flybloom.estimators.base import not_fitted


class _EncodingTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Transformer that fits and applies an encoder."""

    _encoder: Encoder

    def __sklearn_tags__(self) -> Any:
        """Declare accepted input."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _fit(self, X: Any, y: Any, encoding: Encoding, of_sparse: Encoding | None = None) -> Self:
        """Fit an encoding, possibly another one for sparse rows."""
        owner = type(self).__name__
        rows, names, kinds = check_new_rows(X, owner, takes_sparse=of_sparse is not None)
        labels = None if y is None else check_labels(y, rows.shape[0])
        sample = Sketch.of(rows, labels, np.ones(rows.shape[0], np.int64)).sample()
        wanted = of_sparse if of_sparse is not None and sparse.issparse(rows) else encoding
        self._encoder = wanted.fitted(Encoder(rows.shape[1], names, kinds=kinds), sample)
        self.n_features_in_ = rows.shape[1]
        if names is not None:
            self.feature_names_in_ = np.array(names, object)
        return self

    def transform(self, X: Any) -> Features:
        """Return the encoded rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows. Missing values (NaN) become zeros.

        Returns
        -------
        {ndarray, sparse matrix} of shape (n_samples, n_features_out), float32
            The encoded rows.
        """
        check_is_fitted(self)
        return self._encoder.encode(check_rows(X, type(self).__name__, self._encoder))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the output columns.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the input columns, if X had none.

        Returns
        -------
        ndarray of str
            The names.
        """
        check_is_fitted(self)
        names = self._encoder.names if input_features is None else tuple(input_features)
        names = tuple(f"x{i}" for i in range(self.n_features_in_)) if names is None else names
        n = self._encoder.n_outputs // self.n_features_in_
        return np.array([name if n == 1 else f"{name}_{b}" for name in names for b in range(n)], object)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is an encoder."""
        return hasattr(self, "_encoder")


class SoftBins(_EncodingTransformer):
    """Transform each column to soft bins: centred hat functions on equidistant knots over its clipped range.

    Nearby rows stay near, and all rows have about the same length. Use it for few columns, in front of distance-based
    estimators; see docs/encodings.md.

    Parameters
    ----------
    n_bins : int, default=5
        Number of bins per column, at least 2.
    clip : float, default=2.5
        Range of the bins around the mean, in standard deviations.

    Attributes
    ----------
    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has string column names.

    See Also
    --------
    Encoding : All steps, for the estimators of flybloom.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from flybloom import SoftBins
    >>> X, _ = load_iris(return_X_y=True)
    >>> SoftBins().fit_transform(X).shape
    (150, 20)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_bins": [Interval(Integral, 2, 1024, closed="both")],
        "clip": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(self, n_bins: int = 5, *, clip: float = 2.5) -> None:
        self.n_bins = n_bins
        self.clip = clip

    @fit_context
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Fit means and standard deviations of the columns, and means of the bins.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : None
            Ignored.

        Returns
        -------
        SoftBins
            The fitted transformer itself.
        """
        return self._fit(X, None, Encoding(bins=self.n_bins, clip=self.clip))


class RelevanceScaler(_EncodingTransformer):
    """Standardise and clip columns, and weight them by their relevance to the labels.

    The weight of a column is the square root of the between-class share of its variance, or of that of its square,
    minus what chance gives, raised to a power; the largest weight is 1. If no column is more relevant than chance, all
    weights are equal. Sparse rows are only weighted, by the presence of values.

    Parameters
    ----------
    power : float, default=0.5
        The power; 0 gives equal weights.
    clip : float, default=2.5
        Clip at this number of standard deviations.

    Attributes
    ----------
    weights_

    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has string column names.

    See Also
    --------
    Encoding : All steps, for the estimators of flybloom.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from flybloom import RelevanceScaler
    >>> X, y = load_wine(return_X_y=True)
    >>> bool(cross_val_score(make_pipeline(RelevanceScaler(), KNeighborsClassifier()), X, y).mean() > 0.95)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "power": [Interval(Real, 0, None, closed="left")],
        "clip": [Interval(Real, 0, None, closed="right")],
    }

    def __init__(self, power: float = 0.5, *, clip: float = 2.5) -> None:
        self.power = power
        self.clip = clip

    def __sklearn_tags__(self) -> Any:
        """Require labels, and accept sparse rows."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags

    @fit_context
    def fit(self, X: Any, y: Any) -> Self:
        """Fit means, standard deviations and weights of the columns.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        RelevanceScaler
            The fitted transformer itself.
        """
        if y is None:
            msg = f"{type(self).__name__} requires y to be passed, but the target y is None."
            raise ValueError(msg)
        dense = Encoding(relevance=self.power, clip=self.clip)
        return self._fit(X, y, dense, Encoding("none", relevance=self.power))

    @property
    def weights_(self) -> Array:
        """The weight of each column."""
        if not self.__sklearn_is_fitted__():
            raise not_fitted(self)
        step: Relevance | None = self._encoder.step(Relevance)
        return np.ones(self.n_features_in_, np.float32) if step is None else step.weights
