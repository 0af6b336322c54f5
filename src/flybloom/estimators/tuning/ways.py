"""Ways to hash the rows of a search: an encoding, fitted to all rows or to those of a fold, and a sign."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scipy import sparse

from flybloom._internal.typing import Array, Features, Weights, Winners
from flybloom.core.counts.weight_unit import WeightUnit
from flybloom.core.encoding.auto_encoding import Wanted
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.encoding.step import Plan
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.hashing.sizes import Sizes
from flybloom.core.recipe import Recipe


def fitting(
    wanted: Wanted, owner: str, X: Features, y: Array, features: Encoder, weights: Weights, unit: WeightUnit
) -> tuple[int, Callable[[Weights], Encoder]]:
    """Return how many columns are hashed, and what fits an encoder to rows of given weights.

    A table and the shape of images see no labels: those of all rows are those of each fold, so that all have the same
    columns.
    """
    is_sparse = sparse.issparse(X)

    def of_all(plan: Plan, encoder: Encoder) -> Any:
        return encoder.measure(plan, X, y, weights)

    table = wanted.tabled(features, of_all)
    encoding = wanted.resolved(table, of_all, is_sparse=is_sparse)
    recipe = Recipe(owner, encoding, Sizes(), signed=True, seed=0)

    def encoder_of(weights: Weights) -> Encoder:
        def measured(plan: Plan, encoder: Encoder) -> Any:
            return plan.in_rows(encoder.measure(plan, X, y, weights), unit.per_row)

        return recipe.hasher(table, measured, is_sparse=is_sparse).encoder

    return encoding.n_columns(table.n_outputs), encoder_of


def hasher_of(seed: int, signed: bool, encoder: Encoder, m: int, s: int, rho: int) -> Hasher:
    """Return how rows are hashed with these sizes."""
    return Hasher.of(encoder, seed, (m, s, rho), signed=signed)


def winners_of(
    X: Features, seed: int, signed: bool, n_jobs: int | None, encoder: Encoder, m: int, s: int, rho: int
) -> Winners:
    """Return the winners of all rows with these sizes."""
    return hasher_of(seed, signed, encoder, m, s, rho).winners(X, n_jobs, ranked=True)
