"""A quantile of values that each stand for several rows."""

from __future__ import annotations

import numpy as np

from flybloom._internal.typing import Array, Weights


def weighted_quantile(values: Array, weights: Weights, share: float) -> float:
    """Return ``np.quantile(np.repeat(values, weights), share)`` without repeating anything.

    Parameters
    ----------
    values : ndarray of shape (n,)
        The values, in any order.
    weights : ndarray of shape (n,)
        Integers: how often each value counts.
    share : float
        From 0 to 1.

    Returns
    -------
    float
        The quantile, interpolated between neighbouring values.

    Examples
    --------
    >>> import numpy as np
    >>> from flybloom.core.readout.weighted_quantile import weighted_quantile
    >>> weighted_quantile(np.array([3.0, 1.0]), np.array([1, 2]), 0.75)
    2.0
    """
    order = np.argsort(values, kind="stable")
    upto = np.cumsum(weights[order])
    at = share * (int(upto[-1]) - 1)
    below, above = (float(values[order[np.searchsorted(upto, int(place), "right")]]) for place in (at, np.ceil(at)))
    return below + (above - below) * (at - int(at))
