"""Theorems 3 and 4 and the corollary: sizes from delta, delta from sizes, and what a test row must satisfy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flybloom.paper.theory.collisions import random_components, threshold

if TYPE_CHECKING:
    from numpy.typing import NDArray

LIKELIEST_LOSER = 1 / 7  # alpha in the proof of Theorem 4: what the other classes may have in common with the row


class TheoremSizes(NamedTuple):
    """Sizes with which FBFC (decay 1, zeros and ones) agrees with 1-NN with probability at least 1 - delta.

    Attributes
    ----------
    n_components, n_connections, n_winners : int
        m, s and rho.
    """

    n_components: int
    n_connections: int
    n_winners: int


class NeighborConditions(NamedTuple):
    """What a theorem asks of a test row, and whether the row satisfies it.

    Attributes
    ----------
    label : object
        Label of the nearest neighbour.
    nearest : float
        Distance to it.
    nearest_limit : float
        Largest distance that the theorem allows.
    other : float
        Distance to the nearest row of another class.
    other_limit : float
        Least distance that the theorem asks for; 0 where it asks for none.
    holds : bool
        Whether both are satisfied.
    """

    label: Any
    nearest: float
    nearest_limit: float
    other: float
    other_limit: float
    holds: bool


def binary_sizes(n_rows: int, n_features: int, n_ones: int, delta: float, n_classes: int = 2) -> TheoremSizes:
    """Return the sizes of Theorem 3, and of its corollary for more classes: binary rows with b ones.

    rho >= 36 ln(L / delta) / (1 - b/d), the smallest whole s with C(d, s) / C(b, s) >= n d / b, and m = rho times that.

    Parameters
    ----------
    n_rows : int
        n, rows of the largest class.
    n_features, n_ones : int
        d and b, with b < d.
    delta : float
        Probability of failure that is accepted, above 0 and below 1.
    n_classes : int, default=2
        L.

    Returns
    -------
    TheoremSizes
        m, s and rho.

    Examples
    --------
    >>> from flybloom.paper.theory import binary_delta, binary_sizes
    >>> sizes = binary_sizes(100, 1000, 100, delta=0.1)
    >>> sizes
    TheoremSizes(n_components=123316, n_connections=3, n_winners=120)
    >>> binary_delta(100, 1000, 100, *sizes) < 0.1
    True
    """
    _check(delta, n_classes)
    if not 0 < n_ones < n_features:
        msg = f"n_ones must be from 1 to n_features - 1 = {n_features - 1}. Got {n_ones} instead."
        raise ValueError(msg)
    n_winners = math.ceil(36 * math.log(n_classes / delta) / (1 - n_ones / n_features))
    for n_connections in range(1, n_ones + 1):
        subsets, inside = math.comb(n_features, n_connections), math.comb(n_ones, n_connections)
        if subsets * n_ones >= inside * n_rows * n_features:
            return TheoremSizes(-(-n_winners * subsets // inside), n_connections, n_winners)
    msg = (
        f"No number of connections tells {n_rows} rows with {n_ones} of {n_features} ones apart. "
        "The theorem needs rows with more features, or fewer rows."
    )
    raise ValueError(msg)


def binary_delta(
    n_rows: int,
    n_features: int,
    n_ones: int,
    n_components: int,
    n_connections: int,
    n_winners: int,
    n_classes: int = 2,
) -> float:
    """Return the probability of failure that Theorem 3 or its corollary grants with these sizes.

    Parameters
    ----------
    n_rows, n_features, n_ones : int
        n, d and b.
    n_components, n_connections, n_winners : int
        m, s and rho.
    n_classes : int, default=2
        L.

    Returns
    -------
    float
        delta; 1 where the sizes do not satisfy the theorem: rho winners must be no more than the components whose
        connections all hit ones, and those no more than a share b / (d n).

    Examples
    --------
    >>> from flybloom.paper.theory import binary_delta
    >>> binary_delta(100, 1000, 100, 1_000_000, 3, 300)
    0.000553
    >>> binary_delta(100, 1000, 100, 1_000_000, 3, 3000)
    1.0
    """
    subsets, inside = math.comb(n_features, n_connections), math.comb(n_ones, n_connections)
    has_room = subsets * n_ones >= inside * n_rows * n_features
    reaches_top = n_winners * subsets <= n_components * inside
    if not (has_room and reaches_top):
        return 1.0
    rest = 1 - n_ones / n_features
    tails = math.exp(-n_winners * rest / 36) + (n_classes - 1) * math.exp(-n_winners * rest / 8)
    return min(1.0, tails)


def binary_conditions(x: Any, X: Any, y: Any, n_connections: int) -> NeighborConditions:
    """Return whether a binary test row satisfies what Theorem 3 asks of it.

    In the l1 metric its nearest neighbour is at most 2 b (1 - b/d) / (3 s) away, every row of another class at least
    2 b (1 - b/d).

    Parameters
    ----------
    x : array-like of shape (n_features,)
        The test row, of zeros and b ones.
    X : array-like of shape (n_samples, n_features)
        The training rows, each with as many ones.
    y : array-like of shape (n_samples,)
        Their labels.
    n_connections : int
        s.

    Returns
    -------
    NeighborConditions
        The distances, their limits, and whether the conditions hold.

    Examples
    --------
    >>> import numpy as np
    >>> from flybloom.paper.theory import binary_conditions
    >>> X = np.kron(np.eye(2, dtype=int), np.ones(20, int))
    >>> x = X[0].copy()
    >>> x[[0, 39]] = 0, 1
    >>> binary_conditions(x, X, [7, 8], n_connections=3)
    NeighborConditions(label=7, nearest=2.0, nearest_limit=2.22, other=38.0, other_limit=20.0, holds=True)
    """
    x, X, y = np.asarray(x).astype(np.int64), np.asarray(X).astype(np.int64), np.asarray(y)
    n_ones = int(x.sum())
    if not (np.isin(x, (0, 1)).all() and np.isin(X, (0, 1)).all() and (X.sum(axis=1) == n_ones).all()):
        msg = f"All rows must hold zeros and the same number of ones, {n_ones} in x. Got other rows instead."
        raise ValueError(msg)
    far = 2 * n_ones * (1 - n_ones / x.size)
    return _conditions(np.abs(X - x).sum(axis=1), y, far / (3 * n_connections), far)


def real_sizes(n_rows: int, n_connections: int, delta: float, n_classes: int = 2) -> TheoremSizes:
    """Return the sizes of Theorem 4: real rows, the test row from a permutation-invariant distribution.

    rho >= 96 ln(2 L / delta) and m >= 14 (L - 1) n rho / delta, for any s. With two classes, m is the paper's.

    Parameters
    ----------
    n_rows : int
        n, rows of the largest class.
    n_connections : int
        s, free; the theorem asks for neighbours that are the nearer the larger it is.
    delta : float
        Probability of failure that is accepted, above 0 and below 1.
    n_classes : int, default=2
        L.

    Returns
    -------
    TheoremSizes
        m, s and rho.

    Examples
    --------
    >>> from flybloom.paper.theory import real_sizes
    >>> real_sizes(20, 8, delta=0.2)
    TheoremSizes(n_components=403200, n_connections=8, n_winners=288)
    """
    _check(delta, n_classes)
    n_winners = math.ceil(96 * math.log(2 * n_classes / delta))
    n_components = math.ceil(2 / LIKELIEST_LOSER * (n_classes - 1) * n_rows * n_winners / delta)
    return TheoremSizes(n_components, n_connections, n_winners)


def real_delta(n_rows: int, n_components: int, n_winners: int, n_classes: int = 2) -> float:
    """Return the probability of failure that Theorem 4 grants with these sizes, over the row and the projection.

    Parameters
    ----------
    n_rows : int
        n, rows of the largest class.
    n_components, n_winners : int
        m and rho.
    n_classes : int, default=2
        L.

    Returns
    -------
    float
        delta, at most 1.

    Examples
    --------
    >>> from flybloom.paper.theory import real_delta
    >>> real_delta(20, 403200, 288)
    0.1502
    """
    resemblance = (n_classes - 1) * n_rows * n_winners / (LIKELIEST_LOSER * n_components)
    lower_tail = math.exp(-n_winners * (1 - LIKELIEST_LOSER) / 32)
    return min(1.0, resemblance + math.exp(-n_winners / 96) + (n_classes - 1) * lower_tail)


def real_conditions(
    x: Any, X: Any, y: Any, n_connections: int, winner_share: float, *, n_samples: int = 100_000, seed: Any = None
) -> NeighborConditions:
    """Return whether a real test row satisfies what Theorem 4 asks of it.

    Its nearest neighbour is at most Delta / s away in the l-infinity metric, with
    Delta = (tau_x(rho / 2m) - tau_x(rho / m)) / 2, estimated from drawn components.

    Parameters
    ----------
    x : array-like of shape (n_features,)
        The test row.
    X : array-like of shape (n_samples, n_features)
        The training rows.
    y : array-like of shape (n_samples,)
        Their labels.
    n_connections : int
        s.
    winner_share : float
        rho / m.
    n_samples : int, default=100_000
        How many components are drawn; take several times m / rho.
    seed : int, Generator or None, default=None
        For numpy.random.default_rng.

    Returns
    -------
    NeighborConditions
        The distances, the limit, and whether the condition holds.

    Examples
    --------
    >>> import numpy as np
    >>> from flybloom.paper.theory import real_conditions
    >>> X = np.random.default_rng(0).exponential(size=(20, 50))
    >>> real_conditions(X[0] + 1e-4, X, np.arange(20) % 2, 5, 0.01, seed=0).holds
    True
    """
    x, X, y = np.asarray(x, np.float64), np.asarray(X, np.float64), np.asarray(y)
    components = random_components(x.size, n_connections, n_samples, seed)
    sums = x[components].sum(axis=1)
    delta = (threshold(sums, winner_share / 2) - threshold(sums, winner_share)) / 2
    return _conditions(np.abs(X - x).max(axis=1), y, delta / n_connections, 0.0)


def _conditions(distances: NDArray[Any], y: NDArray[Any], near: float, far: float) -> NeighborConditions:
    """Compare the distance to the nearest row and to the nearest of another class with their limits."""
    nearest = int(distances.argmin())
    others = distances[y != y[nearest]]
    other = float(others.min()) if others.size else math.inf
    is_near = bool(distances[nearest] <= near) and bool(distances[nearest] < other)
    label = y[nearest].item() if isinstance(y[nearest], np.generic) else y[nearest]
    return NeighborConditions(label, float(distances[nearest]), near, other, far, is_near and other >= far)


def _check(delta: float, n_classes: int) -> None:
    """Raise an error for a delta or a number of classes that no theorem speaks of."""
    if not 0 < delta < 1:
        msg = f"delta must be above 0 and below 1. Got {delta!r} instead."
        raise ValueError(msg)
    if n_classes < 2:  # noqa: PLR2004
        msg = f"n_classes must be at least 2. Got {n_classes!r} instead."
        raise ValueError(msg)
