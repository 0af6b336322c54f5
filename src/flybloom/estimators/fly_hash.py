"""FlyHash: the sparse binary hash of the fruit fly's olfactory circuit, as a transformer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from flybloom._internal.sklearn_compat import fit_context
from flybloom._internal.typing import Size, Winners
from flybloom._internal.validation import check_labels, check_new_rows, check_rows, resolve_seed
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.files.model_file import Parts
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.hashing.sizes import Sizes
from flybloom.core.model import Recipe
from flybloom.core.sketch import Sketch
from flybloom.estimators.base import FlyEstimator


class FlyHash(ClassNamePrefixFeaturesOutMixin, TransformerMixin, FlyEstimator):  # type: ignore[misc]
    """Sparse binary hash of dense or sparse rows, after the fruit fly's olfactory circuit.

    Each component sums a few randomly chosen input features, and the components with the largest sums win. The hash has
    a one for each winner. Nearby rows share winners [1]_ [2]_. Use it in pipelines with linear models or set
    similarity; the classifiers have it built in.

    Parameters
    ----------
    n_components : int, float or "auto", default="auto"
        Number of components, m in the paper.

        - If int, exactly that many.
        - If float, that multiple of the number of features.
        - If "auto", 32768.

    n_connections : int, float or "auto", default="auto"
        Number of features that each component sums, s in the paper.

        - If int, exactly that many.
        - If float, that share of the features, at least one.
        - If "auto", half of the features, at most 64.

    n_winners : int, float or "auto", default="auto"
        Number of winning components per row, rho in the paper.

        - If int, exactly that many.
        - If float, that share of ``n_components_``, at least one.
        - If "auto", 128, or a quarter of the components if there are fewer than 512.

    signed : bool, default=True
        Whether connections have random signs. False gives the paper's binary matrix, with which only large values can
        win.

    encoding : str, Encoding or Encoder, default="auto"
        How columns are transformed before hashing; see `Encoding` and docs/encodings.md.

        - If "auto", columns are standardised and clipped at 2.5 standard deviations. Up to 30 columns also become 5
          soft bins each; images are detected and become 50 principal components. Sparse rows are not changed. Labels
          are ignored.
        - If "none", no transformation, as in the paper: integers are summed as integers.
        - Otherwise steps such as "standard", "bins", "relevance" and "rotation", joined by "+".
        - If an `Encoding`, its steps. If a fitted encoder, that encoder.

        Missing values (NaN) that are not imputed add nothing to a sum.

    random_state : int, RandomState instance or None, default=0
        Seed of the connections. Models with the same seed can be added, and are the same on every machine. None draws a
        new seed for each fit.

    n_jobs : int or None, default=None
        Number of threads. None means 1, -1 all processors. The result does not depend on it.

    Attributes
    ----------
    n_components_
    n_connections_
    n_winners_
    signed_
    seed_
    center_
    scale_
    connections_
    signs_
    n_features_in_
    feature_names_in_

    See Also
    --------
    FlyBloomClassifier : Classifier that counts the winners of each class.

    Notes
    -----
    Ties go to the component with the smaller index, so a hash depends on its row alone. Sums of integers are exact;
    floats are added in float32 in the order of ``connections_``.

    The hash is nested: with the same seed, fewer winners, components or connections are a prefix of more.

    References
    ----------
    .. [1] S. Dasgupta, C. F. Stevens and S. Navlakha (2017). A neural algorithm for a fundamental computing problem.
           Science 358, 793-796.
    .. [2] K. Sinha and P. Ram (2021). Fruit-fly inspired neighborhood encoding for classification. KDD '21.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyHash
    >>> X, _ = load_digits(return_X_y=True)
    >>> hasher = FlyHash(n_components=20.0, n_winners=32, random_state=0).fit(X)
    >>> hasher.n_components_
    1280
    >>> hasher.winners(X[:2]).shape
    (2, 32)
    >>> hasher.transform(X[:2]).sum(axis=1)
    matrix([[32.],
            [32.]], dtype=float32)
    """

    _uses_labels = False

    def __init__(
        self,
        n_components: Size = "auto",
        *,
        n_connections: Size = "auto",
        n_winners: Size = "auto",
        signed: bool = True,
        encoding: Any = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_connections = n_connections
        self.n_winners = n_winners
        self.signed = signed
        self.encoding = encoding
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        """Declare the output dtype."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    @fit_context
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the connections and fit the encoding, from scratch.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,), default=None
            Labels; only for an encoding with `relevance`, otherwise ignored.

        Returns
        -------
        FlyHash
            The fitted transformer itself.
        """
        sizes = Sizes(self.n_components, self.n_connections, self.n_winners)
        seed = resolve_seed(self.random_state)
        recipe = Recipe(type(self).__name__, self._encoding, sizes, bool(self.signed), seed)
        rows, names, kinds = check_new_rows(X, recipe.owner, takes_sparse=recipe.encoding.takes_sparse)
        labels = None if y is None or not recipe.encoding.needs_labels else check_labels(y, rows.shape[0])
        sketch = Sketch.of(rows, labels, np.ones(rows.shape[0], np.int64))
        return self.with_hasher(recipe.hasher(Encoder(rows.shape[1], names, kinds=kinds), sketch))

    @fit_context
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Fit to the first block of rows; later blocks are only validated.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            A block of rows.
        y : array-like of shape (n_samples,), default=None
            Labels; see `fit`.

        Returns
        -------
        FlyHash
            The transformer itself.
        """
        if self._hasher is None:
            return self.fit(X, y)
        check_rows(X, type(self).__name__, self._hasher.encoder)
        return self

    def with_hasher(self, hasher: Hasher) -> Self:
        """Set the hasher, and return the transformer.

        Parameters
        ----------
        hasher : Hasher
            The hasher.

        Returns
        -------
        FlyHash
            The transformer itself.
        """
        self._fitted_hasher = hasher
        return self

    def _to_parts(self) -> Parts:
        """Return the state that files store."""
        return Parts(self._require_hasher(), {}, {})

    def _from_parts(self, hasher: Hasher | None, facts: dict[str, Any], arrays: dict[str, Any]) -> Self:  # noqa: ARG002
        """Restore the state from a file, and return the transformer; ValueError if it is invalid."""
        if hasher is None or arrays:
            msg = "it holds arrays that no such model has" if arrays else "it does not say how it hashes"
            raise ValueError(msg)
        return self.with_hasher(hasher)

    def winners(self, X: Any) -> Winners:
        """Return the winners of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_winners_), uint32
            The winners by descending sum, ties by ascending index.
        """
        hasher = self._require_hasher()
        return hasher.ranked_winners(check_rows(X, type(self).__name__, hasher.encoder), self.n_jobs)

    def transform(self, X: Any) -> sparse.csr_matrix:
        """Return the hashes as a sparse binary matrix.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        csr_matrix of shape (n_samples, n_components_), float32
            Exactly ``n_winners_`` ones in each row.
        """
        hasher = self._require_hasher()
        winners = hasher.winners(check_rows(X, type(self).__name__, hasher.encoder), self.n_jobs)
        winners, n_rows = winners.astype(np.int32 if self.n_components_ < 2**31 else np.int64), len(winners)
        return sparse.csr_matrix(
            (np.ones(winners.size, np.float32), winners.ravel(), np.arange(n_rows + 1) * self.n_winners_),
            shape=(n_rows, self.n_components_),
        )

    @property
    def _hasher(self) -> Hasher | None:
        """The hasher; None before fit."""
        return getattr(self, "_fitted_hasher", None)

    @property
    def _n_features_out(self) -> int:
        """Number of output columns."""
        return self.n_components_
