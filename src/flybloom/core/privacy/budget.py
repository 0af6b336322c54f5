"""Privacy accounting."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, NamedTuple

from flybloom.exceptions import PrivacyError

MECHANISMS = ("laplace", "gaussian", "top")
NO_RELEASE = (0.0, 0.0)
"""The limit of models of windows. No user can ask for it, so it says nothing else, and 0.2.0 refuses by it as well."""


class Spent(NamedTuple):
    """Cost of one release.

    Parameters
    ----------
    mechanism : str
        The mechanism.
    epsilon, delta : float
        The guarantee: for neighbouring data sets, probabilities differ by a factor of at most ``exp(epsilon)``, except
        with probability `delta`.
    zcdp : float
        The cost in zero-concentrated differential privacy, whose composition is tighter.
    variance : float
        Variance of the noise of a count.
    max_rows : int
        Maximum number of rows of one person.
    is_seeded : bool
        Whether the noise came from a seed, and can be reproduced by those who know it.
    """

    mechanism: str
    epsilon: float
    delta: float
    zcdp: float
    variance: float
    max_rows: int
    is_seeded: bool

    def to_json(self) -> dict[str, Any]:
        """Return the state that files store."""
        return self._asdict()

    @staticmethod
    def from_json(stored: Any) -> Spent:
        """Restore the state from a file; ValueError if it is invalid."""
        is_right = isinstance(stored, dict) and set(stored) == set(Spent._fields)
        if is_right:
            numbers = [stored[name] for name in ("epsilon", "delta", "zcdp", "variance")]
            is_right = (
                stored["mechanism"] in MECHANISMS
                and all(type(x) in (int, float) and 0 <= x < math.inf for x in numbers)
                and stored["epsilon"] > 0
                and stored["delta"] < 1
                and type(stored["max_rows"]) is int
                and stored["max_rows"] > 0
                and type(stored["is_seeded"]) is bool
            )
        if not is_right:
            msg = "a release does not say what it cost"
            raise ValueError(msg)
        return Spent(**stored)


class Ledger(NamedTuple):
    """All releases of a model, and their limit.

    Parameters
    ----------
    releases : tuple of Spent
        The releases in order.
    limit : tuple of (float, float) or None
        Limit of the total epsilon and delta.
    """

    releases: tuple[Spent, ...] = ()
    limit: tuple[float, float] | None = None

    def total(self, delta: float) -> float:
        """Return the total epsilon for a delta: the smaller of two bounds.

        Epsilons and deltas add up; so do costs in zero-concentrated differential privacy, where a pure epsilon costs
        half its square, and rho together are ``rho + 2 sqrt(rho log(1 / delta))`` (Bun and Steinke, 2016).
        """
        found = [math.inf]
        if not self.releases:
            return 0.0
        if sum(spent.delta for spent in self.releases) <= delta * (1 + 1e-12):
            found.append(sum(spent.epsilon for spent in self.releases))
        if delta > 0:
            rho = sum(spent.zcdp for spent in self.releases)
            found.append(rho + 2 * math.sqrt(rho * math.log(1 / delta)))
        return min(found)

    def with_limit(self, limit: tuple[float, float] | None) -> Ledger:
        """Return the ledger with a limit, which may be lowered but never raised."""
        if self.limit == NO_RELEASE:
            msg = (
                "This model was learned through a window: a row that comes makes others leave it or weigh less, so it "
                "changes the counts by more than the noise of a release hides. Learn rows that were chosen by "
                "something no row has a part in, such as those of one day, with a model of their own, fit(X, y), and "
                "release that."
            )
            raise PrivacyError(msg)
        if limit is None:
            return self
        if not _is_limit(limit):
            msg = (
                "The 'limit' parameter of release must be a pair (epsilon, delta) of an epsilon above 0 and a delta "
                f"from 0 to below 1. Got {limit!r} instead."
            )
            raise PrivacyError(msg)
        if self.limit is not None and (limit[0] > self.limit[0] or limit[1] > self.limit[1]):
            msg = (
                f"The limit of this model is epsilon={self.limit[0]:g}, delta={self.limit[1]:g}, and was fixed by an "
                f"earlier release. Got epsilon={limit[0]:g}, delta={limit[1]:g}. A limit can only be lowered."
            )
            raise PrivacyError(msg)
        return self._replace(limit=limit)

    def spend(self, spent: Spent) -> Ledger:
        """Return the ledger with one more release; PrivacyError beyond the limit."""
        ledger = self._replace(releases=(*self.releases, spent))
        if self.limit is None:
            return ledger
        epsilon, delta = self.limit
        total = ledger.total(delta)
        if total > epsilon * (1 + 1e-9):
            so_far = self.total(delta)
            msg = (
                f"Another release of epsilon={spent.epsilon:g}, delta={spent.delta:g} would make epsilon={total:.4g} "
                f"at delta={delta:g} of all {len(ledger.releases)} together; the limit is {epsilon:g}, and "
                f"{so_far:.4g} are spent. Release with a smaller epsilon, or use what was released before."
            )
            raise PrivacyError(msg)
        return ledger

    def joined(self, other: Ledger) -> Ledger:
        """Return the ledger of two models: the sum of both, which is an upper bound."""
        limits = [ledger.limit for ledger in (self, other) if ledger.limit is not None]
        limit = (min(x[0] for x in limits), min(x[1] for x in limits)) if limits else None
        return Ledger(self.releases + other.releases, limit)

    def to_json(self) -> dict[str, Any]:
        """Return the state that files store."""
        limit = None if self.limit is None else list(self.limit)
        return {"releases": [spent.to_json() for spent in self.releases], "limit": limit}

    @staticmethod
    def from_json(stored: Any) -> Ledger:
        """Restore the state from a file; ValueError if it is invalid."""
        if not (
            isinstance(stored, dict) and set(stored) == {"releases", "limit"} and isinstance(stored["releases"], list)
        ):
            msg = "its releases are no list"
            raise ValueError(msg)
        limit = stored["limit"]
        if limit is not None and not (
            isinstance(limit, list)
            and len(limit) == 2  # noqa: PLR2004
            and all(type(x) in (int, float) and 0 <= x < math.inf for x in limit)
        ):
            msg = "the limit of its releases is no pair of numbers"
            raise ValueError(msg)
        releases = tuple(Spent.from_json(entry) for entry in stored["releases"])
        return Ledger(releases, None if limit is None else (float(limit[0]), float(limit[1])))


def is_number(value: Any) -> bool:
    """Return whether a value is a number other than NaN and bool."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_limit(limit: Any) -> bool:
    """Return whether a limit is a valid pair of numbers."""
    is_pair = isinstance(limit, tuple | list) and len(limit) == 2 and all(map(is_number, limit))  # noqa: PLR2004
    return is_pair and 0 < limit[0] < math.inf and 0 <= limit[1] < 1
