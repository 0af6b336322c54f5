"""Calibration with rows: temperatures of least log-loss, thresholds, and weighted quantiles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax

from flybloom._internal.typing import Array, Codes, Novelty, Weights

MIN_TEMPERATURE, MAX_TEMPERATURE = 1e-4, 1e4
USUAL = 0.5  # where no row can tell


def fitted_temperature(novelty: Novelty, codes: Codes, weights: Weights | None = None) -> float:
    """Return the temperature at which the softmax of minus the novelty has the smallest log-loss.

    With ``b = 1 / temperature`` the loss of a row of class y is ``b f_y + log(sum_i exp(-b f_i))``: convex in b. Its
    slope, ``f_y - sum_i p_i f_i``, is added up exactly, so the order of the rows does not matter. The temperature
    stays within 1e-4 and 1e4, where rows that are all right, or no better than chance, would lead it beyond.

    Parameters
    ----------
    novelty : ndarray of shape (n, n_classes)
        Out-of-sample novelties; infinite where a class was not known.
    codes : ndarray of shape (n,)
        The class of each row, as a column of `novelty`.
    weights : ndarray of shape (n,) or None, default=None
        How much each row counts.

    Returns
    -------
    float
        The temperature; 1 if no row can tell.

    Examples
    --------
    >>> import numpy as np
    >>> from flybloom.core.readout.temperature import fitted_temperature
    >>> novelty = np.array([[0.2, 0.6], [0.2, 0.6], [0.2, 0.6], [0.2, 0.6]])
    >>> fitted_temperature(novelty, np.array([0, 0, 0, 1]))  # three of four are right: exp(0.4 / T) = 3
    0.3641
    """
    own = np.take_along_axis(novelty, codes[:, None], axis=1)[:, 0]
    is_known = np.isfinite(own) & (True if weights is None else weights > 0)
    own, novelty = own[is_known], novelty[is_known]
    counts: Any = 1 if weights is None else weights[is_known]
    if own.size == 0:
        return 1.0
    finite = np.where(np.isfinite(novelty), novelty, 0.0)

    def slope(b: float) -> float:
        probability = softmax(-b * novelty, axis=1)
        return math.fsum((own - np.einsum("ij,ij->i", probability, finite)) * counts) / own.size

    if not slope(1 / MAX_TEMPERATURE) < 0:
        return MAX_TEMPERATURE if slope(1 / MAX_TEMPERATURE) > 0 else 1.0
    if slope(1 / MIN_TEMPERATURE) <= 0:
        return MIN_TEMPERATURE
    return 1.0 / float(brentq(slope, 1 / MAX_TEMPERATURE, 1 / MIN_TEMPERATURE))


def even_threshold(scores: Array, has_label: Array, weights: Array) -> float:
    """Return the threshold that about as many rows exceed as have the label, halfway between two scores.

    Then precision and recall are equal. The threshold of largest F1 gives nearly all rows a label that rows tell
    nothing of.
    """
    order = np.argsort(-scores, kind="stable")
    ordered, upto = scores[order], np.cumsum(weights[order])
    n_positive = float(has_label @ weights)
    if not 0 < n_positive < upto[-1]:
        return USUAL
    ends = np.flatnonzero(ordered[1:] < ordered[:-1])  # equal scores stay together
    if ends.size == 0:
        return USUAL
    at = ends[np.abs(upto[ends] - n_positive).argmin()]
    return float((ordered[at] + ordered[at + 1]) / 2)


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
    >>> from flybloom.core.readout.temperature import weighted_quantile
    >>> weighted_quantile(np.array([3.0, 1.0]), np.array([1, 2]), 0.75)
    2.0
    """
    order = np.argsort(values, kind="stable")
    upto = np.cumsum(weights[order])
    at = share * (int(upto[-1]) - 1)
    below, above = (float(values[order[np.searchsorted(upto, int(place), "right")]]) for place in (at, np.ceil(at)))
    return below + (above - below) * (at - int(at))
