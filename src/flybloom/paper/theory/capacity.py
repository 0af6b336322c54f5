"""How full filters are, how much they can still hold, and how many rows decide a weight."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flybloom.exceptions import SaturationWarning

if TYPE_CHECKING:
    from numpy.typing import NDArray

SATURATED = 0.5
"""Novelty of an unrelated row below which a filter counts as saturated: half of what is new no longer looks new."""

WARN_AT = 0.8
"""Share of the rows until saturation from which on the meter warns."""


class Capacity(NamedTuple):
    """What the capacity meter shows.

    Attributes
    ----------
    load : float
        n rho / m: how often a component has won on average.
    occupancy : float
        Share of components that have won at all; expected, if winners were spread evenly.
    background : float
        Novelty of an unrelated row: 1 in an empty filter, 0 in a saturated one.
    used : float
        n over the number of rows until saturation; 1 is saturated.
    """

    load: float
    occupancy: float
    background: float
    used: float


def filter_load(n_rows: int, n_components: int, n_winners: int) -> float:
    """Return n rho / m, how often a component of a class wins on average.

    Parameters
    ----------
    n_rows, n_components, n_winners : int
        n, m and rho.

    Returns
    -------
    float
        The theorems ask for less than one: at most b / d for binary rows, delta / 14 for real ones.

    Examples
    --------
    >>> from flybloom.paper.theory import filter_load
    >>> filter_load(1000, 32768, 128)
    3.90625
    """
    return n_rows * n_winners / n_components


def expected_occupancy(n_rows: int, n_components: int, n_winners: int) -> float:
    """Return the share of components that have won at least once, if winners are spread evenly: 1 - (1 - rho/m)^n.

    Parameters
    ----------
    n_rows, n_components, n_winners : int
        n, m and rho.

    Returns
    -------
    float
        From 0 to 1. Real rows resemble each other and fill less.

    Examples
    --------
    >>> from flybloom.paper.theory import expected_occupancy
    >>> expected_occupancy(100, 32768, 128)
    0.324
    """
    return -math.expm1(n_rows * _log1m(n_winners / n_components))


def occupancy(counts: Any) -> NDArray[np.float64]:
    """Return the share of components that have won at least once, for each class.

    Parameters
    ----------
    counts : array-like of shape (n_classes, n_components)
        ``counts_`` of a fitted model.

    Returns
    -------
    ndarray of shape (n_classes,)
        From 0, empty, to 1, full.

    Examples
    --------
    >>> from flybloom.paper.theory import occupancy
    >>> occupancy([[0, 2, 0, 1], [0, 0, 0, 1]])
    array([0.5 , 0.25])
    """
    return np.asarray((np.atleast_2d(counts) > 0).mean(axis=1), np.float64)


def rows_until_saturated(n_components: int, n_winners: int, decay: float = 1.0) -> int:
    """Return the number of evenly spread rows after which an unrelated row has novelty 1/2.

    The expected weight of a component after n rows is (1 - c rho / m)^n.

    Parameters
    ----------
    n_components, n_winners : int
        m and rho.
    decay : float, default=1.0
        c.

    Returns
    -------
    int
        The number of rows; about 0.69 m / (c rho).

    Examples
    --------
    >>> from flybloom.paper.theory import rows_until_saturated
    >>> rows_until_saturated(32768, 128, decay=0.4)
    443
    """
    if decay * n_winners >= n_components:
        return 0
    return math.floor(math.log(SATURATED) / _log1m(decay * n_winners / n_components))


def capacity(n_rows: int, n_components: int, n_winners: int, decay: float = 1.0) -> Capacity:
    """Return the occupancy of the filter of a class, with a warning before it saturates.

    Rows are taken as spread evenly, which is the worst case: rows of one class resemble each other and share winners.
    For a fitted model compare with `occupancy` of its counts.

    Parameters
    ----------
    n_rows : int
        n, rows of the class.
    n_components, n_winners : int
        m and rho.
    decay : float, default=1.0
        c.

    Returns
    -------
    Capacity
        Load, expected occupancy, novelty of an unrelated row, and the share of the capacity that is used.

    Warns
    -----
    SaturationWarning
        From 80 % of the rows on after which an unrelated row is as much familiar as novel.

    Examples
    --------
    >>> from flybloom.paper.theory import capacity
    >>> capacity(100, 32768, 128, decay=0.4)
    Capacity(load=0.39, occupancy=0.324, background=0.855, used=0.226)
    """
    limit = rows_until_saturated(n_components, n_winners, decay)
    used = n_rows / limit if limit else math.inf
    if used >= WARN_AT:
        warnings.warn(
            f"{n_rows} rows of a class with {n_winners} winners of {n_components} components and decay {decay} use "
            f"{used:.0%} of the capacity of {limit} evenly spread rows. Raise n_components, or lower n_winners or "
            "decay.",
            SaturationWarning,
            stacklevel=2,
        )
    return Capacity(
        filter_load(n_rows, n_components, n_winners),
        expected_occupancy(n_rows, n_components, n_winners),
        math.exp(n_rows * _log1m(decay * n_winners / n_components)),
        used,
    )


def neighborhood_size(decay: float, epsilon: float) -> int:
    """Return how many wins decide a weight of the non-binary filter: t >= ln(1 / epsilon) / c.

    Parameters
    ----------
    decay : float
        c, above 0 and up to 1.
    epsilon : float
        The weight that counts as zero, above 0 and below 1.

    Returns
    -------
    int
        The smallest whole t that the paper's bound allows. Because (1 - c)^t <= exp(-c t), the weight is at most
        epsilon from there on.

    Examples
    --------
    >>> from flybloom.paper.theory import neighborhood_size
    >>> neighborhood_size(0.5, 0.01)
    10
    """
    return math.ceil(math.log(1 / epsilon) / decay)


def _log1m(x: float) -> float:
    """Return ln(1 - x), minus infinity at 1."""
    return math.log1p(-x) if x < 1 else -math.inf
