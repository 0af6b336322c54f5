"""q(x, x'), the probability that a winner of one row wins in another as well, and the bounds of Lemma 1."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

VALUES_AT_ONCE = 2**22  # bounds the memory of the sampled components


class NoveltyBounds(NamedTuple):
    """Between which values the expected novelty of a row to a class lies."""

    lower: float
    upper: float


def binary_winner_share(n_features: int, n_ones: int, n_connections: int) -> float:
    """Return the share of components all of whose connections hit a one: C(b, s) / C(d, s).

    This is rho / m when winners are those components with the largest sum there can be, s. The paper replaces it by
    (b / d)^s, which is never smaller.

    Parameters
    ----------
    n_features, n_ones, n_connections : int
        d, b and s.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> from flybloom.paper.theory import binary_winner_share
    >>> binary_winner_share(1000, 100, 3)
    0.000973
    """
    _require(0 <= n_ones <= n_features, f"n_ones must be from 0 to n_features={n_features}", n_ones)
    _require(1 <= n_connections <= n_features, f"n_connections must be from 1 to {n_features}", n_connections)
    return math.comb(n_ones, n_connections) / math.comb(n_features, n_connections)


def binary_collision(overlap: int, n_ones: int, n_connections: int) -> float:
    """Return q(x, x') of two binary rows of b ones each: C(x . x', s) / C(b, s).

    A component wins where all its s connections hit ones of the row. Given that they do in x, this is the probability
    that they all lie in what both rows share. The paper replaces it by (x . x' / b)^s, which is never smaller.

    Parameters
    ----------
    overlap : int
        x . x', the number of ones that both rows have.
    n_ones : int
        b, the number of ones of each row; at least s, or nothing wins this way.
    n_connections : int
        s.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> from flybloom.paper.theory import binary_collision
    >>> binary_collision(90, 100, 3)
    0.7265
    >>> binary_collision(100, 100, 3)
    1.0
    """
    _require(1 <= n_connections <= n_ones, f"n_connections must be from 1 to n_ones={n_ones}", n_connections)
    _require(0 <= overlap <= n_ones, f"overlap must be from 0 to n_ones={n_ones}", overlap)
    return math.comb(overlap, n_connections) / math.comb(n_ones, n_connections)


def random_components(n_features: int, n_connections: int, n_samples: int, seed: Any = None) -> NDArray[np.int64]:
    """Draw theta ~ Q: sets of s different features, each set as likely as any other.

    Parameters
    ----------
    n_features, n_connections : int
        d and s.
    n_samples : int
        How many sets.
    seed : int, Generator or None, default=None
        For numpy.random.default_rng.

    Returns
    -------
    ndarray of shape (n_samples, n_connections)
        The features.

    Examples
    --------
    >>> from flybloom.paper.theory import random_components
    >>> random_components(10, 3, 500, seed=0).shape
    (500, 3)
    """
    _require(1 <= n_connections <= n_features, f"n_connections must be from 1 to {n_features}", n_connections)
    generator = np.random.default_rng(seed)
    chosen = np.empty((n_samples, n_connections), np.int64)
    for k, last in enumerate(range(n_features - n_connections, n_features)):  # Floyd's algorithm, for all sets at once
        drawn = generator.integers(0, last + 1, n_samples)
        is_taken = (chosen[:, :k] == drawn[:, None]).any(axis=1)
        chosen[:, k] = np.where(is_taken, last, drawn)
    return chosen


def threshold(sums: Any, share: float) -> float:
    """Return tau_x(f), the largest v that at least a share f of the sums reaches.

    Parameters
    ----------
    sums : array-like of shape (n_samples,)
        theta . x for many components theta.
    share : float
        f, above 0 and up to 1; rho / m for the winners.

    Returns
    -------
    float
        One of the sums.

    Examples
    --------
    >>> from flybloom.paper.theory import threshold
    >>> threshold([5, 1, 4, 2, 3], 0.4)
    4.0
    """
    _require(0 < share <= 1, "share must be above 0 and up to 1", share)
    values = np.asarray(sums, np.float64).ravel()
    rank = min(values.size, max(1, math.ceil(share * values.size - 1e-9)))
    return float(np.partition(values, values.size - rank)[values.size - rank])


def collision(
    x: Any, others: Any, n_connections: int, winner_share: float, *, n_samples: int = 100_000, seed: Any = None
) -> NDArray[np.float64]:
    """Estimate q(x, x') for any rows by drawing components.

    Exactly the share of the drawn components wins that is asked for, ties to the first drawn, as in the hash.

    Parameters
    ----------
    x : array-like of shape (n_features,)
        The row.
    others : array-like of shape (n_others, n_features)
        The rows x'.
    n_connections : int
        s.
    winner_share : float
        rho / m.
    n_samples : int, default=100_000
        How many components are drawn; about ``n_samples * winner_share`` of them win, and the error of the estimate
        is at most one over twice the square root of that.
    seed : int, Generator or None, default=None
        For numpy.random.default_rng.

    Returns
    -------
    ndarray of shape (n_others,)
        Estimates of q(x, x').

    Examples
    --------
    >>> import numpy as np
    >>> from flybloom.paper.theory import collision
    >>> x = np.arange(20.0)
    >>> collision(x, [x, 2 * x + 1, x[::-1]], 4, 0.05, seed=0)
    array([1., 1., 0.])
    """
    x, others = np.asarray(x, np.float64), np.atleast_2d(np.asarray(others, np.float64))
    _require(others.shape[1:] == x.shape, f"others must have the {x.size} features of x", others.shape)
    components = random_components(x.size, n_connections, n_samples, seed)
    wins = _wins(_sums(x[None], components)[0], winner_share)
    estimates = np.empty(len(others))
    step = max(1, VALUES_AT_ONCE // components.size)
    for begin in range(0, len(others), step):
        for i, sums in enumerate(_sums(others[begin : begin + step], components), begin):
            estimates[i] = _wins(sums, winner_share)[wins].mean()
    return estimates


def novelty_bounds(collisions: Iterable[float]) -> NoveltyBounds:
    """Return the bounds of Lemma 1 for the expected binary novelty of a row to a class.

    Parameters
    ----------
    collisions : iterable of float
        q(x, x') for every row x' of the class.

    Returns
    -------
    NoveltyBounds
        ``lower = 1 - sum(q)``, at least 0, and ``upper = 1 - max(q)``. The paper states the upper bound for the nearest
        row; it holds for every row, so the largest q is taken.

    Examples
    --------
    >>> from flybloom.paper.theory import novelty_bounds
    >>> novelty_bounds([0.5, 0.125])
    NoveltyBounds(lower=0.375, upper=0.5)
    """
    values = np.fromiter(collisions, np.float64)
    return NoveltyBounds(max(0.0, 1.0 - math.fsum(values)), 1.0 - float(values.max(initial=0.0)))


def _sums(rows: NDArray[np.float64], components: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return theta . x for each row and component."""
    total = np.zeros((len(rows), len(components)))
    for k in range(components.shape[1]):
        total += rows[:, components[:, k]]
    return total


def _wins(sums: NDArray[np.float64], share: float) -> NDArray[np.bool_]:
    """Return which components win: exactly that share of them, ties to the first, as in the hash."""
    least = threshold(sums, share)
    wins = sums > least
    ties = np.flatnonzero(sums == least)
    wins[ties[: max(1, math.ceil(share * sums.size - 1e-9)) - int(wins.sum())]] = True
    return wins


def _require(is_true: bool, expected: str, got: object) -> None:
    """Raise an error for an argument in one sentence."""
    if not is_true:
        msg = f"{expected}. Got {got!r} instead."
        raise ValueError(msg)
