"""Ways to hash the rows of a search: an encoding, fitted to all rows or to those of a fold, and a sign."""

from __future__ import annotations

from collections.abc import Callable

from flybloom._internal.typing import Array, Features, Weights, Winners
from flybloom.core.counts.weight_unit import WeightUnit
from flybloom.core.encoding.choice import Auto, Wanted, fitted_encoder
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.encoding.encoding import Encoding, Fitting
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.sketch import Sketch


def encoder_fitting(
    wanted: Wanted, X: Features, y: Array, features: Encoder, weights: Weights, unit: WeightUnit
) -> Callable[[Weights], Encoder]:
    """Return what fits an encoder to rows of given weights.

    The columns of a table and the choice of "auto" are those of all rows, so that the encoders of all folds have the
    same columns.
    """
    sample = Sketch.of(X, y, weights).sample(unit.per_row)
    encoding: Encoding | Encoder
    if isinstance(wanted, Auto):
        table = Fitting.of(features, sample, wanted.max_categories)
        assert table.sample is not None  # noqa: S101 - there are rows
        encoding, features = wanted.choose(features.kinds is not None, table.sample), table.encoder
    else:
        encoding = wanted
        if isinstance(wanted, Encoding):
            features = Fitting.of(features, sample, wanted.max_categories).encoder

    def encoder_of(weights: Weights) -> Encoder:
        return fitted_encoder(encoding, features, Sketch.of(X, y, weights).sample(unit.per_row))

    return encoder_of


def hasher_of(seed: int, signed: bool, encoder: Encoder, m: int, s: int, rho: int) -> Hasher:
    """Return how rows are hashed with these sizes."""
    return Hasher.of(encoder, seed, (m, s, rho), signed=signed)


def winners_of(
    X: Features, seed: int, signed: bool, n_jobs: int | None, encoder: Encoder, m: int, s: int, rho: int
) -> Winners:
    """Return the winners of all rows with these sizes."""
    return hasher_of(seed, signed, encoder, m, s, rho).winners(X, n_jobs, ranked=True)
