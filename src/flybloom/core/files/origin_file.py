"""The rows that a hash was derived from, as arrays of a model's file."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from flybloom._internal.typing import Array, Features
from flybloom.core.counts.base import MAX_ROWS, Counts
from flybloom.core.counts.label_json import labels_from_json, labels_to_json
from flybloom.core.model import Origin, Recipe
from flybloom.core.sketch import EVERYTHING, Block, Sketch, compacted, stored_sketch

PREFIX, OLD_PREFIX = "sketch", "held"  # until format 5, rows were held back to fix an encoding
NAMES = ("rows", "columns", "starts", "weights", "targets")
ORIGIN_ARRAYS = frozenset(f"{prefix}_{name}" for prefix in (PREFIX, OLD_PREFIX) for name in NAMES)


def origin_to_parts(origin: Origin) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return facts for JSON, and arrays."""
    sketch = origin.sketch
    facts, arrays = rows_to_parts(Block(compacted(sketch.rows), sketch.labels, sketch.weights), PREFIX)
    facts["is_whole"] = origin.is_whole
    if origin.is_handed_over:
        facts["is_handed_over"] = True
    if origin.announced is not None:
        facts["announced"] = labels_to_json(np.unique(origin.announced))
    if not sketch.is_all:
        classes = None if sketch.classes is None else labels_to_json(sketch.classes)
        facts |= {"bound": int(sketch.bound), "classes": classes, "totals": sketch.totals.tolist()}
    return facts, arrays


def origin_from_parts(
    facts: dict[str, Any], arrays: dict[str, Array], n_features: int, recipe: Recipe, counts: Counts
) -> Origin | None:
    """Return the rows that a file holds, or None if it holds none; ValueError if it is invalid."""
    is_old = OLD_PREFIX in facts
    if not arrays and not is_old and PREFIX not in facts:
        return None
    own, prefix = facts.get(OLD_PREFIX if is_old else PREFIX), OLD_PREFIX if is_old else PREFIX
    _require(isinstance(own, dict) and {name.partition("_")[0] for name in arrays} == {prefix}, "are incomplete")
    assert isinstance(own, dict)  # noqa: S101 - for mypy
    known = own.get("known") if is_old else None
    _require(known is None or isinstance(known, dict), "do not say what is known")
    block = rows_from_parts(own, arrays, n_features, prefix)
    if recipe.has_positions and block.labels is None:
        block = block._replace(labels=np.arange(len(block.weights)))
    has_labels = hasattr(counts, "classes") or counts.grid is not None or recipe.has_positions
    _require(block.labels is not None or not has_labels, "lack labels")
    announced = _announced(known, own)
    is_whole = True if is_old else own.get("is_whole")
    _require(type(is_whole) is bool, "do not say whether they are all rows")
    sketch = _sketch(own, block, recipe)
    classes = getattr(counts, "classes", None)
    is_known = block.labels is None or counts.knows(block.labels)
    is_in_training = facts.get("training") is not None  # the sketch is of rows that are counted later
    is_counted = is_in_training or classes is None or sketch.classes is None or np.isin(sketch.classes, classes).all()
    _require(is_known and is_counted, "have labels that were not counted")
    if is_whole:
        _require(sketch.is_all and sketch.n_rows == counts.n_rows, "are not those that were counted")
    is_handed_over = own.get("is_handed_over", False)
    _require(
        is_handed_over is False or (is_handed_over is True and sketch.n_rows == 0), "are not those of another model"
    )
    return Origin(
        recipe, sketch, bool(is_whole), announced=announced, n_changed=int(is_old), is_handed_over=is_handed_over
    )


def rows_to_parts(block: Block, prefix: str) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return rows as facts for JSON, and arrays whose names begin alike."""
    rows, labels, weights = block
    facts: dict[str, Any] = {"labels": labels_in_order(labels) if labels is not None and labels.ndim == 1 else None}
    if labels is not None and labels.ndim > 1 and labels.dtype.kind != "f":  # labels of several outputs
        classes, codes = np.unique(labels, return_inverse=True)
        facts["labels"], labels = labels_to_json(classes), codes.reshape(labels.shape).astype(np.uint32)
    arrays = {f"{prefix}_weights": weights.astype(np.uint64)}
    if labels is not None and labels.ndim > 1:
        arrays[f"{prefix}_targets"] = np.ascontiguousarray(labels)
    if not sparse.issparse(rows):
        return facts, {**arrays, f"{prefix}_rows": np.ascontiguousarray(rows)}
    arrays |= {f"{prefix}_rows": rows.data, f"{prefix}_columns": rows.indices.astype(np.uint64)}
    return facts, {**arrays, f"{prefix}_starts": rows.indptr.astype(np.uint64)}


def rows_from_parts(facts: dict[str, Any], arrays: dict[str, Array], n_features: int, prefix: str) -> Block:
    """Return rows that a file holds; ValueError if it is invalid."""
    rows, columns, starts, weights, targets = (arrays.get(f"{prefix}_{name}") for name in NAMES)
    _require(rows is not None and weights is not None, "are incomplete")
    assert rows is not None  # noqa: S101 - for mypy
    assert weights is not None  # noqa: S101
    n, features = weights.size, _features(rows, columns, starts, n_features, weights.size)
    _require(weights.shape == (n,) and weights.dtype == np.uint64, "have no weights")
    _require(not (weights > MAX_ROWS).any(), "have impossible weights")
    _require(
        rows.dtype.kind in "iuf" and not (rows.dtype.kind == "f" and np.isinf(rows).any()), "have impossible values"
    )
    stored = facts.get("labels")
    labels = targets if stored is None else labels_from_order(stored) if targets is None else None
    if stored is not None and targets is not None:
        classes = _classes(stored)
        _require(targets.dtype == np.uint32 and bool((targets < classes.size).all()), "have no labels")
        labels = targets = classes[targets]
    _require(labels is None or (labels.shape == (n,) or labels is targets), "have too few or too many labels")
    if targets is not None:
        is_right = targets.ndim == 2 and len(targets) == n and (stored is not None or targets.dtype == np.float64)  # noqa: PLR2004
        _require(is_right and (stored is not None or np.isfinite(targets).all()), "have no numbers as targets")
    return Block(features, labels, weights.astype(np.int64))


def labels_in_order(labels: Array) -> dict[str, Any]:
    """Return labels that may repeat as JSON: the different ones, and which of them each is."""
    classes, codes = np.unique(labels, return_inverse=True)
    return {"classes": labels_to_json(classes), "codes": codes.tolist()}


def labels_from_order(stored: Any) -> Array:
    """Return the labels; ValueError if it is invalid."""
    try:
        classes, codes = labels_from_json(stored["classes"]), np.array(stored["codes"], np.int64)
        if codes.ndim != 1 or not ((codes >= 0) & (codes < classes.size)).all():
            raise ValueError  # noqa: TRY301
        return classes[codes]
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        msg = "labels of its rows are wrong"
        raise ValueError(msg) from error


def _features(rows: Array, columns: Array | None, starts: Array | None, n_features: int, n: int) -> Features:
    """Return rows as they were, dense or sparse."""
    if columns is None or starts is None:
        _require(rows.shape == (n, n_features), "have a wrong shape")
        return rows
    begins, at = starts.astype(np.int64), columns.astype(np.int64)
    _require(
        rows.ndim == begins.ndim == at.ndim == 1
        and begins.size == n + 1
        and begins[0] == 0
        and begins[-1] == at.size == rows.size
        and bool((np.diff(begins) >= 0).all())
        and bool(((at >= 0) & (at < n_features)).all()),
        "have a wrong shape",
    )
    features = sparse.csr_matrix((rows, at, begins), (n, n_features))
    features.sum_duplicates()
    return features


def _sketch(facts: dict[str, Any], block: Block, recipe: Recipe) -> Sketch:
    """Return the sketch of the rows of a file."""
    sketch = Sketch.of(block.rows, block.labels, block.weights, by_class=not recipe.has_positions)
    if "bound" not in facts:
        return sketch
    bound, totals = facts["bound"], facts.get("totals")
    _require(type(bound) is int and 0 <= bound <= int(EVERYTHING), "have no bound")
    is_right = isinstance(totals, list) and all(type(n) is int and 0 < n <= MAX_ROWS for n in totals)
    _require(is_right and totals, "do not say how many there were")
    stored = facts.get("classes")
    classes = None if stored is None else _classes(stored)
    _require((classes is None) == (sketch.classes is None), "have other labels than they say")
    found = stored_sketch(sketch, np.uint64(bound), classes, np.array(totals, np.int64))
    _require(found is not None, "do not fit the rows they are a sample of")
    assert found is not None  # noqa: S101 - for mypy
    return found


def _announced(known: Any, own: dict[str, Any]) -> Array | None:
    """Return labels that were announced; older files keep them in their order."""
    if known:
        return labels_from_order(known.get("announced"))
    stored = own.get("announced")
    return None if stored is None else _classes(stored)


def _classes(stored: Any) -> Array:
    """Return labels that differ; ValueError if it is invalid."""
    try:
        return labels_from_json(stored)
    except (TypeError, OverflowError) as error:
        msg = "labels of its rows are wrong"
        raise ValueError(msg) from error


def _require(is_true: object, otherwise: str) -> None:
    """Raise an error for rows that no sketch can have."""
    if not is_true:
        msg = f"the rows that its hash was derived from {otherwise}"
        raise ValueError(msg)
