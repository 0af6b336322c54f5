"""Certificates: which labels no change of the features within a radius can turn."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from flybloom._internal.parallel import for_each_block
from flybloom._internal.typing import Array
from flybloom.core.encoding.fill import Fill
from flybloom.core.hashing.bounds import NORMS, SumBounds
from flybloom.core.model import Model
from flybloom.core.readout.certificate import holds, largest_radius
from flybloom.core.readout.linear import FrozenReadout

SUMS_AT_ONCE = 2**21  # bounds of sums that a thread holds


class Certified:
    """What classifiers that add up weights of winners can promise of their labels.

    A subclass gives its `_frozen_readout` and `scoring`.
    """

    n_jobs: int | None

    def _frozen_readout(self, learned: Model) -> FrozenReadout:
        """Return the weights of all components, and what else labels and probabilities follow from."""
        raise NotImplementedError

    def certify(self, X: Any, radius: float, *, norm: str = "linf") -> Array:
        """Return which rows keep their label whatever is done to their features within a radius.

        A sum of a component moves by no more than the radius lets the features that it sees. So some components surely
        win, most surely do not, and the rest may; the label holds if it does so for the worst choice among these. That
        is a proof, for the sums and scores as they are computed, rounding included. It is cautious: a row that is not
        certified may hold all the same.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows. Missing values stay missing; where the encoding fills them from others, which may move, nothing
            is certified of a row that has some. Rows of whole numbers that are hashed as they come
            (``encoding="none"``) stay whole numbers.
        radius : float
            How far features may move, in their own units.
        norm : {"linf", "l2", "l1"}, default="linf"
            How that is measured: by the largest change of a feature, the root of the sum of squares of all changes, or
            the sum of their sizes.

        Returns
        -------
        ndarray of shape (n_samples,), bool
            True for rows whose label cannot change.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from flybloom import FlyBloomClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> model = FlyBloomClassifier(2048, random_state=0).fit(X[:1000], y[:1000])
        >>> [float(model.certify(X[1000:1200], radius).mean()) for radius in (0.01, 0.05)]
        [0.8..., 0.3...]
        """
        if not (isinstance(radius, int | float | np.number) and 0 <= radius < np.inf):
            msg = f"The 'radius' parameter of certify must be a number from 0 on. Got {radius!r} instead."
            raise ValueError(msg)
        with self._scoring(X) as (rows, learned):  # type: ignore[attr-defined]
            radii = np.full(rows.shape[0], float(radius))
            return self._certified(rows, learned, norm, lambda proof, n: proof(np.arange(n), radii))

    def certified_radius(self, X: Any, *, norm: str = "linf") -> Array:
        """Return for each row a radius within which its label cannot change.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows, see `certify`.
        norm : {"linf", "l2", "l1"}, default="linf"
            How distances are measured, see `certify`.

        Returns
        -------
        ndarray of shape (n_samples,)
            `certify` holds at this radius, and at none that is 0.1 % larger; 0 where it holds at none, infinite where
            it always does.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from flybloom import FlyBloomClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = FlyBloomClassifier(1024, random_state=0).fit(X, y)
        >>> model.certified_radius(X[:3], norm="l2").round(3)
        array([0.071, 0.06 , 0.066])
        """
        with self._scoring(X) as (rows, learned):  # type: ignore[attr-defined]
            first = 2.0**-7 * _typical_size(rows)
            return self._certified(rows, learned, norm, lambda proof, n: largest_radius(proof, n, first))

    def _certified(self, rows: Any, learned: Model, norm: str, ask: Any) -> Array:
        """Return what `ask` makes of proofs of all rows, which take positions and a radius for each."""
        if norm not in NORMS:
            msg = f"The 'norm' parameter must be one of {NORMS}. Got {norm!r} instead."
            raise ValueError(msg)
        hasher = learned.hasher
        bounds = SumBounds(hasher, norm)
        frozen = self._frozen_readout(learned)
        read_out = frozen.read_out(hasher.projection.seed)
        codes = np.empty(rows.shape[0], np.int64)
        has_gaps = np.zeros(rows.shape[0], bool) if hasher.encoder.step(Fill) is None else np.isnan(rows).any(axis=1)

        def decide(block: slice, winners: Any) -> None:
            codes[block] = read_out.labels(winners)

        hasher.for_each_block(rows, decide, self.n_jobs)

        def proof(places: Array, radius: Array) -> Array:
            result = np.zeros(places.size, bool)
            step = max(1, SUMS_AT_ONCE // hasher.n_components)

            def prove(block: slice) -> None:
                for begin in range(block.start, block.stop, step):
                    some = slice(begin, min(begin + step, block.stop))
                    values = rows[places[some]]
                    values = values.toarray() if sparse.issparse(values) else values
                    low, high = bounds.of(values, radius[some])
                    result[some] = holds(low, high, frozen, codes[places[some]], hasher.n_winners)

            for_each_block(prove, places.size, hasher.n_components, self.n_jobs)
            return result & ~has_gaps[places]

        result: Array = ask(proof, rows.shape[0])
        return result


def _typical_size(rows: Any) -> float:
    """Return a power of two about as large as the values are: where to begin to look for a radius."""
    values = rows.data if sparse.issparse(rows) else np.asarray(rows)
    size = float(np.nanmax(np.abs(values.astype(np.float64)), initial=0.0))
    return float(2.0 ** np.ceil(np.log2(size))) if size > 0 else 1.0
