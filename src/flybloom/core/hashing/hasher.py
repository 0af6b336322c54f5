"""The hasher: an encoder and a projection."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from flybloom._internal.cached import cached_property
from flybloom._internal.hashed import room_for
from flybloom._internal.parallel import for_each_block
from flybloom._internal.typing import Array, Features, Winners, issparse
from flybloom.core.encoding.cuts import Cuts
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.hashing.differences import require_no_differences
from flybloom.core.hashing.ferns import Ferns
from flybloom.core.hashing.products import Products
from flybloom.core.hashing.projection import Projection, ranked
from flybloom.core.hashing.sizes import PRODUCT_CONNECTIONS, most_components

SIZES = ("n_features_in_", "n_components_", "n_connections_", "n_winners_", "seed_")
FIRST_STEP = {"step": "standardise"}  # the only one that files of format 1 have
MAX_FEATURES = 2**31  # a signed connection is a number below twice this, in 32 bits
MAX_COMPONENTS = 2**32 - 1
FEW_ROWS = 4  # whose winners are remembered


@dataclass(frozen=True, eq=False)
class Hasher:
    """A pure function from rows to winners.

    Parameters
    ----------
    encoder : Encoder
        The encoder.
    projection : Projection
        The connections, drawn from a seed.
    n_winners : int
        rho in the paper, with those of ferns; 0 where components have values and none wins.
    ferns : Ferns or None, default=None
        Ferns, whose components come after those of the projection.
    """

    encoder: Encoder
    projection: Projection
    n_winners: int
    ferns: Ferns | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without derived values."""
        return Hasher, (self.encoder, self.projection, self.n_winners, self.ferns)

    @staticmethod
    def of(encoder: Encoder, seed: int, sizes: tuple[int, int, int], *, signed: bool) -> Hasher:
        """Return the hasher of an encoder, a seed, and sizes m, s and rho."""
        m, s, rho = sizes
        if rho == 0:
            return Hasher(encoder, Products(seed, encoder.n_outputs, m, s, signed=False), rho)
        ferns = Ferns.of(encoder.step(Cuts), seed, m, rho)
        n_summed = m if ferns is None else m - ferns.n_components
        return Hasher(
            encoder, Projection(seed, encoder.n_outputs, n_summed, s, signed, encoder.hashed_grid), rho, ferns
        )

    @property
    def n_components(self) -> int:
        """Number of components, m in the paper, with those of ferns."""
        return self.projection.n_components + (0 if self.ferns is None else self.ferns.n_components)

    @property
    def n_summed_winners(self) -> int:
        """Number of winners of the projection, or of its values; those of ferns come after them."""
        if self.n_winners == 0:
            return self.n_components
        return self.n_winners - (0 if self.ferns is None else self.ferns.n_ferns)

    def for_each_block(self, X: Features, use: Callable[[slice, Winners], None], n_jobs: int | None = None) -> None:
        """Hash `X` in blocks on n_jobs threads, and pass the winners of each block, in ascending order, to `use`."""
        if 0 < X.shape[0] <= FEW_ROWS and not issparse(X):
            use(slice(0, X.shape[0]), self._winners_of_few(X))
            return
        encoder = self.encoder
        self._drawn_for(X)

        def work(block: slice) -> None:
            use(block, self._winners_of(encoder.encode(X[block])))

        for_each_block(work, X.shape[0], X.shape[1], n_jobs)

    def read(self, X: Features, out: Array, read: Callable[[Winners], Array], n_jobs: int | None = None) -> Array:
        """Fill an array with what is read from the winners of rows, and return it."""

        def write(block: slice, winners: Winners) -> None:
            out[block] = read(winners)

        self.for_each_block(X, write, n_jobs)
        return out

    def winners(self, X: Features, n_jobs: int | None = None) -> Winners:
        """Return the winners of all rows, in ascending order, or the values of their components."""
        winners: Array = room_for(X.shape[0], self.n_components, self.n_winners)
        self.for_each_block(X, winners.__setitem__, n_jobs)
        return winners

    def ranked_winners(self, X: Features, n_jobs: int | None = None) -> Winners:
        """Return the winners of all rows by descending sum, those of ferns last."""
        winners: Winners = np.empty((X.shape[0], self.n_winners), np.uint32)
        n_summed = self.n_summed_winners
        self._drawn_for(X)

        def work(block: slice) -> None:
            rows = self.encoder.encode(X[block])
            winners[block] = self._winners_of(rows)
            winners[block, :n_summed] = ranked(self.projection, rows, winners[block, :n_summed])

        for_each_block(work, X.shape[0], X.shape[1], n_jobs)
        return winners

    def _drawn_for(self, X: Features) -> None:
        """Draw connections and ferns once, not in several threads."""
        self.projection.prepare(is_sparse=issparse(X))
        _ = None if self.ferns is None else self.ferns.tests

    def _winners_of(self, rows: Features) -> Winners:
        """Return the winners of encoded rows, in ascending order."""
        if self.ferns is None:
            return self.projection.winners(rows, self.n_winners)
        n_summed = self.n_summed_winners
        winners: Winners = np.empty((rows.shape[0], self.n_winners), np.uint32)
        winners[:, :n_summed] = self.projection.winners(rows, n_summed)
        self.ferns.write(rows, self.projection.n_components, winners)
        return winners

    def _winners_of_few(self, X: Array) -> Winners:
        """Return the winners of few rows; the last are cached, because rows are often predicted and then learned."""
        rows = X.dtype, X.shape, X.tobytes()
        known, winners = self.__dict__.get("_latest", (None, None))
        if known != rows:
            winners = self._winners_of(self.encoder.encode(X))
            self.__dict__["_latest"] = rows, winners  # at once, whoever else does so
        return np.asarray(winners.copy())

    @cached_property
    def fields(self) -> dict[str, Any]:
        """Everything that determines the hash, as JSON."""
        return {
            "hash_version": self.projection.version,
            **self.encoder.fields(),
            "n_components_": self.n_components,
            "n_connections_": self.projection.n_connections,
            "n_winners_": self.n_winners,
            "signed_": self.projection.signed,
            "seed_": self.projection.seed,
        }

    @cached_property
    def fingerprint(self) -> str:
        """Identifier of this hash."""
        return hashlib.sha256(json.dumps(self.fields, sort_keys=True).encode()).hexdigest()[:32]

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return facts for JSON, and arrays, for files."""
        steps, arrays = self.encoder.to_parts()
        names = self.encoder.names
        facts: dict[str, Any] = {
            "hash_version": self.projection.version,
            "n_features_in_": self.encoder.n_features,
            "n_components_": self.n_components,
            "n_connections_": self.projection.n_connections,
            "n_winners_": self.n_winners,
            "seed_": self.projection.seed,
            "signed_": self.projection.signed,
            "feature_names_in_": None if names is None else list(names),
        }
        if any(entry != FIRST_STEP for entry in steps):  # the first format has no list of steps
            facts["encoding"] = steps
        if self.encoder.first_index is not None:
            facts["first_index"] = self.encoder.first_index
        if self.encoder.grid_shape is not None:
            facts |= {"encoding": steps, "grid_shape": list(self.encoder.grid_shape)}
        return facts, arrays

    @staticmethod
    def from_parts(facts: dict[str, Any], arrays: dict[str, Array]) -> tuple[Hasher, dict[str, Array]]:
        """Restore a hasher, and return the remaining arrays; ValueError if it is invalid."""
        for name in SIZES:
            _require(type(facts.get(name)) is int, f"{name} is not a whole number")
        _require(type(facts.get("signed_")) is bool, "signed_ is neither true nor false")
        d, m, s, rho, seed = (facts[name] for name in SIZES)
        _require(1 <= d <= MAX_FEATURES, f"n_features_in_={d} is out of range")
        _require(1 <= m <= MAX_COMPONENTS, f"n_components_={m} is out of range")
        _require(0 <= rho <= m, f"n_winners_={rho} is not between 0 and the {m} components")
        _require(0 <= seed < 2**64, f"seed_={seed} is out of range")
        names = facts.get("feature_names_in_")
        _require(
            names is None
            or (isinstance(names, list) and len(names) == d and all(isinstance(name, str) for name in names)),
            "its feature names are not one string for each feature",
        )
        steps = facts.get("encoding", [FIRST_STEP] if {"center", "scale"} & set(arrays) else [])
        _require(isinstance(steps, list) and all(isinstance(step, dict) for step in steps), "its encoding is no list")
        first_index = facts.get("first_index")
        _require(first_index is None or (type(first_index) is int and 0 <= first_index <= 1), "first_index is wrong")
        names = None if names is None else tuple(names)
        encoder = Encoder.from_parts(d, names, steps, arrays, facts.get("grid_shape"), first_index)
        _require(
            rho == 0 or 1 <= s <= encoder.n_outputs,
            f"n_connections_={s} is not between 1 and the {encoder.n_outputs} hashed columns",
        )
        most = most_components(encoder.n_outputs)
        is_right = rho > 0 or (s == PRODUCT_CONNECTIONS and m <= most and not facts["signed_"])
        _require(is_right, f"it has values of {m} products of {s} columns, with signs or without")
        hasher = Hasher.of(encoder, seed, (m, s, rho), signed=facts["signed_"])
        return hasher, {name: arrays[name] for name in arrays if name not in encoder.to_parts()[1]}

    def require_same(self, other: Hasher, action: str) -> None:
        """Raise an error for a different hasher."""
        if other is self:
            return
        require_no_differences(self.fields, other.fields, action)


def _require(is_true: object, otherwise: str) -> None:
    """Raise an error for a description unless something is true of it."""
    if not is_true:
        raise ValueError(otherwise)
