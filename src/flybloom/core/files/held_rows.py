"""Rows that a model holds back until they are enough to fix an encoding, as arrays of its file."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from flybloom._internal.typing import Array
from flybloom.core.counts.label_json import labels_from_json, labels_to_json
from flybloom.core.recipe import Block, Held, Recipe

HELD_ARRAYS = frozenset({"held_rows", "held_columns", "held_starts", "held_weights", "held_targets"})


def held_to_parts(held: Held) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return facts for JSON, and arrays."""
    rows, labels, weights = held.block
    targets = None if labels is None or labels.ndim == 1 else labels
    facts: dict[str, Any] = {
        "labels": None if labels is None or targets is not None else labels_to_json_in_order(labels),
        "known": {name: labels_to_json_in_order(values) for name, values in held.known.items() if values is not None},
    }
    arrays = {"held_weights": weights.astype(np.uint64)}
    if targets is not None:
        arrays["held_targets"] = np.ascontiguousarray(targets)
    if not sparse.issparse(rows):
        return facts, {**arrays, "held_rows": np.ascontiguousarray(rows)}
    arrays |= {"held_rows": rows.data, "held_columns": rows.indices.astype(np.uint64)}
    return facts, {**arrays, "held_starts": rows.indptr.astype(np.uint64)}


def held_from_parts(facts: Any, arrays: dict[str, Array], n_features: int, recipe: Recipe) -> Held:
    """Return the rows that a file holds; ValueError where there can be none."""
    rows, weights = arrays.get("held_rows"), arrays.get("held_weights")
    if rows is None or weights is None or not isinstance(facts, dict) or not isinstance(facts.get("known"), dict):
        msg = "rows that are held back are incomplete"
        raise ValueError(msg)
    n = weights.size
    features: Any = rows
    if "held_starts" in arrays and "held_columns" in arrays:
        starts, columns = arrays["held_starts"].astype(np.int64), arrays["held_columns"].astype(np.int64)
        is_right = (
            rows.ndim == starts.ndim == columns.ndim == 1
            and starts.size == n + 1
            and starts[0] == 0
            and starts[-1] == columns.size == rows.size
            and bool((np.diff(starts) >= 0).all())
            and bool(((columns >= 0) & (columns < n_features)).all())
        )
        if is_right:
            features = sparse.csr_matrix((rows, columns, starts), (n, n_features))
            features.sum_duplicates()
    else:
        is_right = rows.shape == (n, n_features)
    is_right = is_right and n > 0 and weights.ndim == 1 and weights.dtype == np.uint64 and rows.dtype == np.float64
    if not is_right or np.isinf(rows).any() or (weights > 2**29).any():
        msg = "rows that are held back have a wrong shape or impossible values"
        raise ValueError(msg)
    stored = facts.get("labels")
    labels = arrays.get("held_targets") if stored is None else labels_from_json_in_order(stored)
    if labels is not None and (len(labels) != n or (stored is None and not _are_targets(labels))):
        msg = "rows that are held back have too few or too many labels"
        raise ValueError(msg)
    known = {"announced": labels_from_json_in_order(facts["known"].get("announced"))} if facts["known"] else {}
    return Held(Block(features, labels, weights.astype(np.int64)), recipe, known, n_counted=n)


def _are_targets(values: Array) -> bool:
    """Return whether values can be targets of rows."""
    return values.dtype == np.float64 and values.ndim == 2 and bool(np.isfinite(values).all())  # noqa: PLR2004


def labels_to_json_in_order(labels: Array) -> dict[str, Any]:
    """Return labels that may repeat as JSON: the different ones, and which of them each is."""
    classes, codes = np.unique(labels, return_inverse=True)
    return {"classes": labels_to_json(classes), "codes": codes.tolist()}


def labels_from_json_in_order(stored: Any) -> Array:
    """Return the labels; ValueError where there can be none."""
    try:
        classes, codes = labels_from_json(stored["classes"]), np.array(stored["codes"], np.int64)
        if codes.ndim != 1 or not ((codes >= 0) & (codes < classes.size)).all():
            raise ValueError  # noqa: TRY301
        return classes[codes]
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        msg = "labels of rows that are held back are wrong"
        raise ValueError(msg) from error
