"""What every estimator here shares: sizes, seed, scaling, and rows to winners."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from flybloom._internal.parallel import for_each_block
from flybloom._internal.sklearn_compat import Interval, RealNotInt, StrOptions
from flybloom._internal.typing import Array, Features, Weights, Winners
from flybloom._internal.validation import (
    check_parameters,
    check_rows,
    resolve_n_components,
    resolve_n_connections,
    resolve_n_winners,
    resolve_seed,
)
from flybloom.core.encoding.standardise import ColumnMoments, column_moments
from flybloom.core.hashing.projection import Projection

NOT_PICKLED = ("_projection", "_sharing")  # what follows from the rest, and locks


class BaseFly(BaseEstimator):  # type: ignore[misc]
    """A scikit-learn estimator that hashes rows.

    Learned: ``n_components_``, ``n_connections_``, ``n_winners_``, ``signed_``, ``seed_``, ``center_`` and ``scale_``.
    The connections follow from these; they are drawn when first needed, and not pickled.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [
            Interval(Integral, 1, 2**32 - 1, closed="both"),
            Interval(RealNotInt, 0, None, closed="neither"),
            StrOptions({"auto"}),
        ],
        "n_connections": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
            StrOptions({"auto"}),
        ],
        "n_winners": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            StrOptions({"auto"}),
        ],
        "signed": ["boolean"],
        "scaling": [StrOptions({"none", "center", "standard"})],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def __sklearn_tags__(self) -> Any:
        """Sparse rows are fine as long as nothing is to be centred."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.scaling == "none"
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what follows from the rest."""
        return {name: value for name, value in super().__getstate__().items() if name not in NOT_PICKLED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Bring back what was left out."""
        super().__setstate__(state)
        if "seed_" in state:
            self._set_projection()

    def _start(self, X: Features, weights: Weights | None = None) -> None:
        """Fix sizes, seed and scaling from the first rows, whose features are known."""
        self._start_from(self._moments(X, weights))

    def _moments(self, X: Features, weights: Weights | None = None) -> ColumnMoments | None:
        """Return the moments of the columns, if the scaling needs any."""
        return column_moments(X, weights) if self.scaling != "none" else None

    def _start_from(self, moments: ColumnMoments | None) -> None:
        """Fix sizes and seed for n_features_in_ features, and the scaling from their moments, if there is any."""
        self._start_sizes()
        self._start_all_but_sizes(moments)
        self._set_projection()

    def _start_sizes(self) -> None:
        """Fix the sizes for n_features_in_ features."""
        self.n_components_ = resolve_n_components(self.n_components, self.n_features_in_)
        self.n_connections_ = resolve_n_connections(self.n_connections, self.n_features_in_)
        self.n_winners_ = resolve_n_winners(self.n_winners, self.n_components_)

    def _start_all_but_sizes(self, moments: ColumnMoments | None) -> None:
        """Fix the seed, and the scaling from the moments of the columns."""
        self.signed_ = bool(self.signed)
        self.seed_ = resolve_seed(self.random_state)
        self.center_: Array | None = None
        self.scale_: Array | None = None
        if self.scaling != "none":
            if moments is None:
                msg = f"scaling={self.scaling!r} needs the moments of the columns. Got None instead."
                raise ValueError(msg)
            self.center_ = moments.means()
            if self.scaling == "standard":
                self.scale_ = moments.deviations()

    def _set_projection(self) -> None:
        """Prepare the connections; they are drawn when first needed."""
        self._projection = Projection(
            self.seed_, self.n_features_in_, self.n_components_, self.n_connections_, signed=self.signed_
        )

    @property
    def connections_(self) -> Array:
        """Features that each component sums, of shape (n_components_, n_connections_); derived from ``seed_``."""
        return self._projection.connections()[0]

    @property
    def signs_(self) -> Array:
        """Sign of each connection, of the shape of ``connections_``; derived from ``seed_``."""
        return self._projection.connections()[1]

    def _scaled(self, rows: Features) -> Features:
        """Return rows as they are hashed: as they came, or centred and scaled as float32."""
        if self.center_ is None:
            return rows
        scaled = rows.astype(np.float64)
        scaled -= self.center_
        if self.scale_ is not None:
            scaled *= 1.0 / self.scale_
        with np.errstate(over="ignore"):  # what overflows is refused by the projection
            return scaled.astype(np.float32)

    def _check_scoring(self, X: Any) -> Features:
        """Return the rows to score, checked."""
        check_is_fitted(self)
        self._check_parameters()  # decay, class_weight and temperature may have been set since fit
        return check_rows(self, X, reset=False)

    def _check_parameters(self) -> None:
        """Check all parameters as `fit` does; fast where the same ones were checked before."""
        owner: Any = type(self)
        values = [getattr(self, name) for name in self._parameter_constraints]
        try:
            check_parameters(owner, *values)
        except TypeError:  # one of them is refused, or cannot be remembered
            self._validate_params()

    def _for_winners(self, X: Features, use: Callable[[slice, Winners], None]) -> None:
        """Hash `X` block by block, on n_jobs threads, and hand each block's winners to `use`."""
        projection = self._projection
        projection.draw(sparse=sparse.issparse(X))

        def work(block: slice) -> None:
            use(block, projection.winners(self._scaled(X[block]), self.n_winners_))

        for_each_block(work, X.shape[0], X.shape[1], self.n_jobs)

    def _winners(self, X: Features) -> Winners:
        """Return the winners of all rows."""
        winners: Winners = np.empty((X.shape[0], self.n_winners_), np.uint32)

        def keep(block: slice, block_winners: Winners) -> None:
            winners[block] = block_winners

        self._for_winners(X, keep)
        return winners
