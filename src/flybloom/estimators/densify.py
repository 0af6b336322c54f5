"""Random signs and a Walsh-Hadamard transform, which spread every feature over all columns."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from flybloom._internal.parallel import for_each_block
from flybloom._internal.sklearn_compat import fit_context
from flybloom._internal.typing import Array
from flybloom._internal.validation import resolve_seed, unchanged_on_error

WORD_BITS = 64
ROWS_AT_ONCE = 64  # whose values stay in the cache


def random_signs(seed: int, n: int) -> Array:
    """Return n random signs, 1 or -1: a function of the seed, and a prefix of more signs."""
    words = np.random.Philox(key=seed).random_raw(-(-n // WORD_BITS))
    bits = np.unpackbits(words.astype("<u8").view(np.uint8), count=n, bitorder="little")
    return 1 - 2 * bits.astype(np.int8)


def butterflies(values: Array) -> None:
    """Transform columns in place: a, b become a + b, a - b for all pairs of rows at distance 1, then 2, then 4, ...

    The number of rows is a power of two.
    """
    step = 1
    while step < len(values):
        pairs = values.reshape(-1, 2, step, values.shape[1])
        first, second = pairs[:, 0], pairs[:, 1]
        difference = first - second
        first += second
        second[:] = difference
        step *= 2


class Densify(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Spread every feature over all columns while preserving distances.

    Each column is multiplied by a random sign, zeros are added up to the next power of two d', and the rows are
    multiplied by the Hadamard matrix over sqrt(d') [1]_. Lengths, distances and angles are preserved, and information
    in a few columns is spread over all of them, so that a hash of few columns does not miss it. The authors of the
    paper tune whether to do so.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=0
        Seed of the signs. An int makes the result reproducible on every machine; None draws a seed for each fit.

    n_jobs : int or None, default=None
        Number of threads. None means 1, -1 all processors. The result does not depend on it.

    Attributes
    ----------
    seed_ : int
        Seed of the signs.

    signs_

    n_features_out_ : int
        Number of columns of the output, the next power of two.

    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has string column names.

    See Also
    --------
    FlyHash : The hash.

    Notes
    -----
    The transform takes d' log2(d') additions for a row, in the order of the textbook: pairs of columns at distance 1,
    then 2, then 4, and so on. Results depend on their row alone, to the last bit.

    Rows of float32, and of integers up to 16 bits, give float32; all others give float64.

    References
    ----------
    .. [1] N. Ailon and B. Chazelle (2009). The fast Johnson-Lindenstrauss transform and approximate nearest neighbors.
           SIAM Journal on Computing 39, 302-322.

    Examples
    --------
    >>> import numpy as np
    >>> from flybloom import Densify
    >>> X = np.array([[0.0, 0.0, 3.0], [1.0, 2.0, 2.0]])
    >>> dense = Densify(random_state=0).fit(X)
    >>> dense.transform(X).shape
    (2, 4)
    >>> np.abs(dense.transform(X)[0])
    array([1.5, 1.5, 1.5, 1.5])
    >>> np.linalg.norm(dense.transform(X), axis=1)
    array([3., 3.])
    >>> np.allclose(dense.inverse_transform(dense.transform(X)), X)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def __init__(self, *, random_state: Any = 0, n_jobs: int | None = None) -> None:
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        """Declare preserved dtypes and accepted input."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = True
        return tags

    @fit_context
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Draw the signs; only the number of features is used.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : None
            Ignored.

        Returns
        -------
        Densify
            The fitted transformer itself.
        """
        with unchanged_on_error(self):
            validate_data(self, X, accept_sparse="csr")
            self.seed_ = resolve_seed(self.random_state)
            self.n_features_out_ = 1 << (self.n_features_in_ - 1).bit_length()
        return self

    def transform(self, X: Any) -> Array:
        """Return the transformed rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out_)
            float32 or float64.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        return self._multiply(X, self.signs_, np.full(self.n_features_out_, self.n_features_out_**-0.5))

    def inverse_transform(self, X: Any) -> Array:
        """Return the original rows, up to rounding.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features_out_)
            Transformed rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features_in_)
            float32 or float64.
        """
        check_is_fitted(self)
        X = check_array(X, estimator=self, input_name="X")
        if X.shape[1] != self.n_features_out_:
            msg = (
                f"X must have the {self.n_features_out_} columns that transform gives. "
                f"Got {X.shape[1]} instead. Pass what transform returned."
            )
            raise ValueError(msg)
        return self._multiply(X, np.ones(self.n_features_out_), self.signs_ * self.n_features_out_**-0.5)

    @property
    def signs_(self) -> Array:
        """The signs, drawn from ``seed_``."""
        check_is_fitted(self)
        return random_signs(self.seed_, self.n_features_in_)

    def _multiply(self, X: Any, before: Array, after: Array) -> Array:
        """Multiply the columns by `before`, the rows by the Hadamard matrix, and the columns by `after`."""
        is_short = X.dtype.itemsize <= (4 if X.dtype.kind == "f" else 2)
        dtype = np.dtype(np.float32 if is_short else np.float64)
        before, after = before.astype(dtype), after.astype(dtype)
        result = np.empty((X.shape[0], after.size), dtype)

        def work(block: slice) -> None:
            for begin in range(block.start, block.stop, ROWS_AT_ONCE):
                some = slice(begin, min(begin + ROWS_AT_ONCE, block.stop))
                rows = X[some].toarray() if sparse.issparse(X) else X[some]
                values = np.zeros((self.n_features_out_, len(rows)), dtype)
                values[: rows.shape[1]] = rows.T.astype(dtype, copy=False) * before[:, None]
                butterflies(values)
                result[some] = values[: after.size].T * after

        for_each_block(work, X.shape[0], self.n_features_out_, self.n_jobs)
        return result

    @property
    def _n_features_out(self) -> int:
        """Number of output columns."""
        return int(self.n_features_out_)
