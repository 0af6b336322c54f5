"""Encoder steps and hashes as ONNX operators, with the same rounding.

`WRITERS` maps kinds of steps to functions. Other steps are refused by name. Sums of connections are a chain of
additions in the order of the connections: a reduction would be shorter, but runtimes may add in any order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flybloom.core._kernels._plain import LARGEST, LEAST_PIVOT
from flybloom.core.encoding import rotation
from flybloom.core.encoding.bins import SoftBins
from flybloom.core.encoding.columns import BiasColumns, Select
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.encoding.fill import Fill
from flybloom.core.encoding.relevance import Relevance
from flybloom.core.encoding.rotation import Rotation
from flybloom.core.encoding.standardise import MAX_PLAIN_CENTER, Standardise, WholeCenter
from flybloom.core.hashing.hasher import Hasher
from flybloom.export.graph import Graph, Value


@dataclass(frozen=True)
class Rows:
    """Rows between steps."""

    values: Value
    dtype: str
    n_columns: int
    missing: Value | None  # where values are missing; None where none can be

    def of(self, graph: Graph, dtype: str) -> Value:
        """Return the values as another type."""
        return self.values if dtype == self.dtype else graph.cast(self.values, dtype)

    def filled(self, graph: Graph) -> Rows:
        """Replace missing values by zeros."""
        if self.missing is None:
            return self
        zero = graph.constant(0, self.dtype)
        return replace(self, values=graph.node("Where", self.missing, zero, self.values), missing=None)


def encoded(graph: Graph, encoder: Encoder, X: Value, dtype: str) -> Rows:
    """Return encoded rows: float32, or int64 for integers that no step changes."""
    rows = _as_given(graph, encoder, X, dtype)
    for step in encoder.steps:
        rows = _after(graph, step, rows)
    rows = rows.filled(graph)
    hashed = "float32" if rows.dtype.startswith("float") else "int64"
    return Rows(rows.of(graph, hashed), hashed, rows.n_columns, None)


def columns_apart(graph: Graph, encoder: Encoder, X: Value, dtype: str) -> Value:
    """Return the columns of the trend as float64; see `Encoder.columns_apart`."""
    rows = _as_given(graph, encoder, X, dtype)
    for step in encoder.columns_steps():
        rows = _after(graph, step, rows)
    return rows.filled(graph).of(graph, "float64")


def _as_given(graph: Graph, encoder: Encoder, X: Value, dtype: str) -> Rows:
    """Return rows before the first step."""
    missing = graph.node("IsNaN", X) if dtype.startswith("float") else None
    return Rows(X, dtype, encoder.n_features, missing)


def _after(graph: Graph, step: Any, rows: Rows) -> Rows:
    """Return rows after a step."""
    if step.kind not in WRITERS:
        msg = (
            f"The step {step.kind!r} of the encoding has no operators of ONNX. Expected only "
            f"{', '.join(sorted(WRITERS))}. Encode the rows beforehand, or use another encoding."
        )
        raise ValueError(msg)
    return WRITERS[step.kind](graph, step, rows)


def _standardise(graph: Graph, step: Standardise, rows: Rows) -> Rows:
    """Standardise in float64, then round to float32 and clip."""
    if (np.abs(step.center) > MAX_PLAIN_CENTER).any():
        msg = "Centres of columns beyond 2**969 have no operators of ONNX. Scale the data beforehand."
        raise ValueError(msg)
    values = graph.node("Sub", rows.of(graph, "float64"), graph.constant(step.center))
    if step.scale is not None:
        values = graph.node("Mul", values, graph.constant(1.0 / step.scale))
    values = graph.cast(values, "float32")
    if step.clip < np.inf:
        limit = np.float32(step.clip)
        values = graph.node("Clip", values, graph.constant(-limit), graph.constant(limit))
    return replace(rows, values=values, dtype="float32")


def _whole_center(graph: Graph, step: WholeCenter, rows: Rows) -> Rows:
    """Subtract integers from integers, or in float64 from floats."""
    if rows.dtype.startswith("float"):
        values = graph.node("Sub", rows.of(graph, "float64"), graph.constant(step.center.astype(np.float64)))
        return replace(rows, values=graph.cast(values, "float32"), dtype="float32")
    values = graph.node("Sub", rows.of(graph, "int64"), graph.constant(step.center))
    return replace(rows, values=values, dtype="int64")


def _fill(graph: Graph, step: Fill, rows: Rows) -> Rows:
    """Impute missing values."""
    if rows.missing is None:
        return rows
    values = _filled(graph, step, rows.of(graph, "float32"), rows.missing)
    kept = graph.node("And", rows.missing, graph.constant(~step.columns))
    return replace(rows, values=values, dtype="float32", missing=None if step.columns.all() else kept)


def _select(graph: Graph, step: Select, rows: Rows) -> Rows:
    """Select columns."""
    columns = graph.constant(step.columns, np.int64)
    missing = None if rows.missing is None else graph.node("Gather", rows.missing, columns, axis=1)
    return Rows(graph.node("Gather", rows.values, columns, axis=1), rows.dtype, step.columns.size, missing)


def _soft_bins(graph: Graph, step: SoftBins, rows: Rows) -> Rows:
    """Compare the knot to the left of each value with all knots."""
    n, limit = step.n_bins, np.float32(step.limit)
    one, knots = graph.constant(np.float32(1)), graph.constant(np.arange(n), np.int64)
    values = graph.node("Clip", rows.of(graph, "float32"), graph.constant(-limit), graph.constant(limit))
    steps = np.float32(n - 1) / (np.float32(2.0) * limit)
    at = graph.node("Mul", graph.node("Add", values, graph.constant(limit)), graph.constant(steps))
    left = graph.node("Min", graph.cast(at, "int64"), graph.constant(n - 2, np.int64))
    share = graph.node("Min", graph.node("Sub", at, graph.cast(left, "float32")), one)
    last = graph.constant([2], np.int64)
    left, share = graph.node("Unsqueeze", left, last), graph.node("Unsqueeze", share, last)
    right = graph.node("Add", left, graph.constant(1, np.int64))
    zero = graph.constant(np.float32(0))
    hats = graph.node("Where", graph.node("Equal", right, knots), share, zero)
    hats = graph.node("Where", graph.node("Equal", left, knots), graph.node("Sub", one, share), hats)
    hats = graph.node("Sub", hats, graph.constant(step.means.reshape(rows.n_columns, n)))
    if step.passthrough_scale:
        column = graph.node("Mul", values, graph.constant(np.float32(step.passthrough_scale)))
        hats = graph.node("Concat", hats, graph.node("Unsqueeze", column, last), axis=2)
    if rows.missing is not None:
        hats = graph.node("Where", graph.node("Unsqueeze", rows.missing, last), zero, hats)
    n_columns = rows.n_columns * step.n_places
    flat = graph.node("Reshape", hats, graph.constant([-1, n_columns], np.int64))
    return Rows(flat, "float32", n_columns, None)


def _relevance(graph: Graph, step: Relevance, rows: Rows) -> Rows:
    """Multiply in float32."""
    values = graph.node("Mul", rows.of(graph, "float32"), graph.constant(step.weights))
    return replace(rows, values=values, dtype="float32")


def _rotation(graph: Graph, step: Rotation, rows: Rows) -> Rows:
    """Multiply integers in float64, which is exact in any order."""
    whole = graph.node("Mul", rows.of(graph, "float64"), graph.constant(float(rotation.UNIT)))
    limit = float(rotation.LARGEST)
    whole = graph.node("Clip", graph.node("Round", whole), graph.constant(-limit), graph.constant(limit))
    whole = replace(rows, values=whole, dtype="float64").filled(graph).values
    factor = step.matrix.astype(np.float64) * rotation.GRAIN
    rotated = graph.node("MatMul", whole, graph.constant(factor))
    rotated = graph.node("Mul", rotated, graph.constant(1.0 / (rotation.UNIT * rotation.GRAIN)))
    return Rows(graph.cast(rotated, "float32"), "float32", step.matrix.shape[1], None)


def _bias_columns(graph: Graph, step: BiasColumns, rows: Rows) -> Rows:
    """Append columns of ones."""
    values = rows.filled(graph).of(graph, "float32")
    n_rows = graph.node("Shape", values, end=1)
    shape = graph.node("Concat", n_rows, graph.constant([step.n], np.int64), axis=0)
    ones = graph.node("Expand", graph.constant(np.float32(1)), shape)
    return Rows(graph.node("Concat", values, ones, axis=1), "float32", rows.n_columns + step.n, None)


def _filled(graph: Graph, step: Fill, values: Value, missing: Value) -> Value:
    """Return imputed rows as float32; see `_kernels/_plain.py`.

    A runtime may sum in another order and has its own logarithms and exponentials, so values may differ in the last bit
    of a float64 before they are rounded to float32.
    """
    d = step.means.shape[1]
    zero = graph.constant(0.0)
    known = graph.node("Where", missing, zero, graph.cast(values, "float64"))
    normals, last = graph.constant([1], np.int64), graph.constant([-1], np.int64)
    gaps = graph.node("Unsqueeze", missing, normals)  # rows, normals, columns
    apart = graph.node("Sub", graph.node("Unsqueeze", known, normals), graph.constant(step.means.astype(np.float64)))
    apart = graph.node("Where", gaps, zero, apart)
    precisions = step.precisions.astype(np.float64)
    column = graph.node("MatMul", graph.constant(precisions), graph.node("Unsqueeze", apart, last))
    pull = graph.node("Squeeze", column, last)
    size = graph.node("ReduceSum", graph.node("Mul", apart, pull), last, keepdims=0)
    pull = graph.node("Where", gaps, pull, zero)
    both = graph.node(
        "And", graph.node("Unsqueeze", gaps, last), graph.node("Unsqueeze", gaps, graph.constant([2], np.int64))
    )
    matrix = graph.node("Where", both, graph.constant(precisions), graph.constant(np.eye(d)))
    shift, log_determinant = _solved(graph, matrix, pull, d)
    size = graph.node("Sub", size, graph.node("ReduceSum", graph.node("Mul", pull, shift), last, keepdims=0))
    size = graph.node("Add", size, log_determinant)
    scores = graph.node("Sub", graph.constant(step.chances), graph.node("Mul", size, graph.constant(0.5)))
    likely = graph.node("Unsqueeze", graph.node("Softmax", scores, axis=1), last)
    expected = graph.node("Sub", graph.constant(step.means.astype(np.float64)), shift)
    mean = graph.node("ReduceSum", graph.node("Mul", likely, expected), normals, keepdims=0)
    mean = graph.node("Clip", mean, graph.constant(-LARGEST), graph.constant(LARGEST))
    return graph.node("Where", missing, graph.cast(mean, "float32"), values)


def _solved(graph: Graph, matrix: Value, right: Value, d: int) -> tuple[Value, Value]:
    """Solve linear systems by elimination; return solutions and log-determinants."""
    last = graph.constant([-1], np.int64)
    pivots = []
    for p in range(d):
        at = graph.constant(p, np.int64)
        row = graph.node("Gather", matrix, at, axis=2)
        pivot = graph.node(
            "Max", graph.node("Gather", row, graph.constant([p], np.int64), axis=2), graph.constant(LEAST_PIVOT)
        )
        pivots.append(pivot)
        factor = graph.node("Div", graph.node("Gather", matrix, at, axis=3), pivot)
        factor = graph.node("Mul", factor, graph.constant((np.arange(d) != p).astype(np.float64)))
        taken = graph.node(
            "Mul", graph.node("Unsqueeze", factor, last), graph.node("Unsqueeze", row, graph.constant([2], np.int64))
        )
        matrix = graph.node("Sub", matrix, taken)
        of_right = graph.node("Gather", right, graph.constant([p], np.int64), axis=2)
        right = graph.node("Sub", right, graph.node("Mul", factor, of_right))
    diagonal = graph.node("Concat", *pivots, axis=2)
    logs = graph.node("ReduceSum", graph.node("Log", diagonal), last, keepdims=0)
    return graph.node("Div", right, diagonal), logs


def winners(graph: Graph, hasher: Hasher, X: Value, dtype: str) -> Value:
    """Return the winners of each row as int64, by descending sum."""
    rows = encoded(graph, hasher.encoder, X, dtype)
    projection, values = hasher.projection, rows.values
    if projection.signed:
        values = graph.node("Concat", values, graph.node("Neg", values), axis=1)
    links = projection.packed_connections.transpose(1, 0, 2).reshape(projection.n_connections, -1)
    links = links[:, : projection.n_components]
    small = np.uint16 if links.max() <= np.iinfo(np.uint16).max else np.int32  # as it is stored, and not as it is used
    total = None
    for features in links.astype(small):
        places = graph.cast(graph.constant(features), "int32")
        term = graph.node("Gather", values, places, axis=1)
        total = term if total is None else graph.node("Add", total, term)
    assert total is not None  # noqa: S101 - there is at least one connection
    k = graph.constant([hasher.n_winners], np.int64)
    return graph.nodes("TopK", total, k, n_outputs=2, axis=1, largest=1, sorted=1)[1]


def hashes(graph: Graph, n_components: int, won: Value) -> Value:
    """Return binary hashes as float32."""
    shape = graph.node("Concat", graph.node("Shape", won, end=1), graph.constant([n_components], np.int64), axis=0)
    nothing = graph.node("Expand", graph.constant(np.float32(0)), shape)
    ones = graph.node("Expand", graph.constant(np.float32(1)), graph.node("Shape", won))
    return graph.node("ScatterElements", nothing, won, ones, axis=1)


WRITERS: dict[str, Callable[[Graph, Any, Rows], Rows]] = {
    BiasColumns.kind: _bias_columns,
    Fill.kind: _fill,
    Relevance.kind: _relevance,
    Rotation.kind: _rotation,
    Select.kind: _select,
    SoftBins.kind: _soft_bins,
    Standardise.kind: _standardise,
    WholeCenter.kind: _whole_center,
}
"""How each kind of step is written."""
