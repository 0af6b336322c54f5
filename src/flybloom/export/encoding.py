"""Encoder steps and hashes as ONNX operators, with the same rounding.

`WRITERS` maps kinds of steps to functions. Other steps are refused by name. Sums of connections are a chain of
additions in the order of the connections: a reduction would be shorter, but runtimes may add in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from flybloom._internal.hashed import LARGEST
from flybloom.core._kernels._plain import LARGEST as LARGEST_FILLED
from flybloom.core._kernels._plain import LEAST_PIVOT
from flybloom.core.encoding import rotation
from flybloom.core.encoding.bins import SoftBins
from flybloom.core.encoding.columns import BiasColumns, Select
from flybloom.core.encoding.cuts import Cuts
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.encoding.fill import Fill
from flybloom.core.encoding.gradients import DIRECTION_VECTORS, DIRECTIONS, LEAST, Gradients
from flybloom.core.encoding.gradients import LARGEST as LARGEST_PIXEL
from flybloom.core.encoding.relevance import Relevance
from flybloom.core.encoding.rotation import Rotation
from flybloom.core.encoding.standardise import MAX_PLAIN_CENTER, Standardise, WholeCenter
from flybloom.core.encoding.unskew import Unskew
from flybloom.core.hashing.ferns import Ferns
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.hashing.products import SHIFT, STEPS
from flybloom.core.hashing.projection import Projection
from flybloom.export.graph import Value


@dataclass(frozen=True)
class Rows:
    """Rows between steps."""

    values: Value
    dtype: str
    n_columns: int
    missing: Value | None  # where values are missing; None where none can be

    def of(self, dtype: str) -> Value:
        """Return the values as another type."""
        return self.values if dtype == self.dtype else self.values.cast(dtype)

    def filled(self) -> Rows:
        """Replace missing values by zeros."""
        if self.missing is None:
            return self
        zero = np.zeros((), self.dtype)
        return replace(self, values=self.missing.where(zero, self.values), missing=None)


def encoded(encoder: Encoder, X: Value, dtype: str) -> Rows:
    """Return encoded rows: float32, or int64 for integers that no step changes."""
    rows = _after(encoder.steps, encoder, X, dtype)
    hashed = "float32" if rows.dtype.startswith("float") else "int64"
    return Rows(rows.of(hashed), hashed, rows.n_columns, None)


def columns_apart(encoder: Encoder, X: Value, dtype: str) -> Value:
    """Return the columns of the trend as float64; see `Encoder.columns_apart`."""
    return _after(encoder.columns_steps(), encoder, X, dtype).of("float64")


def _after(steps: Iterable[Any], encoder: Encoder, X: Value, dtype: str) -> Rows:
    """Return rows after steps, without missing values."""
    missing = X.graph.node("IsNaN", X) if dtype.startswith("float") else None
    rows = Rows(X, dtype, encoder.n_features, missing)
    for step in steps:
        if step.kind not in WRITERS:
            msg = (
                f"The step {step.kind!r} of the encoding has no operators of ONNX. Expected only "
                f"{', '.join(sorted(WRITERS))}. Encode the rows beforehand, or use another encoding."
            )
            raise ValueError(msg)
        rows = WRITERS[step.kind](step, rows)
    return rows.filled()


def _standardise(step: Standardise, rows: Rows) -> Rows:
    """Standardise in float64, then round to float32 and clip."""
    if (np.abs(step.center) > MAX_PLAIN_CENTER).any():
        msg = "Centres of columns beyond 2**969 have no operators of ONNX. Scale the data beforehand."
        raise ValueError(msg)
    values = rows.of("float64") - step.center
    if step.scale is not None:
        values = values * (1.0 / step.scale)
    values = values.cast("float32")
    if step.clip < np.inf:
        values = values.clip(-np.float32(step.clip), np.float32(step.clip))
    return replace(rows, values=values, dtype="float32")


def _unskew(step: Unskew, rows: Rows) -> Rows:
    """Add up the pieces in order, in float32; columns that are not skewed stay."""
    values = rows.of("float32")
    graph, columns = values.graph, step.columns
    if not columns.size:
        return replace(rows, values=values, dtype="float32")
    skewed, total = values.at(columns), None
    for slope, low, high in zip(step.pieces, step.low, step.high, strict=True):
        piece = graph.node("Min", graph.node("Max", skewed, low), high) * slope
        total = piece if total is None else total + piece
    places = np.arange(rows.n_columns)
    places[columns] = rows.n_columns + np.arange(columns.size)
    values = graph.node("Concat", values, total - step.of_middle, axis=1).at(places)
    return replace(rows, values=values, dtype="float32")


def _whole_center(step: WholeCenter, rows: Rows) -> Rows:
    """Subtract integers from integers, or in float64 from floats."""
    if rows.dtype.startswith("float"):
        values = rows.of("float64") - step.center.astype(np.float64)
        return replace(rows, values=values.cast("float32"), dtype="float32")
    return replace(rows, values=rows.of("int64") - step.center, dtype="int64")


def _fill(step: Fill, rows: Rows) -> Rows:
    """Impute missing values."""
    if rows.missing is None:
        return rows
    values = _filled(step, rows.of("float32"), rows.missing)
    kept = rows.missing.graph.node("And", rows.missing, ~step.columns)
    return replace(rows, values=values, dtype="float32", missing=None if step.columns.all() else kept)


def _gradients(step: Gradients, rows: Rows) -> Rows:
    """Compute the histograms for all pixels at once, and add them to their cells in order."""
    graph, shape = rows.values.graph, [-1, step.height, step.width, step.n_channels]
    images = graph.node("Reshape", rows.of("float32").clip(-LARGEST_PIXEL, LARGEST_PIXEL), shape)
    known = graph.node("Reshape", rows.filled().of("float32").clip(-LARGEST_PIXEL, LARGEST_PIXEL), shape)
    grey = reduce(add, [images.at(channel, 3) for channel in range(step.n_channels)])
    right, down = (_difference(grey, side, axis) for axis, side in ((2, step.width), (1, step.height)))
    size = graph.node("Sqrt", right * right + down * down) * LEAST
    along = right.spread(-1) * DIRECTION_VECTORS[0] + down.spread(-1) * DIRECTION_VECTORS[1]
    responses = graph.node("Relu", along - size.spread(-1))
    histograms = graph.node("Sqrt", _pooled(responses, *step.cells))
    patches = graph.node("Transpose", _pooled(known, *step.patches), perm=[0, 3, 1, 2])
    n_gradients = len(step.cells[0]) * len(step.cells[1]) * DIRECTIONS
    n_columns = step.n_outputs(rows.n_columns)
    parts = (histograms, n_gradients), (patches, n_columns - n_gradients)
    values = graph.node("Concat", *(graph.node("Reshape", part, [-1, n]) for part, n in parts), axis=1)
    return Rows(values, "float32", n_columns, None)


def _difference(grey: Value, side: int, axis: int) -> Value:
    """Return the differences of the pixels at both sides; beside missing ones, there is none."""
    places = np.arange(side)
    difference = grey.at(np.minimum(places + 1, side - 1), axis) - grey.at(np.maximum(places - 1, 0), axis)
    return grey.graph.node("IsNaN", difference).where(np.float32(0), difference)


def _pooled(values: Value, rows_of: np.ndarray, columns_of: np.ndarray) -> Value:
    """Return the sums of cells, of shape (n, cells, cells, values)."""
    for weights, axis in ((rows_of, 1), (columns_of, 2)):
        shape = (-1, 1, 1) if axis == 1 else (-1, 1)
        values = reduce(
            add, [values.at([place], axis) * weights[:, place].reshape(shape) for place in range(weights.shape[1])]
        )
    return values


def _select(step: Select, rows: Rows) -> Rows:
    """Select columns."""
    columns = step.columns.astype(np.int64)
    missing = None if rows.missing is None else rows.missing.at(columns)
    return Rows(rows.values.at(columns), rows.dtype, step.columns.size, missing)


def _soft_bins(step: SoftBins, rows: Rows) -> Rows:
    """Compare the knot to the left of each value with all knots."""
    n, limit, one, zero = step.n_bins, np.float32(step.limit), np.float32(1), np.float32(0)
    graph, knots = rows.values.graph, np.arange(n)
    values = rows.of("float32").clip(-limit, limit)
    at = (values + limit) * (np.float32(n - 1) / (np.float32(2.0) * limit))
    left = graph.node("Min", at.cast("int64"), n - 2)
    share = graph.node("Min", at - left.cast("float32"), one)
    left, share = left.spread(2), share.spread(2)
    hats = graph.node("Equal", left + 1, knots).where(share, zero)
    hats = graph.node("Equal", left, knots).where(one - share, hats)
    hats = hats - step.means.reshape(rows.n_columns, n)
    if step.passthrough_scale:
        column = values * np.float32(step.passthrough_scale)
        hats = graph.node("Concat", hats, column.spread(2), axis=2)
    if rows.missing is not None:
        hats = rows.missing.spread(2).where(zero, hats)
    n_columns = rows.n_columns * step.n_places
    return Rows(graph.node("Reshape", hats, [-1, n_columns]), "float32", n_columns, None)


def _relevance(step: Relevance, rows: Rows) -> Rows:
    """Multiply in float32."""
    return replace(rows, values=rows.of("float32") * step.weights, dtype="float32")


def _rotation(step: Rotation, rows: Rows) -> Rows:
    """Multiply integers in float64, which is exact in any order."""
    graph, limit = rows.values.graph, float(rotation.LARGEST)
    whole = graph.node("Round", rows.of("float64") * float(rotation.UNIT)).clip(-limit, limit)
    whole = replace(rows, values=whole, dtype="float64").filled().values
    rotated = graph.node("MatMul", whole, step.matrix.astype(np.float64) * rotation.GRAIN)
    rotated = rotated * (1.0 / (rotation.UNIT * rotation.GRAIN))
    return Rows(rotated.cast("float32"), "float32", step.matrix.shape[1], None)


def _bias_columns(step: BiasColumns, rows: Rows) -> Rows:
    """Append columns of ones."""
    values = rows.filled().of("float32")
    graph = values.graph
    shape = graph.node("Concat", graph.node("Shape", values, end=1), [step.n], axis=0)
    ones = graph.node("Expand", np.float32(1), shape)
    return Rows(graph.node("Concat", values, ones, axis=1), "float32", rows.n_columns + step.n, None)


def _filled(step: Fill, values: Value, missing: Value) -> Value:
    """Return imputed rows as float32; see `_kernels/_plain.py`.

    A runtime may sum in another order and has its own logarithms and exponentials, so values may differ in the last bit
    of a float64 before they are rounded to float32.
    """
    graph, d, means, precisions = (
        values.graph,
        step.means.shape[1],
        *(array.astype(np.float64) for array in (step.means, step.precisions)),
    )
    known = missing.where(0.0, values.cast("float64"))
    gaps = missing.spread(1)  # rows, normals, columns
    apart = gaps.where(0.0, known.spread(1) - means)
    pull = graph.node("Squeeze", graph.node("MatMul", precisions, apart.spread(-1)), [-1])
    size = (apart * pull).sum(-1)
    pull = gaps.where(pull, 0.0)
    both = graph.node("And", gaps.spread(-1), gaps.spread(2))
    shift, log_determinant = _solved(both.where(precisions, np.eye(d)), pull, d)
    size = size - (pull * shift).sum(-1) + log_determinant
    likely = graph.node("Softmax", step.chances - size * 0.5, axis=1).spread(-1)
    mean = (likely * (means - shift)).sum(1).clip(-LARGEST_FILLED, LARGEST_FILLED)
    return missing.where(mean.cast("float32"), values)


def _solved(matrix: Value, right: Value, d: int) -> tuple[Value, Value]:
    """Solve linear systems by elimination; return solutions and log-determinants."""
    graph, pivots = matrix.graph, []
    for p in range(d):
        row = matrix.at(p, 2)
        pivot = graph.node("Max", row.at([p], 2), LEAST_PIVOT)
        pivots.append(pivot)
        factor = matrix.at(p, 3) / pivot * (np.arange(d) != p).astype(np.float64)
        matrix = matrix - factor.spread(-1) * row.spread(2)
        right = right - factor * right.at([p], 2)
    diagonal = graph.node("Concat", *pivots, axis=2)
    return right / diagonal, graph.node("Log", diagonal).sum(-1)


def winners(hasher: Hasher, X: Value, dtype: str) -> Value:
    """Return the winners of each row as int64, by descending sum; the values of components as float64, exactly."""
    projection, values = hasher.projection, encoded(hasher.encoder, X, dtype).values
    if not hasher.n_winners:
        return _products(projection, values if dtype.startswith("float") else values.cast("float32"))
    rows = values
    if projection.signed:
        values = X.graph.node("Concat", values, -values, axis=1)
    links = projection.packed_connections.transpose(1, 0, 2).reshape(projection.n_connections, -1)
    links = links[:, : projection.n_components]
    small = np.uint16 if links.max() <= np.iinfo(np.uint16).max else np.int32  # as it is stored, and not as it is used
    terms = [values.at(X.graph.constant(features).cast("int32")) for features in links.astype(small)]
    total = reduce(add, terms)
    summed = X.graph.nodes("TopK", total, [hasher.n_summed_winners], n_outputs=2, axis=1, largest=1, sorted=1)[1]
    if hasher.ferns is None:
        return summed
    cells = _cells(hasher.ferns, rows, projection.n_components)
    return X.graph.node("Concat", summed, cells, axis=1)


def _cells(ferns: Ferns, rows: Value, first: int) -> Value:
    """Return the winners of ferns, as many for each row, numbered from `first`."""
    places, cuts = ferns.tests
    cells = rows.graph.constant((first + (np.arange(ferns.n_ferns) << ferns.n_tests)).astype(np.int64))
    for test in range(ferns.n_tests):
        is_passed = rows.graph.node("Greater", rows.at(places[:, test].astype(np.int64)), cuts[:, test])
        cells = cells + is_passed.cast("int64") * np.int64(1 << test)
    return cells


def _products(projection: Projection, values: Value) -> Value:
    """Return columns, and products of two of them, as whole numbers in float64."""
    graph, d = values.graph, projection.n_features
    columns = graph.node("Round", values * np.float32(STEPS)).clip(np.float32(-LARGEST), np.float32(LARGEST))
    columns = columns.cast("float64")
    first, second = projection.connections()[0].astype(np.int64).T
    products = columns.at(first[d:]) * columns.at(second[d:])
    shortened = graph.node("Floor", products / float(2**SHIFT) + 0.5)  # exact
    return graph.node("Concat", columns.at(first[:d]), shortened, axis=1)


def hashes(n_components: int, won: Value) -> Value:
    """Return binary hashes as float32."""
    graph = won.graph
    shape = graph.node("Concat", graph.node("Shape", won, end=1), [n_components], axis=0)
    nothing = graph.node("Expand", np.float32(0), shape)
    ones = graph.node("Expand", np.float32(1), graph.node("Shape", won))
    return graph.node("ScatterElements", nothing, won, ones, axis=1)


WRITERS: dict[str, Callable[[Any, Rows], Rows]] = {
    BiasColumns.kind: _bias_columns,
    Cuts.kind: lambda _, rows: rows,
    Fill.kind: _fill,
    Gradients.kind: _gradients,
    Relevance.kind: _relevance,
    Rotation.kind: _rotation,
    Select.kind: _select,
    SoftBins.kind: _soft_bins,
    Standardise.kind: _standardise,
    Unskew.kind: _unskew,
    WholeCenter.kind: _whole_center,
}
"""How each kind of step is written."""
