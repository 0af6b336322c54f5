"""Scores and classes traced back to the features that the winners sum."""

from __future__ import annotations

import numpy as np

from flybloom._internal.typing import Array, Codes, CountTable, Winners
from flybloom.core import _kernels


def feature_shares(
    rows: Array, winners: Winners, codes: Codes, connections: Array, signs: Array, weights: Array
) -> Array:
    """Return the share of each feature in the sum of the weights of each row's winners for its class in `codes`.

    `rows` are as they are hashed, `weights` of shape (n_components, n_classes). The shares of a row add up to the sum,
    up to rounding.
    """
    shares = np.zeros(rows.shape)
    _kernels.explain.add_shares(
        np.ascontiguousarray(rows, np.float64), winners, codes, connections, signs, weights, shares
    )
    return shares


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
