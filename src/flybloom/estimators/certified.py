"""Robustness certificates: labels that no change of the features within a radius can alter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from flybloom._internal.parallel import for_each_block
from flybloom._internal.typing import Array, Codes
from flybloom.core import _kernels
from flybloom.core.encoding.fill import Fill
from flybloom.core.hashing.bounds import NORMS, SumBounds
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.model import Model
from flybloom.core.readout.linear import FrozenReadout
from flybloom.estimators.access import scoring

SUMS_AT_ONCE = 2**21  # bounds of sums that a thread holds
DOUBLINGS = 64
HALVINGS = 12  # a radius is found to a share of 2**-12 of it


def certify(model: Any, X: Any, radius: float | None = None, *, norm: str = "linf") -> Array:
    """Return which rows keep their label under any change of their features within a radius.

    The radius bounds the sum of every component. So some components certainly win, most certainly lose, and the
    rest may win; a label is certified if it holds for the worst choice among these. This is a proof that includes
    rounding. It is conservative: a row that is not certified may be robust all the same.

    Parameters
    ----------
    model : FlyBloomClassifier or FlyRidgeClassifier
        A fitted classifier.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows. Missing values stay missing; if the encoding imputes them, rows with missing values are not
        certified. Integer rows with ``encoding="none"`` stay integers.
    radius : float or None, default=None
        Radius, in the units of the features. None for the largest certified radius of each row.
    norm : {"linf", "l2", "l1"}, default="linf"
        Norm of the change.

    Returns
    -------
    ndarray of shape (n_samples,)
        True for rows whose label cannot change. Without a radius, one for each row: the label is certain to hold
        there, and not certain 0.1 % further; 0 where it is nowhere certain, infinite where it always is.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomClassifier
    >>> from flybloom.audit import certify
    >>> X, y = load_digits(return_X_y=True)
    >>> model = FlyBloomClassifier(2048, encoding="standard+rotation", random_state=0).fit(X[:1000], y[:1000])
    >>> [float(certify(model, X[1000:1200], radius).mean()) for radius in (0.01, 0.05)]
    [0.8..., 0.3...]
    >>> certify(model, X[1000:1003], norm="l2").round(3)
    array([0.099, 0.193, 0.177])
    """
    if radius is None:
        with scoring(model, X) as (rows, learned):
            first = 2.0**-7 * _typical_size(rows)
            return _certified(model, rows, learned, norm, lambda proof, n: largest_radius(proof, n, first))
    if not (isinstance(radius, int | float | np.number) and 0 <= radius < np.inf):
        msg = f"The 'radius' parameter of certify must be a number from 0 on. Got {radius!r} instead."
        raise ValueError(msg)
    with scoring(model, X) as (rows, learned):
        radii = np.full(rows.shape[0], float(radius))
        return _certified(model, rows, learned, norm, lambda proof, n: proof(np.arange(n), radii))


def _certified(model: Any, rows: Any, learned: Model, norm: str, ask: Any) -> Array:
    """Return the result of `ask` for the proofs of all rows."""
    if norm not in NORMS:
        msg = f"The 'norm' parameter must be one of {NORMS}. Got {norm!r} instead."
        raise ValueError(msg)
    hasher = learned.hasher
    bounds = SumBounds(hasher, norm)
    frozen = model._frozen_readout(learned)  # noqa: SLF001
    read_out = frozen.read_out(hasher.projection.seed)
    has_gaps = np.zeros(rows.shape[0], bool) if hasher.encoder.step(Fill) is None else np.isnan(rows).any(axis=1)
    codes = np.empty(rows.shape[0], np.int64)
    hasher.read(rows, codes, read_out.labels, model.n_jobs)

    def proof(places: Array, radius: Array) -> Array:
        result = np.zeros(places.size, bool)
        step = max(1, SUMS_AT_ONCE // hasher.n_components)

        def prove(block: slice) -> None:
            for begin in range(block.start, block.stop, step):
                some = slice(begin, min(begin + step, block.stop))
                values = rows[places[some]]
                values = values.toarray() if sparse.issparse(values) else values
                result[some] = holds(*bounds.of(values, radius[some]), frozen, codes[places[some]], hasher)

        for_each_block(prove, places.size, hasher.n_components, model.n_jobs)
        return result & ~has_gaps[places]

    result: Array = ask(proof, rows.shape[0])
    return result


def _typical_size(rows: Any) -> float:
    """Return a power of two of the magnitude of the values, to start the search for a radius."""
    values = rows.data if sparse.issparse(rows) else np.asarray(rows)
    size = float(np.nanmax(np.abs(values.astype(np.float64)), initial=0.0))
    return float(2.0 ** np.ceil(np.log2(size))) if size > 0 else 1.0


def holds(low: Array, high: Array, possible: Array, frozen: FrozenReadout, codes: Codes, hasher: Hasher) -> Array:
    """Return for each row whether its class stays, whichever components win with sums between the bounds."""
    n_cells = 1 if hasher.ferns is None else 1 << hasher.ferns.n_tests
    result = np.zeros(len(codes), bool)
    is_known = np.isfinite(low).all(axis=1) & np.isfinite(high).all(axis=1)
    if is_known.any():
        some = np.zeros(int(is_known.sum()), bool)
        _kernels.certify.holds(
            low[is_known],
            high[is_known],
            frozen.weights,
            frozen.intercept,
            codes[is_known],
            hasher.n_summed_winners,
            possible[is_known],
            n_cells,
            some,
        )
        result[is_known] = some
    return result


def largest_radius(holds_at: Callable[[Array, Array], Array], n_rows: int, first: float) -> Array:
    """Return a radius for each row at which it holds, and hardly any larger one; 0 where there is none.

    `holds_at` takes positions of rows and a radius for each. It is asked for `first`, doubled until it fails, or halved
    until it holds; what lies between is halved. Infinite where it never fails.
    """
    certain, failed = np.zeros(n_rows), np.full(n_rows, np.inf)
    radius = np.full(n_rows, first)
    open_ones = np.flatnonzero(holds_at(np.arange(n_rows), np.zeros(n_rows)))
    for _ in range(DOUBLINGS):
        if open_ones.size == 0:
            break
        is_held = holds_at(open_ones, radius[open_ones])
        certain[open_ones[is_held]] = radius[open_ones[is_held]]
        failed[open_ones[~is_held]] = radius[open_ones[~is_held]]
        between = (certain[open_ones] > 0) & (failed[open_ones] < np.inf)
        radius[open_ones] *= np.where(is_held, 2.0, 0.5)
        open_ones = open_ones[~between]
    certain[(failed == np.inf) & (certain > 0)] = np.inf
    found = np.flatnonzero((certain > 0) & (certain < np.inf))
    for _ in range(HALVINGS):
        if found.size == 0:
            break
        middle = (certain[found] + failed[found]) / 2
        is_held = holds_at(found, middle)
        certain[found[is_held]] = middle[is_held]
        failed[found[~is_held]] = middle[~is_held]
    return certain
