"""Noise mechanisms for counts, calibrated and drawn by OpenDP.

A row changes rho counts of one class by one each, so the sensitivity of all counts is rho (L1), sqrt(rho) (L2) and 1
(per count), without any clipping.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from flybloom._internal.typing import Array, CountTable
from flybloom.core.privacy.budget import MECHANISMS, Spent, is_number
from flybloom.exceptions import PrivacyError, require_extra


class Request(NamedTuple):
    """Parameters of a release.

    Parameters
    ----------
    epsilon, delta : float
        The guarantee.
    mechanism : {"auto", "laplace", "gaussian", "top"}
        "auto" is "laplace" without a delta, else "gaussian".
    n_winners : int
        Winners of each row.
    max_rows : int
        Maximum number of rows of one person, weights included.
    n_kept : int
        Number of counts that "top" keeps.
    """

    epsilon: float
    delta: float
    mechanism: str
    n_winners: int
    max_rows: int = 1
    n_kept: int = 0

    @property
    def l1(self) -> int:
        """L1 sensitivity to one person."""
        return self.max_rows * self.n_winners

    @property
    def l2(self) -> float:
        """L2 sensitivity to one person, whose rows may all be equal."""
        return self.max_rows * math.sqrt(self.n_winners) * (1 + 1e-12)


def check_request(request: Request, n_cells: int) -> Request:
    """Return the request with its resolved mechanism; PrivacyError if it is invalid."""
    epsilon, delta, mechanism = request.epsilon, request.delta, request.mechanism
    if not (is_number(epsilon) and 0 < epsilon < math.inf):
        msg = f"The 'epsilon' parameter of release must be a number above 0. Got {epsilon!r} instead."
        raise PrivacyError(msg)
    if not (is_number(delta) and 0 <= delta < 1):
        msg = f"The 'delta' parameter of release must be from 0 to below 1. Got {delta!r} instead."
        raise PrivacyError(msg)
    if mechanism == "auto":
        mechanism = "gaussian" if delta > 0 else "laplace"
    if not (isinstance(mechanism, str) and mechanism in MECHANISMS):
        msg = f"The 'mechanism' parameter of release must be 'auto' or one of {MECHANISMS}. Got {mechanism!r} instead."
        raise PrivacyError(msg)
    if mechanism == "gaussian" and delta == 0:
        msg = "Gaussian noise needs a delta above 0. Got 0. Give one, such as 1e-6, or use mechanism='laplace'."
        raise PrivacyError(msg)
    if mechanism == "laplace" and delta > 0:
        msg = f"Laplace noise needs no delta. Got {delta:g}. Leave it out, or use mechanism='gaussian'."
        raise PrivacyError(msg)
    if mechanism == "top" and not (isinstance(request.n_kept, Integral) and 0 < request.n_kept <= n_cells):
        msg = (
            f"mechanism='top' keeps n_kept of the {n_cells} counts. Expected a number from 1 to {n_cells}. "
            f"Got {request.n_kept!r} instead."
        )
        raise PrivacyError(msg)
    return request._replace(mechanism=mechanism)


def noisy(counts: CountTable, request: Request, generator: np.random.Generator | None) -> tuple[Array, Spent]:
    """Return noisy counts and their cost.

    Without a generator, OpenDP uses the randomness of the operating system. A seeded generator is for tests only.
    """
    require_extra("opendp", "privacy", "A private release")
    request = check_request(request, counts.size)
    values = counts.astype(np.int64).ravel()
    release = {"laplace": _laplace, "gaussian": _gaussian, "top": _top}[request.mechanism]
    noised, zcdp, variance = release(values, request, generator)
    spent = Spent(
        request.mechanism,
        float(request.epsilon),
        float(request.delta),
        zcdp,
        variance,
        request.max_rows,
        generator is not None,
    )
    return noised.reshape(counts.shape), spent


def _laplace(values: Array, request: Request, generator: np.random.Generator | None) -> tuple[Array, float, float]:
    """Add discrete Laplace noise to all counts."""
    scale = laplace_scale(request.epsilon, request.l1)
    return _with_laplace(values, scale, generator), request.epsilon**2 / 2, 2 * scale**2


def _gaussian(values: Array, request: Request, generator: np.random.Generator | None) -> tuple[Array, float, float]:
    """Add discrete Gaussian noise to all counts."""
    scale = gaussian_scale(request.epsilon, request.delta, request.l2)
    return _with_gaussian(values, scale, generator), (request.l2 / scale) ** 2 / 2, scale**2


def _top(values: Array, request: Request, generator: np.random.Generator | None) -> tuple[Array, float, float]:
    """Keep the largest counts by report-noisy-top-k, with noise; the others become 0.

    Half of the budget is for the selection, half for the values. Adding Gumbel noise once and taking the n_kept largest
    equals n_kept applications of the exponential mechanism without replacement. Adding a row can only raise counts,
    which halves the noise.
    """
    n = request.n_kept
    reach = min(n * request.max_rows, request.l1)  # of the counts that are told, together
    if request.delta == 0:
        choice_scale = 2 * n * request.max_rows / request.epsilon
        chosen = _largest(values, n, choice_scale, request.max_rows, generator, is_pure=True)
        scale = laplace_scale(request.epsilon / 2, reach)
        told, zcdp, variance = _with_laplace(values[chosen], scale, generator), request.epsilon**2 / 2, 2 * scale**2
    else:
        zcdp = 0.5 / gaussian_scale(request.epsilon, request.delta, 1.0) ** 2
        choice_scale = request.max_rows * math.sqrt(n / (4 * zcdp)) * (1 + 1e-9)
        chosen = _largest(values, n, choice_scale, request.max_rows, generator, is_pure=False)
        length = request.max_rows * math.sqrt(min(n, request.n_winners))
        scale = length / math.sqrt(zcdp)
        told, variance = _with_gaussian(values[chosen], scale, generator), scale**2
    result = np.zeros_like(values)
    result[chosen] = told
    return result, zcdp, variance


def _largest(
    values: Array, n: int, scale: float, max_rows: int, generator: np.random.Generator | None, *, is_pure: bool
) -> Array:
    """Return the indices of the n largest noisy counts."""
    if generator is not None:
        noise = generator.gumbel(scale=scale, size=values.size)
        return np.argpartition(-(values + noise), n - 1)[:n]
    dp = _opendp()
    measure = dp.max_divergence() if is_pure else dp.zero_concentrated_divergence()
    metric = dp.linf_distance(T="i64", monotonic=True)
    choose = dp.m.make_noisy_top_k(_domain(dp), metric, measure, k=n, scale=scale)
    _require_within(choose.map(max_rows), n * max_rows / scale if is_pure else n * (max_rows / scale) ** 2 / 8)
    return np.array(choose(values.tolist()), np.int64)


def _with_laplace(values: Array, scale: float, generator: np.random.Generator | None) -> Array:
    """Add discrete Laplace noise to integers."""
    if generator is None:
        dp = _opendp()
        return np.array(dp.m.make_laplace(_domain(dp), dp.l1_distance(T="i64"), scale=scale)(values.tolist()), np.int64)
    return values + seeded_laplace(generator, scale, values.size)


def _with_gaussian(values: Array, scale: float, generator: np.random.Generator | None) -> Array:
    """Add discrete Gaussian noise to integers."""
    if generator is None:
        dp = _opendp()
        return np.array(
            dp.m.make_gaussian(_domain(dp), dp.l2_distance(T="f64"), scale=scale)(values.tolist()), np.int64
        )
    return values + seeded_gaussian(generator, scale, values.size)


def seeded_laplace(generator: np.random.Generator, scale: float, n: int) -> Array:
    """Return discrete Laplace noise of a generator: the difference of two geometric numbers."""
    p = -math.expm1(-1.0 / scale)
    return np.asarray(generator.geometric(p, n) - generator.geometric(p, n), np.int64)


def seeded_gaussian(generator: np.random.Generator, scale: float, n: int) -> Array:
    """Return discrete Gaussian noise of a generator, by rejection from discrete Laplace noise.

    After Canonne, Kamath and Steinke (2020), with floats instead of fractions.
    """
    width = math.floor(scale) + 1
    result, n_found = np.empty(n, np.int64), 0
    while n_found < n:
        tried = seeded_laplace(generator, width, 2 * (n - n_found) + 16)
        accept = np.exp(-((np.abs(tried) - scale**2 / width) ** 2) / (2 * scale**2))
        kept = tried[generator.random(tried.size) < accept][: n - n_found]
        result[n_found : n_found + kept.size] = kept
        n_found += kept.size
    return result


def laplace_scale(epsilon: float, l1: int) -> float:
    """Return the smallest scale of Laplace noise that gives an epsilon."""
    dp = _opendp()
    return _least(lambda scale: dp.m.make_laplace(_domain(dp), dp.l1_distance(T="i64"), scale=scale), l1, epsilon)


@lru_cache(maxsize=64)
def gaussian_scale(epsilon: float, delta: float, l2: float) -> float:
    """Return the smallest scale of Gaussian noise that gives an epsilon and a delta."""
    dp = _opendp()

    def make(scale: float) -> Any:
        noise = dp.m.make_gaussian(_domain(dp), dp.l2_distance(T="f64"), scale=scale)
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(noise), delta=delta)

    return _least(make, l2, (epsilon, delta))


def _least(make: Callable[[float], Any], distance: Any, wanted: Any) -> float:
    """Return the smallest scale for which OpenDP confirms the privacy of a mechanism."""
    dp = _opendp()
    scale = float(dp.binary_search_param(make, d_in=distance, d_out=wanted))
    if not make(scale).check(distance, wanted):
        msg = f"No scale of noise gives {wanted} for a distance of {distance}. Choose a larger epsilon."
        raise PrivacyError(msg)
    return scale


def _require_within(cost: float, planned: float) -> None:
    """Raise an error if OpenDP reports a higher cost than planned."""
    if cost > planned * (1 + 1e-6):
        msg = f"OpenDP says that choosing counts costs {cost:g}, more than the {planned:g} planned. Upgrade opendp."
        raise PrivacyError(msg)


def _opendp() -> Any:
    """Return OpenDP with contributed features enabled."""
    import opendp.prelude as dp  # noqa: PLC0415 - heavy, and an extra

    dp.enable_features("contrib")
    return dp


def _domain(dp: Any) -> Any:
    """Return the domain of integer vectors."""
    return dp.vector_domain(dp.atom_domain(T="i64"))
