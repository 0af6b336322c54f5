"""Scores and classes traced back to the features that the winners sum."""

from __future__ import annotations

import numpy as np

from flybloom._internal.typing import Array, Codes, CountTable, Winners
from flybloom.core import _kernels
from flybloom.core.readout.weight_table import WeightTable


def feature_shares(
    rows: Array,
    winners: Winners,
    codes: Codes,
    connections: Array,
    signs: Array,
    counts: CountTable,
    tables: WeightTable,
    *,
    of_familiarity: bool,
) -> Array:
    """Return the share of each feature in the novelty of each row to its class in `codes`, or in the familiarity.

    `rows` are as they are hashed. The shares of a row are not negative and add up to its novelty, or familiarity, up to
    rounding.
    """
    tables = tables.complement() if of_familiarity else tables
    shares = np.zeros(rows.shape)
    _kernels.explain.add_shares(
        np.ascontiguousarray(rows, np.float64), winners, codes, connections, signs, counts, *tables, shares
    )  # fmt: skip
    return shares


def own_places(weights: Array) -> tuple[CountTable, WeightTable]:
    """Return weights of shape (n_components, n_classes) as `feature_shares` takes them: each at its own place."""
    m, n_classes = weights.shape
    places = np.repeat(np.arange(m)[:, None], n_classes, axis=1)
    starts, lasts = np.arange(n_classes) * m, np.full(n_classes, m - 1)
    return places, WeightTable(weights.T.astype(np.float64).ravel(), starts, lasts)


def class_profiles(
    counts: CountTable, class_count: Array, connections: Array, signs: Array, n_features: int, *, contrast: bool
) -> Array:
    """Return for each class how much its winners draw on each feature, of shape (n_classes, n_features).

    A component counts with the share of the class's rows in which it won; with `contrast`, with what that share exceeds
    the mean over the classes that have rows.
    """
    share = counts / np.maximum(class_count, 1)
    if contrast:
        is_met = class_count > 0
        share[:, is_met] -= share[:, is_met].mean(axis=1, keepdims=True)
    profiles = np.zeros((counts.shape[1], n_features))
    _kernels.explain.add_profiles(share, connections, signs, profiles)
    return profiles
